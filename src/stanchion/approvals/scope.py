"""How far a yes reaches: one call, a run, a task, a time, or the calls that fit a pattern."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

import msgspec

from stanchion.approvals.errors import TicketError

STAR: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@=+, ")
"""What a `*` in a pattern stands for: nothing that a shell, a path or a query could make another command of."""


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


def said(scope: Scope, run: str = "", pattern: dict[str, str] | None = None) -> str:
    """A scope as it is signed, with all that it depends on."""
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
        return scope, msgspec.json.decode(rest, type=dict[str, str]) if scope is Scope.PATTERN else {}
    except (ValueError, msgspec.MsgspecError):
        raise TicketError(f"`{text}` is nothing that a yes can be for: sign the ticket again") from None


def checked_pattern(pattern: dict[str, str], args: Any) -> dict[str, str]:
    """A pattern that the call it is given for fits itself, and that leaves something open; `TicketError` otherwise."""
    if not isinstance(args, dict) or not pattern or not pattern.keys() <= args.keys():
        names = ", ".join(f"`{name}`" for name in args) if isinstance(args, dict) else "none"
        raise TicketError(f"a pattern is for arguments of this call: name some of {names}")
    for name, text in pattern.items():
        if not matches(text, args[name]):
            raise TicketError(
                f"`{name}` does not fit `{text}` itself: a `*` stands for letters, digits, spaces and `_-./:@=+,`"
            )
        if not text.replace("*", "").strip():
            raise TicketError(f"`{text}` would let any `{name}` through: write what has to be there")
    return pattern


def matches(pattern: str, value: Any) -> bool:
    """Whether a text fits. The star is matched from both ends, in one pass over each part."""
    if type(value) is not str or (".." in value and ".." not in pattern):
        return False
    first, *rest = pattern.split("*")
    if not rest:
        return value == pattern
    *middle, last = rest
    if not value.startswith(first) or len(value) < len(first) + len(last) or not value.endswith(last):
        return False
    at, end = len(first), len(value) - len(last)
    gaps = []
    for part in middle:
        found = value.find(part, at, end)
        if found < 0:
            return False
        gaps.append(value[at:found])
        at = found + len(part)
    gaps.append(value[at:end])
    return STAR.issuperset("".join(gaps))
