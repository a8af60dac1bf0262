"""How a shield's tenants and tools stand, as its store has it: for people who look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stanchion.kernel.gates import Standing, standing_key, standing_of

if TYPE_CHECKING:
    from stanchion.policy.compiled import CompiledPolicy
    from stanchion.runtime.standing.grounds import Grounds
    from stanchion.telemetry.guardrails import GuardrailState


def standing(shield: Grounds, tenant: str | None = None) -> Standing:
    """The states of a tenant and of what is in it, as the store has them; `*` is the fleet."""
    return standing_of(shield.store.read(standing_key(shield.tenancy.of(tenant)))[1])


def health(shield: Grounds, tool: str, tenant: str | None = None) -> int | None:
    """How well a tool has worked lately, from 0 to 100; `None` where a `health` guard has seen no
    call of it."""
    from stanchion.guards.health import health_key, score

    return score(shield.store.read(health_key(shield.tenancy.of(tenant), tool))[0])


def guardrails(shield: Grounds) -> tuple[GuardrailState, ...]:
    """The state of each guardrail of the policy in force, in the policy's order: how often it was
    reached by all processes that publish their figures in the same folder, and what it said. Guards
    that are parts of one are one. Nothing is counted where `metrics` is off."""
    from stanchion.telemetry.guardrails import states

    return states(shield.telemetry.collect(), switched_on(shield.policy))


def switched_on(policy: CompiledPolicy) -> dict[str, bool]:
    """Every guardrail of a policy, and whether it is on: one of which a part is on is."""
    from stanchion.policy.schema import id_of

    found = {
        entry.part_of if entry.part_of else id_of(entry): False for entry in policy.file.guards
    }
    return found | {seat.placed.whole: True for seat in policy.seats}
