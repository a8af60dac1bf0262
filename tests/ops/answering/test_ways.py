"""Every way of answering, and everything that is wrong with an answer: one table, played."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import pytest

from stanchion.approvals.act import Answer, Way
from stanchion.approvals.answerers import Signer
from stanchion.approvals.errors import TicketError
from stanchion.approvals.ticket import State, Ticket, wish_of
from stanchion.testing.operators import operator
from tests.ops.answering.scene import Scene, form_of, scene

ANN, KNOWN = operator("ann", agents=("bot-of-ann",))
RELAYED: Final = {"relayed": ["link", "chat"]}


def by_link(at: Scene, ticket: Ticket) -> bool:
    return at.answers(at.link(ticket)).status == 200


def by_chat(at: Scene, ticket: Ticket) -> bool:
    return at.presses(at.link(ticket)).status == 200


def by_key(at: Scene, ticket: Ticket) -> bool:
    return handed_in(at, signed(at, ticket))


WAYS: Final[dict[str, Callable[[Scene, Ticket], bool]]] = {
    "link": by_link,
    "chat": by_chat,
    "key": by_key,
}


def signed(at: Scene, ticket: Ticket, by: Signer = ANN) -> Answer:
    return by.signed(wish_of(ticket).act("ann", "human_operator", at.clock() + 60_000, True, ""))


def handed_in(at: Scene, answer: Answer) -> bool:
    try:
        at.shield.answer(answer.bytes)
    except TicketError:
        return False
    return True


def _other_key(at: Scene, ticket: Ticket) -> bool:
    stranger, _ = operator("ann")
    return handed_in(at, signed(at, ticket, stranger))


def _twice(at: Scene, ticket: Ticket, way: str) -> bool:
    """The very same bytes once more, when the first were accepted, used up and asked for again."""
    link = at.link(ticket)
    form, chat, answer = form_of(at.opens(link).text), at.pressed(link), signed(at, ticket)

    def send() -> bool:
        if way == "link":
            return at.answers(link, form=form).status == 200
        if way == "chat":
            return at.sends("POST", "/chat", chat[0], **chat[1]).status == 200
        return handed_in(at, answer)

    assert send()
    assert not send()
    assert at.goes_ahead()
    assert at.asks().state is State.OPEN
    return send()


def _late(at: Scene, ticket: Ticket, way: str) -> bool:
    at.clock.advance(1_800_000)
    return WAYS[way](at, ticket)


def _stale(at: Scene, ticket: Ticket, way: str) -> bool:
    """An answer that was made in time, and arrives when its time is over; the ticket is open."""
    link = at.link(ticket)
    form, chat, answer = form_of(at.opens(link).text), at.pressed(link), signed(at, ticket)
    at.clock.advance(3_600_000 if way == "link" else 300_001)
    if way == "link":
        at.asks_again()
        return at.answers(link, form=form).status == 200
    if way == "chat":
        return at.sends("POST", "/chat", chat[0], **chat[1]).status == 200
    return handed_in(at, answer)


def _own(at: Scene, ticket: Ticket, way: str) -> bool:
    """The agent answers: its run is open in the process that does, or it works for who signs."""
    if way == "key":
        with at.shield.run(agent="bot-of-ann", task="bills") as run:
            waiting = run.check("pay", {"amount": 7})
            asked = at.shield.ticket(str(run.ticket(waiting)))
        return handed_in(at, signed(at, asked))
    with at.run():
        return WAYS[way](at, ticket)


def _asked_again(at: Scene, ticket: Ticket, way: str) -> bool:
    """An answer to what was asked before, where the same is asked again."""
    at.clock.advance(1_800_000)
    at.asks_again()
    return WAYS[way](at, ticket)


def _other_call(at: Scene, ticket: Ticket, way: str) -> bool:
    """What is bound to another digest than the ticket has."""
    deed = msgspec.structs.replace(ticket.deed, what="0" * 64)
    return WAYS[way](at, msgspec.structs.replace(ticket, deed=deed))


def _answered_elsewhere(at: Scene, ticket: Ticket, way: str) -> bool:
    at.shield.deny(ticket.id, by="bob", comment="wrong account")
    return WAYS[way](at, ticket)


def _forged(at: Scene, ticket: Ticket, way: str) -> bool:
    link = at.link(ticket)
    if way == "link":
        swapped = "B" if link[-1] == "A" else "A"
        return at.answers(link[:-1] + swapped, form=form_of(at.opens(link).text)).status == 200
    if way == "chat":
        return at.presses(link, secret="another").status == 200
    return _other_key(at, ticket)


def _stranger(at: Scene, ticket: Ticket, way: str) -> bool:
    """Nobody knows who it is: a form without the page's token, an unknown user, a revoked name."""
    link = at.link(ticket)
    if way == "link":
        return at.answers(link, form="1.00").status == 200
    if way == "chat":
        return at.presses(link, user="U2").status == 200
    answer = signed(at, ticket)
    act = msgspec.structs.replace(answer.act, operator="bob")
    return handed_in(at, msgspec.structs.replace(answer, act=act))


FAULTS: Final[dict[str, Callable[[Scene, Ticket, str], bool]]] = {
    "forged": _forged,
    "replayed": _twice,
    "late": _late,
    "stale": _stale,
    "self-given": _own,
    "a stranger's": _stranger,
    "for an earlier request": _asked_again,
    "for another call": _other_call,
    "answered elsewhere": _answered_elsewhere,
}


class Cell(NamedTuple):
    way: str
    fault: str


CELLS: Final = [Cell(way, fault) for way in WAYS for fault in FAULTS]


def options(way: str) -> dict[str, object]:
    return {"operators": (KNOWN,)} if way == "key" else {}


@pytest.mark.parametrize("way", WAYS)
def test_a_waiting_call_goes_ahead_once_when_it_is_answered(way: str, tmp_path: Path) -> None:
    with scene(tmp_path, **options(way)) as at:
        ticket = at.asks()
        assert not at.goes_ahead()
        assert WAYS[way](at, ticket)
        assert at.goes_ahead()
        assert not at.goes_ahead()
        (fact,) = at.facts("ticket.approved")
        names = {"link": "link:phone", "chat": "ann", "key": "ann"}
        assert (fact.by, fact.data["way"], fact.data["strength"]) == (names[way], way, way)
        assert fact.data["proven"] is (way == "key")


@pytest.mark.parametrize("cell", CELLS, ids=" ".join)
def test_an_answer_with_a_fault_is_refused_in_every_way(cell: Cell, tmp_path: Path) -> None:
    with scene(tmp_path, **options(cell.way)) as at:
        ticket = at.asks()
        assert not FAULTS[cell.fault](at, ticket, cell.way)
        assert not at.goes_ahead()
        assert len(at.paid) == (1 if cell.fault == "replayed" else 0)


@pytest.mark.parametrize("way", ["link", "chat"])
@pytest.mark.parametrize("risk", ["medium", "high", "critical"])
@pytest.mark.parametrize("enrolled", [False, True])
@pytest.mark.parametrize("terms", [{}, RELAYED, {**RELAYED, "at_least": "key"}], ids=str)
def test_what_is_unproven_reaches_as_far_as_the_policy_says(
    way: str, risk: str, enrolled: bool, terms: dict[str, object], tmp_path: Path
) -> None:
    people = (KNOWN,) if enrolled else ()
    with scene(tmp_path, risk=risk, operators=people, terms=terms) as at:
        counts = risk == "medium" and "at_least" not in terms and (bool(terms) or not enrolled)
        assert WAYS[way](at, at.asks()) is counts
        assert at.goes_ahead() is counts
        refused = at.facts("answer.refused")
        assert bool(refused) is not counts


@pytest.mark.parametrize("way", ["link", "chat"])
def test_a_no_needs_one_press_and_the_agent_reads_why(way: str, tmp_path: Path) -> None:
    with scene(tmp_path, operators=(KNOWN,)) as at:
        ticket = at.asks()
        link = at.link(ticket)
        said = at.answers(link, "no", why="") if way == "link" else at.presses(link, "no")
        assert said.status == 200
        known = at.shield.ticket(ticket.id)
        assert (known.state, known.comment) == (State.DENIED, "not now")
        assert known.answer is not None
        assert known.answer.way is Way(way)
