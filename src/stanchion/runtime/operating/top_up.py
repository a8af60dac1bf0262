"""Topping up: an operator lets more be spent of a budget than its policy says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from stanchion.approvals.act import Answer, Purpose
from stanchion.approvals.request import Request
from stanchion.kernel.regex import regex
from stanchion.kernel.scopes import FLEET
from stanchion.kernel.shown import Shown
from stanchion.kernel.state import Batch, Line, Put, When, key
from stanchion.kernel.units import Amounts, Unit
from stanchion.runtime.calling.children import MEASURES, allotted
from stanchion.runtime.deciding.measures import as_given
from stanchion.runtime.people.authority import tell_answered
from stanchion.stores.seen import Seen

if TYPE_CHECKING:
    from stanchion.runtime.operating.grounds import Operated

FORM: Final = (
    "`BUDGET/run:ID`, `BUDGET/task:NAME`, `BUDGET/agent:NAME`, `BUDGET/LABEL:NAME`, "
    "`BUDGET/tenant` or `BUDGET/fleet`"
)
_SCOPE: Final = regex(r"([^/]+)/(?:(tenant|fleet)|([A-Za-z_]\w*):(.+))", re.DOTALL)
_WINDOW: Final = regex(r"(.*)/(\d+)", re.DOTALL)


class BudgetError(Shown):
    """A budget cannot be topped up: there is none of that name, or nothing was spent of it yet."""


class Named(NamedTuple):
    """A budget as it is named: the id of its guard, whose it is, and the parts of its counter's key
    behind the unit."""

    budget: str
    tenant: str
    scope: tuple[str, ...]


def top_up_request(tenant: str, budget: str, amount: Mapping[str, Any], why: str) -> Request:
    """What an operator is asked who would have a budget topped up."""
    whole = allotted(as_given(amount, MEASURES))
    more = {unit.name.lower(): given for unit, given in zip(Unit, whole, strict=True) if given > 0}
    if not more:
        raise ValueError("the top-up is empty: give an amount above 0")
    said = {"amount": more, "why": why}
    whose = named_budget(budget, tenant).tenant
    return Request(purpose=Purpose.TOP_UP, tenant=whose, subject=budget, said=said)


def named_budget(budget: str, tenant: str) -> Named:
    """A budget's name taken apart; `BudgetError` where it is none."""
    match = _SCOPE.fullmatch(budget)
    if match is None:
        raise BudgetError(f"`{budget}` does not name a budget: write {FORM}")
    name, whole, per, whose = match.groups()
    return Named(name, FLEET if whole == "fleet" else tenant, (whole,) if whole else (per, whose))


def topped(shield: Operated, request: Request) -> int:
    """How often budgets of a tenant were topped up."""
    number: int = shield.store.read(_record(request.tenant))[0]
    return number


def topped_up(shield: Operated, request: Request, answer: Answer) -> None:
    """Take an amount off what is used of a budget, once, and write that down first."""
    from secrets import token_hex

    named = named_budget(request.subject, request.tenant)
    more = {Unit[name.upper()]: int(given) for name, given in request.said["amount"].items()}
    lines = tuple([_line(shield, named, unit) for unit in more])
    one, tokens, cost, api_calls, working_ms = [-more.get(unit, 0) for unit in Unit]
    amounts: Amounts = (one, tokens, cost, api_calls, working_ms)
    act = answer.act
    amount = request.said["amount"]
    tell_answered(
        shield, "budget.topped_up", request.subject, request.tenant, answer, amount=amount
    )
    cell = _record(request.tenant)
    put: Put = (cell, {"budget": request.subject, "by": act.operator}, When.JUDGED, 0, 0)
    batch_id, expects = f"top-up-{token_hex(8)}", ((cell, act.generation, act.generation + 1),)
    reply = shield.store.carry(
        Batch(batch_id, request.tenant, True, expects, (), lines, amounts, (put,))
    )
    if reply.stale:
        raise BudgetError(
            "somebody else topped up a budget in the meantime: look at it, and try again"
        )


def _line(shield: Operated, named: Named, unit: Unit) -> Line:
    """The counter of a budget, as it is in the store; of hours, days or months, the one that was
    spent from last."""
    name = key(named.tenant, "budget", named.budget, unit.name.lower(), *named.scope)
    periods: list[Seen] = []
    for seen in shield.store.look(name):
        window = _WINDOW.fullmatch(seen.key)
        if seen.key == name:
            return Line(name, unit=unit)
        if seen.key.startswith(f"{name}:@"):
            periods.append(seen)
        if window is not None and window[1] == name and seen.live is not None:
            return Line(seen.key, unit=unit, window_ms=int(window[2]))
    if periods:
        return Line(max(periods, key=lambda seen: seen.touched_ms).key, unit=unit)
    measure = unit.name.lower()
    raise BudgetError(
        f"nothing is spent of the {measure} of `{named.budget}` by that {named.scope[0]}: "
        f"`stanchion budget show` "
        "lists "
        f"every budget; write {FORM}"
    )


def _record(tenant: str) -> str:
    return key(tenant, "topped_up")
