"""Ways of deciding that are wrong in one thing each, as a path that is written anew may be: the
comparison of two ways has to notice every one of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final, NamedTuple

import msgspec
import pytest

from stanchion.audit.journal import MemoryJournal
from stanchion.kernel import resolution
from stanchion.readings import joined, past_call
from stanchion.readings.history import LoopHistory
from stanchion.runtime.deciding import judging
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.quiet import QuietPassage
from stanchion.runtime.deciding.run_memory import RunNotices
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield
from stanchion.stores import memory
from stanchion.telemetry.counting import Counting
from tests.decisions.ways import Engine

Make = Callable[[Any], object]
"""Makes something wrong of what is right."""
Swap = Callable[[], AbstractContextManager[object]]


class Wrong(NamedTuple):
    """A wrong way, the session by which it is noticed, and the parts that show it."""

    way: Engine
    session: str
    parts: tuple[str, ...]


def _instead(owner: object, name: str, make: Make) -> Swap:
    """Something else in the place of a function of the runtime, made from what is there."""

    @contextmanager
    def swapped() -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(owner, name, make(getattr(owner, name)))
            yield

    return swapped


def _by_bytes(_normal_form: Any) -> Any:
    return lambda tool, args: f"{tool}\0{{\0{json.dumps(args)}"


def _told_none(of: Any) -> Any:
    def forgotten(value: Any) -> Any:
        history = of(value)
        history.told = {}
        return history

    return forgotten


def _skipping(write: Any) -> Any:
    def written(journal: MemoryJournal, moment: Any, decision: Any, *rest: Any) -> int:
        quiet = not decision.findings and moment.events[0].stage == "tool_result"
        return 1 if quiet else write(journal, moment, decision, *rest)

    return written


def _silent(_announce: Any) -> Any:
    def announced(desk: Desk, run: Any) -> None:
        desk.told = run

    return announced


def _broken(_between: str) -> str:
    return "\n"


def _sampled(made: Any) -> Any:
    """A clock that is read at every fifth question."""

    def sampling(shield: Shield, policy: Any, *, clock: Callable[[], int], **named: Any) -> None:
        read: list[int] = []

        def asked() -> int:
            read.append(clock() if len(read) % 5 == 0 else read[-1])
            return read[-1]

        made(shield, policy, clock=asked, **named)

    return sampling


def _backwards(reached: Any) -> Any:
    return lambda found, cut: reached(found, cut)[::-1]


def _without(field: str) -> Make:
    """A batch is carried out without the last of what it has of one kind."""

    def losing(carry_out: Any) -> Any:
        def carried(state: Any, batch: Any, now: int) -> Any:
            less = {field: getattr(batch, field)[:-1]}
            return carry_out(state, msgspec.structs.replace(batch, **less), now)

        return carried

    return losing


def _left_as_it_is(_cut_off: Any) -> Any:
    return lambda *_args: iter(())


def _nothing(_real: Any) -> Any:
    return lambda *_args: None


def _unpaid(ajudge: Any) -> Any:
    async def judged(run: Run, stage: str, **fields: Any) -> Any:
        fields.pop("tokens", None)
        return await ajudge(run, stage, **fields)

    return judged


def _wrong(
    name: str,
    session: str,
    shown: str,
    owner: object,
    attribute: str,
    make: Make,
    **kind: Any,
) -> Wrong:
    swap = _instead(owner, attribute, make)
    return Wrong(Engine(name, around=swap, **kind), session, tuple(shown.split()))


RESERVED: Final = "what is reserved"
CUT_OFF: Final = f"{RESERVED}, struck after 1"
PLAINLY_CUT: Final = f"{RESERVED}, struck at 2, plainly"
LOST: Final = "verdicts state"
ALONE: Final = {"journal": "trail"}

WRONG: Final = (
    _wrong("history by raw bytes", "blanks at the end", LOST, past_call, "normal_form", _by_bytes),
    _wrong("told loops forgotten", "told once", "verdicts notices", LoopHistory, "of", _told_none),
    _wrong("a record skipped", "order of names", "records", MemoryJournal, "write", _skipping),
    _wrong("a run not announced", "order of names", "records", Desk, "announce", _silent, **ALONE),
    _wrong("another separator", "one secret in two texts", "verdicts", joined, "BETWEEN", _broken),
    _wrong("a sampled clock", "windows of time", "records", Shield, "__init__", _sampled),
    _wrong("another order of findings", RESERVED, "verdicts", resolution, "reached", _backwards),
    _wrong("a lost write", "blanks at the end", LOST, memory, "carry_out", _without("puts")),
    _wrong("a hold not settled", RESERVED, "state", memory, "carry_out", _without("settles")),
    _wrong("a hold not given back", CUT_OFF, "state", judging, "cut_off", _left_as_it_is),
    _wrong("a figure not counted", "order of names", "figures", Counting, "decided", _nothing),
    _wrong("an outcome not owed", PLAINLY_CUT, "state", QuietPassage, "left", _left_as_it_is),
    _wrong("an agent not told", "told once", "notices", RunNotices, "tell", _nothing),
    _wrong("an async twin that differs", RESERVED, LOST, Run, "ajudge", _unpaid, driver="loop"),
)
"""What a path that is written anew may lose."""
