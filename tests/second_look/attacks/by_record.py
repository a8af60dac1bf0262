"""Attacks on what the store holds: the agent writes operators, tickets and grants as it would like them to be."""

from __future__ import annotations

import os
from typing import Any, Final

import msgspec

from stanchion.approvals.act import Way
from stanchion.approvals.answering import Signer
from stanchion.approvals.grants import Grant, grant_of, grants_key
from stanchion.approvals.operators import RECORD, Change, Operator, changes_of
from stanchion.approvals.scope import Scope, said
from stanchion.approvals.ticket import Ticket
from stanchion.testing.operators import operator
from tests.second_look.attacks.scene import BOT, Attack, Scene

GRANTS: Final = grants_key("default")


def added(scene: Scene, who: Signer, name: str, by: str = "", signs: Signer | None = None) -> Change:
    """A change that makes somebody an operator, as it would follow now."""
    known = changes_of(scene.value(RECORD))
    before = known[-1].hash if known else ""
    made = Change(kind="add", operator=Operator(name=name, key=who.key.public.line), at=1, before=before, by=by)
    return made if signs is None else msgspec.structs.replace(made, signature=signs.key.sign(made.message).hex())


def replaces_the_key_of_an_operator(scene: Scene) -> None:
    """Ann's name, its own key: in the record that made her an operator, or in one of its own."""
    mine = Operator(name="ann", key=scene.mallory.key.public.line)
    scene.writes(RECORD, lambda _: [Change(kind="add", operator=mine, at=1)])
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
    scene.does("DELETE FROM cell WHERE key = ?", RECORD)
    scene.approves_by_hand(scene.forged(None, way=Way.TERMINAL))


def spoils_the_operators(scene: Scene) -> None:
    """A record that cannot be read."""
    scene.writes(RECORD, lambda _: {"ann": 1})
    scene.approves_by_hand(scene.forged(None, way=Way.TERMINAL))


def revoked(scene: Scene) -> tuple[Signer, Any]:
    """Bob was an operator, whose key the agent has, and is none any more; gives the record before that."""
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
    deed = msgspec.structs.replace(scene.kept().deed, risk="low", irreversible=False, guards=())
    scene.writes_ticket(deed=deed, roles=(), mode="normal")
    scene.approves_by_hand(scene.forged(None, way=Way.TERMINAL))


def granted(scene: Scene, by: Signer | None, scope: Scope) -> Grant:
    """A grant for what the agent wants, made by itself."""
    ticket = scene.kept()
    answer = scene.forged(by, way=Way.TERMINAL if by is None else Way.KEY, scope=said(scope, ticket.run))
    approved = msgspec.structs.replace(ticket, answer=answer, scope=scope, grant_until=answer.act.until)
    return grant_of(approved, {})


def grants_itself_a_run(scene: Scene) -> None:
    """A grant for its whole run, which says that somebody typed a code."""
    scene.writes(GRANTS, lambda _: [granted(scene, None, Scope.RUN)])


def grants_itself_everything(scene: Scene) -> None:
    """Grants for its task and for a time, signed with its own key."""
    scene.writes(GRANTS, lambda _: [granted(scene, scene.mallory, scope) for scope in (Scope.TASK, Scope.TIME)])


def changes_a_grant(scene: Scene, change: Any) -> None:
    """Have the only grant there is say something else, in the grant alone and in what was signed as well."""
    (kept,) = msgspec.convert(scene.value(GRANTS), tuple[Grant, ...])
    wider: Grant = change(kept)
    act = msgspec.structs.replace(
        wider.answer.act,
        agents=wider.agents,
        until=wider.until,
        digest=wider.deed.digest,
        scope=said(wider.scope, wider.run, wider.pattern),
    )
    whole = msgspec.structs.replace(wider, answer=msgspec.structs.replace(wider.answer, act=act))
    for one in (wider, whole):
        scene.puts(GRANTS, [one])
        scene.wants()


def widens_a_grant_to_its_own_call(scene: Scene) -> None:
    """A grant for a small payment becomes one for the large one."""
    small = scene.asks(amount=5)
    scene.shield.approve(small, by=scene.ann, scope="task")
    changes_a_grant(scene, lambda grant: msgspec.structs.replace(grant, deed=scene.kept().deed))


def widens_a_grant_to_a_pattern(scene: Scene) -> None:
    """A grant for payments to `power-*` fits every name, and every amount."""
    small = scene.asks(to="power-1", amount=5)
    scene.shield.approve(small, by=scene.ann, scope="pattern", pattern={"to": "power-*"})

    def wider(grant: Grant) -> Grant:
        deed = msgspec.structs.replace(grant.deed, parts=scene.kept().deed.parts)
        return msgspec.structs.replace(grant, pattern={"to": "*"}, deed=deed)

    changes_a_grant(scene, wider)


def widens_a_grant_to_another_agent(scene: Scene) -> None:
    """What another agent may do, it may do as well."""
    other = scene.asks("helper", "other")
    scene.shield.approve(other, by=scene.ann, scope="time")
    changes_a_grant(scene, lambda grant: msgspec.structs.replace(grant, agents=(*grant.agents, BOT)))


def moves_a_grant_to_its_own_run(scene: Scene) -> None:
    """What another run may do, its own may do as well."""
    other = scene.asks(BOT, "other", "run-2")
    scene.shield.approve(other, by=scene.ann, scope="run")
    changes_a_grant(scene, lambda grant: msgspec.structs.replace(grant, run=scene.run.id))


def prolongs_a_grant(scene: Scene) -> None:
    """A grant whose time is over holds for another day."""
    other = scene.asks(BOT, "other")
    until = scene.shield.approve(other, by=scene.ann, scope="time", for_s=0.001).grant_until
    while scene.shield.clock() <= until:
        pass
    changes_a_grant(scene, lambda grant: msgspec.structs.replace(grant, until=until + 86_400_000))


def moves_a_grant_to_another_tenant(scene: Scene) -> None:
    """What may be done for one tenant is done for another."""
    with scene.shield.run(BOT, "invoices", tenant="other") as run:
        refused = scene.wants(run)
    assert refused is not None
    assert refused.ticket is not None
    scene.shield.approve(refused.ticket, by=scene.ann, scope="task", tenant="other")
    scene.writes(GRANTS, lambda _: scene.value(grants_key("other")))


def moves_an_approval_to_another_tenant(scene: Scene) -> None:
    """The same with an approval of one call."""
    with scene.shield.run(BOT, "invoices", tenant="other") as run:
        refused = scene.wants(run)
    assert refused is not None
    assert refused.ticket is not None
    ticket: Ticket = scene.shield.approve(refused.ticket, by=scene.ann, tenant="other")
    scene.approves_by_hand(ticket.answer)
    scene.wants()
    scene.writes_ticket(**{name: getattr(ticket, name) for name in ("state", "answer", "grant_until", "deed")})


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
            grants_itself_a_run,
            grants_itself_everything,
        )
    ),
    *(
        Attack(tries, answered=True)
        for tries in (
            widens_a_grant_to_its_own_call,
            widens_a_grant_to_a_pattern,
            widens_a_grant_to_another_agent,
            moves_a_grant_to_its_own_run,
            prolongs_a_grant,
            moves_a_grant_to_another_tenant,
            moves_an_approval_to_another_tenant,
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
