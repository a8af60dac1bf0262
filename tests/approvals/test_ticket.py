"""A ticket's life as a table: what every step makes of every state, and what no step may do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from stanchion.approvals.errors import TicketClosed, TicketError, UnknownTicket
from stanchion.approvals.finding import named
from stanchion.approvals.ticket import State, Ticket, approve, as_of, deny, is_over, key_of, reopen, use

T0, ENDS, LATE = 1_000, 61_000, 100_000
GRANT_MS = 10_000

OPEN = Ticket(
    id="3f2a9c01d4e7",
    run="r1",
    stage="tool_call",
    policy="p",
    digest="3f2a9c01d4e7" + "0" * 52,
    opened_at=T0,
    expires_at=ENDS,
    agent="bot",
    tool="pay",
    roles=("reviewer", "boss"),
)
APPROVED = approve(OPEN, T0 + 5, "ann", "fine", for_ms=GRANT_MS)
STATES = {
    State.OPEN: OPEN,
    State.APPROVED: APPROVED,
    State.DENIED: deny(OPEN, T0 + 5, "ann", "no"),
    State.WITHDRAWN: deny(APPROVED, T0 + 6, "bob", "no more"),
    State.USED: use(APPROVED, "r1.9"),
    State.EXPIRED: as_of(OPEN, ENDS),
}

STEPS: dict[str, Callable[[Ticket], Ticket]] = {
    "approve": lambda ticket: approve(ticket, T0 + 7, "carl"),
    "deny": lambda ticket: deny(ticket, T0 + 7, "carl"),
    "use": lambda ticket: use(ticket, "r1.10"),
}

LEADS = {
    (State.OPEN, "approve"): State.APPROVED,
    (State.OPEN, "deny"): State.DENIED,
    (State.APPROVED, "deny"): State.WITHDRAWN,
    (State.APPROVED, "use"): State.USED,
}
"""Every step that is allowed, and where it leads."""


def test_each_state_is_what_it_says() -> None:
    assert {state: ticket.state for state, ticket in STATES.items()} == {state: state for state in State}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("state", list(State))
def test_a_step_leads_where_the_table_says_or_nowhere(state: State, step: str) -> None:
    leads = LEADS.get((state, step))
    if leads is None:
        with pytest.raises(TicketClosed, match=r"ticket `3f2a9c01d4e7` (is|was|has)"):
            STEPS[step](STATES[state])
    else:
        assert STEPS[step](STATES[state]).state == leads


def test_an_answer_says_who_when_why_as_what_and_until_when() -> None:
    yes = approve(OPEN, T0 + 5, "ann", "fine", "boss", GRANT_MS)
    assert (yes.answered_by, yes.answered_at, yes.comment, yes.answered_as) == ("ann", T0 + 5, "fine", "boss")
    assert yes.grant_until == T0 + 5 + GRANT_MS
    no = deny(yes, T0 + 6, "bob", "no more")
    assert (no.answered_by, no.answered_at, no.comment, no.grant_until) == ("bob", T0 + 6, "no more", 0)
    assert use(yes, "r1.9").used_by == "r1.9"


@pytest.mark.parametrize(("now", "state"), [(ENDS - 1, State.OPEN), (ENDS, State.EXPIRED), (LATE, State.EXPIRED)])
def test_what_nobody_answers_expires(now: int, state: State) -> None:
    assert as_of(OPEN, now).state == state
    if state is State.EXPIRED:
        for step in (approve, deny):
            with pytest.raises(TicketClosed, match="has expired"):
                step(OPEN, now, "ann")


def test_an_approval_lasts_its_own_time_whatever_the_ticket_had() -> None:
    last = approve(OPEN, ENDS - 1, "ann", for_ms=GRANT_MS)
    assert as_of(last, ENDS + 1) == last
    assert as_of(last, ENDS - 1 + GRANT_MS).state == State.EXPIRED


@pytest.mark.parametrize("state", list(State))
def test_what_can_be_asked_anew(state: State) -> None:
    over_at_once = {State.USED, State.EXPIRED}
    over_later = over_at_once | {State.DENIED, State.WITHDRAWN}
    assert is_over(STATES[state], ENDS - 1) == (state in over_at_once)
    assert is_over(STATES[state], ENDS) == (state in over_later)


def test_asked_anew_it_is_open_again_and_counts() -> None:
    wanted = msgspec.structs.replace(OPEN, opened_at=0, expires_at=0, run="r2")
    first = reopen(wanted, None, T0, 500)
    assert (first.opened_at, first.expires_at, first.generation) == (T0, T0 + 500, 1)
    second = reopen(wanted, use(APPROVED, "r1.9"), LATE, 500)
    assert (second.state, second.generation, second.answered_by, second.used_by) == (State.OPEN, 2, "", "")


@pytest.mark.parametrize("step", [approve, deny])
@pytest.mark.parametrize(
    ("by", "role", "says"),
    [
        ("bot", "", "`bot` asked for ticket `3f2a9c01d4e7` itself"),
        (" Bot ", "", "itself"),
        ("", "", "nobody is named"),
        ("  ", "", "nobody is named"),
        ("ann", "intern", "not for the role `intern`: it asks for `reviewer`, `boss`"),
    ],
)
def test_who_may_not_answer(step: Callable[..., Any], by: str, role: str, says: str) -> None:
    with pytest.raises(TicketError, match=says):
        step(OPEN, T0 + 1, by, role=role)


def test_it_is_kept_whole_under_its_tenant() -> None:
    ticket = msgspec.structs.replace(APPROVED, tenant="a:b", content={"n": [1, None]})
    assert msgspec.convert(msgspec.json.decode(msgspec.json.encode(ticket)), Ticket) == ticket
    assert ticket.key == key_of("a:b", ticket.id) == "{a%3ab}ticket:3f2a9c01d4e7"


OTHERS = [msgspec.structs.replace(OPEN, id=name) for name in ("3f2a9c01d4e7", "3f2b00000000", "aa0000000000")]


@pytest.mark.parametrize(("name", "found"), [("aa", 2), ("3f2a", 0), ("3F2B", 1), ("3f2a9c01d4e7", 0)])
def test_a_ticket_is_found_by_what_is_unique(name: str, found: int) -> None:
    assert named(OTHERS, name) is OTHERS[found]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("3f2", "could be 2 tickets, such as `3f2a9c01d4e7`, `3f2b00000000`: write more of it"),
        ("3f2a9c01d4e8", "no ticket `3f2a9c01d4e8`: did you mean `3f2a9c01d4e7`"),
        ("zz", "no ticket `zz`: see `stanchion tickets list --all`"),
        ("", "no ticket ``"),
    ],
)
def test_a_ticket_that_is_not_there_is_not_guessed(name: str, says: str) -> None:
    with pytest.raises(UnknownTicket) as raised:
        named(OTHERS, name)
    assert says in str(raised.value)
