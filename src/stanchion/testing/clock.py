"""A clock that stands still until a test moves it."""

from __future__ import annotations


class FakeClock:
    """Gives milliseconds when called, as a store's clock does; `advance` moves it, nothing else
    does."""

    def __init__(self, start_ms: int = 1_000_000) -> None:
        self._now_ms = start_ms

    def __call__(self) -> int:
        return self._now_ms

    def advance(self, ms: int) -> int:
        """Move the clock and say what it shows now. A negative step is a host clock that was set
        back."""
        self._now_ms += ms
        return self._now_ms
