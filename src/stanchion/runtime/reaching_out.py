"""Reaching out: which requests an action has paid for already, while it is at work."""

from __future__ import annotations

import threading
from contextvars import ContextVar
from typing import Any

from stanchion.kernel.units import Amounts, Unit
from stanchion.runtime.drivers import Flow


class Paid:
    """The API calls that an action has reserved; a request that leaves for it takes one of them."""

    __slots__ = ("_left", "_lock")

    def __init__(self, api_calls: int) -> None:
        self._left = api_calls
        self._lock = threading.Lock()

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
    """What the innermost action around the caller has reserved; `None` where it has reserved no API call."""
    return _paid.get()


def paying(reserved: Amounts, need: Any) -> Flow[Any]:
    """Let an action do its work; requests that it sends meanwhile take what it has reserved first."""
    if not reserved[Unit.API_CALLS]:
        return (yield need)
    before = _paid.get()
    _paid.set(Paid(reserved[Unit.API_CALLS]))
    try:
        return (yield need)
    finally:
        _paid.set(before)
