"""A host that spends a shared budget under orders: one line of input is one attempt, and one line
of output says what came of it."""

import sys

from stanchion import Shield

LIMIT = 20
POLICY = {"name": "shared", "guards": [{"use": "budget", "calls": LIMIT, "per": "tenant"}]}


def obey(store: str) -> None:
    """Try once for each line of input, a run for each: what is known is known to the process."""
    with Shield.load(POLICY, tenant="losers", store=store, journal="memory:") as shield:
        print("ready", flush=True)
        for _ in sys.stdin:
            decision = shield.run("loser").check("spend", {})
            print(decision.code if decision.code else "went", flush=True)


if __name__ == "__main__":
    obey(sys.argv[1])
