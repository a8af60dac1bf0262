"""Attacks on what the store holds: the agent writes operators, tickets and grants as it would like
them to be."""

from __future__ import annotations

import os
from typing import Any, Final

import msgspec

from stanchion.approvals.act import Way
from stanchion.approvals.answerers import Signer
from stanchion.approvals.operators import RECORD, Operator, RosterChange, changes_of
from stanchion.testing.operators import operator
from tests.approvals.attacks.scene import Attack, Scene


def added(
    scene: Scene, who: Signer, name: str, by: str = "", signs: Signer | None = None
) -> RosterChange:
    """A change that makes somebody an operator, as it would follow now."""
    known = changes_of(scene.value(RECORD))
    before = known[-1].hash if known else ""
    made = RosterChange(
        kind="add",
        operator=Operator(name=name, key=who.key.public.line),
        at=1,
        before=before,
        by=by,
    )
    return (
        made
        if signs is None
        else msgspec.structs.replace(made, signature=signs.key.sign(made.message).hex())
    )


def replaces_the_key_of_an_operator(scene: Scene) -> None:
    """Ann's name, its own key: in the record that made her an operator, or in one of its own."""
    mine = Operator(name="ann", key=scene.mallory.key.public.line)
    scene.writes(RECORD, lambda _: [RosterChange(kind="add", operator=mine, at=1)])
    scene.approves_by_hand(scene.forged(scene.mallory))


def adds_itself_to_the_operators(scene: Scene) -> None:
    """One more line in the record, which nobody signed."""
    scene.writes(RECORD, lambda changes: [*(changes or []), added(scene, scene.mallory, "mallory")])
    scene.approves_by_hand(scene.forged(scene.mallory, "mallory"))


def adds_itself_in_the_name_of_an_operator(scene: Scene) -> None:
    """The same, signed by `ann`, with its own key."""
    change = added(scene, scene.mallory, "mallory", "ann", scene.mallory)
    scene.writes(RECORD, lambda changes: [*(changes or []), change])
    scene.approves_by_hand(scene.forged(scene.mallory, "mallory"))


def empties_the_operators(scene: Scene) -> None:
    """Without operators a terminal is enough."""
    scene.writes(RECORD, lambda _: [])
    scene.approves_by_hand(scene.forged(None, way=Way.TERMINAL))


def deletes_the_operators(scene: Scene) -> None:
    """The record is gone, as if there had never been one."""
    scene.does("DELETE FROM kept WHERE owner = ?", RECORD)
    scene.approves_by_hand(scene.forged(None, way=Way.TERMINAL))


def spoils_the_operators(scene: Scene) -> None:
    """A record that cannot be read."""
    scene.writes(RECORD, lambda _: {"ann": 1})
    scene.approves_by_hand(scene.forged(None, way=Way.TERMINAL))


def revoked(scene: Scene) -> tuple[Signer, Any]:
    """Bob was an operator, whose key the agent has, and is none any more; gives the record before
    that."""
    bob, known = operator("bob")
    scene.shield.enrol("add", known, scene.ann)
    before = scene.value(RECORD)
    scene.shield.enrol("revoke", known, scene.ann)
    scene.wants()
    return bob, before


def drops_a_revocation(scene: Scene) -> None:
    """Who was revoked is an operator again."""
    bob, before = revoked(scene)
    scene.puts(RECORD, before)
    scene.approves_by_hand(scene.forged(bob, "bob"))


def signs_something_else_in_the_place_of_a_revocation(scene: Scene) -> None:
    """Who was revoked could have signed that mallory is an operator, and now did."""
    bob, before = revoked(scene)
    scene.puts(RECORD, before)
    change = added(scene, scene.mallory, "mallory", "bob", bob)
    scene.writes(RECORD, lambda changes: [*changes, change])
    scene.approves_by_hand(scene.forged(scene.mallory, "mallory"))


def drops_a_revocation_in_two_steps(scene: Scene) -> None:
    """First there is no operator at all, then there are those of before."""
    bob, before = revoked(scene)
    scene.puts(RECORD, [])
    scene.wants()
    scene.puts(RECORD, before)
    scene.wants()
    scene.approves_by_hand(scene.forged(bob, "bob"))


def marks_its_ticket_approved(scene: Scene) -> None:
    """`state: approved`, and nobody's answer."""
    scene.approves_by_hand(None)


def writes_an_answer_from_a_terminal(scene: Scene) -> None:
    """An answer that says somebody typed a code."""
    scene.approves_by_hand(scene.forged(None, way=Way.TERMINAL))


def writes_an_answer_from_a_program(scene: Scene) -> None:
    """An answer that says the state is in this program's memory."""
    scene.approves_by_hand(scene.forged(None, way=Way.PROGRAM))


def writes_an_answer_without_a_signature(scene: Scene) -> None:
    """An answer that says ann signed it, and does not show how."""
    scene.approves_by_hand(scene.forged(None, way=Way.KEY))


def writes_an_answer_with_a_random_signature(scene: Scene) -> None:
    """Sixty-four bytes of nothing."""
    answer = scene.forged(scene.mallory)
    scene.approves_by_hand(msgspec.structs.replace(answer, signature=os.urandom(64).hex()))


def writes_an_answer_with_its_own_key(scene: Scene) -> None:
    """Signed, but not by ann; it names her key or its own."""
    answer = scene.forged(scene.mallory)
    scene.approves_by_hand(answer)
    scene.wants()
    own = scene.forged(scene.mallory)
    scene.approves_by_hand(msgspec.structs.replace(own, key=scene.ann.key.public.fingerprint))


def writes_an_answer_of_an_unknown_operator(scene: Scene) -> None:
    """Signed by mallory as mallory, whom nobody has made an operator."""
    scene.approves_by_hand(scene.forged(scene.mallory, "mallory", way=Way.SSH_AGENT))


def makes_its_action_look_harmless(scene: Scene) -> None:
    """Low risk, no guard that asks, nobody's role needed: then a terminal is enough."""
    deed = msgspec.structs.replace(scene.kept().deed, risk="low", effect="", guards=())
    scene.writes_ticket(deed=deed, roles=(), mode="normal")
    scene.approves_by_hand(scene.forged(None, way=Way.TERMINAL))


def empties_the_store(scene: Scene) -> None:
    """Nothing is left of it: no halt, no operator, no ticket. What is asked for then is answered at
    a terminal."""
    scene.does("DELETE FROM kept")
    scene.does("DELETE FROM batch")
    refused = scene.wants()
    if refused is not None and refused.ticket is not None:
        scene.approves_by_hand(scene.forged(None, way=Way.TERMINAL))


ATTACKS: Final = (
    *(
        Attack(tries)
        for tries in (
            replaces_the_key_of_an_operator,
            adds_itself_to_the_operators,
            adds_itself_in_the_name_of_an_operator,
            empties_the_operators,
            deletes_the_operators,
            spoils_the_operators,
            marks_its_ticket_approved,
            writes_an_answer_from_a_terminal,
            writes_an_answer_from_a_program,
            writes_an_answer_without_a_signature,
            writes_an_answer_with_a_random_signature,
            writes_an_answer_with_its_own_key,
            writes_an_answer_of_an_unknown_operator,
            makes_its_action_look_harmless,
            empties_the_store,
        )
    ),
    *(
        Attack(tries, answered=True, undone=True)
        for tries in (
            drops_a_revocation,
            signs_something_else_in_the_place_of_a_revocation,
            drops_a_revocation_in_two_steps,
        )
    ),
)
