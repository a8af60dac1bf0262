"""Holding what tools do against what a policy says of them: tools that act, of which nobody says
so."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from stanchion.kernel.contract.powers import having
from stanchion.kernel.contract.values import Point
from stanchion.kernel.declared import READ, effect_of
from stanchion.policy.argument_lint import Schemas
from stanchion.policy.compiled import CompiledPolicy, Seat
from stanchion.policy.rules import Rule
from stanchion.readings.drafting import draft

NAMED: Final = 10
"""How many tools are named."""


def about_effects(
    policy: CompiledPolicy, schemas: Schemas, declared: Collection[str] = ()
) -> Iterator[tuple[Seat, Point]]:
    """Which tools seem to act, and neither the policy nor their code (`declared`) says what they
    do, for a guard that asks. What only reads is told by its name."""
    asking = next((seat for seat in policy.seats if _asks(seat)), None)
    if asking is None:
        return
    unsaid = [
        name
        for name, schema in schemas.items()
        if name not in declared
        and not effect_of(policy.known(name).traits)
        and draft(name, schema if isinstance(schema, Mapping) else None).effect != READ
    ]
    if unsaid:
        shown = ", ".join([f"`{name}`" for name in sorted(unsaid)[:NAMED]])
        more = f" and {len(unsaid) - NAMED} more" if len(unsaid) > NAMED else ""
        said = f"nobody says what these tools do, which seem to act: {shown}{more}"
        advice = (
            f"give each an `effect` under `tools`, as `stanchion tools draft` proposes; until then "
            f"`{asking.placed.id}` goes by their names"
        )
        yield asking, Point("effect", "likely", said, advice)


def _asks(seat: Seat) -> bool:
    """Whether a guard asks what tools do: where values come from, or by a rule."""
    guard = seat.placed.guard
    if isinstance(guard, Rule):
        return any(
            "event.traits" in part.reads
            for part in (guard.when_condition, guard.check_condition)
            if part is not None
        )
    return having(guard, "recalls") is not None
