"""What is known of a failure, for whoever has to find out why: kept on the run, and told on the
error itself."""

from __future__ import annotations

import contextlib
from typing import Any, Final, NamedTuple

import msgspec

from stanchion.audit.redaction import masked
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Failure
from stanchion.kernel.patches import PatchError, apply
from stanchion.kernel.sizes import unread

WITHHELD: Final = "[withheld: its redaction does not fit]"
UNREAD: Final = "[withheld: it is too large to be read]"
MOST_TEXT: Final = 2_000
MOST_BEHIND: Final = 8
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
    from stanchion.approvals.digest import bounded

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
