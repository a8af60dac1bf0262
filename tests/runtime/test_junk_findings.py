"""A guard may give anything, in any field, at any stage: it has failed, and nothing raw comes
out."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from stanchion import Action, Finding, Patch, Refused, Shield, Stage, ToolFailed
from stanchion.audit.journal import MemoryJournal
from stanchion.kernel.findings import Isolate, Retry, Signals, Wait
from stanchion.kernel.guard import Kind, Ruling
from stanchion.kernel.lookups import Lookup
from stanchion.kernel.state import FOREVER, Line, When
from tests.runtime.guards import says

SOAK = bool(os.environ.get("STANCHION_SOAK"))
JUNK: list[Any] = [
    None, 0, -1, 3.5, True, "text", "", b"bytes", [], [1], {}, {"a": 1}, (), (1,), ("x",), (None,),
    object(), int,
    ({},), ((),), [Patch((), "x")], (Patch((), "x"), 5), (Patch(5, "x"),), (Patch((), "x", "a", "b"),),  # type: ignore[arg-type]  # noqa: E501
    (Patch(({},), 1),), (Patch((), object()),), Finding(Action.BLOCK, "x.y"), Retry("many"), Wait(None), Isolate(5),  # type: ignore[arg-type]  # noqa: E501
    Signals(5), Signals((("x", 5),)), Signals((("", ("no such",)),)), Exception("no"), iter([1]), lambda: 1, 10**400,  # type: ignore[arg-type]  # noqa: E501
    float("nan"), "\udcff", ("\udcff",), Action.BLOCK, Stage.PROMPT, When.LOOK, NotImplemented, ...,
]  # fmt: skip
FIELDS = (
    "action",
    "code",
    "args",
    "text",
    "guidance",
    "patches",
    "effects",
    "terms",
    "hides",
    "about",
    "said",
    "guard",
)
SOUND: dict[str, Any] = {"action": Action.WARN, "code": "x.y"}


def findings(draw: random.Random) -> Any:
    """Something that a guard gives in place of a finding, or a finding with junk in some of its
    fields."""
    if draw.random() < 0.2:
        return draw.choice(JUNK)
    fields = {name: draw.choice(JUNK) for name in draw.sample(FIELDS, draw.choice((1, 1, 2)))}
    action = draw.choice(list(Action))
    return Finding(**{**SOUND, "action": action, **fields})


class Giving:
    """A guard of any kind that gives what it is told."""

    writes: ClassVar[When] = When.JUDGED
    deep = False

    def __init__(self, kind: Kind, draw: random.Random) -> None:
        self.id, self.kind, self._draw = f"gives-{kind}", kind, draw
        self.stages = frozenset(Stage) - (frozenset() if kind is Kind.PURE else {Stage.MODEL_CHUNK})

    def _sometimes(self, given: Any) -> Any:
        return self._draw.choice(JUNK) if self._draw.random() < 0.3 else given

    def judge(self, *_asked: Any) -> Any:
        """A finding, or a ruling."""
        if self.kind is not Kind.RECORD:
            return findings(self._draw)
        since, until = self._sometimes(0), self._sometimes(FOREVER)
        made = self._draw.choice((None, findings(self._draw)))
        return self._sometimes(
            Ruling(made, self._sometimes({"n": 1}), since, until, self._sometimes(None))
        )

    def refused(self, *_asked: Any) -> Any:
        """What it says of a refusal."""
        return self.judge()

    def ask(self, event: Any) -> Any:
        """A question."""
        return self._sometimes(Lookup("", event, self._sometimes(50)))

    def call(self, _payload: Any) -> Any:
        """An answer."""
        return self._draw.choice(JUNK)

    def key(self, _event: Any) -> Any:
        """The name of its record."""
        return self._sometimes("{default}junk")

    def lines(self, _event: Any) -> Any:
        """What it counts."""
        bands = self._sometimes(((1, Action.WARN), (2, Action.BLOCK)))
        return self._sometimes((self._sometimes(Line("{default}junk:counted", bands)),))

    def word(self, *_asked: Any) -> Any:
        """What it says of that."""
        return findings(self._draw)

    watch = word


def tool(number: int) -> dict[str, int]:
    return {"number": number}


def broken(number: int) -> None:
    raise LookupError(number)


def pages(number: int) -> Iterator[int]:
    yield number


def everything(run: Any, number: int) -> None:
    """Every face of a run, whatever each of them says."""
    acts = (
        lambda: run.call(tool, number),
        lambda: run.call(broken, number),
        lambda: list(run.call(pages, number)),
        lambda: run.model(lambda _messages: "hi", [{"content": "hello"}]),
        lambda: list(run.stream(["a", "b"])),
        lambda: run.result(
            "tool", {"number": number}, number, call=run.check("tool", {"number": number}).id
        ),
        lambda: (
            run.prompt("hello"),
            run.handoff("bob", {}),
            run.handoff_done("bob"),
            run.egress("http://a.example"),
        ),
        lambda: run.charge(tokens=3, settled=True),
        lambda: run.rollback(),
    )
    for act in acts:
        try:
            act()
        except (Refused, ToolFailed, LookupError) as error:
            repr(error)


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("seed", range(200 if SOAK else 4))
def test_junk_in_any_field_fails_closed_and_nothing_raw_comes_out(kind: Kind, seed: int) -> None:
    """Through every face of a run; what is decided is in the trail."""
    draw, journal = random.Random(f"{kind}{seed}"), MemoryJournal()
    for number in range(4):
        shield = Shield.load({"name": "bare"}, guards=[Giving(kind, draw)], journal=journal)
        run = shield.run("ann", f"task {number}")
        everything(run, number)
        run.close()
        shield.close()
    assert len([kept.read() for kept in journal.kept()]) > 10


@pytest.mark.parametrize(
    "patches", [("x",), ({"path": ()},), (None,), 5, "patch", (Patch(JUNK[1], "x"),)]
)
@pytest.mark.parametrize("stage", [Stage.TOOL_CALL, Stage.TOOL_RESULT])
def test_a_finding_with_something_else_than_patches_is_the_guards_failure(
    stage: Stage, patches: Any
) -> None:
    """It is refused, named and written down; and what has happened is told as done."""
    journal = MemoryJournal()
    ran: list[int] = []
    guard = says(Action.REDACT, stage, patches=patches)
    run = Shield.load({"name": "bare"}, guards=[guard], journal=journal).run("ann")
    with pytest.raises(Refused, match="guard `says` failed") as refused:
        run.call(ran.append, 1)
    assert refused.value.decision.code == "kernel.guard_error"
    assert refused.value.happened == bool(ran) == (stage is Stage.TOOL_RESULT)
    assert [said.code for said in journal.kept()[-1].read().findings] == ["kernel.guard_error"]
