"""Whose a shield's runs and states are: a tenant that is named where it is loaded, or where it
runs."""

from typing import Any

import pytest

from stanchion import Refused, Shield
from stanchion.runtime.operating.allowances import Allowances
from stanchion.stores.memory import MemoryStore

BARE: dict[str, Any] = {"name": "bare"}
ASKS: dict[str, Any] = {
    "name": "asks",
    "guards": [{"use": "tool_denylist", "tools": ["pay"], "action": "escalate"}],
}


def pay() -> None:
    """What a person is asked about."""


def loaded(policy: dict[str, Any] = BARE, store: Any = "memory:", **options: Any) -> Shield:
    """A shield that keeps nothing."""
    return Shield.load(policy, store=store, journal="memory:", **options)


def test_without_a_name_it_is_the_default_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert loaded().tenant == "default"
    monkeypatch.setenv("STANCHION_TENANT", " ")
    assert loaded().tenant == "default"
    monkeypatch.setenv("STANCHION_TENANT", "payments")
    assert loaded().tenant == "payments"
    assert loaded(tenant="support").tenant == "support"


@pytest.mark.parametrize("name", ["", "*"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="give one"):
        loaded(tenant=name)


def test_the_fleet_is_no_tenant_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANCHION_TENANT", "*")
    with pytest.raises(ValueError, match="`\\*` is not a tenant but the whole fleet"):
        loaded()


def test_runs_and_operators_are_of_its_tenant_unless_another_is_named() -> None:
    store = MemoryStore()
    one, two = loaded(store=store, tenant="one"), loaded(store=store, tenant="two")
    one.halt("drill")
    assert one.standing().state == two.standing("one").state == "halt"
    assert two.standing().state == ""
    assert (
        one.run("ann").check("t", {}).code
        == two.run("ann", tenant="one").check("t", {}).code
        == "kernel.halted"
    )
    assert two.run("ann").check("t", {}).proceeds
    two.resume("one")
    assert one.run("ann").check("t", {}).proceeds
    one.quarantine("tool:t")
    assert one.run("ann").check("t", {}).code == "kernel.quarantined"
    assert two.run("ann").check("t", {}).proceeds
    with two.run("ann", tenant="one") as parent:
        assert parent.spawn("bob").check("t", {}).code == "kernel.quarantined"
    one.safe_mode(True, scope="fleet")
    assert not two.run("ann").check("t", {}).proceeds


def test_allowances_are_of_its_tenant() -> None:
    store = MemoryStore()
    one, two = loaded(store=store, tenant="one"), loaded(store=store, tenant="two")
    Allowances(one).allow("0" * 12)
    assert [len(Allowances(each).listed()) for each in (one, two)] == [1, 0]
    assert len(Allowances(two, "one").listed()) == 1


def test_tickets_are_listed_for_its_tenant() -> None:
    store = MemoryStore()
    one, two, whole = (
        loaded(ASKS, store, tenant="one"),
        loaded(ASKS, store, tenant="two"),
        loaded(ASKS, store),
    )
    for shield in (one, two):
        with pytest.raises(Refused):
            shield.run("ann").call(pay)
    assert [ticket.tenant for ticket in one.tickets()] == ["one"]
    assert [ticket.tenant for ticket in one.tickets("two")] == ["two"]
    assert (
        {ticket.tenant for ticket in one.tickets("*")}
        == {ticket.tenant for ticket in whole.tickets()}
        == {"one", "two"}
    )
