"""Emergencies: a safety response goes ahead once after a minute without an answer, and people have
to review it."""

from __future__ import annotations

import threading
from typing import Any, ClassVar

import pytest

from stanchion import Action, Shield
from stanchion.approvals import BypassRefused, State, Ticket, TicketClosed, TicketError
from stanchion.approvals.ticket import Kind
from stanchion.kernel.state import Batch, Reply
from stanchion.stores.memory import MemoryStore
from stanchion.telemetry.kinds import Kind as Occurred, Occurrence, Severity
from stanchion.testing import FakeClock, shield_for
from tests.approvals.bypassing import WHY, Deeds, policy, refused
from tests.operators import ANN, KNOWN

S = 1_000
DAY = 86_400 * S


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def shield(clock: FakeClock) -> Shield:
    return shield_for(policy(), clock=clock)


@pytest.fixture
def deeds() -> Deeds:
    return Deeds()


def heard_by(shield: Shield) -> list[Occurrence]:
    """Everything that is told from here on."""
    heard: list[Occurrence] = []
    shield.occurrences.subscribe(heard.append, each=True)
    return heard


def review_in(shield: Shield) -> Ticket:
    """The one review that waits."""
    (found,) = [one for one in shield.tickets() if one.kind is Kind.REVIEW]
    return found


def overridden(shield: Shield, deeds: Deeds, clock: FakeClock) -> Ticket:
    """The request that goes ahead unanswered."""
    run = shield.run("bot")
    refused(run, deeds.stop, 7)
    made = run.request_bypass("first", WHY, "emergency")
    clock.advance(60 * S)
    run.call(deeds.stop, 7)
    return shield.ticket(made.ticket)


def test_it_goes_ahead_after_a_minute_without_an_answer_and_once(
    shield: Shield, deeds: Deeds, clock: FakeClock
) -> None:
    run = shield.run("bot")
    refused(run, deeds.stop, 7)
    made = run.request_bypass("first", WHY, "emergency")
    clock.advance(60 * S - 1)
    refused(run, deeds.stop, 7)
    clock.advance(1)
    refused(run, deeds.stop, 8)
    run.call(deeds.stop, 7)
    assert deeds.done == [("stop", 7)]
    ticket = shield.ticket(made.ticket)
    assert ticket.bypass is not None
    assert (ticket.state, ticket.bypass.overridden) == (State.USED, True)
    clock.advance(600 * S)
    refused(run, deeds.stop, 7)
    assert deeds.done == [("stop", 7)], "the guardrail is back at once"


@pytest.mark.parametrize("urgency", ["normal", "urgent"])
def test_only_an_emergency_goes_ahead_unanswered(
    shield: Shield, deeds: Deeds, clock: FakeClock, urgency: str
) -> None:
    run = shield.run("bot")
    refused(run, deeds.stop, 7)
    run.request_bypass("first", WHY, urgency)
    for _ in range(70):
        clock.advance(60 * S)
        refused(run, deeds.stop, 7)
    assert deeds.done == []


@pytest.mark.parametrize("tool", ["pay", "wipe"])
def test_the_word_emergency_alone_starts_nothing(
    shield: Shield, deeds: Deeds, clock: FakeClock, tool: str
) -> None:
    run = shield.run("bot")
    refused(run, getattr(deeds, tool), 5)
    run.request_bypass("first", WHY, "emergency")
    for _ in range(70):
        clock.advance(60 * S)
        refused(run, getattr(deeds, tool), 5)
    assert deeds.done == []


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("delete_job", {"job": "7"}),
        ("bash", {"command": "kill 7"}),
        ("stop", {"command": "rm -rf /srv"}),
        ("run_sql", {"sql": "DROP TABLE jobs"}),
        ("stop", {"code": "quit()"}),
        ("kubectl", {"verb": "scale"}),
        ("ssh", {"host": "h"}),
        ("eval", {"x": "1"}),
        *[
            (name, {"job": "7"})
            for name in ("destroy_node", "drop_queue", "purgeQueue", "wipe-disk", "truncate_log")
        ],
    ],
)
def test_what_a_reading_calls_destructive_never_goes_ahead_unanswered(
    clock: FakeClock, tool: str, args: dict[str, Any]
) -> None:
    said = policy(safety_responses=[tool])
    said["guards"][0]["tools"] = [tool]
    run = shield_for(said, clock=clock).run("bot")
    assert run.check(tool, args).action == Action.BLOCK
    run.request_bypass("first", WHY, "emergency")
    clock.advance(61 * S)
    assert run.check(tool, args).action == Action.BLOCK


def test_a_no_within_the_minute_ends_it(shield: Shield, deeds: Deeds, clock: FakeClock) -> None:
    run = shield.run("bot")
    refused(run, deeds.stop, 7)
    made = run.request_bypass("first", WHY, "emergency")
    clock.advance(30 * S)
    shield.deny(made.ticket, by="kim", comment="it is not what it seems")
    clock.advance(60 * S)
    refused(run, deeds.stop, 7)
    assert deeds.done == []


def test_it_is_the_one_way_past_what_is_always_active(
    shield: Shield, deeds: Deeds, clock: FakeClock
) -> None:
    run = shield.run("bot")
    refused(run, deeds.halt_job, "j")
    for urgency in ("normal", "urgent"):
        with pytest.raises(BypassRefused, match="always active"):
            run.request_bypass("built-in", WHY, urgency)
    made = run.request_bypass("built-in", WHY, "emergency")
    with pytest.raises(TicketError, match="can only be denied"):
        shield.approve(made.ticket, by="kim")
    clock.advance(60 * S)
    run.call(deeds.halt_job, "j")
    assert deeds.done == [("halt_job", "j")]
    refused(run, deeds.halt_job, "j")


def test_it_is_the_one_way_where_nothing_is_left_of_the_budget(
    clock: FakeClock, deeds: Deeds
) -> None:
    said = {
        "name": "p",
        "autonomy": True,
        "guards": [{"use": "budget", "id": "money", "per": "run", "cost_usd": 1.0}],
        "bypass": {"safety_responses": ["stop"]},
    }
    shield = shield_for(said, clock=clock)
    run = shield.run("bot")
    assert run.check("spend", {}, cost_usd=1.0).proceeds
    assert refused(run, deeds.stop, 7).code == "kernel.exhausted"
    with pytest.raises(BypassRefused, match="nothing is left of the budget"):
        run.request_bypass("kernel.exhausted", WHY, "urgent")
    made = run.request_bypass("kernel.exhausted", WHY, "emergency")
    with pytest.raises(TicketError, match="can only be denied"):
        shield.approve(made.ticket, by="kim")
    refused(run, deeds.stop, 7)
    clock.advance(60 * S)
    run.call(deeds.stop, 7)
    assert deeds.done == [("stop", 7)]
    assert refused(run, deeds.stop, 7).code == "kernel.exhausted"


def test_a_budget_of_which_something_is_left_still_judges(clock: FakeClock) -> None:
    said = {
        "name": "p",
        "autonomy": True,
        "guards": [
            {"use": "budget", "id": "tokens", "per": "run", "tokens": 100},
            {"use": "budget", "id": "money", "per": "run", "cost_usd": 1.0},
        ],
        "bypass": {"safety_responses": ["stop"]},
    }
    run = shield_for(said, clock=clock).run("bot")
    assert run.check("spend", {}, tokens=100).proceeds
    dear, cheap = 50.0, 0.5
    assert run.check("stop", {"pid": 7}, cost_usd=dear).code == "kernel.exhausted"
    run.request_bypass("kernel.exhausted", WHY, "emergency")
    clock.advance(60 * S)
    assert run.check("stop", {"pid": 7}, cost_usd=dear).code == "budget.exceeded"
    assert run.check("stop", {"pid": 7}, cost_usd=cheap).proceeds


def test_what_was_denied_to_one_agent_is_no_emergency_of_another(
    shield: Shield, deeds: Deeds, clock: FakeClock
) -> None:
    run = shield.run("bot")
    refused(run, deeds.stop, 7)
    made = run.request_bypass("first", WHY, "emergency")
    shield.deny(made.ticket, by="kim", comment="it is not what it seems")
    for other in (run.spawn("kid"), shield.run("another")):
        refused(other, deeds.stop, 7)
        with pytest.raises(BypassRefused):
            other.request_bypass("first", WHY, "emergency")
        clock.advance(61 * S)
        refused(other, deeds.stop, 7)
    assert deeds.done == []


def test_everybody_is_told_at_once_and_the_record_is_critical(
    shield: Shield, deeds: Deeds, clock: FakeClock
) -> None:
    heard = heard_by(shield)
    ticket = overridden(shield, deeds, clock)
    told = [one for one in heard if one.kind is Occurred.BYPASS_OVERRIDDEN]
    assert [(one.severity, one.ticket, one.tool) for one in told] == [
        (Severity.CRITICAL, ticket.id, "stop")
    ]
    (fact,) = [fact for fact in shield.journal.facts() if fact.what == "bypass.overridden"]
    assert (fact.data["level"], fact.data["review"], fact.data["reason"]) == (
        "critical",
        review_in(shield).id,
        WHY,
    )


@pytest.mark.parametrize("right", [True, False])
def test_a_review_is_ended_by_an_operator_whatever_they_found(
    shield: Shield, deeds: Deeds, clock: FakeClock, right: bool
) -> None:
    ticket = overridden(shield, deeds, clock)
    review = review_in(shield)
    assert review.review is not None
    assert (review.review.of, review.review.due_at - review.opened_at) == (ticket.id, DAY)
    with pytest.raises(TicketError, match="give a comment"):
        shield.review(review.id, by="kim", comment=" ")
    ended = shield.review(review.id, by="kim", comment="looked at the host", right=right)
    assert (ended.state, ended.comment) == (
        State.REVIEWED,
        f"{'right' if right else 'wrong'}: looked at the host",
    )
    assert shield.tickets() == []
    with pytest.raises(TicketClosed, match="already reviewed, by `kim`"):
        shield.review(review.id, by="bob", comment="me too")
    clock.advance(2 * DAY)
    shield.tickets()
    facts = [fact.what for fact in shield.journal.facts()]
    assert (facts.count("bypass.reviewed"), facts.count("bypass.review_missed")) == (1, 0)


def test_a_review_is_no_leave_for_anything_and_no_agent_ends_it(
    clock: FakeClock, deeds: Deeds
) -> None:
    shield = shield_for(policy(), clock=clock, operators=[KNOWN])
    overridden(shield, deeds, clock)
    review = review_in(shield)
    for by in ("bot", "kim"):
        with pytest.raises(TicketError):
            shield.review(review.id, by=by, comment="fine with me")
        with pytest.raises(TicketError, match="is a review"):
            shield.deny(review.id, by=by, comment="fine with me")
    shield.review(review.id, by=ANN, comment="it was right")
    refused(shield.run("bot"), deeds.stop, 7)
    assert len(deeds.done) == 1


class SetTimer:
    """A timer that a test lets go off; it has a daemon's thread, or none."""

    made: ClassVar[list[SetTimer]] = []

    def __init__(self, seconds: float, look: Any, args: tuple[Any, ...]) -> None:
        self.seconds, self.look, self.args = seconds, look, args
        self.daemon = self.alive = False
        self.made.append(self)

    def start(self) -> None:
        assert self.daemon, "nobody waits for it when the program ends"
        self.alive = True

    def cancel(self) -> None:
        self.alive = False

    def is_alive(self) -> bool:
        return self.alive

    def goes_off(self) -> None:
        self.alive = False
        self.look(*self.args)


def test_a_missed_review_is_told_when_it_is_due(
    shield: Shield, deeds: Deeds, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SetTimer, "made", [])
    monkeypatch.setattr(threading, "Timer", SetTimer)
    heard = heard_by(shield)
    overridden(shield, deeds, clock)
    (alarm,) = SetTimer.made
    assert alarm.seconds == DAY / 1_000
    shield.run("bot")
    assert len(SetTimer.made) == 1, "one is enough"
    clock.advance(DAY)
    alarm.goes_off()
    missed = [one.ticket for one in heard if one.kind is Occurred.REVIEW_MISSED]
    assert missed == [review_in(shield).id]
    clock.advance(7)
    overridden(shield, deeds, clock)
    again = SetTimer.made[-1]
    assert again.is_alive()
    shield.close()
    assert not again.is_alive()


def test_a_process_that_begins_a_run_tells_too_of_what_another_let_go_ahead(
    clock: FakeClock, deeds: Deeds, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore(clock)
    first, second = [shield_for(policy(), store=store, clock=clock) for _ in range(2)]
    overridden(first, deeds, clock)
    monkeypatch.setattr(SetTimer, "made", [])
    monkeypatch.setattr(threading, "Timer", SetTimer)
    heard = heard_by(second)
    clock.advance(DAY - 5)
    second.run("bot")
    (alarm,) = SetTimer.made
    assert alarm.seconds == 0.005
    clock.advance(5)
    alarm.goes_off()
    assert [one.kind for one in heard] == [Occurred.REVIEW_MISSED]


def test_a_missed_review_is_told_once_over_all_processes_and_still_owed(
    clock: FakeClock, deeds: Deeds
) -> None:
    store = MemoryStore(clock)
    shields = [shield_for(policy(), store=store, clock=clock) for _ in range(3)]
    heard = [heard_by(shield) for shield in shields]
    overridden(shields[0], deeds, clock)
    review = review_in(shields[1])
    clock.advance(DAY - 1)
    shields[1].run("bot")
    assert not [one for some in heard for one in some if one.kind is Occurred.REVIEW_MISSED]
    clock.advance(1)
    shields[2].run("bot")
    for shield in shields:
        shield.tickets()
        shield.run("bot")
    missed = [[one.ticket for one in some if one.kind is Occurred.REVIEW_MISSED] for some in heard]
    assert missed == [[], [], [review.id]]
    assert [one.severity for one in heard[2] if one.kind is Occurred.REVIEW_MISSED] == [
        Severity.CRITICAL
    ]
    shields[0].review(review.id, by="kim", comment="late, and right")
    assert shields[0].ticket(review.id).state is State.REVIEWED


@pytest.mark.parametrize("look", ["tickets", "run", "metrics"])
def test_whoever_looks_next_tells_of_a_missed_review(
    shield: Shield, deeds: Deeds, clock: FakeClock, look: str
) -> None:
    overridden(shield, deeds, clock)
    heard = heard_by(shield)
    clock.advance(DAY)
    match look:
        case "tickets":
            shield.tickets()
        case "run":
            shield.run("else")
        case _:
            [list(one()) for one in shield.telemetry.state]
    assert [one.kind for one in heard] == [Occurred.REVIEW_MISSED]


class Ticking(MemoryStore):
    """A store for which time passes with every trip."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self._time = clock

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out, ten seconds later."""
        self._time.advance(10 * S)
        return super().carry(batch)


def test_a_caller_who_waits_is_let_through_by_the_clock_of_the_store(
    clock: FakeClock, deeds: Deeds
) -> None:
    said = {**policy(), "escalation": {"wait_s": 30.0}}
    run = shield_for(said, store=Ticking(clock), clock=clock).run("bot")
    assert run.check("stop", {"pid": 7}).action == Action.BLOCK
    run.request_bypass("first", WHY, "emergency")
    run.call(deeds.stop, 7)
    assert deeds.done == [("stop", 7)]
