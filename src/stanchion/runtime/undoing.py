"""Undoing: what a run has done that can be undone, newest first, each once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from stanchion.audit.journal import Fact
from stanchion.locks import Lock
from stanchion.runtime.drivers import Flow
from stanchion.runtime.effects import Invoke
from stanchion.runtime.veiling import tell

if TYPE_CHECKING:
    from stanchion.runtime.desk import Desk
    from stanchion.runtime.ledger import Entry
    from stanchion.runtime.tool import Tool

MAX_UNDO: Final = 1_000
"""How many calls a run remembers how to undo; the oldest is forgotten first."""


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
        effect: Entry | None = None,
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
    """What a run has done that can be undone, in order; what its children do is part of it. Safe between threads."""

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

    def __len__(self) -> int:
        return len(self._done)


def remember(
    desk: Desk, tool: Tool, call: str, args: tuple[Any, ...], kwargs: dict[str, Any], effect: Entry | None = None
) -> bool:
    """Remember a call whose tool can undo it; says whether there is an undo."""
    undo = tool.undo if tool.undo is not None else desk.shield.policy.undo(tool.name)
    if undo is None:
        return False
    _push(desk, Done(tool.name, call, undo, args, kwargs, effect))
    return True


def remember_reported(desk: Desk, tool: str, call: str, args: dict[str, Any]) -> None:
    """Remember a call that a host has run, where the policy says what undoes it: it takes the arguments by name."""
    undo = desk.shield.policy.undo(tool)
    if undo is not None:
        _push(desk, Done(tool, call, undo, (), args))


def _push(desk: Desk, done: Done) -> None:
    if desk.undos.push(done) == 1:
        desk.tell(f"more than {MAX_UNDO:,} calls could be undone: from now on the oldest can not be any more")


def undone(desk: Desk, done: Done, what: str = "the action") -> Flow[Undone]:
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
    fact = Fact(shield.clock(), what, f"tool:{told.tool}", info.tenant, info.id, info.agent, data=data)
    if not shield.unwritten.put(lambda: tell(shield, fact), f"the undoing of `{told.call}`"):
        desk.tell("the audit trail cannot be written: that a call was undone is recorded as soon as it can be")


def roll_back(desk: Desk) -> Flow[tuple[Undone, ...]]:
    """Undo everything that the run and its children have done and that can be undone, newest first."""
    all_of_it: list[Undone] = []
    while (done := desk.undos.newest()) is not None:
        all_of_it.append((yield from undone(desk, done, f"`{desk.shield.policy.veil.name(done.tool)}`")))
    return tuple(all_of_it)
