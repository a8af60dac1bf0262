"""What a shield knows from experience: how reliable a tool is, and which calls of it worked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stanchion.experience.advice_context import AdviceContext, advice_context
from stanchion.experience.incident import DAY_MS
from stanchion.experience.shelf import ShelfError
from stanchion.experience.similarity import Similar, similar_to
from stanchion.experience.tally import Known, Reliability, reliability_of
from stanchion.kernel.chain import EVERY_ACTION
from stanchion.kernel.events import RunInfo
from stanchion.runtime.deciding.hosts import plans_of
from stanchion.runtime.driving.flow import Flow, Invoke
from stanchion.runtime.learning.redacted import kept_args, kept_name
from stanchion.runtime.values import Unreadable, arguments

if TYPE_CHECKING:
    from stanchion.runtime.deciding.desk import Desk
    from stanchion.runtime.learning.keeper import Keeper
    from stanchion.runtime.shield import Shield

MOST_SIMILAR = 5
NOTHING = "none"


def reliability(shield: Shield, tool: str, tenant: str | None = None) -> Reliability:
    """How reliable a tool is for a tenant: successes, failures and their plain rate as reported,
    and beside it an estimate with a half-life of seven days and its Wilson interval (95 %).

    By the tier that the policy names under `experience`: without one nothing is known. `ShelfError`
    where the store cannot be read and the process does not know the tool.
    """
    known = _known(shield, tool, shield.tenancy.of(tenant))
    return reliability_of(tool, known.tally, shield.clock() // DAY_MS)


def similar(
    shield: Shield, tool: str, args: dict[str, Any], tenant: str | None = None
) -> tuple[Similar, ...]:
    """Calls of a tool that worked for a tenant, the most alike first, each with the arguments that
    differ and how.

    The newest and the most used are compared, a bounded number however much is kept. It is for a
    program and for
    people: values are those of any run of the tenant, without secrets. An agent reads
    `Similar.without_values()`.
    """
    whose = shield.tenancy.of(tenant)
    known = _known(shield, tool, whose)
    if not known.practices:
        return ()

    plans = plans_of(shield.policy, RunInfo("", tenant=whose), EVERY_ACTION)
    return similar_to(kept_args(plans, tool, _content(args))[0], known.practices)[:MOST_SIMILAR]


def _known(shield: Shield, tool: str, tenant: str) -> Known:
    tier = shield.policy.file.experience.tier
    if tier == NOTHING:
        return Known()
    whose, name = kept_name(shield, tenant), kept_name(shield, tool)
    known = shield.experience.at_hand(tier, whose, name)
    return shield.experience.settled(whose, name) if known is None else known


def context_of(
    desk: Desk, tool: str, args: dict[str, Any], patient: bool = False
) -> Flow[AdviceContext]:
    """What advice about a call is made from, by all tiers. The store is asked where the process
    does not know the tool; where it cannot be, what the process knows has to do. `patient` is one
    who asks beside the way of any call: what waits is brought to the store first, however long that
    takes."""
    shield: Any = desk.shield
    if shield.policy.file.experience.tier == NOTHING:
        return AdviceContext(tool)
    plans = desk.plans
    given = kept_args(plans, tool, _content(args))[0]
    return (yield from context_for(desk, kept_name(plans, tool), given, patient))


def _content(args: dict[str, Any]) -> dict[str, Any]:
    """Arguments as guards see them; none, where they cannot be read."""
    try:
        content = arguments(args, copies=False).content
    except Unreadable:
        return {}
    return content if isinstance(content, dict) else {}


def context_for(
    desk: Desk, name: str, given: dict[str, Any], patient: bool = False
) -> Flow[AdviceContext]:
    """The same by the name and the arguments as they are kept."""
    shield: Any = desk.shield
    tier, plans = shield.policy.file.experience.tier, desk.plans
    keeper: Keeper = shield.experience
    tenant = kept_name(plans, desk.info.tenant)
    met = keeper.session(tenant, kept_name(plans, desk.info.id), name)
    known = keeper.at_hand(tier, tenant, name)
    if known is None:
        try:
            known = yield Invoke(keeper.settled if patient else keeper.asked, (tenant, name))
        except ShelfError:
            known = keeper.own(tenant, name)
    return advice_context(name, given, met, known, shield.clock() // DAY_MS)
