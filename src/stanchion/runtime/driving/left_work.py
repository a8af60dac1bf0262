"""Work that is left: its time is up, nobody waits for it any more, and it goes on. Its end is told
when it comes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stanchion.locks import Lock
from stanchion.runtime.asides import aside

Ended = Callable[[str], None]
"""Is told how work has ended that was left."""


class InThread:
    """A function as a thread calls it, which may be left meanwhile."""

    def __init__(self, work: Callable[[], Any], ended: Ended | None) -> None:
        self._work, self._ended = work, ended
        self._lock = Lock()
        self._begun = self._done = self._left = False

    def __call__(self) -> Any:
        """Call it, in the thread."""
        how = "it has ended"
        with self._lock:
            self._begun = True
        try:
            value = self._work()
            how = "it returned"
            return value
        except BaseException as error:
            how = raised(error)
            raise
        finally:
            with self._lock:
                self._done = True
                left = self._left
            if left:
                told(self._ended, how)

    def leave(self) -> bool:
        """Wait for it no longer; says whether it is at work still."""
        with self._lock:
            self._left = True
            return self._begun and not self._done


def raised(error: BaseException) -> str:
    """How work ended that raised; the words of an error may hold secrets."""
    return f"it raised `{type(error).__name__}`"


def told(ended: Ended | None, how: str) -> None:
    """Tell of the end of work that was left; nobody is there who could be given an error."""
    if ended is not None:
        try:
            ended(how)
        except Exception as error:  # noqa: BLE001 - the trail may be lost, or closed
            aside("there is no record of the end of a call that was left running", error)
