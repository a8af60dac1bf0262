"""Undos: what a run has done that can be undone, newest first, each once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final, Protocol

from stanchion.kernel.tuples import NamedTuple
from stanchion.locks import Lock
from stanchion.runtime.driving.flow import Flow

MAX_UNDO: Final = 1_000
"""How many calls a run remembers how to undo; the oldest is forgotten first."""


class Effect(Protocol):
    """The page of a call in a ledger of what happens once."""

    def reversed(self, desk: Any) -> Flow[Any]:
        """Mark it as undone."""


class Done:
    """A call that can be undone: with its own arguments, as the objects they are."""

    __slots__ = ("_lock", "_taken", "args", "call", "effect", "kwargs", "tool", "undo")

    def __init__(
        self,
        tool: str,
        call: str,
        undo: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        effect: Effect | None = None,
    ) -> None:
        self.tool, self.call, self.undo = tool, call, undo
        self.args, self.kwargs, self.effect = args, kwargs, effect
        self._lock = Lock()
        self._taken = False

    def take(self) -> bool:
        """Whether it is the caller who undoes it: an undo runs once."""
        with self._lock:
            taken, self._taken = self._taken, True
            return not taken


class Undone(NamedTuple):
    """A call that was undone, or could not be: then `error` names what its undo raised."""

    tool: str
    call: str
    error: str = ""


class Undos:
    """What a run has done that can be undone, in order; what its children do is part of it. Safe
    between threads."""

    def __init__(self, above: Undos | None = None) -> None:
        self._above = above
        self._lock = Lock()
        self._done: OrderedDict[str, Done] = OrderedDict()
        self.forgotten = 0

    def push(self, done: Done) -> int:
        """Remember a call; says how many this run has had to forget so far."""
        if self._above is not None:
            self._above.push(done)
        with self._lock:
            self._done[done.call] = done
            if len(self._done) > MAX_UNDO:
                self._done.popitem(last=False)
                self.forgotten += 1
            return self.forgotten

    def take(self, call: str) -> Done | None:
        """One call, to be undone by the caller."""
        with self._lock:
            done = self._done.pop(call, None)
        return done if done is not None and done.take() else None

    def newest(self) -> Done | None:
        """The newest call that nobody has undone, to be undone by the caller."""
        while True:
            with self._lock:
                if not self._done:
                    return None
                _, done = self._done.popitem()
            if done.take():
                return done

    @property
    def most(self) -> int:
        """How many it remembers."""
        return MAX_UNDO

    def __len__(self) -> int:
        return len(self._done)
