"""Putting a policy pack in force."""

from __future__ import annotations

from typing import Any, Final

from stanchion.dialects.errors import DialectError
from stanchion.dialects.penguiflow.fields import shown
from stanchion.dialects.penguiflow.gateway import GuardrailGateway
from stanchion.dialects.penguiflow.packs import GuardrailPolicyPack, settled
from stanchion.dialects.penguiflow.routing import DefaultRiskRouter
from stanchion.dialects.penguiflow.rules import RuleRegistry

OWN: Final = {
    "registry": "gateway.registry",
    "builder": "gateway.context_builder",
    "router": "gateway.risk_router",
}
"""Where a gateway has what it is given beside a pack."""


def apply_policy_config(
    registry: RuleRegistry,
    gateway: GuardrailGateway,
    builder: Any,
    router: DefaultRiskRouter,
    policy: GuardrailPolicyPack,
) -> None:
    """Put a pack in force, as a whole: where something is wrong with it everything stays as it was.

    What the pack does not say stays as the gateway, its builder and its router have it.
    """
    if not isinstance(gateway, GuardrailGateway):
        raise DialectError(f"`gateway` is {shown(gateway)}: give the GuardrailGateway")
    given = {"registry": registry, "builder": builder, "router": router}
    own = {
        "registry": gateway.registry,
        "builder": gateway.context_builder,
        "router": gateway.risk_router,
    }
    for name, one in given.items():
        if one is not own[name]:
            raise DialectError(f"`{name}` is not the one of this gateway: give `{OWN[name]}`")
    if not isinstance(policy, GuardrailPolicyPack):
        raise DialectError(
            f"a pack is a GuardrailPolicyPack, not `{type(policy).__name__}`: use "
            f"`load_policy_pack`"
        )
    gateway.apply(policy, settled(registry, policy))
