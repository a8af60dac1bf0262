"""A compiled policy: placed guards in an index, and what the policy says of agents, tasks and
tools."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from stanchion.guards.budget import ALLOTTED, Allotment, Requests, allotment_key, allotments
from stanchion.guards.safe_mode import SafeMode
from stanchion.kernel.actions import Risk
from stanchion.kernel.autonomy import STRICT, TIGHTER, Share
from stanchion.kernel.contract.powers import Powers, all_having, having
from stanchion.kernel.declared import (
    CONTENT,
    EFFECTS,
    RESULTS,
    TRUSTED,
    Declared,
    ToolKnown,
    strictest,
)
from stanchion.kernel.events import RunInfo
from stanchion.kernel.guard import Placed
from stanchion.kernel.lineup import Lineups
from stanchion.kernel.names import Names, glob, is_glob
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import FOREVER
from stanchion.kernel.states import SAFE
from stanchion.kernel.units import NOTHING, Amounts, Unit
from stanchion.policy.schema import AgentEntry, PolicyFile, RoleEntry, TaskEntry, ToolEntry
from stanchion.policy.sections import RiskEntry
from stanchion.policy.static import STATIC
from stanchion.policy.veil import Veil
from stanchion.readings import Reader

if TYPE_CHECKING:
    from stanchion.guards.schema.tools import ToolDefinitions

ENGINE: Final = "1"
"""The engine's version: part of every policy's hash, because a decision depends on it."""

T = TypeVar("T")


class GuardSeat(msgspec.Struct, frozen=True, gc=False):
    """A placed guard and whom it concerns; `None` concerns everybody. `needs` names what a rule
    cannot do without."""

    placed: Placed
    agents: Names | None = None
    tasks: Names | None = None
    tools: Names | None = None
    needs: dict[str, frozenset[Any]] = {}
    place: str = ""
    risks: Names | None = None

    def concerns(self, tool: str, run: RunInfo) -> bool:
        """Whether the guard applies to that tool in that run."""
        return (
            (self.tools is None or tool in self.tools)
            and self.concerns_run(run)
            and all(
                _known(name, tool, run) in values
                for name, values in self.needs.items()
                if name in STATIC
            )
        )

    def with_guard(self, guard: Any) -> GuardSeat:
        """The same seat with another guard in it."""
        return msgspec.structs.replace(
            self, placed=msgspec.structs.replace(self.placed, guard=guard)
        )

    @property
    def open(self) -> bool:
        """Whether the guard applies to every tool in every run."""
        listed = (self.tools, self.agents, self.tasks, self.risks)
        return all(names is None for names in listed) and not STATIC & self.needs.keys()

    def concerns_run(self, run: RunInfo) -> bool:
        """Whether the guard applies to some tool in that run."""
        return (
            (self.agents is None or run.agent in self.agents)
            and (self.tasks is None or run.task in self.tasks)
            and (self.risks is None or level_of(run) in self.risks)
        )

    def keys(self) -> list[tuple[str, str]]:
        """Under which names the guard is found: the tools, agents, roles or tasks it is for; none
        if it is for all."""
        for kind, listed, name in (
            ("tool", self.tools, "action.tool_name"),
            ("agent", self.agents, "agent.id"),
            ("task", self.tasks, "task.id"),
            ("role", None, "agent.role"),
            ("tool", None, "event.tool"),
        ):
            if listed is not None and not listed.globs:
                return [(kind, value) for value in sorted(listed.exact)]
            if name in self.needs:
                return [(kind, value) for value in sorted(self.needs[name], key=str)]
        return []


def level_of(run: RunInfo) -> str:
    """The risk level of a run as policies write it: `none` where it has none."""
    return run.risk if run.risk else "none"


def _known(name: str, tool: str, run: RunInfo) -> str:
    match name:
        case "agent.id":
            return run.agent
        case "agent.role":
            return run.role
        case "task.id":
            return run.task
        case _:
            return tool


def _unpaid(placed: Placed) -> Iterator[Stage]:
    """The stages of actions whose requests a guard counts without counting the action."""
    counts = having(placed.guard, "measured")
    if (
        counts is not None
        and Unit.API_CALLS in counts.measured
        and Stage.EGRESS in placed.stages
        and not placed.part_of
    ):
        yield from {Stage.TOOL_CALL, Stage.MODEL_CALL} - placed.stages


class CompiledPolicy:
    """A policy ready to judge: immutable, except for a memo of chains already picked."""

    def __init__(
        self,
        file: PolicyFile,
        seats: tuple[GuardSeat, ...],
        calls: dict[str, str],
        undos: dict[str, Callable[..., Any]],
        files: tuple[Path, ...] = (),
        digest: str | None = None,
    ) -> None:
        self.file = file
        self.files = files
        self.hash = content_hash(file) if digest is None else digest
        self.hints: Mapping[str, str] = {}
        """Effects that servers hint at in the definitions of their tools, of those that tighten."""
        self.tools_digest = ""
        """The digest of the tools' definitions, where they alone make the hash another than the
        file's."""
        self.defined: ToolDefinitions | None = None
        """The definitions that its guards read, the ingested ones included."""
        self.shadow = file.mode == "shadow"
        self.warnings = file.limits.warnings
        self.count_marks = file.limits.count_marks
        self.calls = calls
        self.undos = undos
        self.seats = seats
        guards = [seat.placed.guard for seat in seats]
        spending = all_having(guards, "limits")
        tasks = [unit for one in all_having(guards, "measured") for unit in one.measured]
        self.measures = frozenset([*tasks, *(unit for one in spending for unit in one.limits())])
        self.unpaid = frozenset(stage for seat in seats for stage in _unpaid(seat.placed))
        """Stages at which an action does not pay for its requests: a budget counts these, and not
        the action."""
        self._reserves = any(one.reserves() for one in spending)
        self._bounds: dict[tuple[str, ...], Amounts] = {}
        self.stages = frozenset(stage for seat in seats for stage in seat.placed.stages)
        self.lease_ms: int = min(
            [one.lease_ms for one in all_having(guards, "lease_ms")], default=FOREVER
        )
        """How long the least of what guards give to an action is kept for it."""
        self.ends_with_runs = tuple(
            [one.placed for one in seats if having(one.placed.guard, "ended") is not None]
        )
        """Guards that keep something for a run, until it ends."""
        self.clears = bool(all_having(guards, "fingerprints"))
        self.recalls: Powers | None = next(iter(all_having(guards, "recalls")), None)
        self.contextual = False
        """Whether code behind its guards asks for the context of events: said when it is put in
        force."""
        self.veil = Veil(guards)
        self.learns = file.experience.tier != "none"
        self.advises = self.learns or any(entry.alternatives for entry in file.tools.values())
        self.judges_errors = Stage.ERROR in self.stages
        self.has_once = any("once" in entry.annotations for entry in file.tools.values())
        self.bypasses = bool(file.bypass.safety_responses) or any(
            entry.bypass.allowed for entry in file.guards
        )
        """Whether an action may ever go past a guard."""
        self._index: dict[tuple[str, str, str], list[GuardSeat]] = {}
        for seat in seats:
            for stage in seat.placed.stages:
                for kind, value in seat.keys() or [("" if seat.open else "some", "")]:
                    self._index.setdefault((stage.value, kind, value), []).append(seat)
        everybody = [(stage, self._index.get((stage.value, "", ""), ())) for stage in self.stages]
        self._everybody = {
            stage: tuple([seat.placed for seat in open_]) for stage, open_ in everybody
        }
        self._memo: dict[tuple[str | bool, ...], tuple[Placed, ...]] = {}
        self._by_task = any(seat.tasks is not None or "task.id" in seat.needs for seat in seats)
        self.lineups = Lineups()
        self.reader = Reader(file.limits)
        self.read = self.reader.read

    def guards(self, stage: Stage, tool: str, run: RunInfo, mode: str) -> tuple[Placed, ...]:
        """The guards that apply at a stage to a tool in a run, in the given mode."""
        allotted = "" if run.allotment is None else "allotted"
        task = run.task if self._by_task else ""
        mandated = bool(run.mandate.layers)
        asked = (stage.value, tool, run.agent, run.role, task, mode, allotted, run.risk, mandated)
        chain = self._memo.get(asked)
        if chain is None:
            if len(self._memo) >= 4_096:
                self._memo.clear()
            some = [seat.placed for seat in self._for_some(stage, tool, run)]
            everybody = self._everybody.get(stage, ())
            chain = (*everybody, *some) if some else everybody
            if mode == SAFE and not any(
                having(p.guard, "for_safe_mode") is not None and not p.shadow for p in chain
            ):
                chain += (SAFE_MODE,) if stage in SAFE_MODE.stages else ()
            if allotted:
                chain += tuple(
                    [placed for placed in (ALLOTMENT, ALLOTTED_REQUESTS) if stage in placed.stages]
                )
            if run.risk or mandated:
                from stanchion.policy.of_run import guards_of_run

                asks = self.level(run.risk).approval
                chain += guards_of_run(stage, run, asks, self.shadow, self.file.me)
            if mode == STRICT or self.level(run.risk).strict_marks:
                chain = tuple(_tightened(placed) for placed in chain)
            self._memo[asked] = chain
        return chain

    def shares(self, run: RunInfo) -> tuple[Share, ...]:
        """The budgets of a run by which its mode goes: totals of the run and its task that are
        enforced."""
        if not self.file.autonomy or self.shadow:
            return ()
        found: dict[str, int] = {}
        for seat in self.seats:
            spending = None if seat.placed.shadow else having(seat.placed.guard, "limits")
            if spending is None or not seat.concerns_run(run):
                continue
            for name, limit in spending.totals(run).items():
                found[name] = min(limit, found.get(name, limit))
        found |= {allotment_key(run, unit): limit for unit, limit in allotments(run).items()}
        return tuple([Share(name, limit) for name, limit in found.items()])

    def seated(self, stage: Stage, tool: str, run: RunInfo) -> list[GuardSeat]:
        """The seats that apply, found by tool, agent, task and role, not by looking at all of
        them."""
        return [*self._index.get((stage.value, "", ""), ()), *self._for_some(stage, tool, run)]

    def _for_some(self, stage: Stage, tool: str, run: RunInfo) -> list[GuardSeat]:
        """The seats that apply and not to everybody."""
        names = (
            ("some", ""),
            ("tool", tool),
            ("agent", run.agent),
            ("task", run.task),
            ("role", run.role),
        )
        found = [
            seat
            for kind, value in names
            for seat in self._index.get((stage.value, kind, value), ())
        ]
        return [seat for seat in found if seat.concerns(tool, run)]

    def bounds(self, stage: Stage, tool: str, run: RunInfo) -> Amounts:
        """What the budgets that apply reserve for an action that nobody has estimated: the most
        that one of them says, measure by measure."""
        if not self._reserves:
            return NOTHING
        asked = (stage.value, tool, run.agent, run.role, run.task, run.risk)
        known = self._bounds.get(asked)
        if known is None:
            if len(self._bounds) >= 4_096:
                self._bounds.clear()
            guards = [seat.placed.guard for seat in self.seated(stage, tool, run)]
            said = [spending.reserves() for spending in all_having(guards, "limits")]
            one, tokens, cost, api_calls, working = [
                max([r.get(unit, 0) for r in said], default=0) for unit in Unit
            ]
            known = self._bounds[asked] = (one, tokens, cost, api_calls, working)
        return known

    def level(self, risk: str) -> RiskEntry:
        """What the policy says of a risk level."""
        said = getattr(self.file.risk, risk) if risk else None
        return RiskEntry() if said is None else said

    def role(self, role: str) -> RoleEntry:
        """What the policy says of a role."""
        return self.file.roles.get(role, RoleEntry())

    def agent(self, agent: str) -> AgentEntry:
        """What the policy says of an agent."""
        return best(self.file.agents, agent) or AgentEntry()

    def task(self, task: str) -> TaskEntry:
        """What the policy says of a task."""
        return best(self.file.tasks, task) or TaskEntry()

    def tool(self, tool: str) -> ToolEntry | None:
        """What the policy says of a tool; `None` where it does not know it."""
        return best(self.file.tools, tool)

    def unread(self, tool: str) -> str:
        """What becomes of what a tool takes or gives that cannot be read."""
        entry = self.tool(tool) if tool else None
        return self.file.unread if entry is None or entry.unread is None else entry.unread

    def lets_media(self, tool: str) -> bool:
        """Whether images and sound in a tool's results go through."""
        entry = self.tool(tool) if tool else None
        return entry is not None and entry.media == "allow"

    def undo(self, tool: str) -> Callable[..., Any] | None:
        """What undoes a call of a tool, where the policy says it."""
        name = closest(self.file.tools, tool) if self.undos else None
        return None if name is None else self.undos.get(name)

    def known(self, tool: str, *said: Declared) -> ToolKnown:
        """What is known of a tool: the strictest of what the policy and its code declare. Where
        neither says what it does, its server may call it destructive; medium risk and results that
        anybody may have written are what is known of one of which nobody says more."""
        entry = self.tool(tool)
        if entry is not None:
            said = (*said, _declared(entry))
        effect = strictest(EFFECTS, [one.effect for one in said])
        result = strictest(RESULTS, [one.result for one in said])
        # An entry that does not speak of results trusts none, whatever their code says.
        silent = entry is not None and entry.result is None
        words = (
            effect if effect else self.hints.get(tool, ""),
            *(() if entry is None else entry.annotations),
            CONTENT if silent or not result else result,
        )
        return ToolKnown(
            max([one.risk for one in said if one.risk is not None], default=Risk.MEDIUM),
            tuple([word for word in words if word]),
            tuple(dict.fromkeys([sink for one in said for sink in one.sinks])),
            "" if silent and result in TRUSTED else result,
            *_told_by(said),
        )

    def cheaper(self, model: str) -> str:
        """The model that takes a model's place in a lesser request; itself where the policy names
        none."""
        named = best(self.file.degrade.models, model) if model else None
        return model if named is None else named

    def placed(self, guard_id: str) -> Placed | None:
        """A guard by its id."""
        seat = self.seat(guard_id)
        return None if seat is None else seat.placed

    def seat(self, guard_id: str) -> GuardSeat | None:
        """A guard's seat by its id."""
        return next((seat for seat in self.seats if seat.placed.id == guard_id), None)


def _declared(entry: ToolEntry) -> Declared:
    """What a policy's entry declares of a tool."""
    return Declared(
        Risk[entry.risk.upper()],
        entry.effect,
        entry.result,
        entry.sinks,
        entry.records,
        entry.identity_fields,
    )


def _told_by(said: tuple[Declared, ...]) -> tuple[str | None, tuple[str, ...]]:
    """The line that begins a record and the fields that name things, by who said so last."""
    return (
        next((one.records for one in reversed(said) if one.records), None),
        next((one.identity_fields for one in reversed(said) if one.identity_fields), ()),
    )


def best(entries: dict[str, T], name: str) -> T | None:
    """The entry of exactly that name, or of the closest glob: the one with most literal characters,
    then by name."""
    found = closest(entries, name)
    return None if found is None else entries[found]


def closest(entries: dict[str, T], name: str) -> str | None:
    """The name under which the best entry stands."""
    if name in entries:
        return name
    matching = [pattern for pattern in entries if is_glob(pattern) and glob(pattern, name)]
    return min(
        matching,
        key=lambda pattern: (-len(pattern.replace("*", "").replace("?", "")), pattern),
        default=None,
    )


def place(guard: Any, guard_id: str, shadow: bool = False) -> Placed:
    """A guard at the place its class gives it."""
    return Placed(guard_id, guard, guard.priority, guard.category, guard.stages, shadow)


def _tightened(placed: Placed) -> Placed:
    """A guard whose marks come earlier, where it has any."""
    marked = having(placed.guard, "tightened")
    return (
        placed
        if marked is None
        else msgspec.structs.replace(placed, guard=marked.tightened(TIGHTER))
    )


ALLOTMENT: Final = place(Allotment(), ALLOTTED)
ALLOTTED_REQUESTS: Final = place(Requests(Allotment()), f"{ALLOTTED}-requests")
SAFE_MODE: Final = place(SafeMode(), "safe-mode")


def content_hash(file: PolicyFile) -> str:
    """The hash of what a policy says, whatever its file looks like."""
    body = msgspec.json.encode([ENGINE, file], order="deterministic")
    return hashlib.sha256(body).hexdigest()
