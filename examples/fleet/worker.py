"""One process of the fleet: it asks a model until the budget that all processes share is used up.

It says nothing of servers: `STANCHION_STORE`, `STANCHION_AUDIT` and `STANCHION_TENANT` do, so the
same program runs on a laptop with none of them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from stanchion import Refused, Shield

COST_USD = 0.03


def model(messages: list[Any]) -> dict[str, Any]:
    """A model with a price. Put your own in its place."""
    return {"content": f"{messages[-1]['content']}: done", "usage": {"cost_usd": COST_USD}}


def main(name: str) -> None:
    """Work until a call is refused; print how many went ahead, and by which code the last did
    not."""
    with (
        Shield.load(Path(__file__).with_name("policy.yaml")) as shield,
        shield.run(agent=name, task="archive") as run,
    ):
        print("ready", flush=True)
        sys.stdin.readline()  # all begin together
        made = 0
        while True:
            try:
                run.model(
                    model,
                    [{"role": "user", "content": f"page {made} of {name}"}],
                    cost_usd=COST_USD,
                    ended="raise",
                )
            except Refused as refused:
                print(made, refused.decision.code, flush=True)
                return
            made += 1


if __name__ == "__main__":
    main(sys.argv[1])
