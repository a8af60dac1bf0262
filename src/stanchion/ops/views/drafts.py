"""Drafts as they are shown: what tools seem to do, as entries of a policy for a person to read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from stanchion.guards.schema.tools import ToolDefinition
from stanchion.kernel.declared import CONTENT, READ, Declared
from stanchion.readings.drafting import OF_PAGE, OUTWARD, explained
from stanchion.readings.known_tools import known_tool


class DraftView(Struct, frozen=True, kw_only=True):
    """A drafted declaration of a tool. `sure` is false where a person has to look it up."""

    tool: str
    effect: str
    sinks: tuple[str, ...]
    result: str | None
    why: str
    sure: bool


def drafts(definitions: Iterable[ToolDefinition], server: str = "") -> list[DraftView]:
    """What these tools seem to do. Of a known one it is what was read from its package, which may
    be milder than its name alone would have it; `server` is the name of the server they are of."""
    return [_draft(one, server) for one in definitions]


def _draft(definition: ToolDefinition, server: str) -> DraftView:
    schema = definition.schema if isinstance(definition.schema, Mapping) else None
    offered = schema.get("properties") if schema is not None else None
    args = tuple(offered) if isinstance(offered, Mapping) else ()
    name, about = definition.name, definition.about
    known = known_tool(f"{server}_{name}") if server else None
    known = known_tool(name, args) if known is None else known
    if known is not None:
        sinks = tuple([one for one in known.declared.sinks if one in args or one == OF_PAGE])
        declared, why, sure = known.declared._replace(sinks=sinks), f"as {known.source}", True
    else:
        said = about.get("description", "") if isinstance(about, Mapping) else about
        declared, why, sure = explained(name, schema, said if isinstance(said, str) else "")
        declared, why, sure = _hinted(declared, why, sure, about)
    return DraftView(
        tool=name,
        effect=declared.effect or OUTWARD,
        sinks=declared.sinks,
        result=declared.result,
        why=why,
        sure=sure,
    )


def _hinted(declared: Declared, why: str, sure: bool, about: Any) -> tuple[Declared, str, bool]:
    """A draft with what a server hints at, as far as that is stricter."""
    hints = about.get("annotations") if isinstance(about, Mapping) else None
    hints = hints if isinstance(hints, Mapping) else {}
    effect = declared.effect
    if effect != READ and hints.get("destructiveHint") is True:
        effect, why = "irreversible", f"{why}; its server calls it destructive"
    elif effect == READ and hints.get("readOnlyHint") is False:
        effect, why, sure = OUTWARD, f"{why}, but its server does not call it read-only", False
    if effect == declared.effect:
        return declared, why, sure
    return declared._replace(effect=effect, result=CONTENT), why, sure
