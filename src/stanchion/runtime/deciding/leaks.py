"""Leaking: whether an error that the agent is about to get shows what guards redact."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Failure
from stanchion.kernel.guard import Reading
from stanchion.kernel.sizes import CEILING, exceeds, unread
from stanchion.kernel.soundness import sound_or_none
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.faults import text_of
from stanchion.runtime.values import Unreadable, read
from stanchion.runtime.values.anatomy import state_of
from stanchion.runtime.values.words import at, texts_in

ARGS: Final = BaseException.__dict__["args"]
SHORTEST: Final = 6
MOST_ERRORS: Final = 16
"""How many errors are looked at: one, and those that a traceback shows with it."""


def leaks(desk: Desk, answer: Decision, error: BaseException) -> bool:
    """Whether an error, or one that its traceback shows with it, says something that guards redact,
    or more than they can read."""
    if any(finding.patches for finding in answer.findings) or unread(answer.findings):
        return True
    plans = desk.plans
    probe = Failure(id="", at=0, run=plans.run, error=type(error).__name__)
    read = plans.policy.read
    plan = plans.of((probe,), answer.inputs.mode)
    redactors = [judge for pos, judge, _ in plan.redactors if not plan.guards[pos].shadow]
    said = (
        [read(msgspec.structs.replace(probe, text=text)) for text in _said_with(error)]
        if redactors
        else []
    )
    return any(_redacts(judge, reading) for reading in said for judge in redactors)


def _redacts(judge: Callable[[Any], Any], reading: Reading) -> bool:
    if exceeds(reading.event, CEILING):
        return True
    try:
        finding = sound_or_none(judge(reading))
    except Exception:  # noqa: BLE001 - a guard may raise anything; then the error is withheld
        return True
    return finding is not None and bool(finding.patches)


def held_by(error: BaseException) -> Iterator[str]:
    """The texts that an error holds besides its own: whoever catches it can read its fields."""
    state = state_of(error)
    held = {"args": list(ARGS.__get__(error))} | ({} if state is None else state)
    try:
        content = read({name: item for name, item in held.items() if name != "__notes__"}).content
    except Unreadable:
        return
    yield from [text for path in texts_in(content) if len(text := at(content, path)) >= SHORTEST]


def _said_with(error: BaseException) -> Iterator[str]:
    """What a traceback shows besides an error's own text: its notes, and the errors it was made
    from or groups."""
    waiting, seen = [error], {id(error)}
    while waiting and len(seen) <= MOST_ERRORS:
        one = waiting.pop(0)
        if one is not error:
            yield text_of(one)
        yield from held_by(one)
        yield from [note for note in getattr(one, "__notes__", ()) if isinstance(note, str)]
        near = [one.__cause__, None if one.__suppress_context__ else one.__context__]
        near += one.exceptions if isinstance(one, BaseExceptionGroup) else ()
        for other in near:
            if other is not None and id(other) not in seen:
                seen.add(id(other))
                waiting.append(other)
