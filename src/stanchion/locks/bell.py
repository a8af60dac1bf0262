"""An event that stays usable when whoever sets it, or waits for it, is cut off."""

from __future__ import annotations

from _thread import allocate_lock


class Bell:
    """An event that one waits for, and anybody may set: nothing is held meanwhile that could stay
    held."""

    __slots__ = ("_is_set", "_still")

    def __init__(self) -> None:
        self._is_set = False
        self._still = allocate_lock()
        self._still.acquire()

    def is_set(self) -> bool:
        """Whether it was set since it was cleared."""
        return self._is_set

    def set(self) -> None:
        """Wake whoever waits, or waits next."""
        self._is_set = True
        try:
            self._still.release()
        except RuntimeError:  # it was set before
            return

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is set, for so many seconds at the most; says whether it was. It may wake
        early."""
        if not self._is_set:
            self._still.acquire(timeout=-1 if timeout is None else max(0.0, timeout))
        return self._is_set

    def clear(self) -> None:
        """Have the next one wait again; one who sets it meanwhile wakes it."""
        self._still.acquire(blocking=False)
        self._is_set = False
