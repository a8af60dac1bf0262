"""Attacks on what an operator really answered: said again, for something else, twice at once, or
after the fact."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from typing import Final

import msgspec

from stanchion.approvals.answerers import Signer
from stanchion.approvals.errors import TicketError
from stanchion.approvals.ticket import wish_of
from stanchion.testing.operators import operator
from tests.approvals.attacks.scene import BOT, PAYMENT, Attack, Scene

PAYS: Final = """
import os, sys
from stanchion import Refused, Shield
policy, store, paid, ends = sys.argv[1:]
def pay(to, amount):
    with open(paid, "a") as file:
        file.write(f"{to} {amount}\\n")
    if ends:
        os._exit(9)
with Shield.load(policy, store=store, journal="memory:") as shield, shield.run("bot", "invoices") as run:
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        run.call(pay, to="mallory", amount=1000)
    except Refused:
        pass
"""  # noqa: E501
"""A host of its own that makes the payment when it is told to, and dies in the middle of it
perhaps."""


def hosts(scene: Scene, count: int, ends: str = "") -> None:
    """Have so many processes make the payment at the same time."""
    paid = scene.home.folder / "paid"
    paid.touch()
    words = [str(scene.home.project / "policy.yaml"), scene.home.store, str(paid), ends]
    made = [
        subprocess.Popen(
            [sys.executable, "-c", PAYS, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=scene.home.environ,
            cwd=scene.home.project,
        )
        for _ in range(count)
    ]
    for one in made:
        assert one.stdout is not None
        assert one.stdout.readline() == b"ready\n"
    for one in made:
        assert one.stdin is not None
        one.stdin.write(b"\n")
        one.stdin.flush()
    for one in made:
        one.communicate()
    lines = [line.split() for line in paid.read_text().splitlines()]
    scene.paid += [(to, int(amount)) for to, amount in lines]
    paid.unlink()


def hands_an_answer_in_again(scene: Scene) -> None:
    """An answer that was used is carried to the next ticket of that id."""
    answer = scene.ann_agrees().answer
    assert answer is not None
    scene.wants()
    scene.wants()
    with suppress(TicketError):
        scene.shield.answer(answer.bytes)


def writes_an_answer_to_the_next_ticket(scene: Scene) -> None:
    """The same by hand, for that ticket's generation and for the one that was answered."""
    answer = scene.ann_agrees().answer
    assert answer is not None
    scene.wants()
    scene.wants()
    scene.approves_by_hand(answer)
    scene.wants()
    scene.approves_by_hand(
        msgspec.structs.replace(answer, act=msgspec.structs.replace(answer.act, generation=3))
    )


def answers_twice_by_two_operators(scene: Scene) -> None:
    """Ann and bob look at one ticket. Ann says yes, it is paid, and asked for again: bob's yes is
    too late."""
    bob, known = operator("bob")
    scene.shield.enrol("add", known, scene.ann)
    seen = scene.kept()
    late = bob.signed(wish_of(seen).act("bob", "human_operator", seen.expires_at, True, ""))
    scene.ann_agrees()
    scene.wants()
    scene.wants()
    with suppress(TicketError):
        scene.shield.approve(seen.id, by=bob, generation=seen.generation)
    with suppress(TicketError):
        scene.shield.answer(late.bytes)


def makes_a_used_ticket_approved_again(scene: Scene) -> None:
    """The record of the approved ticket is put back after it was used."""
    scene.ann_agrees()
    ticket = scene.kept()
    scene.wants()
    scene.writes_ticket(**{name: getattr(ticket, name) for name in ticket.__struct_fields__})


def uses_an_approval_that_was_taken_back(scene: Scene) -> None:
    """Ann says yes, then no, and the record of her yes is put back."""
    scene.shield.approve(scene.ticket, by=scene.ann)
    ticket = scene.kept()
    scene.shield.deny(scene.ticket, by=scene.ann, comment="no")
    scene.writes_ticket(**{name: getattr(ticket, name) for name in ticket.__struct_fields__})


def restores_the_whole_store(scene: Scene) -> None:
    """The same with the whole file."""
    scene.ann_agrees()
    copy = scene.copies()
    scene.wants()
    scene.restores(copy)


def changes_the_arguments(scene: Scene) -> None:
    """An approval of one payment is used for another."""
    scene.ann_agrees()
    scene.wants(amount=PAYMENT[1] * 2)
    scene.wants(to="mallory ")
    scene.wants(amount=float(PAYMENT[1]))


def lets_another_agent_use_it(scene: Scene) -> None:
    """An approval is for who asked, in the task it was asked in."""
    scene.ann_agrees()
    for agent, task in (("helper", "invoices"), (BOT, "other"), ("", "invoices")):
        with scene.shield.run(agent, task) as run:
            scene.wants(run)
    assert scene.paid == []


def moves_an_answer_to_another_ticket(scene: Scene) -> None:
    """Ann says yes to a small payment; the answer is put to the large one, as it is and made to
    fit."""
    small = scene.shield.approve(scene.asks(amount=5), by=scene.ann)
    assert small.answer is not None
    scene.approves_by_hand(small.answer)
    scene.wants()
    act = msgspec.structs.replace(
        small.answer.act,
        subject=scene.ticket,
        digest=scene.kept().deed.digest,
        generation=scene.kept().generation,
    )
    scene.approves_by_hand(msgspec.structs.replace(small.answer, act=act))
    scene.wants()
    scene.writes_ticket(deed=small.deed, content=small.content)
    scene.approves_by_hand(small.answer)


def turns_a_no_into_a_yes(scene: Scene) -> None:
    """Ann says no, and signs it."""
    answer = scene.shield.deny(scene.ticket, by=scene.ann, comment="no").answer
    assert answer is not None
    scene.approves_by_hand(answer, grant_until=answer.act.until)
    scene.wants()
    act = msgspec.structs.replace(answer.act, yes=True)
    scene.approves_by_hand(msgspec.structs.replace(answer, act=act))


def plays_with_yes_and_no(scene: Scene) -> None:
    """It denies its own ticket, waits for ann to say yes to the next, and has what she took back
    approved again."""
    scene.shield.deny(scene.ticket, by=BOT, comment="no")
    for by in (BOT, "ann", Signer("ann", scene.mallory.key)):
        with suppress(TicketError):
            scene.shield.approve(scene.ticket, by=by)
    scene.writes_ticket(state="open", answer=None)
    scene.shield.approve(scene.ticket, by=scene.ann)
    scene.shield.deny(scene.ticket, by=scene.ann, comment="on second thoughts")
    for by in (BOT, "ann", Signer("ann", scene.mallory.key)):
        with suppress(TicketError):
            scene.shield.approve(scene.ticket, by=by)


def races_for_one_approval(scene: Scene) -> None:
    """Four processes start on it at once."""
    scene.ann_agrees()
    hosts(scene, 4)


def kills_its_host_in_the_middle(scene: Scene) -> None:
    """The process dies while it pays, so that nobody knows what came of it."""
    scene.ann_agrees()
    hosts(scene, 1, "dies")
    hosts(scene, 1)


def sets_the_clock_back(scene: Scene) -> None:
    """An approval whose time is over is younger by the store's own clock."""
    until = scene.shield.approve(scene.ticket, by=scene.ann, for_s=0.001).grant_until
    while scene.shield.clock() <= until:
        pass
    scene.does("UPDATE clock SET ms = 0")
    scene.does("UPDATE batch SET at = 0")


def prolongs_an_approval(scene: Scene) -> None:
    """The same by hand, in the ticket and in what was signed."""
    ticket = scene.shield.approve(scene.ticket, by=scene.ann, for_s=0.001)
    while scene.shield.clock() <= ticket.grant_until:
        pass
    later = ticket.grant_until + 3_600_000
    scene.writes_ticket(grant_until=later, state="approved")
    scene.wants()
    assert ticket.answer is not None
    act = msgspec.structs.replace(
        ticket.answer.act, until=later, generation=scene.kept().generation
    )
    scene.approves_by_hand(msgspec.structs.replace(ticket.answer, act=act))


ATTACKS: Final = (
    *(
        Attack(tries, answered=True)
        for tries in (
            hands_an_answer_in_again,
            answers_twice_by_two_operators,
            changes_the_arguments,
            lets_another_agent_use_it,
            moves_an_answer_to_another_ticket,
            turns_a_no_into_a_yes,
            plays_with_yes_and_no,
            races_for_one_approval,
            kills_its_host_in_the_middle,
            sets_the_clock_back,
            prolongs_an_approval,
        )
    ),
    *(
        Attack(tries, answered=True, undone=True)
        for tries in (
            writes_an_answer_to_the_next_ticket,
            makes_a_used_ticket_approved_again,
            uses_an_approval_that_was_taken_back,
            restores_the_whole_store,
        )
    ),
)
