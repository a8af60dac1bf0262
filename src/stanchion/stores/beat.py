"""Deadlines on an event loop that count only time in which the loop could have done something.

Ten thousand tasks that begin at once hold their loop up for seconds before it can look at a single
answer. Had all their deadlines passed by then, they would all be refused, and nothing done. So time
goes by in beats, of which there is at most one in each turn of the loop.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

BEATS: Final = 10
"""How many beats somebody waits."""


class Beat:
    """The beat of one loop: calls whoever has waited for `BEATS` of them, which take `patience_s`
    on an idle loop."""

    __slots__ = ("_beats", "_due", "_loop", "_step_s", "_waiting")

    def __init__(self, loop: asyncio.AbstractEventLoop, patience_s: float) -> None:
        self._loop: Final = loop
        self._step_s: Final = patience_s / BEATS
        self._beats = 0
        self._due = 0.0
        self._waiting: Final[OrderedDict[Any, tuple[int, Callable[[], object]]]] = OrderedDict()

    @property
    def is_over(self) -> bool:
        """Whether the loop is closed."""
        return self._loop.is_closed()

    def watch(self, who: Any, call: Callable[[], object]) -> None:
        """Call somebody when its time is over."""
        self._waiting[who] = (self._beats + BEATS, call)
        # A beat that does not come was cut off, and is begun anew by the next who waits.
        if not self._due or self._loop.time() > self._due + self._step_s * BEATS:
            self._next()

    def forget(self, who: Any) -> None:
        """Let somebody wait no longer."""
        self._waiting.pop(who, None)

    def _next(self) -> None:
        self._due = self._loop.time() + self._step_s
        self._loop.call_at(self._due, self._beat)

    def _beat(self) -> None:
        self._due = 0.0
        if self._waiting:
            self._next()
        self._beats += 1
        for who, (until, call) in list(self._waiting.items()):
            if until > self._beats:
                return
            self._waiting.pop(who, None)
            call()
