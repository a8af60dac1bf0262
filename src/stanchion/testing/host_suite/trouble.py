"""Behaviours in trouble: tools that fail, guards that crash or take too long, Stanchion itself that
fails."""

from __future__ import annotations

from typing import Any, Final

from stanchion.testing.host_suite.expecting import holds, same
from stanchion.testing.host_suite.scene import Seen
from stanchion.testing.host_suite.script import Turn, script
from stanchion.testing.host_suite.table import Table
from stanchion.testing.host_suite.tools import KEY

BROKEN: Final = ("could not be judged", "the clock is broken")
"""What is said of a scene whose clock broke, by Stanchion or by the clock: without the time nothing
is recorded."""


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
    """A guard that raises, or anything else of Stanchion's that fails, lets nothing run, and
    somebody is told."""

    def crashes(event: Any) -> None:
        raise RuntimeError("the guard is broken")

    _undisturbed(table)
    _refused_by("crashes", table.play({"name": "c"}, _asked(), guards=[crashes]))

    def breaks() -> None:
        table.clock.broken = True

    seen = table.play({"name": "c"}, _asked(), watch=breaks)
    same((seen.ran, [one for one in seen.decided if one[0] == "tool_call"]), ([], []))
    assert any(words in seen.everything for words in BROKEN), (
        f"nobody was told what failed: {seen.everything!r}"
    )


def timeout(table: Table) -> None:
    """A guard that does not answer in time lets nothing run."""

    def sleeps(event: Any, stop: Any) -> None:
        stop.wait(30)

    sleeps.deadline_ms = 50  # type: ignore[attr-defined] # how a function says it
    _undisturbed(table)
    _refused_by("sleeps", table.play({"name": "t"}, _asked(), guards=[sleeps]))


def _asked() -> list[Turn]:
    return script(("look", {"name": "bob"}), "done")


def _undisturbed(table: Table) -> None:
    """The same scene without a fault goes well: what stops it with one is the fault, and nothing of
    the host's."""
    seen = table.play({"name": "calm"}, _asked())
    same((seen.raised, seen.ran, seen.answer), ("", [("look", {"name": "bob"})], "done"))


def _refused_by(guard: str, seen: Seen) -> None:
    """The call was refused for this guard: that is recorded, nothing ran, and whoever goes on reads
    the reason."""
    same(seen.ran, [])
    same(
        [one for one in seen.decided if one[:2] == ("tool_call", "look")],
        [("tool_call", "look", "BLOCK")],
    )
    told = seen.raised if seen.raised else "\n".join(seen.asked[-1])
    holds(f"guard `{guard}`", [told])
