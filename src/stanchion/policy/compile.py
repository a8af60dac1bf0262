"""Compiling a policy: entries become placed guards, each checked at its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from stanchion.kernel.actions import Category
from stanchion.kernel.contract.powers import having, stages_of
from stanchion.kernel.guard import Placed
from stanchion.kernel.mandate import layer_of_task
from stanchion.kernel.stages import Stage
from stanchion.policy import ladder, scope as scoping
from stanchion.policy.compiled import CompiledPolicy, Seat
from stanchion.policy.definitions import written_tools
from stanchion.policy.errors import Fault, GuardFault, PolicyError
from stanchion.policy.faults.entry import wrong_in
from stanchion.policy.named_code import imported
from stanchion.policy.schema import (
    GUARDS,
    UTC,
    AppliesTo,
    Placement,
    PolicyFile,
    id_of,
    use_of,
)
from stanchion.policy.seat import call_of, misplaced, seat_of
from stanchion.policy.sections import Bypass, RiskLevels


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
    faults = [*(_inert(file, where) if whole else ()), *_concerning_nothing(file, where)]
    faults += [Fault(where("faults", *path), message) for path, message in wrong_in(file.faults)]
    faults += _wrong_mandates(file, where)
    tools, wrong = written_tools(file, where, whole, imports)
    faults += wrong
    faults += [
        Fault(where("degrade", *path), message) for path, message in ladder.wrong_in(file.degrade)
    ]
    faults += [*scoping.wrong_in(file, where), *(scoping.unread(file, where) if whole else ())]
    faults += [*(scoping.unspent(file, where) if whole else ())]
    if file.bypass.safety_responses:
        from stanchion.policy import standing

        faults += [
            Fault(where("bypass", *path), said) for path, said in standing.wrong_responses(file)
        ]
    if file.approved:
        from stanchion.policy import approved

        faults += approved.wrong_in(file, where, whole)
    if file.risk != RiskLevels():
        from stanchion.policy import levels

        faults += levels.wrong_in(file, where, whole)
    if file.timezone != UTC:
        from stanchion.kernel import calendar

        faults += [Fault(where("timezone"), said) for said in calendar.wrong_in(file.timezone)]
    seats: list[Seat] = []
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
        guard = scoping.scoped(guard if holding is None else holding.with_tools(tools), file, files)
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
        if entry.always or entry.part_of or entry.bypass != Bypass():
            from stanchion.policy import standing

            faults += [
                Fault(where("guards", at, *path), said)
                for path, said in standing.wrong_in(file, entry)
            ]
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
        for one in (seat, scoping.beside(seat)):
            if one is not None:
                seats.append(one)
                call = call_of(one.placed.guard)
                calls |= {} if call is None else {one.placed.id: call}
    if any(tool.ask for tool in file.tools.values()):
        from stanchion.policy.asking import asking_seats

        asking, wrong = asking_seats(file, where if told is None else told, taken)
        seats += asking
        faults += wrong
    if known:
        heard = ladder.unheard(file.degrade, seats) if not joined else ()
        unheard = [Fault(where("degrade", *path), message) for path, message in heard]
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
) -> Seat:
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
    )
    seat = seat_of(placed, place, entry.applies_to)
    if file.risk == RiskLevels():
        return seat
    from stanchion.policy.levels import at_levels

    return at_levels(file, seat, entry.always)


def _inert(file: PolicyFile, where: Where) -> Iterator[Fault]:
    """What a policy says that nothing acts on."""
    if not any(entry.enabled and use_of(entry) == "tool_allowlist" for entry in file.guards):
        said = [
            ("agents", name, "allowed_tools")
            for name, a in file.agents.items()
            if a.allowed_tools is not None
        ]
        said += [
            ("roles", name, "allowed_tools")
            for name, r in file.roles.items()
            if r.allowed_tools is not None
        ]
        said += [
            ("tasks", name, "additional_tools")
            for name, task in file.tasks.items()
            if task.additional_tools
        ]
        for spot in said:
            message = f"nothing acts on `{'.'.join(spot)}`: add a guard with `use: tool_allowlist`"
            yield Fault(where(*spot), message)
    for name, agent in file.agents.items():
        if file.roles and agent.role and agent.role not in file.roles:
            message = f"role `{agent.role}` is not among `roles`: {', '.join(sorted(file.roles))}"
            yield Fault(where("agents", name, "role"), message)


def _wrong_mandates(file: PolicyFile, where: Where) -> Iterator[Fault]:
    """Entries in what tasks may do that are neither effect nor tool."""
    for name, task in file.tasks.items():
        try:
            layer_of_task(task.may)
        except ValueError as error:
            yield Fault(where("tasks", name, "may"), str(error))


def _concerning_nothing(file: PolicyFile, where: Where) -> Iterator[Fault]:
    """Guards that are for nobody."""
    for at, entry in enumerate(file.guards):
        lists: dict[tuple[str, ...], Any] = {("stages",): entry.stages}
        lists |= {
            ("applies_to", name): getattr(entry.applies_to, name)
            for name in AppliesTo.__struct_fields__
        }
        for path, given in lists.items():
            if given == ():
                message = (
                    f"the guard applies to nothing: `{'.'.join(path)}` is empty; leave it "
                    f"out, or fill it"
                )
                yield Fault(where("guards", at, *path), message)
