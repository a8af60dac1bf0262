"""Flows: what both drivers run, what they reach, and what they tell a flow where a need was not
met."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Final, Protocol, TypeVar

import msgspec

from stanchion.kernel.state import Batch, StoreLost
from stanchion.runtime.driving.turns import Turns
from stanchion.runtime.errors import DeadlineExceeded

T = TypeVar("T")
Flow = Generator[Any, Any, T]
"""A flow yields needs (`Batch`, `Ask`, `Invoke`, `Pause`, `Turn`) and returns its result."""


class World(Protocol):
    """What a driver reaches: the store, whatever answers lookups, and the lines of those who
    race."""

    @property
    def store(self) -> Any: ...

    @property
    def answering(self) -> Any: ...

    @property
    def turns(self) -> Turns: ...


def as_lost(need: Any, error: BaseException) -> BaseException:
    """What a flow gets where a need was not met. A store may raise anything: to whoever asked it,
    it is lost."""
    if type(need) is not Batch or isinstance(error, StoreLost) or not isinstance(error, Exception):
        return error
    lost = StoreLost(f"it failed with `{type(error).__name__}`: {error}")
    lost.__cause__ = error
    return lost


def unknown(need: Any) -> TypeError:
    """The error for a need that no driver meets."""
    return TypeError(f"a flow asked for `{type(need).__name__}`, which no driver does")


def rests(flow: Any) -> bool:
    """Whether a flow waits for its driver still: what its driver raises then is not what it
    raised."""
    return getattr(flow, "gi_frame", None) is not None


def told(flow: Flow[T], error: BaseException) -> Flow[T]:
    """The rest of a flow whose driver was cut off: it is told why, as of any other failure, and
    decides what it means. One that was dropped instead would leave what it has reserved, and no
    outcome."""
    try:
        need = flow.throw(error)
        while True:
            try:
                given = yield need
            except BaseException as trouble:  # noqa: BLE001 - the flow decides what every failure means
                need = flow.throw(trouble)
            else:
                need = flow.send(given)
    except StopIteration as done:
        result: T = done.value
        return result


def resumed(flow: Flow[T], batch: str, reply: Any) -> Flow[T]:
    """A flow whose first batch was carried out before it began: it gets that reply, or the error in
    its place, and asks nobody for it."""
    try:
        need = flow.send(None)
        while True:
            try:
                if reply is not None and type(need) is Batch and need.id == batch:
                    given, reply = reply, None
                    if isinstance(given, BaseException):
                        raise given
                else:
                    given = yield need
            except BaseException as trouble:  # noqa: BLE001 - the flow says what follows
                need = flow.throw(trouble)
            else:
                need = flow.send(given)
    except StopIteration as done:
        result: T = done.value
        return result


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


class TurnWait(msgspec.Struct, frozen=True, gc=False):
    """Wait until it is one's turn, but no longer than that."""

    place: Any
    patience_s: float


class TimePause(msgspec.Struct, frozen=True, gc=False):
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
