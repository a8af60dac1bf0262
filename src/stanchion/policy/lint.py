"""Linting a policy: what loads and works, and still cannot be what its author meant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from stanchion.kernel.contract.powers import having
from stanchion.kernel.contract.values import Point, Sure
from stanchion.kernel.guard import Kind
from stanchion.kernel.names import glob, is_glob
from stanchion.kernel.option import Stricter, Strictness
from stanchion.policy.argument_lint import NONE_KNOWN, Schemas, about_arguments, written_schemas
from stanchion.policy.compiled import CompiledPolicy, Seat
from stanchion.policy.document import Document, in_order
from stanchion.policy.effect_lint import about_effects
from stanchion.policy.errors import Fault, PolicyError
from stanchion.policy.lists import ADD, REPLACE, Replaced, settled
from stanchion.policy.load import compile_document, read_policy
from stanchion.policy.loosening.guards import PLACEMENT
from stanchion.policy.loosening.tables import TABLES
from stanchion.policy.mandate_lint import about_mandates
from stanchion.policy.overlay import environment
from stanchion.policy.reach import LISTS, silenced
from stanchion.policy.rule_lint import about_guard, about_rule
from stanchion.policy.rules import Rule
from stanchion.policy.schema import GUARDS, id_of, use_of, ways_of
from stanchion.policy.spelling import Known
from stanchion.policy.trap_lint import about_names, about_options

if TYPE_CHECKING:
    from pathlib import Path


GROWING: Final = frozenset({Stricter.MORE, Stricter.WIDER})
"""Lists that refuse more the more is in them: what is dropped is let through."""

SHOWN: Final = 5
"""How many dropped entries are named."""


def about_lists(document: Document) -> Iterator[tuple[Fault, str, Sure]]:
    """Lists that replace others without saying so: where and what, what to do, and how sure it is
    that this is not meant. A list that refuses less for it is likely not, and a key with nothing
    behind it never says what it does."""
    for each in document.replaced:
        some = ", ".join([f"`{name}`" for name in each.lost[:SHOWN]])
        more = f" and {len(each.lost) - SHOWN} more" if len(each.lost) > SHOWN else ""
        are = "is" if len(each.lost) == 1 else "are"
        if each.blank:
            what = f"`{each.key}:` is empty, which removes what is inherited: {some}{more}"
            advice = f"leave the line out to keep it, or write `{each.key}: null` if this is meant"
            yield Fault(str(each.at), what), advice, "likely"
            continue
        if not each.owner and each.key == "guards":
            what = f"`guards: []` removes every inherited guard: {some}{more}"
            advice = (
                f"leave the line out to keep them, or write `guards{REPLACE}: []` if this is meant"
            )
            yield Fault(str(each.at), what), advice, "likely"
            continue
        what = f"`{each.key}` replaces the inherited list, and {some}{more} {are} no longer in it"
        advice = (
            f"write `{each.key}{ADD}:` to add to that list, or `{each.key}{REPLACE}:` if this is "
            f"meant"
        )
        yield Fault(str(each.at), what), advice, "likely" if _stricter(each) in GROWING else "info"


def _stricter(each: Replaced) -> Strictness | None:
    if each.owner in GUARDS:
        placed = PLACEMENT.get(each.key, PLACEMENT.get(f"applies_to.{each.key}"))
        return ways_of(each.owner).get(each.key, placed)
    tables = {
        name.rpartition(".")[2]: way for table in TABLES.values() for name, way in table.items()
    }
    return tables.get(each.key)


Spot = tuple[str, tuple[str, ...]]
"""A name, and the path from a guard's entry to where it stands."""


class Remark(msgspec.Struct, frozen=True):
    """One thing to look at: where, how sure it is that something is wrong, what it is and what to
    do.

    `info` is no mistake, only something that is easily forgotten. `env` is set where it is so in
    one environment alone.
    """

    place: str
    code: str
    sure: Sure
    message: str
    advice: str
    env: str | None = None

    def __str__(self) -> str:
        where = "" if self.env is None else f" (in environment `{self.env}`)"
        return f"{self.place}: {self.message}{where}: {self.advice}"


class Linted(NamedTuple):
    """What was found, and in which environments (`None`: without one) it was looked for."""

    remarks: tuple[Remark, ...]
    checked: dict[str | None, CompiledPolicy]

    @property
    def clean(self) -> bool:
        """Whether nothing was found that is more than worth knowing."""
        return all(remark.sure == "info" for remark in self.remarks)


def lint(
    source: str | Path | dict[str, Any], env: str | None = None, tools: Schemas = NONE_KNOWN
) -> Linted:
    """Look a policy over in one environment, or in all and without any; `PolicyError` has every
    fault of them. `tools` are the schemas of tools that are known beside those of the policy."""
    read = read_policy(source)
    documents: dict[str | None, Document] = (
        read.variants if env is None else {env: environment(read.whole, env)}
    )
    checked: dict[str | None, CompiledPolicy] = {}
    faults: list[Fault] = []
    for name, document in documents.items():
        try:
            if document.faults:
                raise PolicyError(list(document.faults))
            checked[name] = compile_document(document, read.files)
        except PolicyError as error:
            faults += error.faults
    if faults:
        raise PolicyError(in_order(faults))
    return looked_over(documents, checked, tools)


def looked_over(
    documents: dict[str | None, Document],
    checked: dict[str | None, CompiledPolicy],
    tools: Schemas = NONE_KNOWN,
) -> Linted:
    """What there is to say of a policy that loads, in each of these environments."""
    return Linted(
        _merged(
            {
                name: list(_Linting(documents[name], policy, name, tools).remarks())
                for name, policy in checked.items()
            }
        ),
        checked,
    )


def _merged(found: dict[str | None, list[Remark]]) -> tuple[Remark, ...]:
    """Each remark once, in the order of the files; what is unused counts only where it is unused
    everywhere."""
    everywhere = set.intersection(*(set(remarks) for remarks in found.values()))
    plain = set(found.get(None, ()))
    kept: dict[Remark, None] = {}
    for name, remarks in found.items():
        for remark in remarks:
            if remark in everywhere or (remark in plain and remark.code != "unused"):
                kept[remark] = None
            elif remark.code != "unused":
                kept[msgspec.structs.replace(remark, env=name)] = None
    numbered = list(kept)
    ranked = in_order([Fault(remark.place, str(at)) for at, remark in enumerate(numbered)])
    return tuple(numbered[int(each.message)] for each in ranked)


class _Linting:
    """One policy in one environment."""

    def __init__(
        self, document: Document, policy: CompiledPolicy, env: str | None, tools: Schemas
    ) -> None:
        self.schemas = {**tools, **written_schemas(policy.file)}
        self.where = settled(document).where
        self.document = document
        self.policy = policy
        self.file = policy.file
        self.env = env
        seats = {seat.placed.id: seat for seat in policy.seats}
        self.seated = [
            (at, seats[id_of(entry)])
            for at, entry in enumerate(policy.file.guards)
            if entry.enabled
        ]
        self.tools = Known(name for name in self._tools() if not is_glob(name))
        self.declared = {"agents": Known(policy.file.agents), "tasks": Known(policy.file.tasks)}
        roles = {agent.role for agent in policy.file.agents.values()} | {*policy.file.roles}
        self.roles = Known(role for role in sorted(roles) if role)

    def _tools(self) -> Iterator[str]:
        """Every tool that is named where tools are spoken of, not where they are guarded."""
        yield from self.file.tools
        lists = [agent.allowed_tools for agent in self.file.agents.values()]
        lists += [role.allowed_tools for role in self.file.roles.values()]
        lists += [task.additional_tools for task in self.file.tasks.values()]
        for listed in lists:
            yield from () if listed is None else listed

    def remarks(self) -> Iterator[Remark]:
        """All there is to say."""
        for at, seat in self.seated:
            for code, sure, message, advice, path in self._about(seat):
                yield Remark(self.where("guards", at, *path), code, sure, message, advice)
        yield from self._about_all()
        places = {seat.placed.id: self.where("guards", at) for at, seat in self.seated}
        for seat, other in silenced(self.policy.seats):
            one, before = seat.placed.id, other.placed.id
            stopper = f"`{before}` ({places.get(before, other.place)})"
            said = f"`{one}` is never reached: {stopper} stops everything that it applies to"
            advice = "give it a smaller `priority`, or remove one of them"
            yield Remark(places.get(one, seat.place), "shadowed", "certain", said, advice)
        yield from self._unused_roles()
        yield from self._unused_entries()
        yield from self._unused_levels()
        for code, sure, said, advice, path in about_mandates(self.file, self.tools, self.schemas):
            yield Remark(self.where(*path), code, sure, said, advice)
        for fault, advice, sure in about_lists(self.document):
            yield Remark(fault.place, "replaces", sure, fault.message, advice)
        for doubt in self.document.doubts:
            said, _, advice = doubt.message.rpartition(": ")
            yield Remark(doubt.place, "joined", "likely", said, advice)
        for trap in about_names(self.document.root, self.tools.names):
            yield Remark(str(trap.node.at), "pattern", "likely", trap.message, trap.advice)
        for at, entry in enumerate(self.file.guards):
            if not entry.enabled:
                said = f"the guard `{entry.id if entry.id else use_of(entry)}` is switched off"
                advice = "remove it once you do not need it any more"
                yield Remark(self.where("guards", at, "enabled"), "disabled", "info", said, advice)
        if self.file.mode == "shadow" and self.env is None:
            said = "the whole policy only watches (`mode: shadow`)"
            yield Remark(self.where("mode"), "shadow", "info", said, "enforce it once you trust it")

    def _about_all(self) -> Iterator[Remark]:
        """That there is no guard, and those that do not fit the tools that are known."""
        if not self.policy.seats:
            said = "the policy has no guard, so everything goes ahead"
            advice = "add guards, or extend a pack"
            yield Remark(self.where("guards"), "unguarded", "certain", said, advice)
        numbers = {seat.placed.id: at for at, seat in self.seated}
        for seat in self.policy.seats:
            at = numbers.get(seat.placed.id)
            for code, sure, message, advice, path in about_arguments(seat, self.schemas):
                place = seat.place if at is None else self.where("guards", at, *path)
                yield Remark(place, code, sure, message, advice)
        for seat, point in about_effects(self.policy, self.schemas):
            yield Remark(seat.place, point.code, point.sure, point.message, point.advice)

    def _unused_levels(self) -> Iterator[Remark]:
        """Risk levels of tasks that mean nothing, and meanings of levels that no task has."""
        asked = {name: task.risk for name, task in self.file.tasks.items() if task.risk is not None}
        for name, level in asked.items():
            if getattr(self.file.risk, level) is None and level != "critical":
                said = (
                    f"the task `{name}` has the risk level `{level}`, and the policy says "
                    f"nothing of that level"
                )
                advice = f"say what it means with `risk: {{{level}: …}}`, or leave it out"
                yield Remark(self.where("tasks", name, "risk"), "unused", "likely", said, advice)
        for meant in self.file.risk.given() if asked else ():
            if meant not in asked.values():
                said = (
                    f"no task has the risk level `{meant}`: only runs have it that name it "
                    f"themselves"
                )
                advice = "give it to a task, or remove it if no program names it"
                yield Remark(self.where("risk", meant), "unused", "info", said, advice)

    def _about(self, seat: Seat) -> Iterator[Point]:
        guard = seat.placed.guard
        if isinstance(guard, Rule):
            yield from about_rule(seat, guard, self.roles)
        yield from self._names(seat)
        yield from about_guard(seat, self.policy.warnings, self.policy.count_marks)
        yield from about_options(seat.placed.id, guard)
        if seat.placed.shadow and self.file.mode != "shadow":
            said = f"`{seat.placed.id}` only watches (`mode: shadow`)"
            yield Point("shadow", "info", said, "enforce it once you trust it", ("mode",))

    def _names(self, seat: Seat) -> Iterator[Point]:
        """Names that are nowhere else: those that are nearly another name, and agents and tasks
        nobody declared."""
        guard = seat.placed.guard
        tools: list[Spot] = [(name, ("tools",)) for name in _own_tools(guard)]
        for kind in LISTS:
            listed = getattr(seat, kind)
            spots: list[Spot] = []
            if listed is not None:
                spots += [(name, ("applies_to", kind)) for name in sorted(listed.exact)]
            if isinstance(guard, Rule):
                needed = sorted(guard.needs.get(LISTS[kind], ()), key=str)
                spots += [(name, ("when",)) for name in needed if isinstance(name, str)]
            if kind == "tools":
                tools += spots
            elif kind in self.declared:
                yield from self._undeclared(seat.placed.id, kind, spots)
        for name, path in tools:
            near = None if is_glob(name) else self.tools.meant(name)
            if near is not None:
                said = f"`{seat.placed.id}` names the tool `{name}`, which is named nowhere else"
                yield Point("misspelt", "likely", said, f"did you mean `{near}`?", path)

    def _undeclared(self, guard: str, kind: str, spots: list[Spot]) -> Iterator[Point]:
        known = self.declared[kind]
        for name, path in spots:
            if not known.names or not name or any(glob(entry, name) for entry in known.names):
                continue
            near = known.meant(name)
            said = f"`{guard}` names `{name}`, which is not among `{kind}`"
            if near is not None:
                yield Point("misspelt", "likely", said, f"did you mean `{near}`?", path)
            else:
                yield Point(
                    "undeclared", "info", said, "check the name; it need not be declared", path
                )

    def _unused_roles(self) -> Iterator[Remark]:
        having = {agent.role for agent in self.file.agents.values()}
        for role in self.file.roles:
            if role not in having:
                advice = "give it to an agent, unless runs name their own role"
                yield self._unused(
                    "likely", f"no agent has the role `{role}`", advice, "roles", role
                )
        rules = [
            seat.placed.guard for _, seat in self.seated if isinstance(seat.placed.guard, Rule)
        ]
        conditions = [
            part for rule in rules for part in (rule.when_condition, rule.check_condition)
        ]
        read = any("agent.capabilities" in part.reads for part in conditions if part is not None)
        read = read or self._reads("agents", "capabilities") or self._reads("roles", "capabilities")
        if read or any(seat.placed.kind is Kind.ASKING for _, seat in self.seated):
            return
        for table, holders in (("roles", self.file.roles), ("agents", self.file.agents)):
            for name, holder in holders.items():
                if getattr(holder, "capabilities", ()):
                    said = f"no guard looks at the capabilities of `{name}`"
                    advice = "write a rule that reads `agent.capabilities`, or remove them"
                    yield self._unused("likely", said, advice, table, name, "capabilities")

    def _unused_entries(self) -> Iterator[Remark]:
        for table, what in (("agents", "agent"), ("tasks", "task"), ("tools", "tool")):
            entries = getattr(self.file, table)
            patterns = [name for name in entries if is_glob(name)]
            # A guard that looks an agent's role up knows by that which agents there are: being
            # listed says something.
            if table == "agents" and self._reads("agents", "role"):
                continue
            for name, entry in entries.items():
                overrides = any(pattern != name and glob(pattern, name) for pattern in patterns)
                if entry == type(entry)() and not overrides:
                    said = (
                        f"the entry of {what} `{name}` says nothing that is not already true "
                        f"for every {what}"
                    )
                    yield self._unused(
                        "certain", said, "add something to it, or remove it", table, name
                    )

    def _reads(self, table: str, key: str) -> bool:
        """Whether a guard of this policy reads that key."""
        reading = [having(seat.placed.guard, "reads") for _, seat in self.seated]
        return any((table, key) in one.reads for one in reading if one is not None)

    def _unused(self, sure: Sure, message: str, advice: str, *path: str) -> Remark:
        return Remark(self.where(*path), "unused", sure, message, advice)


def _own_tools(guard: Any) -> tuple[str, ...]:
    """The tools that a policy names among a guard's own options; a list that the guard brings along
    is nobody's."""
    for field in msgspec.structs.fields(guard):
        if field.name == "tools":
            named = guard.tools
            return (
                tuple(named) if isinstance(named, tuple | dict) and named != field.default else ()
            )
    return ()
