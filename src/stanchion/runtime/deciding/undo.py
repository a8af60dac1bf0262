"""Undoing: what a run has done that can be undone, newest first, each once."""

from __future__ import annotations

from typing import Any

from stanchion.audit.journal import Fact
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.undos import Done, Undone
from stanchion.runtime.driving.flow import Flow, Invoke
from stanchion.runtime.standing.veil import tell


def remember_reported(desk: Desk, tool: str, call: str, args: dict[str, Any]) -> None:
    """Remember a call that a host has run, where the policy says what undoes it: it takes the
    arguments by name."""
    undo = desk.shield.policy.undo(tool)
    if undo is not None:
        push(desk, Done(tool, call, undo, (), args))


def push(desk: Desk, done: Done) -> None:
    """Remember a call that can be undone; the agent is told when the first one has to be
    forgotten."""
    if desk.undos.push(done) == 1:
        desk.tell(
            f"more than {desk.undos.most:,} calls could be undone: from now on the oldest can no "
            f"longer be undone"
        )


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
