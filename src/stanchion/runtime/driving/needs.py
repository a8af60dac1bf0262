"""What a flow asks of its driver besides the engine's needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from stanchion.runtime.errors import DeadlineExceeded


class Invoke(msgspec.Struct, frozen=True, gc=False):
    """Run somebody's function; within `timeout_s` where that is given, and not at all when its
    `leave` is over.

    `ended` is told how it ends where it goes on after its time was up.
    """

    fn: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}
    timeout_s: float | None = None
    leave: Any = None
    ended: Callable[[str], None] | None = None


class Turn(msgspec.Struct, frozen=True, gc=False):
    """Wait until it is one's turn, but no longer than that."""

    place: Any
    patience_s: float


class Pause(msgspec.Struct, frozen=True, gc=False):
    """Let time pass."""

    seconds: float


class Aside(msgspec.Struct, frozen=True, gc=False):
    """Go on beside the event loop, if there is one: what follows takes long; or come back."""

    away: bool


AWAY: Final = Aside(True)
HERE: Final = Aside(False)


def too_late(need: Invoke, how: str = "") -> DeadlineExceeded:
    """The error for a function that did not finish in time; `how` says what became of it."""
    name = getattr(need.fn, "__name__", type(need.fn).__name__)
    return DeadlineExceeded(f"`{name}` did not finish within {need.timeout_s:g} s{how}")
