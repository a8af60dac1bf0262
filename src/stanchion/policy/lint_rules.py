"""The rules of the linter that look at guards, names and entries: each finds where something cannot
be meant, what it is, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.contract.powers import having
from stanchion.kernel.events import OF_STAGE, RunInfo
from stanchion.kernel.guard import Kind
from stanchion.kernel.names import glob, is_glob
from stanchion.kernel.option import Stricter, Strictness
from stanchion.kernel.stages import UNTALLIED, Stage
from stanchion.policy.compiled import CompiledPolicy, GuardSeat
from stanchion.policy.conditions import Condition
from stanchion.policy.conditions.view import STANDARD, EventView
from stanchion.policy.document import Document
from stanchion.policy.loosening.compare import TABLES
from stanchion.policy.loosening.guards import PLACEMENT
from stanchion.policy.merge import ADD, REPLACE, Replaced, settled
from stanchion.policy.nearest import KnownNames
from stanchion.policy.reach import LISTS, TOOL, conjuncts, silenced
from stanchion.policy.rules import Rule
from stanchion.policy.schema import GUARDS, id_of, use_of, ways_of
from stanchion.policy.tool_lint import (
    Schemas,
    about_arguments,
    about_effects,
    fitting,
    lacking_arguments,
    named_in,
    written_schemas,
)

Finding = tuple[str, str, str]
"""A place, what is odd there, and what to do."""
Findings = Iterator[Finding]
Names = Iterator[tuple[str, str, str]]
"""Names with the place where each stands, and the guard that names it."""

GROWING: Final = frozenset({Stricter.MORE, Stricter.WIDER})
"""Lists that refuse more the more is in them: what is dropped is let through."""
SHOWN: Final = 5
"""How many dropped entries are named."""
CALLED: Final = frozenset({Stage.TOOL_CALL, Stage.TOOL_RESULT, Stage.ERROR})
"""Stages whose `action.type` depends on the tool and its arguments."""
OF_CALLS: Final = frozenset({"action.command", "action.target_file", "action.target_files"})
"""Names that are worked out from a call's arguments."""
TRUST: Final = "enforce it once you trust it"
TWO: Final = "would have to be two different things at once"
ROLELESS: Final = "give it to an agent, unless runs name their own role"


class LintSubject:
    """One policy in one environment, as it is looked over."""

    def __init__(
        self, document: Document, policy: CompiledPolicy, env: str | None, tools: Schemas
    ) -> None:
        self.document, self.policy, self.file, self.env = document, policy, policy.file, env
        self.schemas = {**tools, **written_schemas(policy.file)}
        self.where = settled(document).where
        seats = {seat.placed.id: seat for seat in policy.seats}
        self.seated = [
            (at, seats[id_of(entry)])
            for at, entry in enumerate(policy.file.guards)
            if entry.enabled
        ]
        self.rules = [
            (at, seat, seat.placed.guard)
            for at, seat in self.seated
            if isinstance(seat.placed.guard, Rule)
        ]
        self.places = {seat.placed.id: self.at(at) for at, seat in self.seated}
        self.tools = KnownNames(name for name in self._tools() if not is_glob(name))
        self.declared = {
            "agents": KnownNames(policy.file.agents),
            "tasks": KnownNames(policy.file.tasks),
        }
        roles = {agent.role for agent in policy.file.agents.values()} | {*policy.file.roles}
        self.roles = KnownNames(role for role in sorted(roles) if role)

    def _tools(self) -> Iterator[str]:
        """Every tool that is named where tools are spoken of, not where they are guarded."""
        yield from self.file.tools
        lists = [agent.allowed_tools for agent in self.file.agents.values()]
        lists += [role.allowed_tools for role in self.file.roles.values()]
        lists += [task.additional_tools for task in self.file.tasks.values()]
        for listed in lists:
            yield from () if listed is None else listed

    def at(self, number: int, *path: str) -> str:
        """The place of an option of a guard, by the number of its entry."""
        return self.where("guards", number, *path)

    def reads(self, table: str, key: str) -> bool:
        """Whether a guard of this policy reads that key."""
        reading = [having(seat.placed.guard, "reads") for _, seat in self.seated]
        return any((table, key) in one.reads for one in reading if one is not None)


def contradictions(look: LintSubject) -> Findings:
    for at, seat, rule in look.rules:
        never = f"`{seat.placed.id}` never applies"
        for name in _impossible(rule.when_condition):
            said = f"{never}: `{name}` {TWO}"
            yield look.at(at, "when"), said, "join the values with `or`, or by `in`"
        for name in _impossible(rule.check_condition):
            said = f"the check of `{seat.placed.id}` is never true: `{name}` {TWO}"
            yield look.at(at, "check"), said, "join the values with `or`, or leave it out"
        for kind, name in LISTS.items():
            listed = getattr(seat, kind)
            asked = rule.needs.get(name, rule.needs.get("event.tool") if name == TOOL else None)
            if listed is not None and asked and not any(one in listed for one in _texts(asked)):
                said = (
                    f"{never}: `when` needs {_shown(asked)}, which `applies_to.{kind}` leaves out"
                )
                yield look.at(at, "applies_to", kind), said, "make both name the same"


def _impossible(condition: Condition | None) -> list[str]:
    return [] if condition is None else [name for name, one in condition.needs.items() if not one]


def _texts(values: frozenset[Any]) -> list[str]:
    return [value for value in values if isinstance(value, str)]


def _shown(values: frozenset[Any]) -> str:
    return ", ".join(f"`{value}`" for value in sorted(map(str, values)))


def unreachable(look: LintSubject) -> Findings:
    for at, seat, rule in look.rules:
        never, stages = f"`{seat.placed.id}` never applies", sorted(seat.placed.stages)
        shown = ", ".join(f"`{stage}`" for stage in stages)
        at_stage, types = rule.needs.get("event.stage"), rule.needs.get("action.type")
        if at_stage and not at_stage & {stage.value for stage in stages}:
            wanted = ", ".join(sorted(map(str, at_stage)))
            said = f"{never}: it judges {shown} and needs the stage {wanted}"
            yield look.at(at, "when"), said, f"write `stages: [{wanted}]`"
        if types and not types & frozenset().union(*map(_types, stages)):
            said = f"{never}: no `action.type` at {shown} is {', '.join(sorted(map(str, types)))}"
            yield look.at(at, "when"), said, "name the stages where it is, as `stages`"
        for option, condition in (("when", rule.when_condition), ("check", rule.check_condition)):
            for name in sorted(condition.reads if condition is not None else ()):
                having_it = _stages_with(name)
                if not seat.placed.stages & {*having_it}:
                    said = f"`{name}` is always null here: no event at {shown} has it"
                    advice = f"name stages that do, as in `stages: [{', '.join(having_it)}]`"
                    yield look.at(at, option), said, advice


def _stages_with(name: str) -> list[Stage]:
    """The stages at which a name of conditions can be there."""
    group, _, rest = name.partition(".")
    field = "args" if name in OF_CALLS else rest.partition(".")[0] if group == "event" else ""
    return [stage for stage in Stage if not field or hasattr(OF_STAGE[stage], field)]


def _types(stage: Stage) -> frozenset[str]:
    """What `action.type` can be at a stage."""
    if stage not in CALLED:
        return frozenset({_only_type(stage)})
    fixed = {_only_type(other) for other in Stage if other not in CALLED} - {"http"}
    return frozenset(STANDARD.words["action.type"].choices) - fixed


def _only_type(stage: Stage) -> str:
    kind: Any = OF_STAGE[stage]
    words = {
        field.name: ""
        for field in msgspec.structs.fields(kind)
        if field.required and field.type is str
    }
    event = kind(**{**words, "id": "", "at": 0, "run": RunInfo("")})
    return str(EventView(event).action_type)


def without_role(look: LintSubject) -> Findings:
    for at, seat, rule in look.rules:
        wanted = [str(role) for role in sorted(rule.needs.get("agent.role", ()), key=str)]
        if wanted and look.roles.names and not {"", *look.roles.names} & {*wanted}:
            near = next((near for role in wanted if (near := look.roles.meant(role))), None)
            roles = ", ".join(f"`{role}`" for role in wanted)
            said = f"`{seat.placed.id}` never applies: no agent has the role {roles}"
            yield look.at(at, "when"), said, f"did you mean `{near}`?" if near else ROLELESS


def _named(look: LintSubject, kind: str) -> Names:
    """The names of agents, tasks or tools that guards are about."""
    for at, seat in look.seated:
        guard, listed = seat.placed.guard, getattr(seat, kind)
        if kind == "tools":
            yield from [(name, look.at(at, "tools"), seat.placed.id) for name in _own_tools(guard)]
        exact = sorted(listed.exact if listed is not None else ())
        spots: list[tuple[str, tuple[str, ...]]] = [(name, ("applies_to", kind)) for name in exact]
        if isinstance(guard, Rule):
            needed = sorted(_texts(guard.needs.get(LISTS[kind], frozenset())))
            spots += [(name, ("when",)) for name in needed]
        yield from [(name, look.at(at, *path), seat.placed.id) for name, path in spots]


def _own_tools(guard: Any) -> tuple[str, ...]:
    """The tools that a policy names among a guard's own options; a list that the guard brings along
    is nobody's."""
    usual = {field.name: field.default for field in msgspec.structs.fields(guard)}
    named = guard.tools if "tools" in usual else ()
    return tuple(named) if isinstance(named, tuple | dict) and named != usual.get("tools") else ()


def misspelt(look: LintSubject) -> Findings:
    for name, place, guard in _named(look, "tools"):
        near = None if is_glob(name) else look.tools.meant(name)
        if near is not None:
            said = f"`{guard}` names the tool `{name}`, which is named nowhere else"
            yield place, said, f"did you mean `{near}`?"
    for (place, said, _), near in _undeclared(look):
        if near is not None:
            yield place, said, f"did you mean `{near}`?"


def undeclared(look: LintSubject) -> Findings:
    yield from [found for found, near in _undeclared(look) if near is None]


def _undeclared(look: LintSubject) -> Iterator[tuple[Finding, str | None]]:
    """Names of agents, tasks and tools in mandates that are nobody's, each with the nearest."""
    for kind, known in look.declared.items():
        for name, place, guard in _named(look, kind) if known.names else ():
            if name and not any(glob(entry, name) for entry in known.names):
                said = f"`{guard}` names `{name}`, which is not among `{kind}`"
                advice = "check the name; it need not be declared"
                yield (place, said, advice), known.meant(name)
    for task, _, name, path in named_in(look.file, look.tools):
        if not fitting(name, look.tools):
            said = f"no tool that is known fits `{name}` in the mandate of task `{task}`"
            yield (look.where(*path), said, "name a tool that there is"), look.tools.meant(name)


def always_warns(look: LintSubject) -> Findings:
    last = look.policy.warnings
    for at, seat in look.seated:
        answering = having(seat.placed.guard, "actions")
        heard = not seat.placed.shadow and seat.placed.stages - UNTALLIED
        warns = answering is not None and Action.WARN in answering.actions()
        if heard and warns and _speaks_always(seat):
            waits = f"warning {last} of a task waits for a person"
            said = f"`{seat.placed.id}` warns about every call, and {waits}"
            advice = "apply it to less, or write `action: allow`, which only records"
            yield look.at(at, "action"), said, advice


def _speaks_always(seat: GuardSeat) -> bool:
    guard = seat.placed.guard
    if seat.agents is not None or seat.tasks is not None or seat.tools is not None:
        return False
    if isinstance(guard, Rule) and guard.check is None:
        parts = conjuncts(guard.when)
        staged = guard.needs.get("event.stage", frozenset()) >= {
            stage.value for stage in seat.placed.stages
        }
        return not parts or (staged and len(parts) == 1)
    knowing = having(guard, "always_speaks")
    return knowing is not None and knowing.always_speaks()


def watching(look: LintSubject) -> Findings:
    for at, seat in look.seated:
        if seat.placed.shadow and look.file.mode != "shadow":
            yield look.at(at, "mode"), f"`{seat.placed.id}` only watches (`mode: shadow`)", TRUST
    if look.file.mode == "shadow" and look.env is None:
        yield look.where("mode"), "the whole policy only watches (`mode: shadow`)", TRUST


def disabled(look: LintSubject) -> Findings:
    for at, entry in enumerate(look.file.guards):
        if not entry.enabled:
            said = f"the guard `{entry.id if entry.id else use_of(entry)}` is switched off"
            yield look.at(at, "enabled"), said, "remove it once you do not need it any more"


def unguarded(look: LintSubject) -> Findings:
    if not look.policy.seats:
        said = "the policy has no guard, so everything goes ahead"
        yield look.where("guards"), said, "add guards, or extend a pack"


def shadowed(look: LintSubject) -> Findings:
    for seat, other in silenced(look.policy.seats):
        one, before = seat.placed.id, other.placed.id
        stopper = f"`{before}` ({look.places.get(before, other.place)})"
        said = f"`{one}` is never reached: {stopper} stops everything that it applies to"
        advice = "give it a smaller `priority`, or remove one of them"
        yield look.places.get(one, seat.place), said, advice


def arguments(look: LintSubject) -> Findings:
    numbers = {seat.placed.id: at for at, seat in look.seated}
    for seat in look.policy.seats:
        at = numbers.get(seat.placed.id)
        for said, advice, path in about_arguments(seat, look.schemas):
            yield seat.place if at is None else look.at(at, *path), said, advice


def mandate_arguments(look: LintSubject) -> Findings:
    for _, entry, name, path in named_in(look.file, look.tools):
        for tool, arg in lacking_arguments(entry, fitting(name, look.tools), look.schemas):
            said = f"no call of `{tool}` has the argument `{arg}`, so none fits the mandate"
            yield look.where(*path), said, "name one of its arguments"


def effects(look: LintSubject) -> Findings:
    for seat, point in about_effects(look.policy, look.schemas):
        yield seat.place, point.message, point.advice


def unused_roles(look: LintSubject) -> Findings:
    taken = {agent.role for agent in look.file.agents.values()}
    for role in look.file.roles:
        if role not in taken:
            yield look.where("roles", role), f"no agent has the role `{role}`", ROLELESS


def unused_capabilities(look: LintSubject) -> Findings:
    conditions = [
        part for *_, rule in look.rules for part in (rule.when_condition, rule.check_condition)
    ]
    read = any("agent.capabilities" in part.reads for part in conditions if part is not None)
    read = read or look.reads("agents", "capabilities") or look.reads("roles", "capabilities")
    if not read and all(seat.placed.kind is not Kind.ASKING for _, seat in look.seated):
        for table, holders in (("roles", look.file.roles), ("agents", look.file.agents)):
            for name, holder in holders.items():
                if getattr(holder, "capabilities", ()):
                    said = f"no guard looks at the capabilities of `{name}`"
                    advice = "write a rule that reads `agent.capabilities`, or remove them"
                    yield look.where(table, name, "capabilities"), said, advice


def unused_entries(look: LintSubject) -> Findings:
    for table, what in (("agents", "agent"), ("tasks", "task"), ("tools", "tool")):
        # A guard that looks an agent's role up knows by that which agents there are: being listed
        # says something.
        known = table == "agents" and look.reads("agents", "role")
        entries = {} if known else getattr(look.file, table)
        patterns = [name for name in entries if is_glob(name)]
        for name, entry in entries.items():
            overrides = any(pattern != name and glob(pattern, name) for pattern in patterns)
            if entry == type(entry)() and not overrides:
                said = f"the entry of {what} `{name}` says nothing that is not already true"
                advice = "add something to it, or remove it"
                yield look.where(table, name), f"{said} for every {what}", advice


def meaningless_levels(look: LintSubject) -> Findings:
    for name, task in look.file.tasks.items():
        level = task.risk
        if level and level != "critical" and getattr(look.file.risk, level) is None:
            said = f"the task `{name}` has the risk level `{level}`, and the policy says nothing"
            advice = f"say what it means with `risk: {{{level}: …}}`, or leave it out"
            yield look.where("tasks", name, "risk"), f"{said} of that level", advice


def unused_levels(look: LintSubject) -> Findings:
    asked = {task.risk for task in look.file.tasks.values()} - {None}
    for meant in look.file.risk.given() if asked else ():
        if meant not in asked:
            said = (
                f"no task has the risk level `{meant}`: only runs have it that name it themselves"
            )
            advice = "give it to a task, or remove it if no program names it"
            yield look.where("risk", meant), f"{said} themselves", advice


def dropped(look: LintSubject) -> Findings:
    """A list that refuses less for what it drops is likely not meant, and a key with nothing behind
    it never says what it does."""
    yield from [found for likely, found in _replaced(look) if likely]


def replaced(look: LintSubject) -> Findings:
    yield from [found for likely, found in _replaced(look) if not likely]


def _replaced(look: LintSubject) -> Iterator[tuple[bool, Finding]]:
    """Lists that replace others without saying so, and whether it is likely that this is not
    meant."""
    for each in look.document.replaced:
        more = f" and {len(each.lost) - SHOWN} more" if len(each.lost) > SHOWN else ""
        some = ", ".join([f"`{name}`" for name in each.lost[:SHOWN]]) + more
        likely = True
        if each.blank:
            said = f"`{each.key}:` is empty, which removes what is inherited: {some}"
            advice = f"leave the line out to keep it, or write `{each.key}: null` if this is meant"
        elif not each.owner and each.key == "guards":
            said = f"`guards: []` removes every inherited guard: {some}"
            advice = "leave the line out to keep them, or write `guards"
            advice += f"{REPLACE}: []` if this is meant"
        else:
            are = "is" if len(each.lost) == 1 else "are"
            said = f"`{each.key}` replaces the inherited list, and {some} {are} no longer in it"
            advice = f"write `{each.key}{ADD}:` to add to that list, or `{each.key}{REPLACE}:` if"
            advice += " this is meant"
            likely = _stricter(each) in GROWING
        yield likely, (str(each.at), said, advice)


def _stricter(each: Replaced) -> Strictness | None:
    if each.owner in GUARDS:
        placed = PLACEMENT.get(each.key, PLACEMENT.get(f"applies_to.{each.key}"))
        return ways_of(each.owner).get(each.key, placed)
    tables = {
        name.rpartition(".")[2]: way for table in TABLES.values() for name, way in table.items()
    }
    return tables.get(each.key)


def joined(look: LintSubject) -> Findings:
    for doubt in look.document.doubts:
        said, _, advice = doubt.message.rpartition(": ")
        yield doubt.place, said, advice
