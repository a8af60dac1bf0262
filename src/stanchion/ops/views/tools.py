"""Tools as a store knows them: health, reliability, breakers, states, and whether a definition has
changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from stanchion.guards.breaker import circuit_of
from stanchion.guards.health import score
from stanchion.guards.schema.tools import differing
from stanchion.kernel.gates import standing_of
from stanchion.kernel.registers import outcomes
from stanchion.kernel.state import FOREVER, STANDING
from stanchion.kernel.states import NORMAL, phase
from stanchion.ops.views.breakers import BreakerView, breaker_of
from stanchion.ops.views.names import Name, name_of
from stanchion.ops.views.standing import NOW
from stanchion.ops.views.veiled import veiled
from stanchion.runtime.calling.pins import Parts, Pins, pins_key, pins_of
from stanchion.stores.protocol import Store
from stanchion.stores.seen import Seen


class ToolView(msgspec.Struct, frozen=True):
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


class ChangedDefinition(msgspec.Struct, frozen=True):
    """A definition that is another one than was pinned, or is suspect: its parts by their hashes,
    and why it waits."""

    parts: Parts
    differs: str


def tools(store: Store, now: int, name: str = "", tenant: str | None = None) -> list[ToolView]:
    """Every tool that a store knows something about, by tenant and name; or that of one name, or of
    one tenant."""
    found: dict[tuple[str, str], ToolView] = {}
    for cell in store.look():
        for whose, tool, told in _told(cell, name_of(cell.key), now):
            known = found.get((whose, tool), ToolView(whose, tool))
            if "breakers" in told:
                told["breakers"] = (*known.breakers, *told["breakers"])
            found[whose, tool] = msgspec.structs.replace(known, **told)
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


Told = Iterator[tuple[str, str, dict[str, Any]]]
"""What a cell tells of tools: whose, which, and what of it."""


def _told(cell: Seen, name: Name, now: int) -> Told:
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
        case ("breaker", tool, counter, *whose) if cell.value is not None:
            agent = whose[1] if len(whose) == 2 else ""
            broken = breaker_of(circuit_of(cell.value), counter, agent, name.shadow, now)
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


def _pinned(kept: Pins, tenant: str) -> Told:
    for tool, parts in kept.tools.items():
        seen = kept.seen.get(tool)
        suspect = kept.suspects.get(tool)
        said = () if suspect is None else tuple([str(remark) for remark in suspect.remarks])
        changed = "" if seen is None else differing(seen, parts)
        yield tenant, tool, {"pinned": True, "changed": changed, "suspect": said}
