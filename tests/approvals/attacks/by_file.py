"""What an agent gets that can write the state's file, and signatures do not prevent: the file has
to be another's."""

from __future__ import annotations

from typing import Final

from stanchion.approvals.operators import RECORD, Operator, RosterChange
from stanchion.kernel.gates import standing_key
from tests.approvals.attacks.by_answer import uses_an_approval_that_was_taken_back
from tests.approvals.attacks.by_grant import uses_a_grant_that_was_revoked
from tests.approvals.attacks.by_record import revoked
from tests.approvals.attacks.scene import PAYMENT, Scene, Setup

ENROLLED: Final = Setup("enrolled", "enrolled", "critical")
PINNED: Final = Setup("pinned", "pinned", "critical")
MILD: Final = Setup("pinned", "pinned", "medium")
BARE: Final = Setup("bare", "", "critical")


def lifts_a_halt(scene: Scene) -> bool:
    """A halt is a record, and nobody signs that there is none."""
    scene.shield.halt("stop")
    with scene.shield.run("bot") as run:
        assert not run.check("read", {}).proceeds
    scene.writes(standing_key("default"), lambda _: {})
    with scene.shield.run("bot") as run:
        return run.check("read", {}).proceeds


def forgets_what_it_has_asked(scene: Scene) -> bool:
    """Budgets, limits and counters are numbers: how many tickets a run may open is one of them."""
    while (
        refused := scene.wants(amount=len(scene.shield.tickets(most=1000)))
    ) is not None and refused.ticket:
        pass
    scene.resets("{default}asks:%")
    refused = scene.wants(amount=-1)
    return refused is not None and refused.ticket is not None


def replaces_the_operators_before_the_next_process(scene: Scene) -> bool:
    """A process that begins takes the first operator in the store for the first; one who is pinned
    stands."""
    mine = Operator(name="ann", key=scene.mallory.key.public.line)
    scene.writes(RECORD, lambda _: [RosterChange(kind="add", operator=mine, at=1)])
    scene.approves_by_hand(scene.forged(scene.mallory))
    scene.wants_in_a_new_process()
    return scene.stolen() == [PAYMENT]


def enrols_itself_before_the_next_process(scene: Scene) -> bool:
    """Where nobody has a key the agent can be the first to have one; then it answers even what is
    critical."""
    mine = Operator(name="mallory", key=scene.mallory.key.public.line)
    scene.writes(RECORD, lambda _: [RosterChange(kind="add", operator=mine, at=1)])
    scene.approves_by_hand(scene.forged(scene.mallory, "mallory"))
    scene.wants_in_a_new_process()
    return scene.stolen() == [PAYMENT]


def drops_a_revocation_before_the_next_process(scene: Scene) -> bool:
    """Who was revoked in the store is an operator for a process that has not seen it."""
    bob, before = revoked(scene)
    scene.writes(RECORD, lambda _: before)
    scene.approves_by_hand(scene.forged(bob, "bob"))
    scene.wants_in_a_new_process()
    return scene.stolen() == [PAYMENT]


def uses_an_approval_again_in_the_next_process(scene: Scene) -> bool:
    """That an approval was used is a record; a process that has not used it itself believes it."""
    scene.ann_agrees()
    ticket = scene.kept()
    scene.wants()
    scene.writes_ticket(**{name: getattr(ticket, name) for name in ticket.__struct_fields__})
    scene.wants_in_a_new_process()
    return scene.stolen() == [PAYMENT]


def uses_an_approval_that_was_taken_back_elsewhere(scene: Scene) -> bool:
    """An operator's yes stays signed when it is taken back, until its time is over."""
    uses_an_approval_that_was_taken_back(scene)
    scene.wants_in_a_new_process()
    return scene.stolen() == [PAYMENT]


def uses_a_grant_that_was_revoked_elsewhere(scene: Scene) -> bool:
    """The same with a grant."""
    uses_a_grant_that_was_revoked(scene)
    scene.wants_in_a_new_process()
    return scene.stolen() == [PAYMENT]


def gives_a_false_reason(scene: Scene) -> bool:
    """What would be done is signed, why it was stopped is not: beside the true payment a person
    reads a lie."""
    scene.writes_ticket(
        message="the yearly invoice, checked by the accountant", evidence={"checked": "yes"}
    )
    scene.ann_agrees()
    scene.wants()
    return scene.paid == [PAYMENT]


CASES: Final = (
    (lifts_a_halt, PINNED),
    (forgets_what_it_has_asked, PINNED),
    (replaces_the_operators_before_the_next_process, ENROLLED),
    (enrols_itself_before_the_next_process, BARE),
    (drops_a_revocation_before_the_next_process, PINNED),
    (uses_an_approval_again_in_the_next_process, PINNED),
    (uses_an_approval_that_was_taken_back_elsewhere, PINNED),
    (uses_a_grant_that_was_revoked_elsewhere, MILD),
    (gives_a_false_reason, PINNED),
)
