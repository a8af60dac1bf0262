"""Reaching out: which requests an action has paid for already, while it is at work."""

from __future__ import annotations

from contextvars import ContextVar

from stanchion.kernel.units import Amounts, Unit
from stanchion.locks import Lock


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
