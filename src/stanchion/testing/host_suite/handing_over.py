"""Behaviours of handoffs to other agents."""

from __future__ import annotations

from typing import Final

from stanchion.testing.host_suite.calls import ADVICE, NO_ROOT
from stanchion.testing.host_suite.expecting import holds, same
from stanchion.testing.host_suite.script import script
from stanchion.testing.host_suite.table import Table

NO_VAULT: Final = {
    "id": "vault",
    "use": "rule",
    "stages": ["handoff"],
    "when": "event.to == 'vault'",
    "action": "block",
    "advice": "hand it to the desk",
}


def handoff(table: Table) -> None:
    """A handoff is judged before it happens, a refused one does not happen, and the agent that
    takes over is guarded as the first one is."""
    turns = script(
        {"handoff": "vault"},
        {"handoff": "desk"},
        ("look", {"name": "root"}),
        ("look", {"name": "bob"}),
        "the desk has done it",
    )
    seen = table.play({"name": "h", "guards": [NO_ROOT, NO_VAULT]}, turns, others=("vault", "desk"))
    same(seen.raised, "")
    holds("hand it to the desk", seen.asked[1])
    holds(("handoff", "vault", "BLOCK"), seen.decided)
    holds(("handoff", "desk", "ALLOW"), seen.decided)
    same(seen.ran, [("look", {"name": "bob"})])
    holds(("tool_call", "look", "BLOCK"), seen.decided)
    holds(ADVICE, [text for texts in seen.asked[3:] for text in texts])
    holds("the desk has done it", [seen.answer])
