"""Releasing: an operator gives back what a call has reserved whose process is gone, or says what it
used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from stanchion.approvals.act import Answer, Purpose
from stanchion.approvals.request import Request
from stanchion.kernel.scopes import FLEET
from stanchion.kernel.shown import Shown
from stanchion.kernel.state import Batch, Put, When
from stanchion.kernel.units import LARGEST, Amounts, Unit
from stanchion.runtime.deciding.measures import as_given
from stanchion.runtime.deciding.open_calls import reserved_by, run_of, spends
from stanchion.runtime.deciding.overtaken import released_key
from stanchion.runtime.deciding.start import START_MS
from stanchion.runtime.people.authority import tell_answered
from stanchion.stores.leasing.lease import POOLS, is_slice, lender_key, lender_of
from stanchion.stores.seen import Hold

if TYPE_CHECKING:
    from stanchion.runtime.operating.grounds import Operated

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
    from stanchion.runtime.calling.reports import USAGE, named_in, spending

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


def held(shield: Operated, request: Request) -> int:
    """Which hold of that id is meant: the time at which it was taken; 0 where there is none."""
    hold = shield.store.held(request.tenant, request.subject)
    return 0 if hold is None else hold.since_ms


def released(shield: Operated, request: Request, answer: Answer) -> None:
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


def _check_quiet(shield: Operated, hold: Hold, now: int) -> None:
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
