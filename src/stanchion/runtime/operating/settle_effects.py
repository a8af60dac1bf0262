"""Settling effects: a person says whether something happened whose outcome nobody knew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion import typed
from stanchion.approvals.act import Answer, Purpose
from stanchion.approvals.answerers import By
from stanchion.approvals.digest import Request
from stanchion.approvals.errors import TicketClosed, TicketError
from stanchion.approvals.questions import said_of, settled, ticket_id
from stanchion.approvals.shelf import read
from stanchion.approvals.ticket import Ticket, key_of
from stanchion.audit.journal import Fact
from stanchion.kernel.engine import TRIES
from stanchion.kernel.events import RunInfo
from stanchion.kernel.regex import regex
from stanchion.kernel.shown import Shown
from stanchion.kernel.state import CLOCK, Batch, Put, Reply, StoreLost, When, key
from stanchion.runtime.calling.ledger import (
    DONE,
    FAILED,
    STARTED,
    UNKNOWN,
    LedgerEffect,
    id_of,
    kept,
)
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.people.authority import told
from stanchion.runtime.standing.veil import tell
from stanchion.runtime.values import project

if TYPE_CHECKING:
    from stanchion.runtime.shield import Shield

ID: Final = regex("[0-9a-f]{32}")
OPEN: Final = frozenset({STARTED, UNKNOWN})


class EffectError(Shown):
    """An effect cannot be settled: there is none of that id, or what came of it is known."""


def effect_named(run: RunInfo, name: str) -> str:
    """The id of an effect, by its id or by the key that its caller gave it."""
    return name if ID.fullmatch(name) else id_of(run, name)


def settle_effect(
    shield: Shield,
    effect: str,
    happened: bool,
    *,
    result: Any = None,
    by: By = "an operator",
    tenant: str | None = None,
) -> None:
    """Say whether something happened whose outcome nobody knew; `effect` is the id that
    `stanchion explain` shows with the refusal.

    What has happened is never done again, and answers with `result` where one is given; what has
    not can start. Say so only when nothing of it is still at work. `EffectError` where there is
    nothing to settle, `AnswerRefused` where `by` is no operator.
    """
    said = {"happened": happened, "result": project(result)}
    shield.act(
        Request(
            purpose=Purpose.SETTLE, tenant=shield.tenancy.of(tenant), subject=effect, said=said
        ),
        by,
    )


def settle(
    shield: Shield, effect: str, happened: bool, result: Any, answer: Answer, tenant: str
) -> None:
    """Put an effect to what an operator has said of it."""
    from secrets import token_hex

    drive(
        _settle(shield, f"settle-{token_hex(8)}", tenant, effect, happened, result, answer), shield
    )


def _settle(
    shield: Shield,
    batch_id: str,
    tenant: str,
    effect_id: str,
    happened: bool,
    result: Any,
    answer: Answer,
) -> Flow[LedgerEffect]:
    """Put an effect whose outcome is open to what a person says of it, with the ticket about it,
    and write that down first."""
    cell, place = key(tenant, "effect", effect_id), key_of(tenant, ticket_id(tenant, effect_id))
    data, by = result, shield.policy.veil.name(answer.act.operator)
    for turn in range(TRIES):
        look = ((cell, 0, 1), (place, 0, 1), (CLOCK, 0, 1))
        reply: Reply = yield Batch(f"{batch_id}.look{turn}", tenant, True, look)
        found = next((fresh for fresh in reply.fresh if fresh.key == cell), None)
        asked = next((fresh for fresh in reply.fresh if fresh.key == place), None)
        if found is None:
            raise EffectError(
                f"there is no effect `{effect_id}`: give the id that `stanchion explain` shows, or "
                f"the call's own key"
            )
        effect = typed.convert(found.value, LedgerEffect)
        if effect.state not in OPEN:
            raise EffectError(f"effect `{effect_id}` is {effect.state}: there is nothing to settle")
        keeps = happened and data is not None and kept(data)
        new = msgspec.structs.replace(
            effect,
            state=DONE if happened else FAILED,
            until=0,
            by=by,
            kept=keeps,
            result=data if keeps else None,
        )
        what = "effect.happened" if happened else "effect.not_happened"
        said = {"tool": effect.tool, "call": effect.call, **told(answer)}
        puts: list[Put] = [(cell, msgspec.to_builtins(new), When.JUDGED, 0, 0)]
        expects = [(cell, found.number, found.number + 1)]
        ticket = None if asked is None else read(asked.value)
        closed = None if ticket is None else settled(ticket, reply.now, answer)
        if asked is not None and closed is not None:
            puts.append((place, msgspec.to_builtins(closed), When.JUDGED, 0, 0))
            expects.append((place, asked.number, asked.number + 1))
            said["ticket"] = closed.id
        tell(shield, Fact(shield.clock(), what, effect_id, tenant, effect.run, by, data=said))
        reply = yield Batch(f"{batch_id}.{turn}", tenant, True, tuple(expects), puts=tuple(puts))
        if not reply.stale:
            shield.records.pop(place, None)
            shield.waiting.wake(place)
            return new
    raise StoreLost(f"effect `{effect_id}` changed {TRIES} times in the meantime: try again")


def settle_by(shield: Shield, ticket: Ticket, answer: Answer) -> Ticket:
    """Settle the effect that a ticket is about as somebody has said, which uses the ticket up;
    `TicketError` where there is nothing to settle any more."""
    effect, happened = said_of(ticket, answer)
    try:
        settle(shield, effect, happened, None, answer, ticket.tenant)
    except EffectError as error:
        raise TicketClosed(f"ticket `{ticket.id}` has nothing to settle: {error}") from None
    after = read(shield.store.read(ticket.key)[1])
    if after is None:
        raise TicketError(f"ticket `{ticket.id}` is gone: its effect is settled")
    return after
