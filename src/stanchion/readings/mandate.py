"""What a call does by a mandate's words, and which of its values the mandate names."""

from __future__ import annotations

from typing import Any, Final

from stanchion.kernel.declared import READ, effect_of
from stanchion.kernel.events import Egress, Event, RunInfo
from stanchion.kernel.mandate import is_inside, named_values
from stanchion.readings.drafting import draft

LOOKS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Requests that only look, where no tool is at work whose effect says more."""
OUTWARD: Final = "outward"


def effect_of_call(event: Event) -> str:
    """What a call does: what is declared of its tool, or else what its name says. One of which
    nobody knows what it does reaches others."""
    declared = effect_of(event.traits)
    if declared:
        return declared
    if not event.tool and isinstance(event, Egress):
        return READ if event.method.upper() in LOOKS else OUTWARD
    drafted = draft(event.tool).effect
    return drafted if drafted else OUTWARD


def fits_mandate(event: Event, me: tuple[str, ...] = ()) -> bool:
    """Whether what an event does is inside of its run's mandate; `me` are the user's own addresses
    and accounts, beside those that the run's labels name."""
    run = event.run
    args = event.payload if isinstance(event, Egress) else getattr(event, "args", None)
    own = (*me, *run.label_values)
    return is_inside(run.mandate, event.tool, effect_of_call(event), args, own)


def granted_by(
    run: RunInfo, tool: str, args: Any, effect: str = "", me: tuple[str, ...] = ()
) -> frozenset[str]:
    """The arguments of a call whose values the mandate of its run names. `effect` is what the tool
    does, `me` are the user's own addresses and accounts."""
    return named_values(run.mandate, tool, effect, args, (*me, *run.label_values))
