"""The suite itself: what every adapter must do, each behaviour by its name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec

from stanchion.approvals.operators import Operator
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.guard import Kind
from stanchion.kernel.stages import Stage
from stanchion.runtime.shield import Shield
from stanchion.testing.host_suite.scene import (
    INPUT_TOKENS,
    KEY,
    OUTPUT_TOKENS,
    Driver,
    Scene,
    Seen,
    Turn,
    script,
)
from stanchion.testing.host_suite.table import HostTable, played
from stanchion.testing.operators import operator


def same(found: Any, expected: Any) -> None:
    """Raise `AssertionError` where something else was found."""
    assert found == expected, f"expected {expected!r}, found {found!r}"


def holds(wanted: Any, found: Collection[Any]) -> None:
    """Raise `AssertionError` where something is not among what was found; a text may be part of a
    longer one."""
    among = wanted in "\n".join(found) if isinstance(wanted, str) else wanted in found
    assert among, f"expected {wanted!r} among {found!r}"


class Capped(msgspec.Struct, frozen=True):
    """A guard that has `take` called with no more than ten rows."""

    kind: ClassVar[Kind] = Kind.PURE
    id: str = "capped"
    stages: frozenset[Stage] = frozenset({Stage.TOOL_CALL})
    priority: int = 50
    category: Category = Category.SAFETY
    mode: str = "enforce"

    def judge(self, reading: Any, /) -> Finding | None:
        """Change the limit."""
        if reading.event.tool != "take":
            return None
        return Finding(
            Action.REDACT,
            "suite.capped",
            text="no more than ten rows",
            patches=(Patch(("limit",), 10),),
        )


ADVICE: Final = "read the page of bob"
NO_ROOT: Final = {
    "id": "root",
    "use": "rule",
    "stages": ["tool_call"],
    "applies_to": {"tools": ["look"]},
    "when": "event.args.name == 'root'",
    "action": "block",
    "advice": ADVICE,
}


def allow(table: HostTable) -> None:
    """What is allowed runs once, as it was asked for; the model reads its result, the user the
    answer."""
    seen = table.play({"name": "bare"}, script(("look", {"name": "bob"}), "bob has a page"))
    same(seen.raised, "")
    same(seen.ran, [("look", {"name": "bob"})])
    holds("page of bob", seen.asked[-1])
    same((len(seen.asked), seen.answer), (2, "bob has a page"))
    holds(("tool_call", "look", "ALLOW"), seen.decided)
    holds(("tool_result", "look", "ALLOW"), seen.decided)


def block(table: HostTable) -> None:
    """What is refused does not run, and the model reads why and what to do instead."""
    seen = table.play(
        {"name": "b", "guards": [NO_ROOT]},
        script(("look", {"name": "root"}), ("look", {"name": "bob"}), "root stays"),
    )
    same(seen.raised, "")
    same(seen.ran, [("look", {"name": "bob"})])
    holds("a rule of the policy forbids this", seen.asked[1])
    holds(ADVICE, seen.asked[1])
    same(seen.answer, "root stays")
    same([one for one in seen.decided if one[2] == "BLOCK"], [("tool_call", "look", "BLOCK")])


def modify(table: HostTable) -> None:
    """A call whose arguments were changed runs with the changed ones alone."""
    seen = table.play(
        {"name": "m"}, script(("take", {"name": "t", "limit": 999}), "done"), guards=[Capped()]
    )
    same(seen.raised, "")
    same(seen.ran, [("take", {"name": "t", "limit": 10})])
    holds("10 rows of t", seen.asked[-1])
    same(seen.answer, "done")
    holds(("tool_call", "take", "REDACT"), seen.decided)


def redact(table: HostTable) -> None:
    """Of a result with a secret in it, nobody gets the secret, and the model gets the rest."""
    policy = {"name": "r", "guards": [{"use": "secrets"}]}
    seen = table.play(policy, script(("look", {"name": "ann"}), "done"))
    same((seen.raised, seen.answer), ("", "done"))
    same(seen.ran, [("look", {"name": "ann"})])
    assert KEY not in seen.everything, "the secret has left the tool"
    holds("ann's key is [redacted", seen.asked[-1])
    holds(("tool_result", "look", "REDACT"), seen.decided)


def usage(table: HostTable) -> None:
    """What the model reports as used is charged, and once."""
    policy = {"name": "u", "guards": [{"use": "budget", "tokens": 1_000_000, "per": "task"}]}
    seen = table.play(policy, script(("look", {"name": "bob"}), "done"))
    same((seen.raised, seen.answer), ("", "done"))
    same(table.used("tokens"), 2 * (INPUT_TOKENS + OUTPUT_TOKENS))


def parallel(table: HostTable) -> None:
    """Calls of one turn are judged each for itself, and together they never exceed a limit."""
    names = ["a", "b", "root", "ann", "c", "d"]
    asked = [("look", {"name": name}) for name in names]
    seen = table.play({"name": "p", "guards": [NO_ROOT, {"use": "secrets"}]}, script(asked, "done"))
    same((seen.raised, seen.answer), ("", "done"))
    same(sorted([args["name"] for _, args in seen.ran]), sorted(set(names) - {"root"}))
    for name in "abcd":
        holds(f"page of {name}", seen.asked[-1])
    holds("ann's key is [redacted", seen.asked[-1])
    holds(ADVICE, seen.asked[-1])
    assert KEY not in seen.everything, "the secret has left the tool"
    few = {"use": "budget", "calls": 4, "per": "task", "stages": ["tool_call"]}
    seen = table.play({"name": "few", "guards": [few]}, script(asked, "done"))
    same((len(seen.ran), seen.answer), (4, "done"))


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


def pause(table: HostTable) -> None:
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


SAID: Final = f"The key of ann is {KEY}, as you have asked."
HIDDEN: Final = "The key of ann is [redacted:github-pat], as you have asked."


def stream(table: HostTable) -> None:
    """A secret that comes in pieces is redacted before anybody sees one of them; a host that cannot
    do that streams nothing at all."""
    seen = table.play({"name": "s", "guards": [{"use": "secrets"}]}, script(SAID), streams=True)
    said = "".join(seen.pieces)
    for part in (KEY, KEY[:20], KEY[20:]):
        assert part not in seen.everything, "a part of the secret was streamed"
    if table.driver.host.stream == "none":
        same(said, "")
        assert seen.raised, "the host streams nothing: whoever asks for a stream has to be told"
        return
    same((seen.raised, said), ("", HIDDEN))
    if table.driver.host.stream == "chunk":
        assert len(seen.pieces) > 2, f"the host streams chunks, and gave {len(seen.pieces)}"


BROKEN: Final = ("could not be judged", "the clock is broken")
"""What is said of a scene whose clock broke, by Stanchion or by the clock: without the time nothing
is recorded."""


def error(table: HostTable) -> None:
    """A tool's failure is judged as one, and whoever reads its words reads no secret."""
    policy = {"name": "e", "guards": [{"use": "secrets"}]}
    seen = table.play(policy, script(("look", {"name": "nobody"}), "nobody has no page"))
    same(seen.ran, [("look", {"name": "nobody"})])
    assert KEY not in seen.everything, "the secret has left the tool with its error"
    same([one[:2] for one in seen.decided if one[0] == "error"], [("error", "look")])
    if not seen.raised:
        holds("no page for nobody", seen.asked[-1])
        same(seen.answer, "nobody has no page")


def crash(table: HostTable) -> None:
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


def timeout(table: HostTable) -> None:
    """A guard that does not answer in time lets nothing run."""

    def sleeps(event: Any, stop: Any) -> None:
        stop.wait(30)

    sleeps.deadline_ms = 50  # type: ignore[attr-defined] # how a function says it
    _undisturbed(table)
    _refused_by("sleeps", table.play({"name": "t"}, _asked(), guards=[sleeps]))


def _asked() -> list[Turn]:
    return script(("look", {"name": "bob"}), "done")


def _undisturbed(table: HostTable) -> None:
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


NO_VAULT: Final = {
    "id": "vault",
    "use": "rule",
    "stages": ["handoff"],
    "when": "event.to == 'vault'",
    "action": "block",
    "advice": "hand it to the desk",
}


def handoff(table: HostTable) -> None:
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


JUDGES: Final = {
    "allow": allow,
    "block": block,
    "modify": modify,
    "redact": redact,
    "pause": pause,
    "stream": stream,
    "error": error,
    "usage": usage,
    "handoff": handoff,
    "parallel": parallel,
    "crash": crash,
    "timeout": timeout,
}
"""What judges the scenes of each behaviour."""

BEHAVIOURS: Final = tuple(JUDGES)
"""Every behaviour by its name."""


def check(driver: Driver, behaviour: str, way: str, folder: Path) -> None:
    """Play a behaviour's scenes and judge what was seen; raises `AssertionError` where the host
    does something else. What is declared out of the host's reach is left to its probe."""
    judge = JUDGES[behaviour]
    if behaviour not in driver.beyond:
        judge(HostTable(driver, way, folder))


def check_probes(driver: Driver, tests: Mapping[str, Any]) -> None:
    """Check that whatever is declared out of reach is a behaviour, and that its probe is among the
    tests."""
    for behaviour, probe in driver.beyond.items():
        assert behaviour in JUDGES, f"`{behaviour}` is no behaviour of the suite"
        assert probe.startswith("test_"), f"`{probe}` is not the name of a test"
        assert callable(tests.get(probe)), (
            f"`{probe}` should show that `{behaviour}` is out of reach, and is no test"
        )
