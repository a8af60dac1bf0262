"""Releasing: an operator gives back what a call has reserved whose process is gone, or says what it
used."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from stanchion.approvals.act import Answer, Purpose
from stanchion.approvals.digest import Request
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.regex import regex
from stanchion.kernel.shown import Shown
from stanchion.kernel.state import Batch, Line, Put, When, key
from stanchion.kernel.units import LARGEST, MICRO, Amounts, Unit
from stanchion.runtime.calling.children import MEASURES, allotted
from stanchion.runtime.calling.reports import USAGE, named_in, spending
from stanchion.runtime.deciding.open_calls import released_key, reserved_by, run_of, spends
from stanchion.runtime.deciding.start import START_MS
from stanchion.runtime.people.authority import tell_answered
from stanchion.stores.leasing.lease import POOLS, is_slice, lender_key, lender_of
from stanchion.stores.seen import Hold, SeenCell

if TYPE_CHECKING:
    from stanchion.runtime.shield import Shield

WHOLE: Final[dict[str, tuple[str, int]]] = {
    Unit.ONE.name.lower(): ("calls", 1),
    Unit.COST_MICROUSD.name.lower(): ("cost_usd", MICRO),
    Unit.DURATION_MS.name.lower(): ("duration_s", 1000),
}
"""Measures as stores count them, in whole units: what each is called otherwise, and how many of it
make one of that."""

FRACTIONS: Final = frozenset(name for name, many in WHOLE.values() if many > 1)
"""Measures of which a part of one can be given."""


def as_given(amounts: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
    """Amounts by the names of `known` measures, where some have the names of the store;
    `ValueError` where a measure is unknown, is given twice, or is not whole."""
    taken = {name: name for name in known}
    taken |= {whole: name for whole, (name, _) in WHOLE.items() if name in taken}
    found: dict[str, Any] = {}
    for said, value in amounts.items():
        name = taken.get(said)
        if name is None:
            raise ValueError(f"`{said}` is not a measure: give some of {', '.join(taken)}")
        if name in found:
            raise ValueError(
                f"`{said}` is given twice: once is enough, as `{name}` or by its other name"
            )
        if said in WHOLE:
            if type(value) is not int:
                raise ValueError(f"{said} is `{value}`: give a whole number")
            many = WHOLE[said][1]
            value = value if many == 1 else value / many
        found[name] = value
    return found


QUIET_MS: Final = 2 * START_MS
"""How long a call must be open, and a process silent, before it can be released: nothing starts
that late any more."""

SETTLED: Final = frozenset({"settled", "late"})


class HoldError(Shown):
    """A hold cannot be released: there is none, or its process may still be at work."""


def release_request(
    whose: Callable[[str | None], str],
    call: str,
    used: Mapping[str, Any] | None,
    why: str,
    tenant: str | None,
) -> Request:
    """What an operator is asked who would have a call released."""
    said = {"used": None if used is None else _amounts(used), "why": why}
    return Request(
        purpose=Purpose.RELEASE,
        tenant=FLEET if is_slice(call) else whose(tenant),
        subject=call,
        said=said,
    )


def _amounts(used: Mapping[str, Any]) -> dict[str, int]:
    """What was used, in whole units by the name of the measure."""
    given = as_given(used, ("calls", *USAGE))
    calls = given.pop("calls", None)
    vector = spending(given)
    named = {unit.name.lower(): vector[unit] for unit in sorted(named_in(given))}
    if calls is None:
        return named
    if type(calls) is not int or not 0 <= calls < LARGEST:
        raise ValueError(
            f"calls is `{calls}`: give a whole number that is not negative and below 10^15"
        )
    return {Unit.ONE.name.lower(): calls, **named}


def held(shield: Shield, request: Request) -> int:
    """Which hold of that id is meant: the time at which it was taken; 0 where there is none."""
    hold = shield.store.held(request.tenant, request.subject)
    return 0 if hold is None else hold.since_ms


def released(shield: Shield, request: Request, answer: Answer) -> None:
    """Close a hold as an operator has said, and write that down first."""
    from secrets import token_hex

    call, tenant = request.subject, request.tenant
    hold: Hold | None = shield.store.held(tenant, call)
    if hold is None or not spends(hold):
        raise HoldError(
            f"nothing is held by `{call}`, or it is already settled: `stanchion budget holds` "
            f"shows all holds"
        )
    now = shield.store.carry(Batch(f"release-{token_hex(8)}", tenant)).now
    _check_quiet(shield, hold, now)
    used = actual(hold, request.said.get("used"))
    data = {"reserved": _named(reserved_by(hold)), "used": request.said.get("used")}
    tell_answered(shield, "budget.released", call, tenant, answer, run_of(call), **data)
    put: Put = (released_key(tenant, call), [] if used is None else list(used), When.JUDGED, 0, 0)
    reply = shield.store.carry(
        Batch(f"release-{token_hex(8)}", tenant, settles=((call, used),), puts=(put,))
    )
    if reply.settled[0] not in SETTLED:
        raise HoldError(f"`{call}` was settled in the meantime: there is nothing left to release")


def _check_quiet(shield: Shield, hold: Hold, now: int) -> None:
    """Refuse while a process may be about to start what it was allowed, or may be spending a
    slice."""
    heard = hold.since_ms
    if is_slice(hold.id):
        beat = lender_key(lender_of(hold.id))
        heard = max(
            [heard, *[seen.touched_ms for seen in shield.store.look(beat) if seen.key == beat]]
        )
    if now - heard < QUIET_MS:
        left_s = -(-(QUIET_MS - (now - heard)) // 1000)
        raise HoldError(
            f"the process of `{hold.id}` may still be working: try again when it has been silent "
            f"for {left_s} s more"
        )


def actual(hold: Hold, used: Mapping[str, int] | None) -> Amounts | None:
    """What a hold is settled with; `None` where nothing of it was used."""
    if used is None:
        return None
    reserved = reserved_by(hold)
    pools = {part.unit for part in hold.took if part.key.startswith(POOLS)}
    one, *rest = [
        0 if unit in pools else used.get(unit.name.lower(), reserved[unit]) for unit in Unit
    ]
    tokens, cost, api_calls, working_ms = rest
    return (one, tokens, cost, api_calls, working_ms)


def _named(reserved: Amounts) -> dict[str, int]:
    return {unit.name.lower(): reserved[unit] for unit in Unit if reserved[unit]}


FORM: Final = (
    "`BUDGET/run:ID`, `BUDGET/task:NAME`, `BUDGET/agent:NAME`, `BUDGET/LABEL:NAME`, "
    "`BUDGET/tenant` or `BUDGET/fleet`"
)
_SCOPE: Final = regex(r"([^/]+)/(?:(tenant|fleet)|([A-Za-z_]\w*):(.+))", re.DOTALL)
_WINDOW: Final = regex(r"(.*)/(\d+)", re.DOTALL)


class BudgetError(Shown):
    """A budget cannot be topped up: there is none of that name, or nothing was spent of it yet."""


class NamedBudget(NamedTuple):
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


def named_budget(budget: str, tenant: str) -> NamedBudget:
    """A budget's name taken apart; `BudgetError` where it is none."""
    match = _SCOPE.fullmatch(budget)
    if match is None:
        raise BudgetError(f"`{budget}` does not name a budget: write {FORM}")
    name, whole, per, whose = match.groups()
    return NamedBudget(
        name, FLEET if whole == "fleet" else tenant, (whole,) if whole else (per, whose)
    )


def topped(shield: Shield, request: Request) -> int:
    """How often budgets of a tenant were topped up."""
    number: int = shield.store.read(_record(request.tenant))[0]
    return number


def topped_up(shield: Shield, request: Request, answer: Answer) -> None:
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


def _line(shield: Shield, named: NamedBudget, unit: Unit) -> Line:
    """The counter of a budget, as it is in the store; of hours, days or months, the one that was
    spent from last."""
    name = key(named.tenant, "budget", named.budget, unit.name.lower(), *named.scope)
    periods: list[SeenCell] = []
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
