"""Compiling a policy: entries become placed guards, each checked at its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from stanchion.kernel.actions import Category
from stanchion.kernel.contract.powers import having, stages_of
from stanchion.kernel.guard import Kind, Placed
from stanchion.kernel.stages import Stage
from stanchion.policy import bind_guards as binding, ladder
from stanchion.policy.checks import wrong_in
from stanchion.policy.compiled import CompiledPolicy, GuardSeat
from stanchion.policy.definitions import written_tools
from stanchion.policy.errors import Fault, GuardFault, PolicyError
from stanchion.policy.named_code import imported
from stanchion.policy.schema import (
    GUARDS,
    Placement,
    PolicyFile,
    id_of,
    use_of,
)
from stanchion.policy.seat import at_levels, call_of, misplaced, seat_of
from stanchion.policy.sections import RiskLevels


def idle(guard: Any, stages: frozenset[Stage], alone: bool) -> Iterator[tuple[str, str]]:
    """Options of a guard that do nothing at these stages, each with why and what to do instead.

    `alone` says that the guard has its counters to itself: one that shares them may be there to
    look at what others have counted.
    """
    for stage in getattr(guard, "at", None) or ():
        if stages and stage not in stages:
            said = f"`at` names the stage `{stage}`, at which this guard does not judge"
            yield "at", f"{said}: add the stage to `stages`, or leave it out"
    knowing = having(guard, "idle")
    yield from knowing.idle(stages, alone) if knowing is not None else ()


_PLACEMENT: Final = frozenset(Placement.__struct_fields__)

Where = Callable[..., str]
"""Gives the place of a value in the policy's files, by the path to it."""


def compile_policy(
    file: PolicyFile,
    where: Where,
    files: tuple[Path, ...] = (),
    whole: bool = True,
    imports: bool = True,
    told: Where | None = None,
    joined: bool = False,
) -> CompiledPolicy:
    """Place every enabled guard; raises `PolicyError` with every fault found.

    Of a policy that is not `whole` it is not told what may only seem wrong because a part is
    missing. Without `imports` none of the code that it names is run: such a policy can be compared
    with another, and not put in force. `told` gives a guard's place as people are told it, where
    that is more than the place of its entry. With `joined`, guards that a program hands in are
    added to it: `with_guards` looks whether one of them answers `degrade`.
    """
    faults = [Fault(where(*path), said) for path, said in wrong_in(file, whole)]
    tools, wrong = written_tools(file, where, imports)
    faults += wrong
    seats: list[GuardSeat] = []
    calls: dict[str, str] = {}
    taken: set[str] = set()
    unanswered: list[Fault] = []
    known = whole
    for at, entry in enumerate(file.guards):
        guard_id = id_of(entry)
        if guard_id in taken:
            message = f"id `{guard_id}` is taken: give each guard an id of its own"
            faults.append(Fault(where("guards", at, "id"), message))
        taken.add(guard_id)
        try:
            guard = _made(entry, guard_id)
        except GuardFault as fault:
            faults.append(Fault(where("guards", at, *fault.path), str(fault)))
            known = False
            continue
        holding = having(guard, "with_tools")
        guard = binding.scoped(guard if holding is None else holding.with_tools(tools), file, files)
        waiting = having(guard, "routed")
        guard = guard if waiting is None else waiting.routed(file.deep.waits())
        stages = (
            stages_of(guard)
            if entry.stages is None
            else frozenset(Stage(name) for name in entry.stages)
        )
        faults += [
            Fault(where("guards", at, *path), said)
            for path, said in misplaced(guard, guard.name, stages)
        ]
        alone = getattr(entry, "counter", None) is None
        faults += [
            Fault(where("guards", at, option), said) for option, said in idle(guard, stages, alone)
        ]
        if not entry.ends_chain and guard.kind in (Kind.RECORD, Kind.METER):
            faults.append(
                Fault(
                    where("guards", at, "ends_chain"),
                    f"`{guard.name}` keeps state, and its refusal ends the chain: leave this out",
                )
            )
        if not entry.enabled:
            continue
        marked = having(guard, "degrades")
        if marked is not None and (
            said := ladder.unanswered(file.degrade, marked.degrades, stages)
        ):
            option = marked.degrades.partition(":")[0]
            unanswered.append(Fault(where("guards", at, option), said))
        seat = _seat(
            file, entry, guard_id, guard, stages, (where if told is None else told)("guards", at)
        )
        for one in (seat, binding.beside(seat)):
            if one is not None:
                seats.append(one)
                call = call_of(one.placed.guard)
                calls |= {} if call is None else {one.placed.id: call}
    if any(tool.ask for tool in file.tools.values()):
        from stanchion.policy.asking import asking_seats  # it loads conditions

        asking, wrong = asking_seats(file, where if told is None else told, taken)
        seats += asking
        faults += wrong
    if known:
        heard = ladder.unheard(file.degrade, seats) if not joined else ()
        unheard = [Fault(where(*path), message) for path, message in heard]
        faults += unheard if unheard else unanswered
    undos: dict[str, Callable[..., Any]] = {}
    for name, tool in file.tools.items():
        if tool.undo is not None and imports:
            try:
                undos[name] = imported(tool.undo)
            except ValueError as error:
                faults.append(Fault(where("tools", name, "undo"), str(error)))
    if faults:
        raise PolicyError(faults)
    return CompiledPolicy(file, tuple(seats), calls, undos, files)


def _made(entry: Any, guard_id: str) -> Any:
    options = {
        name: getattr(entry, name) for name in entry.__struct_fields__ if name not in _PLACEMENT
    }
    if options.get("counter", guard_id) is None:
        options["counter"] = guard_id
    try:
        return GUARDS[use_of(entry)](**options)
    except GuardFault:
        raise
    except ValueError as error:
        raise GuardFault(str(error)) from None


def _seat(
    file: PolicyFile, entry: Any, guard_id: str, guard: Any, stages: frozenset[Stage], place: str
) -> GuardSeat:
    placed = Placed(
        guard_id,
        guard,
        guard.priority if entry.priority is None else entry.priority,
        guard.category if entry.category is None else Category[entry.category.upper()],
        stages,
        not entry.always and (entry.mode == "shadow" or file.mode == "shadow"),
        entry.fail_open or getattr(guard, "fail_open", False),
        entry.log_pass,
        entry.part_of,
        entry.effects,
        entry.ends_chain,
    )
    seat = seat_of(placed, place, entry.applies_to)
    return seat if file.risk == RiskLevels() else at_levels(file, seat, entry.always)
