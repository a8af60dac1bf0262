"""Records of what has happened that the journal did not take: kept in order, and written as soon as
it takes any."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from stanchion.audit.errors import AuditLost
from stanchion.locks import Reentrant
from stanchion.runtime.asides import aside

MOST: Final = 1_000
"""How many records wait; what comes when so many do is told to operators instead."""
TRIES: Final = 3
"""How often a record is offered that the journal stumbles over, where it does not say that it
cannot write at all."""

LATE: Final = "written late: the trail could not be written at the time"
"""What the record of an outcome notes that had to wait."""


class Waiting:
    """A record that waits: how it is written, and what it is called where operators are told of
    it."""

    __slots__ = ("tries", "what", "write")

    def __init__(self, write: Callable[[], object], what: str) -> None:
        self.write, self.what = write, what
        self.tries = 0


class Unwritten:
    """What a process has yet to write down of what has happened. `lost` is told why. Safe between
    threads."""

    def __init__(self, lost: Callable[[Exception], None]) -> None:
        self._lost = lost
        self.waiting: deque[Waiting] = deque()
        """What waits, oldest first. It is asked on every decision, and mostly empty."""
        self._lock = Reentrant()
        self._closed = False

    def keep(self, write: Callable[[], object], what: str, why: Exception) -> None:
        """Keep a record until the journal takes it; what never will be written is told to
        operators."""
        self._lost(why)
        with self._lock:
            if not self._closed and len(self.waiting) < MOST:
                self.waiting.append(Waiting(write, what))
                return
        aside(f"there is no record of {what}", why)

    def flush(self) -> None:
        """Write down what waits, oldest first; `AuditLost` where the journal does not take it."""
        with self._lock:
            while self.waiting:
                first = self.waiting[0]
                try:
                    first.write()
                except AuditLost:
                    raise
                except Exception as error:
                    first.tries += 1
                    if first.tries < TRIES:
                        raise AuditLost(
                            f"a record could not be written: `{type(error).__name__}`"
                        ) from error
                    aside(f"there is no record of {first.what}", error)
                self.waiting.popleft()

    def put(self, write: Callable[[], object], what: str) -> bool:
        """Write a record behind all that wait, or have it wait with them; says whether it is
        written."""
        try:
            if self.waiting:
                self.flush()
            write()
        except Exception as error:  # noqa: BLE001 - whatever a journal raises, it has happened
            self.keep(write, what, error)
            return False
        except BaseException:
            self.keep(write, what, AuditLost("writing it was interrupted"))
            raise
        return True

    def close(self) -> None:
        """Write down what still can be, and tell operators of the rest: nothing is kept any
        more."""
        with self._lock:
            self._closed = True
            try:
                self.flush()
            except AuditLost as lost:
                for one in self.waiting:
                    aside(f"there is no record of {one.what}", lost)
                self.waiting.clear()
