"""One of several processes that want the same action to go past the same guardrail."""

from __future__ import annotations

from typing import Any

from stanchion import Shield
from stanchion.approvals.operators import Operator


def attempt(given: tuple[dict[str, Any], str, str]) -> bool:
    """Whether this process is the one that may start."""
    policy, store, key = given
    known = Operator(name="ann", key=key, roles=("human_operator",))
    with Shield.load(policy, store=store, journal="memory:", operators=[known]) as shield:
        return shield.run("bot").check("stop", {"pid": 7}).proceeds
