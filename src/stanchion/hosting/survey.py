"""Surveys: what an adapter finds registered in its framework, with what of it passes no guard."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Literal

import msgspec

from stanchion.kernel.shown import visible
from stanchion.runtime.errors import Ungoverned

LONGEST: Final = 200


class Part(msgspec.Struct, frozen=True):
    """A tool, a client or an agent that is registered in a framework: its name there, whether its calls are judged, and
    where it was found."""

    kind: Literal["tool", "client", "agent"]
    name: str
    guarded: bool
    where: str = ""


def survey(run: Any, parts: Iterable[Part]) -> tuple[Part, ...]:
    """Say what a run's framework has at hand; gives the parts that nothing guards.

    Where the shield watches, those are written down and named by `stanchion coverage`; where it is to refuse,
    `Ungoverned` is raised, so that the agent does not start with them.
    """
    open_ones = tuple([part for part in parts if not part.guarded])
    sightings = getattr(run.desk, "sightings", None)
    if sightings is None or not open_ones:
        return open_ones
    for part in open_ones:
        sightings.found(part.kind, visible(part.name[:LONGEST]), visible(part.where[:LONGEST]))
    if sightings.mode == "refuse":
        named = ", ".join([f"the {part.kind} `{visible(part.name[:LONGEST])}`" for part in open_ones])
        raise Ungoverned(f"nothing guards {named}: put it under the adapter, or take it away from the agent")
    return open_ones
