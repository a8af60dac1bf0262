"""How things stand: states of a tenant or the fleet and of what is in it, breakers, tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from stanchion.guards.breaker import ToolCircuit, circuit_of
from stanchion.guards.health import score
from stanchion.guards.schema.tools import differing
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.gates import GateStanding, standing_of
from stanchion.kernel.registers import outcomes
from stanchion.kernel.state import FOREVER, STANDING
from stanchion.kernel.states import HALTED, NORMAL, QUARANTINE, SAFE, WARNING, Mark, phase
from stanchion.ops.views.amounts import shown, span
from stanchion.ops.views.names import KeyName, name_of
from stanchion.ops.views.veiled import veiled
from stanchion.runtime.calling.pins import Parts, Pins, pins_key, pins_of
from stanchion.stores.protocol import Store
from stanchion.stores.seen import SeenCell

PLAIN: Final = "normal"
"""What the state of a thing is called that is in none of its own."""

NOW: Final = {
    NORMAL: PLAIN,
    WARNING: "watched",
    QUARANTINE: "in quarantine",
    SAFE: "in safe mode",
    HALTED: "halted",
}
"""What something is that is in a state."""


class StateView(Struct, frozen=True):
    """One state: of the `fleet`, a `tenant`, a `tool`, an `agent` or a `run`.

    `state` is what it is now, `put` what it was put into: they differ where that has ended by
    itself. `until_ms` is when it ends, `None` where somebody has to end it.
    """

    kind: str
    name: str
    state: str
    put: str
    until_ms: int | None = None
    why: str = ""

    @property
    def over(self) -> bool:
        """Whether what it was put into has ended by itself."""
        return self.state != self.put


def states(tenant: str, standing: GateStanding, now: int) -> Iterator[StateView]:
    """The states that a record tells, as they stand at a time: the tenant's own first."""
    yield state_of("fleet" if tenant == FLEET else "tenant", tenant, standing.own, now)
    for name, mark in sorted(standing.marks.items()):
        kind, _, who = name.partition(":")
        yield state_of(kind, who, mark, now)


def state_of(kind: str, name: str, mark: Mark, now: int) -> StateView:
    """One state as it stands at a time."""
    until = mark.until if 0 < mark.until < FOREVER else None
    alone = f" (for run {' and '.join(mark.only)} alone)" if mark.only else ""
    state, put = _called(phase(mark, now).state), _called(mark.state)
    return StateView(kind, name, state, put, until, f"{mark.why}{alone}")


def _called(state: str) -> str:
    return PLAIN if state == NORMAL else state


class BreakerView(Struct, frozen=True, omit_defaults=True):
    """A breaker of a tool: `closed`, `open` or `half_open`. `until` is the moment in milliseconds
    at which one that is open lets a call try the tool; `only` where it refuses the calls of some
    runs alone."""

    guard: str
    state: str
    until: int = 0
    cooldown_s: float = 0.0
    failures: int = 0
    successes: int = 0
    probing: bool = False
    shadow: bool = False
    only: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """It in a few words."""
        whose = " in shadow mode" if self.shadow else ""
        if self.state == "closed":
            return f"closed{f', {self.failures:,} failed' if self.failures else ''}{whose}"
        whose += f", for run {' and '.join(self.only)} alone" if self.only else ""
        lasts = span(round(self.cooldown_s * 1_000))
        if self.state == "open":
            return f"open until {shown(self.until)}, for {lasts}{whose}"
        trying = "a call tries it" if self.probing else "the next call tries it"
        return f"half-open, {trying}, {self.successes:,} succeeded, after {lasts}{whose}"


def breaker_of(circuit: ToolCircuit, guard: str, shadow: bool, now: int) -> BreakerView:
    """A breaker as it stands at a time."""
    state = circuit.state(now)
    if state == "closed":
        return BreakerView(guard, state, failures=circuit.failures, shadow=shadow)
    probing = bool(circuit.probe) and now < circuit.expires
    cooldown_s = circuit.cooldown_ms / 1_000
    tried = (circuit.successes, probing, shadow, circuit.only)
    return BreakerView(guard, state, circuit.until, cooldown_s, 0, *tried)


class ToolView(Struct, frozen=True):
    """A tool as the store knows it.

    `health` is how much of a hundred of its last calls (`recent`) went well, `calls` and `failures`
    are all there were. `state` is that of an isolated tool, and `until` when that ends, in
    milliseconds. `pinned`: its definition was written down when it was first seen; `changed` says
    what has changed of it since, and `suspect` which of its sentences make it suspect, until
    somebody accepts that.
    """

    tenant: str
    tool: str
    health: int | None = None
    recent: int = 0
    calls: int = 0
    failures: int = 0
    breakers: tuple[BreakerView, ...] = ()
    state: str = ""
    until: int = 0
    pinned: bool = False
    changed: str = ""
    suspect: tuple[str, ...] = ()


class ChangedDefinition(Struct, frozen=True):
    """A definition that is another one than was pinned, or is suspect: its parts by their hashes,
    and why it waits."""

    parts: Parts
    differs: str


def tools(store: Store, now: int, name: str = "", tenant: str | None = None) -> list[ToolView]:
    """Every tool that a store knows something about, by tenant and name; or that of one name, or of
    one tenant."""
    found: dict[tuple[str, str], ToolView] = {}
    for cell in store.look():
        for whose, tool, told in _tools_in(cell, name_of(cell.key), now):
            known = found.get((whose, tool), ToolView(whose, tool))
            if "breakers" in told:
                told["breakers"] = (*known.breakers, *told["breakers"])
            found[whose, tool] = replace(known, **told)
    each = [(one, veiled(one)) for _, one in sorted(found.items())]
    return [shown for one, shown in each if _is(one, name, tenant) or _is(shown, name, tenant)]


def changed_definition(store: Store, name: str, tenant: str) -> ChangedDefinition | None:
    """What of a tool's definition waits for somebody to accept it; `None` where nothing does."""
    kept = pins_of(store.read(pins_key(tenant))[1])
    parts = kept.waiting(name)
    if parts is None:
        return None
    differs = differing(parts, kept.tools.get(name, {}))
    suspect = kept.suspects.get(name)
    said = [] if suspect is None else [str(remark) for remark in suspect.remarks]
    return ChangedDefinition(parts, "; ".join([differs, *said] if differs else said))


def _is(one: ToolView, name: str, tenant: str | None) -> bool:
    return name in ("", one.tool) and tenant in (None, one.tenant)


ToldOfTools = Iterator[tuple[str, str, dict[str, Any]]]
"""What a cell tells of tools: whose, which, and what of it."""


def _tools_in(cell: SeenCell, name: KeyName, now: int) -> ToldOfTools:
    if cell.key.endswith(STANDING):
        for marked, mark in standing_of(cell.value).marks.items():
            kind, _, tool = marked.partition(":")
            state, _, until = phase(mark, now)
            if kind == "tool" and state != NORMAL:
                told = f"{NOW[state]} for a run" if mark.only else NOW[state]
                until = until if until < FOREVER else 0
                yield name.tenant, tool, {"state": told, "until": until}
        return
    match name.parts:
        case ("breaker", tool, counter) if cell.value is not None:
            broken = breaker_of(circuit_of(cell.value), counter, name.shadow, now)
            yield name.tenant, tool, {"breakers": (broken,)}
        case ("health", tool) if not name.shadow:
            yield (
                name.tenant,
                tool,
                {"health": score(cell.number), "recent": outcomes(cell.number).known},
            )
        case ("reliability", tool, ("calls" | "failures") as what) if not name.shadow:
            yield name.tenant, tool, {what: cell.number}
        case ("pins",):
            yield from _pinned(pins_of(cell.value), name.tenant)


def _pinned(kept: Pins, tenant: str) -> ToldOfTools:
    for tool, parts in kept.tools.items():
        seen = kept.seen.get(tool)
        suspect = kept.suspects.get(tool)
        said = () if suspect is None else tuple([str(remark) for remark in suspect.remarks])
        changed = "" if seen is None else differing(seen, parts)
        yield tenant, tool, {"pinned": True, "changed": changed, "suspect": said}
