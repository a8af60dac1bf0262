"""Compiling a policy: entries become placed guards in an index by stage, tool, agent and task."""

from __future__ import annotations

import hashlib
from typing import Any, Final, TypeVar

import msgspec

from holdfast.guards import SHIPPED
from holdfast.guards.safe_mode import SafeMode
from holdfast.kernel.actions import Action, Category, Risk
from holdfast.kernel.events import RunInfo
from holdfast.kernel.gates import SAFE
from holdfast.kernel.guard import Kind, Placed
from holdfast.kernel.names import Names, glob, is_glob, names
from holdfast.kernel.stages import Stage
from holdfast.kernel.table import sensible
from holdfast.policy.errors import Fault, PolicyError
from holdfast.policy.schema import AgentEntry, AppliesTo, Placement, PolicyFile, TaskEntry, ToolEntry

ENGINE: Final = "1"
"""The engine's version: part of every policy's hash, because a decision depends on it."""

T = TypeVar("T")
_PLACEMENT: Final = frozenset(Placement.__struct_fields__)


class Rule(msgspec.Struct, frozen=True, gc=False):
    """A placed guard and whom it concerns; `None` concerns everybody."""

    placed: Placed
    agents: Names | None
    tasks: Names | None
    tools: Names | None

    def concerns(self, tool: str, run: RunInfo) -> bool:
        """Whether this rule applies to that tool in that run."""
        return (
            (self.tools is None or tool in self.tools)
            and (self.agents is None or run.agent in self.agents)
            and (self.tasks is None or run.task in self.tasks)
        )


class CompiledPolicy:
    """A policy ready to judge: immutable, except for a memo of chains already picked."""

    def __init__(
        self, file: PolicyFile, rules: tuple[Rule, ...], calls: dict[str, str], digest: str | None = None
    ) -> None:
        self.file = file
        self.hash = content_hash(file) if digest is None else digest
        self.shadow = file.mode == "shadow"
        self.warnings = file.limits.warnings
        self.calls = calls
        self.rules = rules
        self.stages = frozenset(stage for rule in rules for stage in rule.placed.stages)
        self._by_tool: dict[tuple[str, str], list[Rule]] = {}
        self._general: dict[str, list[Rule]] = {stage: [] for stage in Stage}
        for rule in rules:
            for stage in rule.placed.stages:
                self._enter(rule, stage)
        self._memo: dict[tuple[str, str, str, str, str], tuple[Placed, ...]] = {}

    def _enter(self, rule: Rule, stage: Stage) -> None:
        if rule.tools is None or rule.tools.globs:
            self._general[stage].append(rule)
        else:
            for tool in rule.tools.exact:
                self._by_tool.setdefault((stage, tool), []).append(rule)

    def guards(self, stage: Stage, tool: str, run: RunInfo, mode: str) -> tuple[Placed, ...]:
        """The guards that apply at a stage to a tool in a run, in the given mode."""
        asked = (str(stage), tool, run.agent, run.task, mode)
        chain = self._memo.get(asked)
        if chain is None:
            if len(self._memo) >= 4_096:
                self._memo.clear()
            rules = (*self._general[stage], *self._by_tool.get((stage, tool), ()))
            chain = tuple(rule.placed for rule in rules if rule.concerns(tool, run))
            if mode == SAFE and not any(isinstance(p.guard, SafeMode) and not p.shadow for p in chain):
                chain += tuple(placed for placed in (SAFE_MODE,) if stage in placed.stages)
            self._memo[asked] = chain
        return chain

    def agent(self, agent: str) -> AgentEntry:
        """What the policy says of an agent."""
        return _best(self.file.agents, agent) or AgentEntry()

    def task(self, task: str) -> TaskEntry:
        """What the policy says of a task."""
        return _best(self.file.tasks, task) or TaskEntry()

    def tool(self, tool: str) -> ToolEntry | None:
        """What the policy says of a tool; `None` where it does not know it."""
        return _best(self.file.tools, tool)

    def risk(self, tool: str, registered: Risk | None) -> Risk:
        """A tool's risk: the stricter of what the policy and its registration say; medium if neither does."""
        entry = self.tool(tool)
        said = [Risk[entry.risk.upper()]] if entry is not None else []
        said += [registered] if registered is not None else []
        return max(said, default=Risk.MEDIUM)

    def placed(self, guard_id: str) -> Placed | None:
        """A guard by its id."""
        return next((rule.placed for rule in self.rules if rule.placed.id == guard_id), None)


def _best(entries: dict[str, T], name: str) -> T | None:
    """The entry of exactly that name, or the first whose glob matches."""
    exact = entries.get(name)
    if exact is not None:
        return exact
    return next((entry for pattern, entry in entries.items() if is_glob(pattern) and glob(pattern, name)), None)


def place(guard: Any, guard_id: str, shadow: bool = False) -> Placed:
    """A guard at the place its class gives it."""
    return Placed(guard_id, guard, guard.priority, guard.category, guard.stages, shadow)


SAFE_MODE: Final = place(SafeMode(), "safe-mode")


def content_hash(file: PolicyFile) -> str:
    """The hash of what a policy says, whatever its file looks like."""
    body = msgspec.json.encode([ENGINE, file], order="deterministic")
    return hashlib.sha256(body).hexdigest()


def compile_policy(file: PolicyFile, origin: str) -> CompiledPolicy:
    """Place every enabled guard; raises `PolicyError` with every fault found."""
    faults: list[Fault] = []
    rules: list[Rule] = []
    calls: dict[str, str] = {}
    taken: set[str] = set()
    for at, entry in enumerate(file.guards):
        options = {name: getattr(entry, name) for name in entry.__struct_fields__ if name not in _PLACEMENT}
        used = str(entry.__struct_config__.tag)
        guard_id = entry.id if entry.id else used.replace("_", "-")
        if options.get("counter", guard_id) is None:
            options["counter"] = guard_id
        where = f"{origin}: guards[{at}]"
        try:
            guard = SHIPPED[used](**options)
        except ValueError as error:
            faults.append(Fault(where, str(error)))
            continue
        if guard_id in taken:
            faults.append(Fault(where, f"id `{guard_id}` is taken: give each guard an id of its own"))
        taken.add(guard_id)
        stages = guard.stages if entry.stages is None else frozenset(Stage(name) for name in entry.stages)
        faults += [Fault(where, message) for message in _misplaced(guard, stages)]
        if not entry.enabled:
            continue
        placed = Placed(
            guard_id,
            guard,
            guard.priority if entry.priority is None else entry.priority,
            guard.category if entry.category is None else Category[entry.category.upper()],
            stages,
            entry.mode == "shadow" or file.mode == "shadow",
            entry.fail_open,
        )
        if guard.kind is Kind.ASKING:
            calls[guard_id] = guard.call
        who = entry.applies_to
        rules.append(Rule(placed, _names(who.agents), _names(who.tasks), _names(who.tools)))
    faults += [Fault(origin, message) for message in _inert(file)]
    if faults:
        raise PolicyError(faults)
    return CompiledPolicy(file, tuple(rules), calls)


def _inert(file: PolicyFile) -> list[str]:
    """What a policy says that nothing acts on: lists of tools that no guard reads, guards that concern nobody."""
    found = []
    if not any(entry.enabled and entry.__struct_config__.tag == "tool_allowlist" for entry in file.guards):
        said = [f"agents.{name}.allowed_tools" for name, a in file.agents.items() if a.allowed_tools is not None]
        said += [f"tasks.{name}.additional_tools" for name, task in file.tasks.items() if task.additional_tools]
        found += [f"nothing acts on `{place}`: add a guard with `use: tool_allowlist`" for place in said]
    for at, entry in enumerate(file.guards):
        who = {f"applies_to.{name}": getattr(entry.applies_to, name) for name in AppliesTo.__struct_fields__}
        empty = [name for name, given in {"stages": entry.stages, **who}.items() if given == ()]
        found += [f"guards[{at}] concerns nothing: `{name}` is empty, leave it out or fill it" for name in empty]
    return found


def _names(patterns: tuple[str, ...] | None) -> Names | None:
    return None if patterns is None else names(patterns)


def _misplaced(guard: Any, stages: frozenset[Stage]) -> list[str]:
    """What makes no sense about a guard at these stages."""
    wrong = []
    for stage in sorted(stages):
        if stage is Stage.MODEL_CHUNK and guard.kind is not Kind.PURE:
            wrong.append(
                f"`{guard.name}` keeps state or asks, and `model_chunk` takes pure guards only: choose another stage"
            )
        if stage not in guard.stages and guard.kind is Kind.PURE:
            known = ", ".join(sorted(guard.stages))
            wrong.append(f"`{guard.name}` does not judge `{stage}`: choose among {known}")
        for action in guard.actions():
            if not sensible(stage, action):
                wrong.append(
                    f"`{Action(action).name.lower()}` makes no sense at `{stage}`: see the table of actions and stages"
                )
    return wrong
