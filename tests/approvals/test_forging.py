"""Whatever is done to tickets, grants and operators in the store, a call starts only on a yes that
was given to it."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import msgspec
from hypothesis import given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from stanchion import Refused, Run
from stanchion.approvals.act import Act, Answer, Purpose, Way
from stanchion.approvals.errors import TicketError
from stanchion.approvals.grant_reach import Scope
from stanchion.approvals.grants import grants_key
from stanchion.approvals.operators import RECORD, Operator, RosterChange
from stanchion.approvals.proof import doubt, rostered
from stanchion.approvals.rules import Asked
from stanchion.approvals.ticket import Ticket, key_of
from stanchion.testing import FakeClock, shield_for
from stanchion.testing.operators import operator
from tests.approvals.asking import policy
from tests.approvals.test_taken_back import put
from tests.properties.examples import SOAK

ANN, KNOWN = operator()
BOB, REVIEWER = operator("bob", "reviewer")
MALLORY, _ = operator("mallory")
ACT = Act(
    purpose=Purpose.TICKET,
    tenant="default",
    subject="3f2a9c01d4e7",
    generation=1,
    digest="d" * 64,
    operator="ann",
    role="human_operator",
    until=1_000,
    policy="p" * 64,
    agents=("bot",),
)
OTHER: dict[str, st.SearchStrategy[Any]] = {
    "purpose": st.sampled_from(list(Purpose)),
    "generation": st.integers(-(2**63), 2**63 - 1),
    "until": st.integers(-(2**63), 2**63 - 1),
    "yes": st.booleans(),
    "agents": st.lists(st.text(max_size=8), max_size=3).map(tuple),
}


SIGNED = ANN.signed(ACT)


@given(st.sampled_from(Act.__struct_fields__), st.data())
@settings(deadline=None)
def test_a_signature_fits_nothing_else(field: str, data: st.DataObject) -> None:
    value = data.draw(
        OTHER.get(field, st.text(max_size=70)).filter(lambda drawn: drawn != getattr(ACT, field))
    )
    changed = msgspec.structs.replace(SIGNED, act=msgspec.structs.replace(ACT, **{field: value}))
    roster = rostered(
        [KNOWN, msgspec.structs.replace(REVIEWER, roles=(*REVIEWER.roles, "human_operator"))], None
    )
    assert not doubt(roster, SIGNED, Asked())
    assert doubt(roster, changed, Asked(roles=()))


def test_every_field_of_an_act_is_signed() -> None:
    said = msgspec.json.decode(ACT.message.partition(b"\n")[2])
    assert set(said) == set(Act.__struct_fields__)


@given(st.binary(min_size=64, max_size=64))
@settings(deadline=None)
def test_no_other_signature_fits(signature: bytes) -> None:
    forged = msgspec.structs.replace(ANN.signed(ACT), signature=signature.hex())
    assert doubt(rostered([KNOWN], None), forged, Asked())


class Yes(NamedTuple):
    """What somebody who may has said yes to."""

    answer: Answer
    amount: int
    task: str
    run: str
    scope: str

    @property
    def name(self) -> tuple[str, int]:
        """The ticket and which one of that id."""
        return self.answer.act.subject, self.answer.act.generation


AMOUNTS = st.sampled_from([1, 2])
WHO = [("one", "t"), ("two", "t"), ("one", "other")]
RUNS = st.sampled_from(WHO)
BY = st.sampled_from([ANN, ANN, ANN, BOB])
FIELDS = [field for field in Ticket.__struct_fields__ if field not in ("id", "tenant")]


class Forged(RuleBasedStateMachine):
    """Agents ask, people answer, and a program that reaches the store writes into it what it
    likes."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        asks = policy(roles=["human_operator"], tickets_for_a_run=10_000, tickets_a_minute=10_000)
        self.shield = shield_for(asks, clock=self.clock, operators=[KNOWN, REVIEWER])
        self.runs: dict[tuple[str, str], Run] = {}
        self.said: list[Yes] = []
        self.answers: list[Answer] = []
        self.kept: list[tuple[str, Any]] = []
        self.about: dict[str, tuple[int, str]] = {}
        self.started = 0
        self.allowed = 0

    def pay(self, amount: int) -> None:
        """Pay."""
        self.started += 1

    def run_of(self, who: tuple[str, str]) -> Run:
        """The run of an agent on a task."""
        if who not in self.runs:
            self.runs[who] = self.shield.run(*who)
        return self.runs[who]

    @rule(who=RUNS, amount=AMOUNTS)
    def ask(self, who: tuple[str, str], amount: int) -> None:
        """Ask to pay, and compare what comes of it with what people said."""
        before, run = self.started, self.run_of(who)
        try:
            run.call(self.pay, amount=amount)
        except Refused as refused:
            if refused.ticket:
                self.about[refused.ticket] = (amount, who[1])
        if self.started > before:
            fits = [yes for yes in self.said if self.covers(yes, who, run.id, amount)]
            assert fits, "nobody said yes to this"
            self.allowed += 1
            lasting = [yes for yes in fits if yes.scope != "once"]
            if not lasting:
                self.said.remove(fits[0])

    def covers(self, yes: Yes, who: tuple[str, str], run: str, amount: int) -> bool:
        """Whether a yes is for a call."""
        agent, task = who
        reach = {
            "once": yes.task == task,
            "task": yes.task == task,
            "run": yes.run == run,
            "time": True,
        }
        act = yes.answer.act
        return (
            reach[yes.scope]
            and yes.amount == amount
            and agent in act.agents
            and self.clock() < act.until
        )

    def ask_all(self) -> None:
        """Ask for everything, by everybody."""
        for who in WHO:
            for amount in (1, 2):
                self.ask(who, amount)

    @rule(
        who=RUNS,
        amount=AMOUNTS,
        scope=st.sampled_from(["once", "run", "task", "time"]),
        by=BY,
        at_once=st.booleans(),
    )
    def approve(
        self, who: tuple[str, str], amount: int, scope: str, by: Any, at_once: bool
    ) -> None:
        """Say yes to a call, with the key of somebody who may or may not; `at_once` it is used."""
        self.ask(who, amount)
        ticket = next((one for one, about in self.about.items() if about == (amount, who[1])), "")
        try:
            made = self.shield.approve(ticket, by=by, scope=scope, for_s=60)
        except TicketError:
            return
        assert by is ANN
        assert made.answer is not None
        self.answers.append(made.answer)
        self.said.append(
            Yes(made.answer, *self.about[ticket], made.answer.act.scope.removeprefix("run "), scope)
        )
        if at_once:
            self.ask(who, amount)

    @precondition(lambda self: self.about)
    @rule(data=st.data())
    def deny(self, data: st.DataObject) -> None:
        """Say no, or take a yes back."""
        ticket = data.draw(st.sampled_from(sorted(self.about)))
        try:
            made = self.shield.deny(ticket, by="somebody", comment="no")
        except TicketError:
            return
        self.said = [yes for yes in self.said if yes.name != (ticket, made.generation)]

    @precondition(lambda self: self.said)
    @rule(data=st.data())
    def revoke(self, data: st.DataObject) -> None:
        """Take back what reaches further than one call."""
        yes = data.draw(st.sampled_from(self.said))
        subject, generation = yes.name
        if self.shield.revoke(f"{subject}.{generation}", by="somebody"):
            self.said.remove(yes)

    @rule(by_ms=st.sampled_from([1, 1_000, 30_000, 60_000, 2_000_000]))
    def wait(self, by_ms: int) -> None:
        """Let time pass."""
        self.clock.advance(by_ms)

    @precondition(lambda self: self.answers)
    @rule(data=st.data())
    def replay(self, data: st.DataObject) -> None:
        """Hand an old answer in again."""
        answer = data.draw(st.sampled_from(self.answers))
        try:
            self.shield.answer(answer.bytes)
        except TicketError:
            return
        subject = answer.act.subject
        scope = answer.act.scope.partition(" ")[0]
        yes = Yes(answer, *self.about[subject], answer.act.scope.removeprefix("run "), scope)
        assert yes in self.said, "an answer counts once"
        self.ask_all()

    @rule()
    def remember(self) -> None:
        """Copy what the store has, to put it back later."""
        keys = [
            *(key_of("default", ticket) for ticket in self.about),
            grants_key("default"),
            RECORD,
        ]
        self.kept += [(key, copy.deepcopy(self.shield.store.read(key)[1])) for key in keys]

    @precondition(lambda self: self.kept)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        """Put back what the store had, or nothing."""
        key, value = data.draw(st.sampled_from(self.kept))
        put(self.shield.store, key, copy.deepcopy(data.draw(st.sampled_from([value, value, None]))))
        self.ask_all()

    @precondition(lambda self: self.about)
    @rule(data=st.data())
    def edit_ticket(self, data: st.DataObject) -> None:
        """Approve a ticket by writing that it is approved, with some answer, and change some of the
        rest."""
        ticket = data.draw(st.sampled_from(sorted(self.about)))
        kept = self.shield.store.read(key_of("default", ticket))[1]
        if kept is None:
            return
        now = msgspec.convert(kept, Ticket)
        answer = data.draw(st.one_of(self.given(), st.sampled_from(self.made_up(now))))
        others = [self.shield.store.read(key_of("default", one))[1] for one in self.about]
        changed = {"state": "approved", "answer": answer, "grant_until": answer.act.until}
        changed |= {"generation": answer.act.generation} if data.draw(st.booleans()) else {}
        changed |= {"askers": answer.act.agents} if data.draw(st.booleans()) else {}
        for field in data.draw(st.lists(st.sampled_from(FIELDS), max_size=2)):
            other = data.draw(st.sampled_from([one for one in others if one is not None]))
            if field in other:
                changed[field] = other[field]
        put(self.shield.store, now.key, {**kept, **msgspec.to_builtins(changed)})
        self.ask_all()

    def given(self) -> st.SearchStrategy[Answer]:
        """Answers that people gave."""
        return st.sampled_from(self.answers) if self.answers else st.nothing()

    def made_up(self, ticket: Ticket) -> list[Answer]:
        """Answers that a program can make: without a signature, with its own key, and with a
        signature of another."""
        until = self.clock() + 60_000
        act = msgspec.structs.replace(
            ACT,
            subject=ticket.id,
            generation=ticket.generation,
            digest=ticket.deed.digest,
            policy=ticket.policy,
            agents=ticket.askers,
            until=until,
        )
        unsigned = [Answer(act=act, way=way, key=ANN.key.public.fingerprint) for way in Way]
        borrowed = [
            Answer(act=act, way=Way.KEY, signature=one.signature) for one in self.answers[-2:]
        ]
        return [
            *unsigned,
            *borrowed,
            MALLORY.signed(act),
            MALLORY.signed(msgspec.structs.replace(act, operator="mallory")),
        ]

    @precondition(lambda self: self.answers and self.about)
    @rule(
        data=st.data(), scope=st.sampled_from([scope for scope in Scope if scope is not Scope.ONCE])
    )
    def edit_grants(self, data: st.DataObject, scope: Scope) -> None:
        """Write a grant that reaches further than what was said."""
        ticket = data.draw(st.sampled_from(sorted(self.about)))
        kept = self.shield.store.read(key_of("default", ticket))[1]
        if kept is None:
            return
        now = msgspec.convert(kept, Ticket)
        answer = data.draw(st.one_of(self.given(), st.sampled_from(self.made_up(now))))
        grant = {
            "ticket": data.draw(st.sampled_from([ticket, answer.act.subject])),
            "generation": answer.act.generation,
            "scope": scope,
            "deed": now.deed,
            "agents": data.draw(st.sampled_from([answer.act.agents, ("one", "two")])),
            "run": self.run_of(data.draw(RUNS)).id,
            "pattern": {"amount": "*"} if scope is Scope.PATTERN else {},
            "until": data.draw(st.sampled_from([answer.act.until, self.clock() + 60_000])),
            "answer": answer,
        }
        known = self.shield.store.read(grants_key("default"))[1] or []
        put(self.shield.store, grants_key("default"), [*known, msgspec.to_builtins(grant)])
        self.ask_all()

    @rule(signs=st.booleans())
    def add_operator(self, signs: bool) -> None:
        """Enrol somebody by writing that they are."""
        made = RosterChange(
            kind="add",
            operator=Operator(name="mallory", key=MALLORY.key.public.line),
            at=self.clock(),
        )
        if signs:
            made = msgspec.structs.replace(made, by="ann")
            made = msgspec.structs.replace(made, signature=MALLORY.key.sign(made.message).hex())
        put(self.shield.store, RECORD, [msgspec.to_builtins(made)])
        self.ask_all()

    @invariant()
    def nothing_starts_by_itself(self) -> None:
        """Every start was asked for, and allowed."""
        assert self.started == self.allowed


TestForged = Forged.TestCase
TestForged.settings = settings(max_examples=SOAK or 40, stateful_step_count=25, deadline=None)
