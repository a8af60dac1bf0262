"""Behaviours in trouble: tools that fail, guards that crash or take too long, Stanchion itself that fails."""

from __future__ import annotations

from typing import Any

from stanchion.testing.host_suite.expecting import holds, same
from stanchion.testing.host_suite.scene import Seen
from stanchion.testing.host_suite.script import script
from stanchion.testing.host_suite.table import Table
from stanchion.testing.host_suite.tools import KEY


def error(table: Table) -> None:
    """A tool's failure is judged as one, and whoever reads its words reads no secret."""
    policy = {"name": "e", "guards": [{"use": "secrets"}]}
    seen = table.play(policy, script(("look", {"name": "nobody"}), "nobody has no page"))
    same(seen.ran, [("look", {"name": "nobody"})])
    assert KEY not in seen.everything, "the secret has left the tool with its error"
    same([one[:2] for one in seen.decided if one[0] == "error"], [("error", "look")])
    if not seen.raised:
        holds("no page for nobody", seen.asked[-1])
        same(seen.answer, "nobody has no page")


def crash(table: Table) -> None:
    """A guard that raises, or anything else of Stanchion's that fails, lets nothing run, and somebody is told."""

    def crashes(event: Any) -> None:
        raise RuntimeError("the guard is broken")

    asked = script(("look", {"name": "bob"}), "done")
    seen = table.play({"name": "c"}, asked, guards=[crashes])
    _refused(seen)

    def breaks() -> None:
        table.clock.broken = True

    _refused(table.play({"name": "c"}, asked, watch=breaks))


def timeout(table: Table) -> None:
    """A guard that does not answer in time lets nothing run."""

    def sleeps(event: Any, stop: Any) -> None:
        stop.wait(30)

    sleeps.deadline_ms = 50  # type: ignore[attr-defined] # how a function says it
    _refused(table.play({"name": "t"}, script(("look", {"name": "bob"}), "done"), guards=[sleeps]))


def _refused(seen: Seen) -> None:
    same(seen.ran, [])
    assert seen.raised or seen.answer or len(seen.asked) > 1, "nothing ran, and nobody was told"
    if not seen.raised and len(seen.asked) > 1:
        assert len("\n".join(seen.asked[-1])) > len("\n".join(seen.asked[0])), "the model was not told"
