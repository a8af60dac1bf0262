"""A question about values: asked once in a task, answered for all its calls, and never in vain."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from secrets import token_hex
from typing import Any, ClassVar

import msgspec
import pytest

from stanchion import Refused, Run, Shield
from stanchion.approvals import State, TicketError
from stanchion.approvals.act import Way
from stanchion.approvals.digest import Deed
from stanchion.approvals.questions import AskedPiece, alone
from stanchion.approvals.ticket import Kind, Ticket, wish_of
from stanchion.kernel.actions import Action
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.units import JUST_ONE
from stanchion.runtime.calling.reports import check
from stanchion.stores.memory import MemoryStore
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import FakeClock, interleave, shield_for
from stanchion.testing.operators import operator
from tests.approvals.asking import Meanwhile, Paid
from tests.approvals.origins import Origins, PlainOrigins
from tests.approvals.test_taken_back import put
from tests.approvals.value_process import attempt
from tests.operators import ANN, BOB, KNOWN, KNOWN_BOB
from tests.stores.several import TakingTurns

BAD, WORSE = "read:evil@x", "read:worse@x"
TOOLS: dict[str, Any] = {"send": {"effect": "outward", "sinks": ["to"]}}


def policy(tools: dict[str, Any] | None = None, **escalation: Any) -> dict[str, Any]:
    return {"name": "p", "tools": TOOLS if tools is None else tools, "escalation": escalation}


def guarded(given: dict[str, Any] | None = None, **more: Any) -> Shield:
    return shield_for(policy() if given is None else given, guards=[Origins()], **more)


def refused(run: Run, tool: str = "send", **args: Any) -> Refused:
    with pytest.raises(Refused) as raised:
        run.call(named(tool), **args)
    return raised.value


def test_values_are_looked_up_in_the_order_in_which_they_are_asked_about() -> None:
    pieces = [AskedPiece("flow", "flow.sink", "to", letter) for letter in "abcdefgh"]
    kept = alone(Deed(stage="tool_call", what="w", shown="s"), "t", pieces)
    assert len(kept) == 8
    assert kept == alone(Deed(stage="tool_call", what="w", shown="s"), "t", pieces[::-1])[::-1]


def named(tool: str) -> Any:
    def made(**args: Any) -> Any:
        return args

    made.__name__ = tool
    return made


def sends(run: Run, **args: Any) -> Any:
    return run.call(named("send"), **args)


def test_calls_that_ask_about_the_same_value_share_one_ticket_and_its_yes() -> None:
    shield = guarded()
    with shield.run("bot", "t") as run, run.spawn("helper") as child:
        first = refused(run, to=BAD, body="one")
        assert refused(child, to=BAD, body="two").ticket == first.ticket
        (ticket,) = shield.tickets()
        assert (ticket.kind, ticket.content) == (Kind.VALUE, {"to": BAD})
        assert ticket.evidence["the call"] == {"to": BAD, "body": "one"}
        shield.approve(ticket.id, by="ann")
        for one in (run, child, run):
            assert sends(one, to=BAD, body="three")["to"] == BAD
        with run.spawn("late") as late:
            assert sends(late, to=BAD)["to"] == BAD, "the yes is for the task, whoever works on it"
    assert shield.ticket(ticket.id).state is State.APPROVED
    started = [entry.read() for entry in shield.journal.kept() if entry.read().granted]
    assert {entry.granted for entry in started} == {ticket.id}


@pytest.mark.parametrize(
    "other",
    [
        {"args": {"to": WORSE}},
        {"args": {"cc": BAD}},
        {"args": {"to": BAD, "cc": BAD}},
        {"tool": "post"},
        {"task": "other"},
        {"run": "another"},
    ],
    ids=str,
)
def test_a_yes_covers_no_other_value_argument_tool_task_or_run(other: dict[str, Any]) -> None:
    shield = guarded()
    args: dict[str, Any] = other.get("args", {"to": BAD})
    with shield.run("bot", "t", id="r1") as run:
        first = refused(run, to=BAD).ticket
        shield.approve(str(first), by="ann")
        with shield.run("bot", other.get("task", "t"), id=other.get("run", "r1")) as same:
            assert refused(same, other.get("tool", "send"), **args).ticket != first


def test_all_questionable_values_of_a_call_are_one_question_in_any_order() -> None:
    shield = guarded()
    with shield.run("bot", "t") as run:
        first = refused(run, to=BAD, cc=WORSE).ticket
        assert refused(run, cc=WORSE, to=BAD).ticket == first
        (ticket,) = shield.tickets()
        assert ticket.content == {"to": BAD, "cc": WORSE}


def test_a_question_about_a_tool_is_asked_once_for_its_task() -> None:
    shield = guarded()
    with shield.run("bot", "t") as run:
        first = refused(run, "wipe", disk="a")
        assert refused(run, "wipe", disk="b").ticket == first.ticket
        (ticket,) = shield.tickets()
        assert (ticket.kind, ticket.content) == (Kind.VALUE, {})
        assert "may `wipe` be called in this task?" in ticket.message
        shield.approve(ticket.id, by="ann")
        assert run.call(named("wipe"), disk="c") == {"disk": "c"}


def test_two_children_that_race_put_one_question() -> None:
    shield = guarded()
    with shield.run("bot", "t") as run:
        children = [run.spawn(f"helper-{number}") for number in range(6)]
        tickets: list[Any] = []

        def ask(child: Run) -> None:
            tickets.append(refused(child, to=BAD, body=child.id).ticket)

        threads = [threading.Thread(target=ask, args=(child,)) for child in children]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        (ticket,) = shield.tickets()
        assert set(tickets) == {ticket.id}
        assert len(ticket.askers) == 6
        assert [fact.what for fact in shield.journal.facts()].count("ticket.opened") == 1


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_however_the_steps_of_racers_fall_there_is_one_question_and_all_go_on_its_yes(
    kind: str, tmp_path: Path
) -> None:
    clock, draw = FakeClock(), random.Random(7)
    store: Any = (
        MemoryStore(clock)
        if kind == "memory"
        else TakingTurns([SqliteStore(tmp_path / "s.db", clock=clock) for _ in range(2)])
    )
    asks = policy(questions_for_a_task=99, tickets_a_minute=99)
    shield = shield_for(asks, store=store, guards=[PlainOrigins()], operators=[KNOWN])
    parent = shield.run("bot", "t")
    for number in range(8):
        value = f"{BAD}{number}"
        for goes in (False, True):
            asking = [
                check(parent.spawn(f"helper-{at}").desk, "send", {"to": value, "n": at}, JUST_ONE)
                for at in range(3)
            ]
            decisions = interleave(asking, store, draw.randrange).decisions
            assert [one.proceeds for one in decisions] == [goes] * 3
            opened = [one for one in shield.tickets() if one.content == {"to": value}]
            assert (len(opened), opened[0].generation) == (1, 1)
            if not goes:
                shield.approve(opened[0].id, by=ANN)
    store.close()


def test_several_processes_of_a_run_put_one_question(tmp_path: Path) -> None:
    place = str(tmp_path / "state.db")
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
        given = [(policy(), place, BAD, number) for number in range(6)]
        found = set(pool.map(attempt, given))
    with Shield.load(policy(), store=place, journal="memory:") as shield:
        assert {one.id for one in shield.tickets()} == found
        assert len(found) == 1


def test_another_process_of_the_run_shares_the_question_the_yes_and_the_no(tmp_path: Path) -> None:
    ann, known = operator()
    clock = FakeClock()
    here, there = [
        guarded(
            store=SqliteStore(tmp_path / "state.db", clock=clock),
            operators=[known],
            nonces=lambda: token_hex(4),
        )
        for _ in range(2)
    ]
    with here.run("bot", "t", id="r1") as run, there.run("bot", "t", id="r1") as same:
        first = refused(run, to=BAD).ticket
        assert refused(same, to=BAD, body="x").ticket == first
        there.approve(str(first), by=ann)
        assert sends(run, to=BAD)
        assert sends(same, to=BAD)
        second = refused(run, to=WORSE).ticket
        here.deny(str(second), by="ann", comment="not them")
        assert refused(same, to=WORSE).decision.code == "approval.denied"
    here.close()
    there.close()


def test_a_yes_outlives_a_reload_but_not_another_declaration_of_its_tool() -> None:
    shield = guarded()
    with shield.run("bot", "t") as run:
        first = refused(run, to=BAD).ticket
        shield.reload({**policy({**TOOLS, "other": {"effect": "irreversible"}}), "version": "2"})
        shield.approve(str(first), by="ann")
        assert sends(run, to=BAD)
        shield.reload({**policy({"send": {"effect": "irreversible", "sinks": ["to"]}})})
        assert refused(run, to=BAD).ticket != first


def test_a_new_definition_ends_the_yes_of_its_own_tool_alone() -> None:
    given = {**policy(), "guards": [{"use": "schema"}]}
    shield = guarded(given)
    schema: dict[str, Any] = {"type": "object", "properties": {"to": {"type": "string"}}}

    def ingest(name: str, about: str) -> None:
        tool = {"name": name, "description": about, "inputSchema": schema}
        shield.ingest([tool], repin=True, by="ann")

    ingest("send", "sends")
    with shield.run("bot", "t") as run:
        first = refused(run, to=BAD).ticket
        shield.approve(str(first), by="ann")
        ingest("other", "does something")
        assert sends(run, to=BAD)
        ingest("send", "sends to everybody")
        assert refused(run, to=BAD).ticket != first


def test_where_the_policy_asks_for_each_call_each_still_needs_its_own_yes() -> None:
    shield = guarded(policy({"send": {"effect": "irreversible", "sinks": ["to"], "ask": True}}))
    with shield.run("bot", "t") as run:
        first = refused(run, to=BAD).ticket
        ticket = shield.ticket(str(first))
        assert (ticket.kind, ticket.deed.guards) == (Kind.ACTION, ("origins", "tools.send.ask"))
        assert ticket.evidence["the user asked for"] == "pay the bill"
        shield.approve(str(first), by="ann")
        assert sends(run, to=BAD)
        assert shield.ticket(str(first)).state is State.USED
        assert refused(run, to=BAD).waits


def test_what_is_irreversible_goes_ahead_on_one_yes_to_its_value() -> None:
    shield = guarded(policy({"send": {"effect": "irreversible", "sinks": ["to"]}}))
    with shield.run("bot", "t") as run:
        shield.approve(str(refused(run, to=BAD).ticket), by="ann")
        assert sends(run, to=BAD, amount=1)
        assert sends(run, to=BAD, amount=2)


@pytest.mark.parametrize("scope", ["run", "task", "time"])
def test_a_yes_to_values_has_no_other_reach(scope: str) -> None:
    shield = guarded()
    with shield.run("bot", "t") as run:
        ticket = str(refused(run, to=BAD).ticket)
        with pytest.raises(TicketError, match="a yes is for this task"):
            shield.approve(ticket, by="ann", scope=scope)


def test_a_no_stands_for_the_task_and_says_how_to_go_on() -> None:
    clock = FakeClock()
    shield = guarded(clock=clock)
    with shield.run("bot", "t") as run:
        ticket = str(refused(run, to=BAD).ticket)
        shield.deny(ticket, by="ann", comment="I do not know them")
        clock.advance(86_400_000)
        said = refused(run, to=BAD, body="another")
        assert said.decision.code == "approval.denied"
        assert str(said) == (
            "a person was asked and said no: I do not know them; this no stands for the whole "
            "task; use what the user gave"
        )
        assert said.ticket == ticket
        assert refused(run, to=BAD, cc=WORSE).ticket == ticket, "a no to one of them is one to both"
        assert refused(run, cc=WORSE).waits
        with pytest.raises(TicketError, match="for all of this task"):
            shield.approve(ticket, by="ann")


def test_a_yes_that_is_taken_back_is_a_no() -> None:
    shield = guarded()
    with shield.run("bot", "t") as run:
        ticket = str(refused(run, to=BAD).ticket)
        shield.approve(ticket, by="ann")
        assert sends(run, to=BAD)
        shield.deny(ticket, by="bob", comment="stop")
        assert refused(run, to=BAD).decision.code == "approval.denied"


def test_a_yes_whose_time_is_over_is_asked_for_anew_at_once() -> None:
    clock = FakeClock()
    shield = guarded(clock=clock)
    with shield.run("bot", "t") as run:
        ticket = str(refused(run, to=BAD).ticket)
        shield.approve(ticket, by="ann", for_s=60)
        clock.advance(60_000)
        assert refused(run, to=BAD).waits
        assert shield.ticket(ticket).generation == 2


def test_a_task_puts_three_questions_and_then_shows_what_the_user_asked_for(
    tmp_path: Path,
) -> None:
    clock = FakeClock()
    here, there = [
        guarded(store=SqliteStore(tmp_path / "state.db", clock=clock), nonces=lambda: token_hex(4))
        for _ in range(2)
    ]
    with here.run("bot", "t", id="r1") as run, there.run("bot", "t", id="r1") as same:
        assert refused(run, to="read:1").waits
        assert refused(same, to="read:2").waits
        with run.spawn("helper") as child:
            assert refused(child, to="read:3").waits
        said = refused(same, to="read:4")
        assert (said.decision.code, said.waits, said.ticket) == (
            "people.questions_spent",
            False,
            None,
        )
        assert str(said) == (
            "a person would have to say whether this is right, and a task puts no more than 3 such "
            "questions; use what the user gave; the user asked for: pay the bill"
        )
        assert refused(run, to="read:1").waits, "what is asked already stays asked"
    here.close()
    there.close()


@pytest.mark.parametrize(
    ("limit", "code"),
    [
        ({"tickets_for_a_run": 1}, "people.run_full"),
        ({"tickets_a_minute": 1}, "people.too_often"),
        ({"questions_for_a_task": 1}, "people.questions_spent"),
    ],
)
def test_a_limit_of_tickets_is_a_refusal_that_says_so(limit: dict[str, Any], code: str) -> None:
    shield = guarded(policy(**limit))
    with shield.run("bot", "t") as run:
        assert refused(run, to=BAD).waits
        assert refused(run, to=WORSE).decision.code == code


def test_without_any_question_a_task_is_told_what_the_user_asked_for() -> None:
    shield = guarded(policy(questions_for_a_task=0))
    with shield.run("bot", "t") as run:
        assert "the user asked for: pay the bill" in str(refused(run, to=BAD))


def test_people_read_the_danger_first_and_last_what_happens_without_an_answer() -> None:
    shield = guarded(policy({"send": {"effect": "irreversible", "sinks": ["to"]}}))
    with shield.run("bot", "t") as run:
        ticket = shield.ticket(str(refused(run, to=BAD).ticket))
    assert ticket.message == (
        'it cannot be taken back: may `send` use to="read:evil@x" in this task? it stands: only '
        "in result 3 of read_bill, field body; the user asked for: pay the bill; without an answer "
        "it is refused"
    )
    assert shield.journal.facts()[-1].why == ticket.message


@pytest.mark.parametrize(("after_ms", "fast"), [(0, True), (1_999, True), (2_000, False)])
def test_an_answer_that_comes_at_once_is_recorded_as_such(after_ms: int, fast: bool) -> None:
    clock = FakeClock()
    shield = guarded(clock=clock)
    with shield.run("bot", "t") as run:
        ticket = str(refused(run, to=BAD).ticket)
    clock.advance(after_ms)
    assert shield.approve(ticket, by="ann").fast is fast
    assert shield.journal.facts()[-1].data.get("fast", False) is fast


@pytest.mark.parametrize(
    ("risk", "escalation", "waits"),
    [
        ("medium", {}, True),
        ("medium", {"attended": False}, False),
        ("medium", {"roles": ["boss"]}, False),
        ("critical", {}, False),
        ("high", {}, True),
    ],
)
def test_nobody_is_asked_who_could_not_say_yes(
    risk: str, escalation: dict[str, Any], waits: bool
) -> None:
    tools = {"send": {"effect": "outward", "sinks": ["to"], "risk": risk}}
    shield = guarded(policy(tools, **escalation))
    with shield.run("bot", "t") as run:
        said = refused(run, to=BAD)
        assert said.waits is waits
        if not waits:
            assert (said.decision.code, shield.tickets()) == ("people.nobody", [])
            assert str(said) == (
                "a person would have to be asked, and nobody is there who could answer; use what "
                "the user gave; the user asked for: pay the bill"
            )


def test_at_a_terminal_nobody_says_yes_to_high_risk_so_nobody_is_asked(tmp_path: Path) -> None:
    tools = {"send": {"effect": "outward", "sinks": ["to"], "risk": "high"}}
    with (
        guarded(policy(tools), store=SqliteStore(tmp_path / "state.db")) as shield,
        shield.run("bot") as run,
    ):
        assert refused(run, to=BAD).decision.code == "people.nobody"


def test_nobody_is_asked_about_their_own_agent() -> None:
    _, known = operator("bob", agents=("bot",))
    shield = guarded(operators=[known])
    with shield.run("bot", "t") as run:
        assert refused(run, to=BAD).decision.code == "people.nobody"
    with shield.run("other", "t") as run:
        assert refused(run, to=BAD).waits


def test_whoever_is_unattended_is_refused_whatever_asks() -> None:
    shield = guarded(policy({"pay": {"ask": True}}, attended=False))
    with shield.run("bot", "t") as run, pytest.raises(Refused) as raised:
        run.call(Paid().pay, amount=5)
    assert raised.value.decision.code == "people.nobody"


def test_what_somebody_has_answered_holds_where_nobody_is_by_now() -> None:
    store, nonces = MemoryStore(FakeClock()), count()
    attended, alone = [
        guarded(policy(attended=there), store=store, nonces=lambda: f"n{next(nonces)}")
        for there in (True, False)
    ]
    with attended.run("bot", "t", id="r1") as run, alone.run("bot", "t", id="r1") as same:
        yes, no = [str(refused(run, to=value).ticket) for value in (BAD, WORSE)]
        assert refused(same, to=BAD).decision.code == "people.nobody", "nobody has answered yet"
        attended.approve(yes, by="ann")
        attended.deny(no, by="ann", comment="not them")
        assert sends(same, to=BAD)
        assert "not them" in str(refused(same, to=WORSE))


def test_another_value_can_be_put_in_its_place_once() -> None:
    shield = guarded()
    with shield.run("bot", "t") as run:
        ticket = str(refused(run, to=BAD, body="x").ticket)
        assert shield.ticket(ticket).evidence["choices"] == {"to": ["known@a", "other@a"]}
        with pytest.raises(TicketError, match="no argument `body`"):
            shield.approve(ticket, by="ann", edits={"body": "y"})
        shield.approve(ticket, by="ann", edits={"to": "known@a"})
        assert sends(run, to=BAD, body="x") == {"to": "known@a", "body": "x"}
        assert shield.ticket(ticket).state is State.USED
        assert refused(run, to=BAD, body="x").waits


def test_a_secret_is_shown_to_nobody_and_another_is_another_question() -> None:
    shield = guarded()
    with shield.run("bot", "t") as run:
        tickets = {refused(run, password=f"read:hunter{at}").ticket for at in (2, 3)}
    assert len(tickets) == 2
    assert "hunter" not in str([shield.tickets(), shield.journal.facts()])


FORGED: dict[str, Any] = {
    "kind": Kind.ACTION,
    "content": {"to": "known@a"},
    "scope": "task",
    "grant_until": 10**15,
    "generation": 7,
    "answered_by": "bob",
    "votes": (),
}


@pytest.mark.parametrize("field", [*FORGED, "deed", "answer"])
def test_what_is_changed_in_the_store_lets_nothing_through(field: str) -> None:
    ann, known = operator()
    shield = guarded(policy(questions_for_a_task=9), operators=[known])
    with shield.run("bot", "t") as run:
        ticket = str(refused(run, to=BAD).ticket)
        other = str(refused(run, to=WORSE).ticket)
        shield.approve(ticket, by=ann)
        kept, victim = shield.ticket(ticket), shield.ticket(other)
        forged: Ticket
        match field:
            case "deed":  # the yes to one value is put to another
                forged = msgspec.structs.replace(
                    victim, state=State.APPROVED, answer=kept.answer, grant_until=kept.grant_until
                )
            case "answer":
                assert kept.answer is not None
                answer = msgspec.structs.replace(kept.answer, signature="00" * 64)
                forged = msgspec.structs.replace(kept, answer=answer)
            case _:
                forged = msgspec.structs.replace(kept, **{field: FORGED[field]})
        put(shield.store, forged.key, msgspec.to_builtins(forged))
        if field in ("content", "answered_by", "votes"):
            # What is only shown of a yes is not what it is bound to.
            assert sends(run, to=BAD)
        with pytest.raises(Refused):
            sends(run, to=WORSE if field == "deed" else "read:third@x")
        if field in ("kind", "generation", "scope", "grant_until", "answer"):
            assert refused(run, to=BAD).waits


def test_a_yes_is_not_carried_into_another_run() -> None:
    ann, known = operator()
    shield = guarded(operators=[known])
    with shield.run("bot", "t") as one, shield.run("bot", "t") as other:
        ticket, victim = [shield.ticket(str(refused(run, to=BAD).ticket)) for run in (one, other)]
        shield.approve(ticket.id, by=ann)
        moved = msgspec.structs.replace(shield.ticket(ticket.id), id=victim.id)
        put(shield.store, victim.key, msgspec.to_builtins(moved))
        assert refused(other, to=BAD).waits
        assert sends(one, to=BAD)


def test_what_is_critical_takes_two_and_then_holds_for_the_task() -> None:
    tools = {"send": {"effect": "outward", "sinks": ["to"], "risk": "critical"}}
    shield = guarded(policy(tools), operators=[KNOWN, KNOWN_BOB])
    with shield.run("bot", "t") as run:
        ticket = str(refused(run, to=BAD).ticket)
        assert shield.approve(ticket, by=ANN).state is State.OPEN
        assert refused(run, to=BAD).waits
        shield.approve(ticket, by=BOB)
        for number in range(2):
            assert sends(run, to=BAD, number=number)


def test_a_signature_is_made_over_the_values_and_for_nothing_else() -> None:
    ann, known = operator()
    shield = guarded(operators=[known])
    with shield.run("bot", "t") as run:
        ticket = shield.ticket(str(refused(run, to=BAD).ticket))
        until = shield.clock() + 60_000
        wish = wish_of(ticket)
        answer = ann.signed(wish.act("ann", "human_operator", until, True, ""))
        shield.answer(answer.bytes)
        assert sends(run, to=BAD)
    assert (wish.policy, answer.way) == ("", Way.KEY)
    assert ticket.whole
    assert not msgspec.structs.replace(ticket, content={"to": "known@a"}).whole


class Growing(PlainOrigins, frozen=True):
    """Finds by and by that more was only read."""

    read: list[str] = msgspec.field(default_factory=lambda: ["to"])

    def judge(self, reading: Any, /) -> Finding | None:
        args = reading.event.args
        about = msgspec.json.encode([[name, args[name]] for name in self.read]).decode()
        return Finding(Action.ESCALATE, "test.sink", about=about)


@pytest.mark.parametrize("more", [False, True])
def test_a_caller_who_waited_goes_ahead_on_the_question_that_stands_by_then(more: bool) -> None:
    clock, guard = FakeClock(), Growing()

    def answers(ticket: str) -> None:
        guard.read.extend(["cc"] if more else [])
        shield.approve(ticket, by="ann")

    store = Meanwhile(MemoryStore(clock), answers, at_once=True)
    given = policy(wait_s=0.01)
    shield = shield_for(given, clock=clock, store=store, guards=[guard])
    with shield.run("bot", "t") as run:
        if more:
            assert refused(run, to=BAD, cc=WORSE).waits
            assert [one.content for one in shield.tickets(state="open")] == [
                {"to": BAD, "cc": WORSE}
            ]
        else:
            assert sends(run, to=BAD, cc=WORSE)
    shield.close()


class Links(PlainOrigins, frozen=True):
    """Asks about a part of an argument."""

    def judge(self, reading: Any, /) -> Finding | None:
        link = reading.event.args["body"].split()[-1]
        about = msgspec.json.encode([["body", link]]).decode()
        return Finding(Action.ESCALATE, "test.payload", about=about)


class Hides(PlainOrigins, frozen=True):
    """Has something hidden wherever people see it."""

    id: ClassVar[str] = "hides"

    def judge(self, reading: Any, /) -> Finding | None:
        at = reading.event.args["body"].index("badge")
        hides = (Patch(("body",), "[hidden]", at, at + len("badge-4711")),)
        return Finding(Action.WARN, "test.hides", hides=hides)


def test_what_guards_hide_is_not_shown_in_a_part_of_an_argument() -> None:
    shield = shield_for(policy(), guards=[Links(), Hides()])
    with shield.run("bot", "t") as run:
        said = refused(run, body="see https://x.example/?who=badge-4711")
        ticket = shield.ticket(str(said.ticket))
    assert ticket.content == {"body": "https://x.example/?who=[hidden]"}
    assert "4711" not in str([ticket, shield.journal.facts()])


class Former(Origins, frozen=True):
    """The guard as it asked about whole calls."""

    asked_about: Any = None


@pytest.mark.parametrize("answered", [False, True])
def test_a_ticket_of_the_former_form_ends_by_itself_and_is_asked_anew(answered: bool) -> None:
    clock, nonces = FakeClock(), count()
    store = MemoryStore(clock)
    before, after = [
        shield_for(
            policy(),
            guards=[guard],
            store=store,
            clock=clock,
            nonces=lambda: f"n{next(nonces)}",
        )
        for guard in (Former(), Origins())
    ]
    with before.run("bot", "t", id="r1") as run, after.run("bot", "t", id="r1") as same:
        former = str(refused(run, to=BAD).ticket)
        assert before.ticket(former).kind is Kind.ACTION
        if answered:
            before.approve(former, by="ann")
        new = str(refused(same, to=BAD).ticket)
        assert new != former
        after.approve(new, by="ann")
        assert sends(same, to=BAD)
        clock.advance(1_800_000)
        assert before.ticket(former).state is State.EXPIRED
