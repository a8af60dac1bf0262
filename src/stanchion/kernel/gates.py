"""What stands before every chain: the states of the shield, and the ends and pauses of a run and
its ancestors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal

import msgspec

from stanchion import typed
from stanchion.kernel.actions import Action
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.events import Event, RunInfo
from stanchion.kernel.findings import Finding
from stanchion.kernel.lookups import Over
from stanchion.kernel.mandate import UNLIMITED, Mandate
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import FOREVER, key
from stanchion.kernel.states import HALTED, NORMAL, QUARANTINE, SAFE, Mark, phase

PAUSED: Final = "kernel.paused"
STRIKES: Final = "kernel.strikes"
"""Who asks where somebody waits for strikes: a yes to what a guard asks is none to its strikes."""
MAX_MARKED: Final = 1_000
"""How many tools, agents and runs of one tenant can be in a state of their own at a time."""


class Struck(msgspec.Struct, frozen=True, gc=False):
    """That a guard has given so many strikes that a person has to look: since when, and until they
    are forgotten."""

    guard: str
    count: int
    since: int
    until: int


class GateStanding(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The states of a tenant (or the fleet): its own, and those of its tools, agents and runs
    (`tool:NAME`, …). Whoever is `struck` (empty: the whole tenant) waits for a person."""

    own: Mark = Mark()
    marks: dict[str, Mark] = {}
    struck: dict[str, Struck] = {}

    @property
    def state(self) -> str:
        """The tenant's own state, as it was put."""
        return self.own.state

    @property
    def why(self) -> str:
        """Why it is in that state."""
        return self.own.why


class LastWords(msgspec.Struct, frozen=True, gc=False):
    """The finding whose words are the last of a run: of which guard it is, and what it says."""

    guard: str
    code: str
    args: tuple[str | int | float | bool | None, ...]


class Ending(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """That a run was cancelled or has ended, why, and which finding had the last word, if one
    had."""

    code: str
    why: str
    last: LastWords | None = None

    @property
    def text(self) -> str:
        """The words of every later refusal; empty where they are the usual ones of the code."""
        return "" if self.last is None else self.why


class Paused(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """That a run, or its step, waits until a person has answered a ticket, or until the ticket's
    time is over."""

    ticket: str
    scope: Literal["step", "run"]
    until: int


MAY: Final = "may"
"""Under what a run's record keeps what the run may do, beside its end or its pause."""

OPENER: Final = "opener"
"""Under what it keeps who opened the run, where that was asked for: the digest of what only that
host knows."""
BESIDE: Final = frozenset({MAY, OPENER})

HELD_UP: Final = {
    "step": frozenset({Stage.TOOL_CALL, Stage.HANDOFF}),
    "run": frozenset({Stage.TOOL_CALL, Stage.HANDOFF, Stage.MODEL_CALL}),
}
"""What does not begin meanwhile. What has begun goes on, and its outcome is delivered."""


class Gate(msgspec.Struct, frozen=True, gc=False):
    """What the gates say: the mode, a refusal perhaps, and the span of store time for which it is
    true."""

    mode: str = NORMAL
    finding: Finding | None = None
    since: int = 0
    until: int = FOREVER


def gates_of(run: RunInfo) -> tuple[str, ...]:
    """The keys every batch of a run expects unchanged: the fleet's, the tenant's, the run's, its
    ancestors'."""
    ends = [ending_key(run.tenant, r) for r in (run.id, *run.parents)]
    return (standing_key(FLEET), standing_key(run.tenant), *ends)


def standing_key(tenant: str) -> str:
    """Where a tenant's states are kept."""
    return key(tenant, "shield")


def ending_key(tenant: str, run_id: str) -> str:
    """Where a run's end is kept, or its pause, and what it may do."""
    return key(tenant, "run", run_id)


def standing_of(value: Any) -> GateStanding:
    """The states that a record tells; what was read of the same record before is not read again."""
    if value is None:
        return NOTHING_SAID
    known = _read.get(id(value))
    if known is None or known[0] is not value:
        if len(_read) >= 64:
            _read.clear()
        known = _read[id(value)] = (value, typed.convert(value, GateStanding))
    return known[1]


WHOSE: Final = {
    "fleet": "everything",
    "tenant": "all work here",
    "agent": "this agent",
    "run": "this run",
}
"""What the states of a fleet, a tenant, an agent and a run are called to the agent."""

NOTHING_SAID: Final = GateStanding()
_read: dict[int, tuple[Any, GateStanding]] = {}

CLEAR: Final = Gate()
"""What the gates say where nothing is in any state."""


def pass_gates(values: list[Any], event: Event, now: int) -> Gate:
    """Judge the gates' values (the fleet's, the tenant's, then the ends of runs; absent ones as
    `None`) for one event at store time `now`. The severest state wins; safe mode is a mode."""
    pauses: list[Paused] = []
    for value in values[2:]:
        told = stop_of(value)
        if isinstance(told, Ending):
            return Gate(
                finding=Finding(Action.HALT, told.code, (told.why,), told.text, guard="kernel")
            )
        if told is not None:
            pauses.append(told)
    mode = NORMAL
    worst, since, until = _paused(pauses, event, now)
    for name, mark in marks_of(values[0], values[1], event):
        means = phase(mark, now)
        since, until = max(since, means.since), min(until, means.until)
        mode = SAFE if means.state == SAFE else mode
        refusal = _refusal(name, means.state, mark.why)
        if refusal is not None and (worst is None or refusal.action > worst.action):
            worst = refusal
    held, since, until = _struck(standing_of(values[1]).struck, event, now, since, until)
    worst = held if worst is None else worst
    if worst is not None and worst.action == Action.HALT:
        mode = HALTED
    return Gate(mode, worst, since, until)


def over(ended: Ending | None, deadline_at: int | None, at: int) -> Over | None:
    """What stands against an action at a time: that its run has ended, or its deadline; `None`
    where it goes on."""
    if ended is not None:
        return Over(Action.HALT, ended.code, (ended.why,), ended.text)
    return (
        Over(Action.BLOCK, "kernel.deadline")
        if deadline_at is not None and at >= deadline_at
        else None
    )


def stop_of(value: Any) -> Ending | Paused | None:
    """What a run's record says: that it has ended, that it waits for a person, or nothing."""
    told = {} if value is None else {name: value[name] for name in value if name not in BESIDE}
    if not told:
        return None
    return typed.convert(told, Paused) if "ticket" in told else typed.convert(told, Ending)


def with_stop(value: Any, stop: Ending | Paused | None) -> Any:
    """A run's record with another stop, or none; what stands beside it stays."""
    kept = {} if value is None else {name: value[name] for name in value if name in BESIDE}
    return {**msgspec.to_builtins(stop), **kept} if stop is not None else kept if kept else None


def opener_in(value: Any) -> str:
    """Who opened a run by its record; empty where nobody asked."""
    return "" if value is None else str(value.get(OPENER, ""))


def mandate_in(value: Any) -> Mandate:
    """What a run may do by its record, whatever process has written it there."""
    if value is None or MAY not in value:
        return UNLIMITED
    return typed.convert(value[MAY], Mandate)


def with_mandate(value: Any, mandate: Mandate) -> Any:
    """A run's record with what the run may do."""
    return {**({} if value is None else value), MAY: msgspec.to_builtins(mandate)}


def _paused(pauses: list[Paused], event: Event, now: int) -> tuple[Finding | None, int, int]:
    """The refusal of what would begin during a pause, and the span of store time for which that is
    true."""
    worst: Finding | None = None
    since, until = 0, FOREVER
    for pause in pauses:
        if now >= pause.until:
            since = max(since, pause.until)
            continue
        until = min(until, pause.until)
        if worst is None and event.stage in HELD_UP[pause.scope]:
            worst = Finding(Action.BLOCK, PAUSED, (pause.ticket,), guard="kernel")
    return worst, since, until


def _struck(
    struck: dict[str, Struck], event: Event, now: int, since: int, until: int
) -> tuple[Finding | None, int, int]:
    """The question about what would begin while strikes are to be looked at, and the span for which
    it is asked."""
    held: Finding | None = None
    if not struck or event.stage not in HELD_UP["run"]:
        return held, since, until
    run = event.run
    for name in ("", f"agent:{run.agent}", *[f"run:{r}" for r in (run.id, *run.parents)]):
        one = struck.get(name)
        if one is None:
            continue
        if now >= one.until:
            since = max(since, one.until)
            continue
        until = min(until, one.until)
        if held is None:
            held = Finding(
                Action.ESCALATE,
                "strikes.reached",
                (one.guard, called(name), one.count),
                guard=STRIKES,
            )
    return held, since, until


def _refusal(name: str, state: str, why: str) -> Finding | None:
    if state == HALTED:
        action = Action.BLOCK if name.startswith("tool:") else Action.HALT
        return Finding(action, "kernel.halted", (name, why, called(name)), guard="kernel")
    if state == QUARANTINE:
        return Finding(Action.BLOCK, "kernel.quarantined", (name, called(name)), guard="kernel")
    return None


def called(name: str) -> str:
    """Whose state it is, in words for the agent, who needs no name by which it could be changed."""
    kind, _, own = name.partition(":")
    return f"tool `{own}`" if kind == "tool" else WHOSE.get(kind, WHOSE["tenant"])


def marks_of(fleet: Any, tenant: Any, event: Event) -> Iterator[tuple[str, Mark]]:
    """The marks that concern an event, the widest first."""
    run = event.run
    for whose, value in (("fleet", fleet), (f"tenant:{run.tenant}", tenant)):
        if value is None:
            continue
        standing = standing_of(value)
        if not standing.own.only or run.root in standing.own.only:
            yield whose, standing.own
        if standing.marks:
            for name in (
                f"agent:{run.agent}",
                *[f"run:{r}" for r in (run.id, *run.parents)],
                f"tool:{event.tool}",
            ):
                mark = standing.marks.get(name)
                if mark is not None and (not mark.only or run.root in mark.only):
                    yield name, mark
