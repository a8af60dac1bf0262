"""Behaviours of calls that wait for a person."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from stanchion.approvals.operators import Operator
from stanchion.runtime.shield import Shield
from stanchion.testing.host_suite.expecting import holds, same
from stanchion.testing.host_suite.scene import Scene
from stanchion.testing.host_suite.script import Turn, script
from stanchion.testing.host_suite.table import Table, played
from stanchion.testing.operators import operator

POLICY: Final[dict[str, Any]] = {
    "name": "w",
    "guards": [
        {"id": "ask", "use": "tool_denylist", "tools": ["send"], "action": "escalate"},
    ],
}


def turns() -> list[Turn]:
    """The model wants to send a letter, and says that it has."""
    return script(("send", {"to": "bob"}), "bob has the letter")


def shield_at(folder: Path, known: Operator) -> Shield:
    """A shield whose state another process finds in the same folder."""
    return Shield.load(
        POLICY, store=f"sqlite:{folder / 'state.db'}", journal="memory:", operators=[known]
    )


def pause(table: Table) -> None:
    """A call that waits for a person does not run; once an operator has said yes it runs in another
    process, once. The host's own pause goes on where it was; a host that has none is asked anew."""
    signer, known = operator("ann")
    with shield_at(table.folder, known) as shield:
        seen = played(table.driver, Scene(shield, turns(), table.way, table.folder))
        same((seen.ran, seen.raised), ([], ""))
        (ticket,) = shield.tickets()
        same((ticket.tool, ticket.content), ("send", {"to": "bob"}))
        assert ticket.id not in seen.shown + seen.answer, "the agent was shown the ticket"
        resumes = table.driver.host.pause == "resume"
        same(seen.state is not None, resumes)
        shield.approve(ticket.id, by=signer)
    given = {"state": seen.state, "key": known.key, "before": len(seen.asked) if resumes else 0}
    after = table.go_on(given)
    same(after.raised, "")
    same(after.ran, [("send", {"to": "bob"})])
    holds("letter to bob is sent", after.asked[-1])
    same((len(after.asked), after.answer), (1 if resumes else 2, "bob has the letter"))
