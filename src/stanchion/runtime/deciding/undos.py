"""Undos: what a run has done that can be undone, newest first, each once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol

from stanchion.audit.journal import Fact
from stanchion.kernel.tuples import NamedTuple
from stanchion.locks import Lock
from stanchion.runtime.driving.flow import Flow, Invoke
from stanchion.runtime.standing.veil import tell

if TYPE_CHECKING:
    from stanchion.runtime.deciding.desk import Desk

MAX_UNDO: Final = 1_000
"""How many calls a run remembers how to undo; the oldest is forgotten first."""


class UndoPage(Protocol):
    """The page of a call in a ledger of what happens once."""

    def reversed(self, desk: Any) -> Flow[Any]:
        """Mark it as undone."""


class UndoableCall:
    """A call that can be undone: with its own arguments, as the objects they are."""

    __slots__ = ("_lock", "_taken", "args", "call", "effect", "kwargs", "tool", "undo")

    def __init__(
        self,
        tool: str,
        call: str,
        undo: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        effect: UndoPage | None = None,
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


class UndoStack:
    """What a run has done that can be undone, in order; what its children do is part of it. Safe
    between threads."""

    def __init__(self, above: UndoStack | None = None) -> None:
        self._above = above
        self._lock = Lock()
        self._done: OrderedDict[str, UndoableCall] = OrderedDict()
        self.forgotten = 0

    def push(self, done: UndoableCall) -> int:
        """Remember a call; says how many this run has had to forget so far."""
        if self._above is not None:
            self._above.push(done)
        with self._lock:
            self._done[done.call] = done
            if len(self._done) > MAX_UNDO:
                self._done.popitem(last=False)
                self.forgotten += 1
            return self.forgotten

    def take(self, call: str) -> UndoableCall | None:
        """One call, to be undone by the caller."""
        with self._lock:
            done = self._done.pop(call, None)
        return done if done is not None and done.take() else None

    def newest(self) -> UndoableCall | None:
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


def remember_reported(desk: Desk, tool: str, call: str, args: dict[str, Any]) -> None:
    """Remember a call that a host has run, where the policy says what undoes it: it takes the
    arguments by name."""
    undo = desk.shield.policy.undo(tool)
    if undo is not None:
        push(desk, UndoableCall(tool, call, undo, (), args))


def push(desk: Desk, done: UndoableCall) -> None:
    """Remember a call that can be undone; the agent is told when the first one has to be
    forgotten."""
    if desk.undos.push(done) == 1:
        desk.tell(
            f"more than {desk.undos.most:,} calls could be undone: from now on the oldest can no "
            f"longer be undone"
        )


def undone(desk: Desk, done: UndoableCall, what: str = "the action") -> Flow[Undone]:
    """Undo a call that was taken, and write down what came of it."""
    try:
        yield Invoke(done.undo, done.args, done.kwargs)
    except Exception as error:  # noqa: BLE001 - whatever an undo raises, the others have their turn
        told = Undone(done.tool, done.call, type(error).__name__)
        desk.tell(f"{what} could not be undone: `{desk.shield.policy.veil.name(told.error)}`")
    else:
        told = Undone(done.tool, done.call)
    write_down(desk, told)
    if done.effect is not None and not told.error:
        yield from done.effect.reversed(desk)
    return told


def write_down(desk: Desk, told: Undone) -> None:
    """Record that a call was undone, or could not be."""
    info, shield = desk.info, desk.shield
    data = {"call": told.call, **({"error": told.error} if told.error else {})}
    what = "undo.failed" if told.error else "undo.done"
    fact = Fact(
        shield.clock(), what, f"tool:{told.tool}", info.tenant, info.id, info.agent, data=data
    )
    if not shield.unwritten.put(lambda: tell(shield, fact), f"the undoing of `{told.call}`"):
        desk.tell(
            "the audit trail cannot be written: the undoing of a call is recorded as soon as it "
            "can be"
        )


def roll_back(desk: Desk) -> Flow[tuple[Undone, ...]]:
    """Undo everything that the run and its children have done and that can be undone, newest
    first."""
    all_of_it: list[Undone] = []
    while (done := desk.undos.newest()) is not None:
        all_of_it.append(
            (yield from undone(desk, done, f"`{desk.shield.policy.veil.name(done.tool)}`"))
        )
    return tuple(all_of_it)
