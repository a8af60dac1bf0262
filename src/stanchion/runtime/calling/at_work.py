"""The tool at work: whose call is under way, for whatever it does meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

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
