"""How far a yes reaches: one call, a run, a task, a time, or the calls that fit a pattern."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

import msgspec

from stanchion.approvals.errors import TicketError

_WORDS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

STAR: Final = frozenset(f"{_WORDS}-./:@=+,")
"""What a `*` in a pattern stands for: a part of one word, and nothing that a shell, a path or a
query could make another command of."""

BEGINS: Final = frozenset(f"{_WORDS}.")
"""What a word begins with where a `*` begins it: no option, and no way to another folder."""

TWICE: Final = ("..", "--")
"""What leads out of a folder, or makes a comment of what follows: only where the pattern itself has
it."""


class Scope(StrEnum):
    """How far a yes reaches."""

    ONCE = "once"
    RUN = "run"
    """The same call, as often as this run asks for it."""
    TASK = "task"
    """The same call, in every run of this task."""
    TIME = "time"
    """The same call, in every task, until its time is over."""
    PATTERN = "pattern"
    """Calls of the same tool in this task whose arguments fit."""


def said(
    scope: Scope,
    run: str = "",
    pattern: dict[str, str] | None = None,
    edits: dict[str, Any] | None = None,
) -> str:
    """A scope as it is signed, with all that it depends on: so is what a yes to one call changes of
    it."""
    if scope is Scope.ONCE and edits:
        return "once " + msgspec.json.encode(edits, order="deterministic").decode()
    if scope is Scope.RUN:
        return f"run {run}"
    if scope is Scope.PATTERN:
        return "pattern " + msgspec.json.encode(pattern, order="deterministic").decode()
    return scope.value


def reach(text: str) -> tuple[Scope, dict[str, str]]:
    """The scope that was signed so, and its pattern; `TicketError` where it is none."""
    kind, _, rest = text.partition(" ")
    try:
        scope = Scope(kind)
        return scope, msgspec.json.decode(
            rest, type=dict[str, str]
        ) if scope is Scope.PATTERN else {}
    except (ValueError, msgspec.MsgspecError):
        raise TicketError(
            f"`{text}` is not a scope that a yes can have: sign the ticket again"
        ) from None


def edits_of(text: str) -> dict[str, Any]:
    """What a yes that was signed so changes of the arguments of its call; `TicketError` where it
    cannot be read."""
    kind, _, rest = text.partition(" ")
    if kind != Scope.ONCE or not rest:
        return {}
    try:
        return msgspec.json.decode(rest, type=dict[str, Any])
    except msgspec.MsgspecError:
        raise TicketError(f"`{text}` is not a change of a call: sign the ticket again") from None


def checked_pattern(
    pattern: dict[str, str], args: Any, sinks: tuple[str, ...] = ()
) -> dict[str, str]:
    """A pattern that the call it is given for fits itself, and that leaves something open, but not
    whom or what the call acts on; `TicketError` otherwise."""
    if not isinstance(args, dict) or not pattern or not pattern.keys() <= args.keys():
        names = ", ".join(f"`{name}`" for name in args) if isinstance(args, dict) else "none"
        raise TicketError(f"a pattern is for arguments of this call: give one or more of {names}")
    for name, text in pattern.items():
        if name in sinks:
            raise TicketError(f"`{name}` says what the tool acts on: it has to stay the same")
        if type(args[name]) is not str:
            raise TicketError(
                f"`{name}` is not text: only text can have a pattern, other values have to stay "
                f"the same"
            )
        if not matches(text, args[name]):
            raise TicketError(
                f"`{name}` does not match `{text}` itself: a `*` stands for part of one word, of "
                f"letters, digits "
                "and `_-./:@=+,`"
            )
        if not any(map(str.isalnum, text)):
            raise TicketError(
                f"`{text}` would let any `{name}` through: write the part that has to be there"
            )
    return pattern


def matches(pattern: str, value: Any) -> bool:
    """Whether a text fits. The star is matched from both ends, in one pass over each part."""
    if type(value) is not str:
        return False
    first, *rest = pattern.split("*")
    if not rest:
        return value == pattern
    *middle, last = rest
    if (
        not value.startswith(first)
        or len(value) < len(first) + len(last)
        or not value.endswith(last)
    ):
        return False
    at, end = len(first), len(value) - len(last)
    gaps = []
    for part in middle:
        found = value.find(part, at, end)
        if found < 0:
            return False
        gaps.append((at, found))
        at = found + len(part)
    gaps.append((at, end))
    return all(_plain(value, *gap) for gap in gaps) and all(
        _times(value, two) <= _times(pattern, two) for two in TWICE
    )


def _plain(value: str, at: int, end: int) -> bool:
    """Whether what a star stands for is a part of one word, begins none with an option, and leads
    nowhere else."""
    gap = value[at:end]
    if not STAR.issuperset(gap):
        return False
    before = value[at - 1] if at else " "
    if gap and before.isspace() and gap[0] not in BEGINS:
        return False
    pairs = zip(before + gap, gap, strict=False)
    return all(two != "/" or one in BEGINS or one in "-/" for one, two in pairs)


def _times(text: str, two: str) -> int:
    """How often two characters stand beside each other."""
    return sum([text.startswith(two, at) for at in range(len(text))])
