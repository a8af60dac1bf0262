"""How a shield's tenants and tools stand, as its store has it: for people who look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stanchion.kernel.gates import Standing, standing_key, standing_of

if TYPE_CHECKING:
    from stanchion.runtime.standing.grounds import Grounds


def standing(shield: Grounds, tenant: str | None = None) -> Standing:
    """The states of a tenant and of what is in it, as the store has them; `*` is the fleet."""
    return standing_of(shield.store.read(standing_key(shield.tenancy.of(tenant)))[1])


def health(shield: Grounds, tool: str, tenant: str | None = None) -> int | None:
    """How well a tool has worked lately, from 0 to 100; `None` where a `health` guard has seen no call of it."""
    from stanchion.guards.health import health_key, score

    return score(shield.store.read(health_key(shield.tenancy.of(tenant), tool))[0])
