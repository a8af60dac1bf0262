"""What operators say about policies and the trail: trust by a hash, and what may leave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stanchion import PolicyLoosens, Shield
from stanchion.approvals.act import Purpose
from stanchion.approvals.answerers import Signer
from stanchion.approvals.digest import Request
from stanchion.approvals.errors import AnswerRefused
from stanchion.audit.retention import Keep
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.state import Batch, When
from stanchion.policy.load import load_policy, policy_hash, read_policy
from stanchion.policy.loosening import loosenings
from stanchion.runtime.operating.admission import keep_text, last_text
from stanchion.runtime.operating.retention import RETENTION, SUBJECT, permitted
from stanchion.runtime.people.authority import TRUSTED
from stanchion.testing import FakeClock, shield_for
from stanchion.testing.operators import operator

ANN, KNOWN = operator("ann")
BOB, _ = operator("bob")

STRICT = "name: p\nguards:\n  - {use: step_limit, max_steps: 10}\n"
LOOSE = "name: p\nguards:\n  - {use: step_limit, max_steps: 1000}\n"


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_text(STRICT)
    return path


def trusting(path: Path) -> Request:
    """The request to trust a policy as it is now."""
    return Request(
        purpose=Purpose.POLICY,
        tenant=FLEET,
        subject=policy_hash(path, None),
        said={"policy": str(path)},
    )


def shield_of(path: Path, tmp_path: Path) -> Shield:
    return Shield.load(path, store=str(tmp_path / "state.db"), journal="memory:", operators=[KNOWN])


def test_a_policy_that_loosens_comes_into_force_once_an_operator_trusts_its_hash(
    policy: Path, tmp_path: Path
) -> None:
    with shield_of(policy, tmp_path) as shield:
        before = shield.policy.hash
        policy.write_text(LOOSE)
        with pytest.raises(PolicyLoosens):
            shield.reload()
        assert shield.policy.hash == before
        shield.act(trusting(policy), ANN)
        assert shield.reload().hash != before
        policy.write_text(LOOSE.replace("1000", "5000"))
        with pytest.raises(PolicyLoosens):
            shield.reload()


@pytest.mark.parametrize("by", [BOB, Signer("ann", BOB.key), "ann", "an operator"])
def test_nobody_else_can_trust(policy: Path, tmp_path: Path, by: Any) -> None:
    with shield_of(policy, tmp_path) as shield:
        policy.write_text(LOOSE)
        with pytest.raises(AnswerRefused):
            shield.act(trusting(policy), by)
        with pytest.raises(PolicyLoosens):
            shield.reload()


def test_a_forged_trust_is_none(policy: Path, tmp_path: Path) -> None:
    with shield_of(policy, tmp_path) as shield:
        shield.act(trusting(policy), ANN)
        _, value = shield.store.read(TRUSTED)
        (signed,) = value.values()
        policy.write_text(LOOSE)
        wanted = policy_hash(policy, None)
        forged = {
            **value,
            wanted: signed,
            "x": {**signed, "act": {**signed["act"], "subject": wanted}},
        }
        forged[wanted] = forged.pop("x")
        shield.store.carry(Batch("forge", FLEET, puts=((TRUSTED, forged, When.JUDGED, 0, 0),)))
        with pytest.raises(PolicyLoosens):
            shield.reload()


def test_what_the_environment_asks_to_leave_leaves_where_nobody_is_an_operator() -> None:
    shield = shield_for({"name": "p"})
    assert permitted(Keep(days=3), shield.store, ()) == Keep(days=3)
    assert permitted(Keep(), shield.store, (KNOWN,)) == Keep()


def test_with_operators_nothing_leaves_but_what_one_of_them_said() -> None:
    clock = FakeClock()
    shield = shield_for({"name": "p"}, clock=clock, operators=[KNOWN])
    asked = Keep(days=3, size=10)
    assert permitted(asked, shield.store, (KNOWN,)) == Keep()
    said = {"days": 90.0, "megabytes": None, "why": ""}
    request = Request(purpose=Purpose.RETENTION, tenant=FLEET, subject=SUBJECT, said=said)
    for by in (BOB, "an operator"):
        with pytest.raises(AnswerRefused):
            shield.act(request, by)
    shield.act(request, ANN)
    assert permitted(asked, shield.store, (KNOWN,)) == Keep(days=90.0)
    assert permitted(Keep(days=365), shield.store, (KNOWN,)) == Keep(days=365)
    _, value = shield.store.read(RETENTION)
    forged = {**value, "days": 0.001}
    shield.store.carry(Batch("forge", FLEET, puts=((RETENTION, forged, When.JUDGED, 0, 0),)))
    assert permitted(asked, shield.store, (KNOWN,)) == Keep()


def test_what_was_trusted_last_is_there_to_compare_with_as_long_as_it_is_trusted(
    policy: Path, tmp_path: Path
) -> None:
    with shield_of(policy, tmp_path) as shield:
        document = read_policy(policy).variant(None)
        assert last_text(shield, document, None) is None
        keep_text(shield, document, None)
        assert last_text(shield, document, None) is None  # nobody has trusted it
        shield.act(trusting(policy), ANN)
        policy.write_text(LOOSE)
        kept = last_text(shield, read_policy(policy).variant(None), None)
        assert kept is not None
        assert kept.hash == shield.policy.hash
        assert last_text(shield, document, "production") is None
        assert [str(one) for one in loosenings(kept, load_policy(policy))] == [
            "guard `step-limit`: max_steps 10 → 1000"
        ]
