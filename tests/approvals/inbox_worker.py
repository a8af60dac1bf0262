"""A process that asks, lists and pays on a shared store, one phase for each line that it is
given."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from secrets import token_hex
from typing import Any

from stanchion import Refused
from stanchion.approvals.operators import Operator
from stanchion.stores.postgres import PostgresStore
from stanchion.testing import shield_for

POLICY: dict[str, Any] = {
    "name": "p",
    "guards": [{"use": "tool_denylist", "id": "ask", "tools": ["pay"], "action": "escalate"}],
}


def work(url: str, schema: str, key: str, count: int) -> None:
    """Ask for so many payments, list what waits, and pay what was approved; print what came of each
    phase."""
    people = [Operator(name="ann", key=key)]
    store = PostgresStore(url, schema=schema)
    shield = shield_for(POLICY, store=store, operators=people, nonces=lambda: token_hex(4))
    paid: list[int] = []

    def pay(amount: int) -> None:
        paid.append(amount)

    def ask() -> list[str]:
        found = []
        with shield.run("bot", "t") as run:
            for amount in range(count):
                try:
                    run.call(pay, amount=amount)
                except Refused as refused:
                    found.append(str(refused.ticket))
        return found

    def listed() -> list[str]:
        return [one.id for one in shield.tickets()]

    def settle() -> list[int]:
        ask()
        return paid

    phases: tuple[Callable[[], Any], ...] = (ask, listed, settle)
    for phase in phases:
        sys.stdin.readline()
        print(json.dumps(phase()), flush=True)


if __name__ == "__main__":
    work(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
