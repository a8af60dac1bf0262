"""A ticket's life as a table: what every step makes of every state, and what no step may do."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from stanchion.approvals.bypass import Review
from stanchion.approvals.errors import TicketClosed, UnknownTicket
from stanchion.approvals.grant_reach import Scope
from stanchion.approvals.shelf import named
from stanchion.approvals.ticket import (
    MOST_ASKERS,
    Kind,
    State,
    Ticket,
    as_of,
    is_over,
    joined,
    key_of,
    reopen,
    use,
)
from tests.approvals.samples import asked, said

T0, ENDS, LATE = 1_000, 61_000, 100_000
UNTIL = 50_000

OPEN = asked()
APPROVED = said(OPEN, T0 + 5, why="fine")
STATES = {
    State.OPEN: OPEN,
    State.APPROVED: APPROVED,
    State.DENIED: said(OPEN, T0 + 5, yes=False),
    State.WITHDRAWN: said(APPROVED, T0 + 6, yes=False, by="bob"),
    State.USED: use(APPROVED, "r1.9"),
    State.EXPIRED: as_of(OPEN, ENDS),
    State.REVIEWED: said(
        msgspec.structs.replace(OPEN, kind=Kind.REVIEW, review=Review(of="f0", due_at=ENDS)),
        T0 + 6,
        by="bob",
    ),
}

STEPS: dict[str, Callable[[Ticket], Ticket]] = {
    "approve": lambda ticket: said(ticket, T0 + 7, by="bob"),
    "deny": lambda ticket: said(ticket, T0 + 7, yes=False, by="bob"),
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
    assert {state: ticket.state for state, ticket in STATES.items()} == {
        state: state for state in State
    }


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("state", list(State))
def test_a_step_leads_where_the_table_says_or_nowhere(state: State, step: str) -> None:
    leads = LEADS.get((state, step))
    if leads is None:
        with pytest.raises(TicketClosed, match=rf"ticket `{OPEN.id}` (is|was|has)"):
            STEPS[step](STATES[state])
    else:
        assert STEPS[step](STATES[state]).state == leads


def test_an_answer_says_who_when_why_as_what_and_until_when() -> None:
    yes = said(OPEN, T0 + 5, why="fine")
    assert (yes.answered_by, yes.answered_at, yes.comment, yes.answered_as) == (
        "ann",
        T0 + 5,
        "fine",
        "boss",
    )
    assert (yes.grant_until, yes.proven) == (UNTIL, True)
    no = said(yes, T0 + 6, yes=False, by="bob", why="no more")
    assert (no.answered_by, no.answered_at, no.comment, no.grant_until) == (
        "bob",
        T0 + 6,
        "no more",
        0,
    )
    assert use(yes, "r1.9").used_by == "r1.9"


@pytest.mark.parametrize("yes", [True, False])
@pytest.mark.parametrize("generation", [0, 1, 3])
def test_an_answer_is_for_one_asking(yes: bool, generation: int) -> None:
    with pytest.raises(
        TicketClosed,
        match=(
            rf"the answer is for request {generation}, and this is request 2; look at the "
            rf"ticket "
            rf"again"
        ),
    ):
        said(reopen(OPEN, use(APPROVED, "r1.9"), T0, 500), T0, yes=yes, generation=generation)


@pytest.mark.parametrize(
    ("now", "state"), [(ENDS - 1, State.OPEN), (ENDS, State.EXPIRED), (LATE, State.EXPIRED)]
)
def test_what_nobody_answers_expires(now: int, state: State) -> None:
    assert as_of(OPEN, now).state == state
    if state is State.EXPIRED:
        for yes in (True, False):
            with pytest.raises(TicketClosed, match="has expired"):
                said(OPEN, now, yes=yes)


def test_an_approval_lasts_its_own_time_whatever_the_ticket_had() -> None:
    last = said(OPEN, ENDS - 1, until=ENDS + 10)
    assert as_of(last, ENDS + 9) == last
    assert as_of(last, ENDS + 10).state == State.EXPIRED


@pytest.mark.parametrize("state", list(State))
def test_what_can_be_asked_anew(state: State) -> None:
    over_at_once = {State.USED, State.EXPIRED}
    over_later = over_at_once | {State.DENIED, State.WITHDRAWN}
    assert is_over(STATES[state], ENDS - 1) == (state in over_at_once)
    assert is_over(STATES[state], ENDS) == (state in over_later)


@pytest.mark.parametrize("scope", list(Scope))
def test_what_was_answered_for_more_than_one_call_can_be_asked_anew_by_others(scope: Scope) -> None:
    assert is_over(said(OPEN, T0, scope=scope), T0 + 1) == (scope is not Scope.ONCE)


def test_asked_anew_it_is_open_again_and_counts() -> None:
    wanted = msgspec.structs.replace(OPEN, opened_at=0, expires_at=0, run="r2")
    first = reopen(wanted, None, T0, 500)
    assert (first.opened_at, first.expires_at, first.generation) == (T0, T0 + 500, 1)
    second = reopen(wanted, use(APPROVED, "r1.9"), LATE, 500)
    assert (second.state, second.generation, second.answered_by, second.used_by) == (
        State.OPEN,
        2,
        "",
        "",
    )
    assert second.answer is None


def test_agents_that_ask_for_the_same_are_joined_up_to_a_limit() -> None:
    wanted = msgspec.structs.replace(OPEN, askers=("two",), above=("boss",))
    both = joined(OPEN, wanted)
    assert (both.askers, both.above) == (("bot", "two"), ("boss",))
    assert joined(both, wanted) is both
    full = msgspec.structs.replace(OPEN, askers=tuple(map(str, range(MOST_ASKERS))))
    assert joined(full, wanted) is full


@pytest.mark.parametrize(
    ("changed", "whole"),
    [
        ({}, True),
        ({"content": {"to": "ACME", "amount": 4}}, False),
        ({"beside": {"source": "web"}}, False),
        ({"content": {"$bytes": 1, "$sha256": "", "$begins": ""}}, False),
    ],
)
def test_what_is_not_shown_as_it_was_asked_is_not_whole(
    changed: dict[str, object], whole: bool
) -> None:
    assert msgspec.structs.replace(OPEN, **changed).whole is whole


def test_it_is_kept_whole_under_its_tenant() -> None:
    ticket = msgspec.structs.replace(APPROVED, tenant="a:b", content={"n": [1, None]})
    assert msgspec.convert(msgspec.json.decode(msgspec.json.encode(ticket)), Ticket) == ticket
    assert ticket.key == key_of("a:b", ticket.id) == f"{{a%3ab}}ticket:{OPEN.id}"


def test_one_ticket_is_found_and_none_is_guessed() -> None:
    assert named([OPEN], OPEN.id[:4]) is OPEN
    with pytest.raises(
        UnknownTicket, match=r"matches 2 tickets, such as .*: write more digits of it"
    ):
        named([OPEN, OPEN], "3f2a")
    with pytest.raises(UnknownTicket, match="no ticket `3f2a`: see `stanchion tickets list --all`"):
        named([], "3f2a")


@pytest.mark.parametrize("kind", [kind for kind in Kind if not kind.starts])
def test_nothing_starts_on_a_yes_to_what_is_no_action(kind: Kind) -> None:
    approved = said(asked(kind=kind), 2_000)
    assert approved.state is State.APPROVED
    with pytest.raises(TicketClosed, match=f"is about a {kind}: no action can start on it"):
        use(approved, "c1")
