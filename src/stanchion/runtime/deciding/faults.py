"""What a failure says about itself: its kinds, its status code, and whose fault it is."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakKeyDictionary

import msgspec

from stanchion.approvals.digest import bounded
from stanchion.audit.redaction import masked
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Failure
from stanchion.kernel.faults import COMMAND, FAULTS, UNKNOWN
from stanchion.kernel.guard import Reading
from stanchion.kernel.patches import PatchError, apply
from stanchion.kernel.sizes import CEILING, exceeds, unread
from stanchion.kernel.soundness import sound_or_none
from stanchion.policy.faults.lookup import fault_of
from stanchion.readings.act import act_of
from stanchion.readings.commands import USUAL, held
from stanchion.runtime.values import Unreadable, read
from stanchion.runtime.values.anatomy import state_of
from stanchion.runtime.values.words import at, texts_in

if TYPE_CHECKING:
    from stanchion.policy.compiled import CompiledPolicy
    from stanchion.runtime.deciding.desk import Desk

PLAIN: Final = frozenset({"Exception", "BaseException", "object"})
"""Kinds that every error is one of."""

MOST_BASES: Final = 20
MOST_SAID: Final = 4_000
"""How much is read of what a program had to say."""
MOST_BEHIND: Final = 8
"""How many errors are looked at: one, and those it was made from."""

_kinds: WeakKeyDictionary[type[BaseException], tuple[str, tuple[str, ...]]] = WeakKeyDictionary()


def described(
    policy: CompiledPolicy, error: BaseException, tool: Any = "", args: Any = None
) -> dict[str, Any]:
    """The fields of a failure that an error of a call tells: its name and text, its kinds, its
    status, whose fault it is."""
    kind, bases = kinds(error)
    silent = runs(tool, args) and _fault(policy, error, words=False) == UNKNOWN
    return {
        "error": kind,
        "text": text_of(error),
        "bases": (*bases, COMMAND) if silent else bases,
        "status": status_of(error),
        "fault": _fault(policy, error),
    }


def runs(tool: Any, args: Any) -> bool:
    """Whether a call runs a command or code, by its tool's name or by its arguments. What it fails
    with comes of that, unless the kind of the error or its status says otherwise: the words are the
    command's."""
    return type(tool) is str and (act_of(tool).runs or bool(held(tool, args, USUAL)))


def told(policy: CompiledPolicy, error: BaseException, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a failure that a host tells by the error itself, with what it knows besides."""
    if fields.get("status") is not None:
        return {**described(policy, error), "fault": "", **fields}
    call = () if fields.get("fault") else (fields.get("tool"), fields.get("args"))
    return {**described(policy, error, *call), **fields}


def reported(policy: CompiledPolicy, fields: dict[str, Any]) -> dict[str, Any]:
    """What a failure's fields say of it as an event has it: its kinds, and whose fault it is unless
    they say it themselves. Raises `ValueError` for a fault that there is not."""
    bases, fault = tuple(fields.get("bases", ())), fields.get("fault", "")
    if not fault:
        kind = (policy, fields["error"], bases, fields.get("status"))
        fault = fault_of(*kind, fields.get("text", ""))
        if runs(fields.get("tool"), fields.get("args")) and fault_of(*kind, "") == UNKNOWN:
            bases = (*bases, COMMAND)
    if fault not in FAULTS:
        raise ValueError(f"fault is `{fault}`: give one of {', '.join(FAULTS)}, or leave it out")
    return {"bases": bases, "fault": fault}


def kinds(error: BaseException) -> tuple[str, tuple[str, ...]]:
    """The name of an error's class, and the names of those it derives from, nearest first."""
    kind = type(error)
    known = _kinds.get(kind)
    if known is None:
        names = [base.__name__ for base in kind.__mro__[1:] if base.__name__ not in PLAIN]
        known = _kinds[kind] = (kind.__name__, tuple(dict.fromkeys(names))[:MOST_BASES])
    return known


def known_as(kind: type[BaseException], name: str, bases: tuple[str, ...]) -> None:
    """Have the errors of a class go by other names: those of the class that they stand for."""
    _kinds[kind] = (name, bases[:MOST_BASES])


def text_of(error: BaseException) -> str:
    """What an error says; nothing where it cannot say it."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - the text of a foreign error is foreign code
        return ""


def status_of(error: BaseException) -> int | None:
    """The HTTP status that an error carries, where libraries usually keep it; `None` where it has
    none."""
    response = _part(error, "response")
    places = [
        (error, "status_code"),
        (response, "status_code"),
        (error, "status"),
        (response, "status"),
    ]
    if not isinstance(error, SystemExit):
        places.append((error, "code"))
    found = [_as_status(_part(owner, name)) for owner, name in places]
    if isinstance(response, dict):
        told = response.get("ResponseMetadata")
        found.append(_as_status(told.get("HTTPStatusCode")) if isinstance(told, dict) else None)
    return next((status for status in found if status is not None), None)


def _part(owner: Any, name: str) -> Any:
    try:
        return getattr(owner, name, None)
    except Exception:  # noqa: BLE001 - attributes of a foreign error are foreign code
        return None


def _as_status(value: Any) -> int | None:
    if isinstance(value, str) and len(value) == 3 and value.isascii() and value.isdigit():
        value = int(value)
    return (
        int(value)
        if isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599
        else None
    )


def _fault(policy: CompiledPolicy, error: BaseException, words: bool = True) -> str:
    """Whose fault an error is, by its words, too, or only by its kind; one that does not tell is as
    the first of those behind it that does."""
    waiting = deque([error])
    for _ in range(MOST_BEHIND):
        if not waiting:
            break
        one = waiting.popleft()
        said = fault_of(policy, *kinds(one), status_of(one), _words(one) if words else "")
        if said != UNKNOWN:
            return said
        if one.__cause__ is not None:
            waiting.append(one.__cause__)
        if isinstance(one, BaseExceptionGroup):
            waiting.extend(one.exceptions[:MOST_BEHIND])
    return UNKNOWN


def _words(error: BaseException) -> str:
    """What an error says, with what a program that failed had to say about it."""
    said = _part(error, "stderr")
    if isinstance(said, bytes):
        said = said[-MOST_SAID:].decode("utf-8", "replace")
    text = text_of(error)
    return f"{text}\n{said[-MOST_SAID:]}" if isinstance(said, str) and said else text


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


WITHHELD: Final = "[withheld: its redaction does not fit]"
UNREAD: Final = "[withheld: it is too large to be read]"
MOST_TEXT: Final = 2_000
MOST_TRIED: Final = 20
MOST_NOTES: Final = 10
"""How much is kept of an error's text, of the errors behind it, of earlier attempts, and on an
error itself."""
TOLD: Final = "__stanchion_trouble__"
"""The attribute under which an error has what was decided about it."""


class Trouble(msgspec.Struct, frozen=True):
    """A failure as it stands for diagnosis: what failed with what, after how long, what was tried,
    and what came of it.

    Arguments and text are as records have them; `behind` are the kinds of errors that this one was
    made from.
    """

    tool: str
    call: str
    error: str
    text: str
    fault: str
    attempt: int
    args: Any
    took_ms: int
    behind: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    action: str = ""
    code: str = ""
    ended: str = ""


class JudgedFailure(NamedTuple):
    """What was decided about a failure, and what is known of it. It travels with the call: what the
    run has is of the failure that came last, which may be another thread's."""

    answer: Decision
    trouble: Trouble


def behind(error: BaseException) -> tuple[str, ...]:
    """The kinds of the errors that one was made from, nearest first; their texts nobody has
    judged."""
    found: list[str] = []
    seen = {id(error)}
    while len(found) < MOST_BEHIND:
        cause = error.__cause__
        if cause is None and not error.__suppress_context__:
            cause = error.__context__
        if cause is None or id(cause) in seen:
            break
        seen.add(id(cause))
        found.append(type(cause).__name__)
        error = cause
    return tuple(found)


def notes_of(took_ms: int, behind: tuple[str, ...], tried: tuple[str, ...]) -> tuple[str, ...]:
    """What a failure's record says beside the failure itself."""
    because = (f"it was caused by {', '.join(f'`{kind}`' for kind in behind)}",) if behind else ()
    return (*tried, f"it failed after {took_ms:,} ms", *because)


def attempted(attempt: int, error: str, took_ms: int) -> str:
    """An attempt that failed and was followed by another, in words."""
    return f"attempt {attempt} failed with `{error}` after {took_ms:,} ms"


def trouble_of(
    fault: Failure, answer: Decision, took_ms: int, behind: tuple[str, ...], tried: tuple[str, ...]
) -> Trouble:
    """A failure and what was decided about it, fit to be kept."""
    text = redacted(answer, fault.text)
    return Trouble(
        fault.tool,
        fault.call,
        fault.error,
        text if len(text) <= MOST_TEXT else text[:MOST_TEXT] + "…",
        fault.fault,
        fault.attempt,
        bounded(masked(fault.args)),
        took_ms,
        behind,
        tried,
        answer.action.name,
        answer.code,
    )


def redacted(answer: Decision, text: str) -> str:
    """An error's text as it may be handed on: it is handed on whatever is decided, so every
    redaction applies. What was too large to be read is not handed on."""
    if unread(answer.findings):
        return UNREAD
    patches = tuple([patch for finding in answer.findings for patch in finding.patches])
    try:
        return str(apply(text, patches)) if patches else text
    except PatchError:
        return WITHHELD


def told_on(error: BaseException) -> Trouble | None:
    """What Stanchion did about an error that a call has raised; `None` where nobody had anything to
    say of it."""
    found = getattr(error, TOLD, None)
    return found if isinstance(found, Trouble) else None


def tell_on(error: BaseException, trouble: Trouble) -> None:
    """Write on an error what Stanchion did about it; one that takes no notes goes without."""
    with contextlib.suppress(Exception):
        setattr(error, TOLD, trouble)
    if len(getattr(error, "__notes__", ())) >= MOST_NOTES:
        return
    said = f"stanchion: `{trouble.tool}`, attempt {trouble.attempt}, {trouble.took_ms:,} ms"
    what = [f"decided {trouble.action} `{trouble.code}`"] if trouble.code else []
    with contextlib.suppress(Exception):
        error.add_note(
            "; ".join([said, *what, *trouble.tried, *([trouble.ended] if trouble.ended else [])])
        )
