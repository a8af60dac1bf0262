"""States of the shield: by an operator, by what fails, shared by all processes, and recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stanchion import Action, PolicyError, Refused, Shield
from stanchion.audit.journal import MemoryJournal
from stanchion.kernel.states import HALTED, NORMAL, QUARANTINE, SAFE, WARNING, phase
from stanchion.runtime.errors import StateError
from stanchion.stores.memory import MemoryStore
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import FakeClock
from tests.operators import ANN, KNOWN

WATCHED: dict[str, Any] = {
    "name": "watched",
    "guards": [
        {
            "use": "error_rate",
            "calls": 4,
            "min_calls": 2,
            "repeats": 3,
            "recover_s": 10,
            "quarantine_s": 100,
        },
    ],
}
BARE: dict[str, Any] = {"name": "bare"}


def state(shield: Shield, name: str = "") -> str:
    standing = shield.standing()
    mark = standing.marks.get(name) if name else standing.own
    return "" if mark is None else mark.state


def fails() -> None:
    raise ConnectionError("no route")


def facts(shield: Shield) -> list[tuple[str, str]]:
    journal: MemoryJournal = shield.journal
    return [(fact.what, fact.about) for fact in journal.facts()]


@pytest.mark.parametrize("scope", ["", "agent:ann", "run:r1", "tool:pay", "fleet"])
def test_an_operator_moves_every_scope_there_and_back(scope: str) -> None:
    shield = Shield.load(BARE)
    run = shield.run("ann", id="r1")
    other = shield.run("bob", id="r2")
    shield.safe_mode(True, scope=scope)
    assert run.check("pay", {}).code == "safe_mode.tool_refused"
    assert run.egress("https://example.org").action == Action.ALLOW, (
        "safe mode does not stop requests"
    )
    shield.safe_mode(False, scope=scope)
    assert run.check("pay", {}).action == Action.ALLOW
    shield.halt("drill", scope=scope)
    decision = run.check("pay", {})
    assert decision.code == "kernel.halted"
    assert "drill" in decision.message
    assert decision.action == (Action.BLOCK if scope.startswith("tool:") else Action.HALT)
    spared = other.check("read", {}).action
    assert (spared == Action.ALLOW) == (scope not in ("", "fleet"))
    with pytest.raises(StateError, match="only `resume` lets it continue"):
        shield.safe_mode(True, scope=scope)
    with pytest.raises(StateError):
        shield.safe_mode(False, scope=scope)
    shield.resume(scope=scope)
    assert run.check("pay", {}).action == Action.ALLOW
    changes = [what for what, _ in facts(shield)]
    assert changes == ["state.safe_mode", "state.normal", "state.halt", "state.normal"]


def test_a_quarantine_ends_by_itself_or_by_an_operator() -> None:
    clock = FakeClock()
    shield = Shield.load(BARE, clock=clock)
    run = shield.run("ann")
    shield.quarantine("tool:pay", for_s=5)
    assert run.check("pay", {}).code == "kernel.quarantined"
    assert run.check("read", {}).action == Action.ALLOW
    clock.advance(5_000)
    assert run.check("pay", {}).action == Action.ALLOW
    shield.quarantine("tool:pay", for_s=5)
    shield.resume(scope="tool:pay")
    assert run.check("pay", {}).action == Action.ALLOW
    with pytest.raises(ValueError, match="give `tool:NAME`"):
        shield.quarantine("pay")


def test_what_fails_is_warned_of_then_quarantined_then_halted() -> None:
    clock = FakeClock()
    shield = Shield.load(WATCHED, clock=clock)
    run = shield.run("ann", id="r1")
    tool = shield.tool(name="search")(fails)

    def fail(times: int) -> None:
        for _ in range(times):
            with pytest.raises(ConnectionError):
                run.call(tool)

    fail(1)
    assert state(shield, "tool:search") == NORMAL
    fail(1)
    assert state(shield, "tool:search") == WARNING
    assert any("is now warning" in words for words in run.notices())
    fail(1)
    assert state(shield, "tool:search") == QUARANTINE
    with pytest.raises(Refused, match="quarantined"):
        run.call(tool)
    assert run.check("other", {}).action == Action.ALLOW, "others go on"
    assert state(shield, "run:r1") == WARNING
    for _ in range(2):
        clock.advance(100_000)
        fail(1)
    assert state(shield, "tool:search") == HALTED
    moves = [what for what, about in facts(shield) if about == "tool:search"]
    assert moves == ["state.warning", "state.quarantine", "state.quarantine", "state.halt"]
    clock.advance(10**9)
    assert run.check("search", {}).code == "kernel.halted"
    shield.resume(scope="tool:search")
    assert run.check("search", {}).action == Action.ALLOW


def test_a_warning_is_over_when_nothing_fails_any_more() -> None:
    clock = FakeClock()
    shield = Shield.load(WATCHED, clock=clock)
    run = shield.run("ann")
    for _ in range(2):
        run.error("search", ConnectionError("no route"), fault="system")
    assert any("is now warning" in words for words in run.notices())
    clock.advance(10_000)
    for _ in range(5):
        run.result("search", {}, "fine")
    run.error("search", ConnectionError("no route"), fault="system")
    assert (
        state(shield, "tool:search") == NORMAL
        or shield.standing().marks["tool:search"].until <= clock()
    )


def test_a_wrong_argument_says_nothing_about_a_tool() -> None:
    shield = Shield.load(WATCHED)
    run = shield.run("ann")
    for _ in range(10):
        run.error("search", ValueError("no such city"), fault="user")
    assert shield.standing().marks == {}


def test_a_run_in_trouble_whose_budget_is_used_up_is_halted() -> None:
    policy = {**WATCHED, "guards": [*WATCHED["guards"], {"use": "budget", "tokens": 100}]}
    shield = Shield.load(policy)
    run = shield.run("ann", id="r1")
    assert run.check("read", {}, tokens=200).code == "budget.exceeded"
    assert state(shield, "run:r1") == NORMAL, "a run that is well is refused, and no more"
    for _ in range(2):
        run.error("search", ConnectionError("no route"), fault="system")
    assert state(shield, "run:r1") == WARNING
    assert run.check("read", {}, tokens=200).code == "budget.exceeded"
    assert state(shield, "run:r1") == HALTED
    assert run.check("read", {}).code == "kernel.halted"


def test_the_shield_as_a_whole_is_warned_recovers_and_is_halted_by_its_error_rate() -> None:
    clock = FakeClock()
    whole = {
        "use": "error_rate",
        "per": ["tenant"],
        "calls": 4,
        "min_calls": 2,
        "repeats": 2,
        "recover_s": 10,
    }
    shield = Shield.load({"name": "whole", "guards": [{**whole, "halt_at": 75}]}, clock=clock)
    run = shield.run("ann")

    def fail(*tools: str) -> None:
        for tool in tools:
            run.error(tool, ConnectionError("no route"), fault="system")

    fail("a", "b")
    assert state(shield) == WARNING
    clock.advance(10_000)
    for _ in range(4):
        run.result("a", {}, "fine")
    assert shield.run("bob").check("a", {}).proceeds
    fail("a")
    assert phase(shield.standing().own, clock()).state == NORMAL, (
        "one of four is no cause for a warning"
    )
    fail("b", "c", "d")
    assert state(shield) == HALTED
    assert run.spawn().check("a", {}).code == "kernel.halted"
    bob, third = shield.run("bob"), shield.run("eve")
    assert third.check("a", {}).proceeds, "nobody else has met a failure"
    bob.error("e", ConnectionError("no route"), fault="system")
    assert third.check("a", {}).code == "kernel.halted", "two runs have: every run is"
    clock.advance(10**9)
    assert run.check("a", {}).code == "kernel.halted", "until an operator resumes it"
    shield.resume()
    assert run.check("a", {}).proceeds
    moves = ["state.warning", "state.warning", "state.halt", "state.normal"]
    assert facts(shield) == [(what, "tenant:default") for what in moves]


@pytest.mark.parametrize(
    ("per", "name"), [("tenant", ""), ("agent", "agent:ann"), ("run", "run:r1")]
)
def test_whoever_is_in_trouble_and_has_used_up_its_own_budget_is_halted(
    per: str, name: str
) -> None:
    watched = {**WATCHED["guards"][0], "per": ["tenant", "agent", "run"]}
    shield = Shield.load(
        {"name": "spent", "guards": [watched, {"use": "budget", "tokens": 100, "per": per}]}
    )
    run = shield.run("ann", id="r1")
    for _ in range(2):
        run.error("search", ConnectionError("no route"), fault="system")
    assert run.check("read", {}, tokens=200).code == "budget.exceeded"
    halted = [one for one in ("", "agent:ann", "run:r1") if state(shield, one) == HALTED]
    assert halted == sorted({name, "run:r1"})


def test_a_window_is_never_used_up() -> None:
    watched = {**WATCHED["guards"][0], "per": ["tenant"]}
    window = {"use": "budget", "tokens": 100, "per": "tenant", "window_s": 60}
    shield = Shield.load({"name": "spent", "guards": [watched, window]})
    run = shield.run("ann")
    for _ in range(2):
        run.error("search", ConnectionError("no route"), fault="system")
    assert run.check("read", {}, tokens=200).code == "budget.window_full"
    assert state(shield) == WARNING


def test_a_halt_that_no_warning_could_precede_is_refused() -> None:
    with pytest.raises(PolicyError, match="`halt_at: 40` is less than `warn_at: 50`"):
        Shield.load({"name": "odd", "guards": [{"use": "error_rate", "halt_at": 40}]})


def test_all_processes_on_a_store_share_states(tmp_path: Path) -> None:
    counted = {**WATCHED, "guards": [*WATCHED["guards"], {"use": "step_limit", "max_steps": 100}]}
    one, two = (
        Shield.load(counted, store=SqliteStore(tmp_path / "state.db"), operators=[KNOWN])
        for _ in range(2)
    )
    run = two.run("ann")
    assert run.check("pay", {}).action == Action.ALLOW
    one.halt("drill", scope="fleet")
    assert run.check("pay", {}).code == "kernel.halted"
    one.resume(scope="fleet", by=ANN)
    assert run.check("pay", {}).action == Action.ALLOW
    for number in range(3):
        (one if number % 2 else two).run("ann").error(
            "search", ConnectionError("x"), fault="system"
        )
    assert state(one, "tool:search") == QUARANTINE
    assert one.run("bob").check("search", {}).code == "kernel.quarantined"
    one.close()
    two.close()


def test_tenants_have_states_of_their_own() -> None:
    store = MemoryStore(FakeClock())
    shield = Shield.load(BARE, store=store)
    shield.safe_mode(True, tenant="acme")
    assert shield.run("ann", tenant="acme").check("pay", {}).code == "safe_mode.tool_refused"
    assert shield.run("ann", tenant="other").check("pay", {}).action == Action.ALLOW
    assert shield.standing("acme").state == SAFE
