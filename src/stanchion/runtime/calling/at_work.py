"""The tool at work: whose call is under way, for whatever it does meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from stanchion.kernel.units import Amounts, Unit
from stanchion.locks import Lock
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.driving.flow import Flow, T
from stanchion.runtime.driving.sync import drive

AT_WORK: ContextVar[str] = ContextVar("stanchion_tool", default="")
"""The name of the tool at work."""


def tool_at_work() -> str:
    """The tool whose call is under way around the caller, the innermost; empty where there is
    none."""
    return AT_WORK.get()


@contextmanager
def working(tool: str) -> Iterator[None]:
    """A tool is at work inside."""
    before = AT_WORK.get()
    AT_WORK.set(tool)
    try:
        yield
    finally:
        AT_WORK.set(before)


def work(desk: Desk, tool: str, flow: Flow[T]) -> T:
    """Run the flow of a tool's call to its end in this thread."""
    before = AT_WORK.get()
    AT_WORK.set(tool)
    try:
        return drive(flow, desk)
    finally:
        AT_WORK.set(before)


async def awork(desk: Desk, tool: str, flow: Flow[T], at_once: bool = False) -> T:
    """The same on the running event loop, when it is its turn to begin, or `at_once`."""
    from stanchion.runtime.driving.doors import abegin
    from stanchion.runtime.driving.on_loop import adrive

    before = AT_WORK.get()
    AT_WORK.set(tool)
    try:
        return await (adrive if at_once else abegin)(flow, desk)
    finally:
        AT_WORK.set(before)


_asking: ContextVar[Desk | None] = ContextVar("stanchion_asking", default=None)


def asking() -> Desk | None:
    """The desk of the run whose request to a model is under way around the caller."""
    return _asking.get()


def asked_for(desk: Desk, flow: Flow[T]) -> Flow[T]:
    """A request to a model, known to whatever is done for it meanwhile."""
    before = _asking.get()
    _asking.set(desk)
    try:
        return (yield from flow)
    finally:
        _asking.set(before)


class Paid:
    """The API calls that an action has reserved; a request that leaves for it takes one of them."""

    __slots__ = ("_left", "_lock")

    def __init__(self, api_calls: int) -> None:
        self._left = api_calls
        self._lock = Lock()

    def take(self) -> bool:
        """Take one for a request; false where none is left, and the request counts by itself."""
        with self._lock:
            if self._left <= 0:
                return False
            self._left -= 1
            return True

    def give_back(self) -> None:
        """Give one back whose request did not leave."""
        with self._lock:
            self._left += 1


_paid: ContextVar[Paid | None] = ContextVar("stanchion_paid", default=None)


def paid() -> Paid | None:
    """What the innermost action around the caller has reserved; `None` where it has reserved no API
    call."""
    return _paid.get()


class Paying:
    """An action at work: requests that it sends meanwhile take what it has reserved first, unless a
    budget counts them and not the action (`counted`)."""

    __slots__ = ("_before", "_reserved")

    def __init__(self, reserved: Amounts, counted: bool) -> None:
        self._reserved = 0 if counted else reserved[Unit.API_CALLS]
        self._before: Paid | None = None

    def __enter__(self) -> None:
        if self._reserved:
            self._before = _paid.get()
            _paid.set(Paid(self._reserved))

    def __exit__(self, *_error: object) -> None:
        if self._reserved:
            _paid.set(self._before)
