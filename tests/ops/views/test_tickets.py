"""Tickets, grants and allowances as they may be shown."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from stanchion.approvals.ticket import State
from stanchion.ops.views.people import allowance_view, grant_view, ticket_in_full, ticket_view
from stanchion.ops.views.veiled import json_line
from stanchion.runtime.deciding.allowances import FindingAllowance
from stanchion.testing import FakeClock
from tests.operators import BOB, KNOWN_BOB
from tests.ops.views.shown import KINDS, START, stored, work

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize("kind", KINDS)
def test_a_ticket_has_its_arguments_and_when_it_ends(kind: str, tmp_path: Path) -> None:
    clock = FakeClock(START)
    with stored(kind, tmp_path, clock) as kept:
        shield = work(kept, clock)
        (view,) = map(ticket_view, shield.tickets())
        assert (view.agent, view.tool, view.about, view.content) == (
            "ann",
            "pay",
            "pay",
            {"to": "ACME", "amount": 120},
        )
        assert (view.state, view.whole, view.ends_at, view.proven) == (
            State.OPEN,
            True,
            START + 1_800_000,
            False,
        )
        data = msgspec.json.decode(json_line(view))
        assert (data["state"], data["content"], data["digest"]) == (
            "open",
            view.content,
            view.digest,
        )


@pytest.mark.parametrize("kind", KINDS)
def test_a_yes_for_longer_is_a_grant(kind: str, tmp_path: Path) -> None:
    clock = FakeClock(START)
    with stored(kind, tmp_path, clock) as kept:
        shield = work(kept, clock)
        (ticket,) = shield.tickets()
        with_bob = type(shield)(shield.policy, store=kept, clock=clock, operators=[KNOWN_BOB])
        with_bob.approve(ticket.id, by=BOB, scope="task", for_s=60)
        (grant,) = [grant_view(*each) for each in with_bob.grants()]
        assert (grant.about, grant.agents, grant.by, grant.proven) == ("pay", ("ann",), "bob", True)
        assert grant.until - clock() == 60_000
        view = ticket_view(with_bob.ticket(ticket.id))
        assert (view.state, view.reach, view.proven) == (State.APPROVED, grant.reach, True)


def test_secrets_are_hidden_but_from_whoever_signs(tmp_path: Path) -> None:
    clock = FakeClock(START)
    with stored("memory", tmp_path, clock) as kept:
        (ticket,) = work(kept, clock).tickets()
    ticket = msgspec.structs.replace(ticket, comment=f"with {SECRET}")
    assert SECRET not in ticket_view(ticket).comment
    assert SECRET in ticket_in_full(ticket).comment


def test_an_allowance_hides_secrets_in_its_words() -> None:
    view = allowance_view(
        FindingAllowance("3f0c22a19b1e", tool="send", why=f"is {SECRET}", by="ann", at=START)
    )
    assert (view.fingerprint, view.tool, view.at_ms, view.proven) == (
        "3f0c22a19b1e",
        "send",
        START,
        False,
    )
    assert SECRET not in view.why
