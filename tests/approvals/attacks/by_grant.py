"""Attacks on grants: what somebody agreed to for longer than one call is made to reach further."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.approvals.act import Way
from stanchion.approvals.answerers import Signer
from stanchion.approvals.grant_reach import Scope, said
from stanchion.approvals.grants import Grant, grant_of, grants_key
from stanchion.approvals.ticket import Ticket
from tests.approvals.attacks.scene import BOT, Attack, Scene

GRANTS: Final = grants_key("default")


def granted(scene: Scene, by: Signer | None, scope: Scope) -> Grant:
    """A grant for what the agent wants, made by itself."""
    ticket = scene.kept()
    answer = scene.forged(
        by, way=Way.TERMINAL if by is None else Way.KEY, scope=said(scope, ticket.run)
    )
    approved = msgspec.structs.replace(
        ticket, answer=answer, scope=scope, grant_until=answer.act.until
    )
    return grant_of(approved, {})


def grants_itself_a_run(scene: Scene) -> None:
    """A grant for its whole run, which says that somebody typed a code."""
    scene.writes(GRANTS, lambda _: [granted(scene, None, Scope.RUN)])


def grants_itself_everything(scene: Scene) -> None:
    """Grants for its task and for a time, signed with its own key."""
    scene.writes(
        GRANTS,
        lambda _: [granted(scene, scene.mallory, scope) for scope in (Scope.TASK, Scope.TIME)],
    )


def changes_a_grant(scene: Scene, change: Any) -> None:
    """Have the only grant there is say something else, in the grant alone and in what was signed as
    well."""
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
    changes_a_grant(
        scene, lambda grant: msgspec.structs.replace(grant, agents=(*grant.agents, BOT))
    )


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
    scene.writes_ticket(
        **{name: getattr(ticket, name) for name in ("state", "answer", "grant_until", "deed")}
    )


def uses_a_grant_that_was_revoked(scene: Scene) -> None:
    """A grant is put back that was taken back."""
    scene.shield.approve(scene.ticket, by=scene.ann, scope="task")
    kept = scene.value(GRANTS)
    (grant,) = msgspec.convert(kept, tuple[Grant, ...])
    scene.shield.revoke(grant.id, by="ann")
    assert scene.wants() is not None
    scene.puts(GRANTS, kept)


ATTACKS: Final = (
    *(Attack(tries) for tries in (grants_itself_a_run, grants_itself_everything)),
    Attack(uses_a_grant_that_was_revoked, answered=True, undone=True),
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
)
