"""What befalls a session from outside, the same in every way of deciding: interrupts, a lost store,
other threads.

A store and a journal stay what they are, so that whatever the runtime asks of their kind is
answered; only the methods that carry out and write are stood before.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final

from stanchion.kernel.state import StoreLost

CARRYING: Final = ("carry", "acarry", "try_carry")
"""The methods by which a store is given a batch, as far as it has them."""
PATIENCE_S: Final = 60.0
"""After so long a thread that waits for its turn is taken to be stuck."""


class Turns:
    """Has one thread work at a time: at the store the next one of the list goes on. Behind the end
    of the list the first name of those that are at work is next."""

    def __init__(self, order: Sequence[str], names: Sequence[str]) -> None:
        self._order, self._alive = list(order), set(names)
        self._moved = threading.Condition()
        self._names: dict[int, str] = {}
        self._now = ""
        self._next()

    @contextmanager
    def at_work(self, name: str) -> Iterator[None]:
        """Work under a name, from its first turn on."""
        self._names[threading.get_ident()] = name
        self._wait(name)
        try:
            yield
        finally:
            with self._moved:
                self._alive.discard(name)
                self._next()
                self._moved.notify_all()

    def pass_on(self) -> None:
        """Let the next one go on until it is this one's turn again; who has no name only passes."""
        name = self._names.get(threading.get_ident())
        if name is not None:
            with self._moved:
                self._next()
                self._moved.notify_all()
            self._wait(name)

    def _next(self) -> None:
        self._order = [name for name in self._order if name in self._alive]
        self._now = self._order.pop(0) if self._order else min(self._alive, default="")

    def _wait(self, name: str) -> None:
        with self._moved:
            if not self._moved.wait_for(lambda: self._now == name, PATIENCE_S):
                raise AssertionError(f"`{name}` never got its turn")


class Befalling:
    """Stands before a store and a journal. The batches of `lost` do not arrive; at the batch with
    the number `struck` (below zero: the record) an error is raised, `after` it was carried out or
    before."""

    def __init__(
        self,
        lost: Sequence[int],
        struck: int,
        error: type[BaseException],
        after: bool,
        turns: Turns | None,
    ) -> None:
        self._lost, self._turns = frozenset(lost), turns
        self._struck, self._error, self._after = struck, error, after
        self._counts = {1: 0, -1: 0}
        self._inside = False
        self.on = False
        """Whether anything befalls: not while a shield is made, and not at its end."""

    def stand_before(self, store: Any, journal: Any) -> None:
        """Have all batches and records come by here, where anything befalls them at all."""
        if self._lost or self._struck > 0 or self._turns is not None:
            for name in CARRYING:
                if hasattr(store, name):
                    setattr(store, name, self._stand_in(getattr(store, name), name == "acarry"))
        if self._struck < 0:
            write = journal.write

            def written(*args: Any) -> Any:
                with self._meet(-1):
                    return write(*args)

            journal.write = written

    def _stand_in(self, carry: Callable[..., Any], awaited: bool) -> Callable[..., Any]:
        @wraps(carry)
        def carried(batch: Any) -> Any:
            with self._meet(1):
                return carry(batch)

        @wraps(carry)
        async def acarried(batch: Any) -> Any:
            with self._meet(1):
                return await carry(batch)

        return acarried if awaited else carried

    @contextmanager
    def _meet(self, kind: int) -> Iterator[None]:
        """Count a batch (1) or a record (-1), once where one method calls another, and let befall
        what is to."""
        if not self.on or self._inside:
            yield
            return
        if kind > 0 and self._turns is not None:
            self._turns.pass_on()
        self._counts[kind] += 1
        number = kind * self._counts[kind]
        if number in self._lost:
            raise StoreLost(f"batch {number} is lost before it was carried out")
        if number == self._struck and not self._after:
            raise self._error
        self._inside = True
        try:
            yield
        finally:
            self._inside = False
        if number == self._struck:
            raise self._error
