"""A lock that stays usable when its holder is cut off: by a signal handler that raises, or by
another thread.

An exception can strike between any two steps, also between taking a lock and the `try` or `with`
that would let go of it. So no holder is trusted to let go. A lock knows the frame that holds it,
and a frame that has ended holds nothing: whoever comes next takes over, and mends what was left
half done before it goes on.
"""

from __future__ import annotations

import sys
import time
from _thread import LockType, allocate_lock, get_ident
from collections import deque
from collections.abc import Callable, Sequence
from opcode import opmap
from types import FrameType, TracebackType
from typing import Any, Final

# An event that stays usable when whoever sets it, or waits for it, is cut off.


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


# Whether a frame will ever run again: one that has ended holds nothing, whatever it took.

RESUMABLE: Final = 0x20 | 0x80 | 0x200
"""What the code of generators and coroutines is marked with: their frames rest, and go on."""
YIELD: Final = opmap["YIELD_VALUE"]


def has_ended(frame: FrameType) -> bool:
    """Whether a frame will never run again. One that does may lose its variables, which nobody
    reads any more.

    A generator or coroutine that rests goes on some day; to ask would end it. So what follows the
    look at where it is has no step at which another thread could get in between.
    """
    rests = _rests(frame)
    try:
        if frame.f_lasti in rests:
            return False
        # The one question about a frame that is answered in one step: a frame that runs refuses
        frame.clear()
    except RuntimeError:
        return False
    return True


def _rests(frame: FrameType) -> frozenset[int]:
    """The steps of a frame at which it rests."""
    code = frame.f_code
    if not code.co_flags & RESUMABLE:
        return frozenset()
    steps = code.co_code
    return frozenset([at for at in range(0, len(steps), 2) if steps[at] == YIELD])


STEP_S: Final = 0.02
"""How long one who waits sleeps before it looks whether the holder is still there."""
YIELD_S: Final = 2 * STEP_S
"""How long everybody else lets one go first who was called in vain; it may have been cut off, so no
longer."""

Holder = Sequence[Any]
"""The frame that holds it, `None` where that may end before; then whatever else is to be known."""


class Lock:
    """One holder at a time, first come, first served as far as that costs nothing.

    Use it as `with lock:`, without `yield` or `await` in it: nobody takes over from a frame that
    rests. `mend` makes whole what the lock is around. It runs when the body raised, and when a
    holder was cut off, before anybody else gets in. It must not raise, and may itself be cut off
    and run again. Who does not get it within `patience_s` gets what `late` gives.
    """

    __slots__ = ("_first", "_held", "_late", "_mend", "_patience_s", "_waiting")

    def __init__(
        self,
        mend: Callable[[], object] | None = None,
        patience_s: float | None = None,
        late: Callable[[], Exception] = TimeoutError,
    ) -> None:
        # Holders in the order in which each took over from the one before, who was cut off. Who
        # adds itself holds the lock; letting go puts an empty row in place of it. Both are one
        # step, so there is nothing between.
        self._held: dict[int, Holder] = {}
        self._waiting: deque[LockType] = deque()
        # One who was called and came too late, because somebody who hardly lets go had it again;
        # and until when the others let it go first.
        self._first: tuple[LockType, float] | None = None
        self._mend = mend
        self._patience_s, self._late = patience_s, late

    def __enter__(self) -> None:
        me = (sys._getframe(1),)
        if (self._first is not None or self._held.setdefault(0, me) is not me) and not self._wait(
            me, self._patience_s
        ):
            raise self._late()

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        if kind is not None and self._mend is not None:
            self._mend()
        self._held = {}
        if self._waiting or self._first is not None:
            self._call()

    @property
    def locked(self) -> bool:
        """Whether somebody holds it, who may have been cut off."""
        return bool(self._held)

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for it."""
        return bool(self._waiting)

    def within(self, seconds: float) -> Attempt:
        """The same for one who waits no longer than that: `with lock.within(1) as held:` says
        whether it is."""
        return Attempt(self, seconds)

    def take(self, seconds: float) -> bool:
        """Hold it until `give_back`, in whatever frame that is; `False` where it is not free in
        time. Nobody takes over from one who holds it so."""
        me: Holder = [None]  # a tuple would be a constant, the same for everybody
        return (self._first is None and self._held.setdefault(0, me) is me) or self._wait(
            me, seconds
        )

    def give_back(self) -> None:
        """Let go of what was taken, if it was."""
        if any(holder[0] is None for holder in list(self._held.values())):
            self.__exit__(None, None, None)

    def _last(self) -> Holder | None:
        held = self._held
        return held[len(held) - 1] if held else None

    def _is_held_by(self, frame: FrameType) -> bool:
        """Whether a frame holds it, or whoever took it for longer than a frame lasts."""
        holder = self._last()
        return holder is not None and (holder[0] is None or holder[0] is frame)

    def _wait(self, me: Holder, seconds: float | None) -> bool:
        """Wait for the lock; says whether it is held now.

        Who lets go calls one who waits. A call can be lost, where the one who calls is cut off, and
        a holder that is cut off calls nobody: so everybody who waits also looks for itself now and
        then.
        """
        until = None if seconds is None else time.monotonic() + seconds
        called = allocate_lock()
        called.acquire()
        waited = False
        while True:
            held, place, first = self._held, 0, self._first
            is_first = first is not None and first[0] is called
            if first is None or is_first or first[1] < time.monotonic():
                while (holder := held.setdefault(place, me)) is not me and _is_over(holder, me):
                    place += 1
                if holder is me:
                    if held is not self._held:
                        continue  # what was taken over had been let go of meanwhile
                    self._first = None
                    if place and self._mend is not None:
                        self._mend()
                    return True
                if waited:
                    self._first = (called, time.monotonic() + YIELD_S)
            left = STEP_S if until is None else min(STEP_S, until - time.monotonic())
            if left <= 0:
                first = self._first  # it may have been put there just now
                if first is not None and first[0] is called:
                    self._first = None
                return False
            self._waiting.append(called)
            if held is self._held:
                called.acquire(timeout=left)
                waited = True
            if called in self._waiting:
                self._forget(called)

    def _forget(self, called: LockType) -> None:
        try:
            self._waiting.remove(called)
        except ValueError:
            return

    def _call(self) -> None:
        """Call whoever goes first, or has waited for longest."""
        try:
            first = self._first
            (self._waiting.popleft() if first is None else first[0]).release()
        except (IndexError, RuntimeError):  # nobody waits any more, or it was called before
            return


class Attempt:
    """A lock that is waited for no longer than some time."""

    __slots__ = ("_held", "_lock", "_seconds")

    def __init__(self, lock: Lock, seconds: float) -> None:
        self._lock, self._seconds, self._held = lock, seconds, False

    def __enter__(self) -> bool:
        lock, me = self._lock, (sys._getframe(1),)
        self._held = (lock._first is None and lock._held.setdefault(0, me) is me) or lock._wait(
            me, self._seconds
        )
        return self._held

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        if self._held:
            self._lock.__exit__(kind, error, trace)


def _is_over(holder: Holder, me: Holder) -> bool:
    """Whether a holder was cut off: its frame has ended, or has come here again."""
    frame = holder[0]
    return frame is not None and (frame is me[0] or has_ended(frame))


# The lock for one who may come again while it holds it.


class Reentrant(Lock):
    """The same for one whose holder may come again while it holds it, further down in the same
    thread."""

    __slots__ = ()

    def __enter__(self) -> None:
        frame = sys._getframe(1)
        me = (frame, get_ident())
        holder = self._held.setdefault(0, me)
        if holder is not me and not self._is_above(frame):
            self._wait(me, None)

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        if self._is_held_by(sys._getframe(1)):
            super().__exit__(kind, error, trace)

    def _is_above(self, frame: FrameType) -> bool:
        """Whether a frame that this thread will come back to holds it."""
        holder = self._last()
        if holder is None or holder[0] is None or holder[0] is frame:
            return False
        return holder[1] == get_ident() and not has_ended(holder[0])
