"""Budget, where a table cannot reach: many threads, several stores, levels, windows in detail, and
what settles."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator
from datetime import datetime
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest

from model.directed.scene import RUN, Scene
from stanchion import Action, Refused, Shield
from stanchion.guards._marks import mark
from stanchion.guards.budget import HOLD_MS, Allotment, Budget, phrase, shown
from stanchion.kernel.autonomy import Share
from stanchion.kernel.chain import Plans
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Charge, RunInfo, ToolCall
from stanchion.kernel.guard import Placed
from stanchion.kernel.state import BUCKETS, Batch, Line, key
from stanchion.kernel.units import Unit
from stanchion.policy.errors import PolicyError
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import FakeClock, LostStore, ScriptedModel, ScriptedTool, shield_for
from tests.guards.test_step_limit import in_threads


def policy(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"name": "budgets", "guards": [{"use": "budget", **entry} for entry in entries]}


def spent(store: Store, counter: str, unit: str, *whose: str, tenant: str = "default") -> int:
    """What a budget's counter has reached."""
    return store.read(key(tenant, "budget", counter, unit, *whose))[0]


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    clock = FakeClock()
    made: Store = (
        MemoryStore(clock)
        if request.param == "memory"
        else SqliteStore(tmp_path / "state.db", clock)
    )
    yield made
    made.close()


def test_fifty_threads_spend_exactly_the_budget(store: Store) -> None:
    runs = [
        shield_for(policy({"tokens": 1000, "cost_usd": 1, "per": "task"}), store=store).run(
            f"agent-{number}", "t"
        )
        for number in range(5)
    ]
    decisions: list[tuple[bool, str]] = []

    def spend(number: int) -> None:
        decision = runs[number % 5].check("t", {}, tokens=70, cost_usd=0.01)
        decisions.append((decision.proceeds, decision.code))

    in_threads(50, spend)
    assert sorted(decisions) == [(False, "budget.exceeded")] * 36 + [(True, "")] * 14
    assert spent(store, "budget", "tokens", "task", "t") == 980
    assert spent(store, "budget", "cost_microusd", "task", "t") == 140_000


def test_fifty_threads_that_settle_never_spend_more_than_there_is(store: Store) -> None:
    """Each call reserves ten and uses one to seven: the books say what was used, and what is left
    can be spent."""
    run = shield_for(policy({"tokens": 100}), store=store).run("a", id="r")
    used: list[int] = []

    def work(number: int) -> None:
        decision = run.check("t", {}, tokens=10)
        if decision.proceeds:
            run.result("t", {}, "done", call=decision.id, tokens=1 + number % 7)
            used.append(1 + number % 7)

    in_threads(50, work)
    assert spent(store, "budget", "tokens", "run", "r") == sum(used) <= 100
    for number in range(100):
        work(number)
    assert spent(store, "budget", "tokens", "run", "r") == sum(used)
    assert 90 < sum(used) <= 100
    assert list(store.holds()) == []


def test_fifty_tasks_spend_exactly_the_budget() -> None:
    run = shield_for(policy({"tokens": 1000})).run("a")

    async def story() -> list[Decision]:
        return await asyncio.gather(*[run.acheck("t", {}, tokens=100) for _ in range(50)])

    assert sum(decision.proceeds for decision in asyncio.run(story())) == 10


def test_levels_take_together_under_threads(store: Store) -> None:
    """Whatever was refused at whichever level, all levels have counted the same actions."""
    levels = policy(
        {"id": "run", "tokens": 30, "per": "run"},
        {"id": "task", "tokens": 70, "per": "task"},
        {"id": "agent", "calls": 9, "per": "agent"},
        {"id": "tenant", "tokens": 100, "per": "tenant"},
        {"id": "fleet", "tokens": 95, "per": "fleet"},
    )
    shield = shield_for(levels, store=store)
    runs = [shield.run("a", f"task-{number % 2}", id=f"r{number}") for number in range(6)]
    went_ahead: list[int] = []

    def spend(number: int) -> None:
        if runs[number % 6].check("t", {}, tokens=5 + number % 3).proceeds:
            went_ahead.append(5 + number % 3)

    in_threads(50, spend)
    total = sum(went_ahead)
    assert 0 < total <= 95
    assert sum(spent(store, "run", "tokens", "run", run.id) for run in runs) == total
    assert (
        sum(spent(store, "task", "tokens", "task", f"task-{number}") for number in range(2))
        == total
    )
    assert spent(store, "agent", "one", "agent", "a") == len(went_ahead) <= 9
    assert spent(store, "tenant", "tokens", "tenant") == total
    assert spent(store, "fleet", "tokens", "fleet", tenant="*") == total


def test_a_call_whose_outcome_is_reported_twice_is_settled_once() -> None:
    store = MemoryStore(FakeClock())
    run = shield_for(policy({"tokens": 100}), store=store).run("a", id="r")
    decision = run.check("t", {}, tokens=50)
    for _ in range(3):
        run.result("t", {}, "done", call=decision.id, tokens=20)
    assert spent(store, "budget", "tokens", "run", "r") == 20


def test_a_models_usage_takes_the_place_of_the_estimate() -> None:
    store = MemoryStore(FakeClock())
    run = shield_for(policy({"tokens": 100}), store=store).run("a", id="r")
    model = ScriptedModel({"text": "hm", "usage": {"input_tokens": 60, "output_tokens": 30}}, "yes")
    assert run.model(model, [], tokens=10) == {
        "text": "hm",
        "usage": {"input_tokens": 60, "output_tokens": 30},
    }
    assert spent(store, "budget", "tokens", "run", "r") == 90
    with pytest.raises(
        Refused, match="this would exceed the 100 tokens of this run: 90 used or reserved"
    ):
        run.model(model, [], tokens=11)
    assert run.model(model, [], tokens=10) == "yes"
    assert model.count == 2


def test_a_tool_that_fails_has_used_its_call_and_its_time() -> None:
    clock = FakeClock()
    store = MemoryStore(clock)
    shield = shield_for(policy({"calls": 2, "duration_s": 100}), clock=clock, store=store)

    @shield.tool(timeout_s=40)
    def slow() -> None:
        assert spent(store, "budget", "duration_ms", "run", "r") == 40_000 + 25_000 * (
            clock() > 1_000_000
        )
        clock.advance(25_000)
        raise OSError("no disk")

    with shield.run("a", id="r") as run:
        for _ in range(2):
            with pytest.raises(OSError, match="no disk"):
                run.call(slow)
        assert spent(store, "budget", "one", "run", "r") == 2
        assert spent(store, "budget", "duration_ms", "run", "r") == 50_000
        with pytest.raises(Refused, match="the 2 calls of this run: 2 used or reserved"):
            run.call(slow)


def test_a_failed_call_reported_by_a_host_costs_what_it_cost() -> None:
    store = MemoryStore(FakeClock())
    run = shield_for(policy({"tokens": 100, "cost_usd": 1}), store=store).run("a", id="r")
    decision = run.check("t", {}, tokens=50, cost_usd=0.5)
    run.error("t", OSError("no disk"), call=decision.id, tokens=30, cost_usd=0.2)
    assert spent(store, "budget", "tokens", "run", "r") == 30
    assert spent(store, "budget", "cost_microusd", "run", "r") == 200_000


def test_an_answer_of_the_store_that_is_lost_refuses_and_nothing_stays_charged() -> None:
    """It does not begin, so what it may have reserved is given back before anything else is
    judged."""
    clock = FakeClock()
    store = LostStore(MemoryStore(clock), on=[1], applied=True)
    run = shield_for(policy({"tokens": 100}), clock=clock, store=store).run("a", id="r")
    assert run.check("t", {}, tokens=60).code == "kernel.store_lost"
    assert run.check("t", {}, tokens=60).proceeds
    assert run.check("t", {}, tokens=60).code == "budget.exceeded"
    assert run.check("t", {}, tokens=40).proceeds


SLOWER = {"pause_s": 0.000_001}


def test_a_degraded_call_is_counted_once_and_settled() -> None:
    store = MemoryStore(FakeClock())
    entries = policy({"tokens": 100, "calls": 9, "degrade_at": 50})
    run = shield_for({**entries, "degrade": SLOWER}, store=store).run("a", id="r")
    tool = ScriptedTool("done")
    decision = run.check("t", {"a": 1}, tokens=50)
    assert (decision.action, decision.proceeds, decision.held) == (Action.DEGRADE, True, True)
    assert decision.patched({"a": 1}) == {"a": 1}
    assert spent(store, "budget", "tokens", "run", "r") == 50
    run.result("t", {"a": 1}, "done", call=decision.id, tokens=45)
    assert spent(store, "budget", "tokens", "run", "r") == 45
    assert run.call(tool, a=2) == "done"
    assert (tool.calls, spent(store, "budget", "one", "run", "r")) == ([{"a": 2}], 2)
    assert run.model(ScriptedModel("reply"), [], tokens=55) == "reply"
    assert spent(store, "budget", "tokens", "run", "r") == 100


def test_a_degraded_call_warns_once() -> None:
    """It is judged twice and is one action: the third call that warns escalates, not the second."""
    entries = policy(
        {"id": "d", "calls": 9, "degrade_at": 1}, {"id": "w", "tokens": 900, "warn_at": 1}
    )
    loud = {"use": "rule", "id": "loud", "when": "event.tool == 't'", "action": "warn"}
    run = shield_for(
        {
            **entries,
            "limits": {"count_marks": True},
            "degrade": SLOWER,
            "guards": [*entries["guards"], loud],
        }
    ).run("a", "task")
    decisions = [run.check("t", {"n": n}, tokens=9) for n in range(3)]
    assert [decision.action for decision in decisions] == [
        Action.DEGRADE,
        Action.DEGRADE,
        Action.ESCALATE,
    ]
    thirds = [
        finding.args for finding in decisions[2].findings if finding.code == "kernel.third_warning"
    ]
    assert sorted(thirds) == [("loud", 3), ("w", 3)]


def test_the_whole_budget_is_usable_above_a_degrade_mark() -> None:
    run = shield_for({**policy({"calls": 100, "degrade_at": 80}), "degrade": SLOWER}).run("a")
    actions = [run.check("t", {}).action for _ in range(101)]
    assert actions == [Action.ALLOW] * 79 + [Action.DEGRADE] * 21 + [Action.BLOCK]


def test_what_was_reserved_in_a_window_is_corrected_where_it_was_reserved() -> None:
    clock = FakeClock()
    run = shield_for(policy({"tokens": 10, "window_s": 60}), clock=clock).run("a")
    decision = run.check("t", {}, tokens=10)
    clock.advance(40_000)
    run.result("t", {}, "done", call=decision.id, tokens=4)
    assert run.check("t", {}, tokens=7).code == "budget.window_full"
    assert run.check("t", {}, tokens=6).proceeds
    clock.advance(24_000)
    assert run.check("t", {}, tokens=5).code == "budget.window_full", "six are still in the window"
    assert run.check("t", {}, tokens=4).proceeds, "four have left it"


@pytest.mark.parametrize("seed", range(4))
def test_no_span_as_long_as_the_window_holds_more_than_the_limit(seed: int) -> None:
    """Also one that does not begin where a bucket does; and what was spent does come back."""
    drawn = random.Random(seed)
    clock = FakeClock(drawn.randrange(10**6))
    run = shield_for(policy({"tokens": 50, "window_s": 10}), clock=clock).run("a")
    history: list[tuple[int, int]] = []
    refused = 0
    for _ in range(400):
        now, tokens = clock.advance(drawn.randrange(700)), drawn.randrange(1, 12)
        if run.check("t", {}, tokens=tokens).proceeds:
            history.append((now, tokens))
        else:
            refused += 1
            counted = sum(
                amount
                for at, amount in history
                if at > now - 10_000 * BUCKETS // (BUCKETS - 1) - BUCKETS
            )
            assert counted + tokens > 50, (
                "it is refused only where it does not fit into a window a little longer"
            )
    assert refused > 50
    for at, _ in history:
        assert sum(amount for when, amount in history if at <= when < at + 10_000) <= 50


def test_a_budget_that_outlives_its_runs_is_never_forgotten() -> None:
    clock = FakeClock()
    store = MemoryStore(clock)
    entries = [{"id": per, "tokens": 10, "per": per} for per in ("agent", "tenant", "fleet")]
    for entry in entries:
        assert (
            shield_for(policy(entry), clock=clock, store=store)
            .run("a")
            .check("t", {}, tokens=10)
            .proceeds
        )
    clock.advance(400 * 86_400_000)
    for entry in entries:
        decision = (
            shield_for(policy(entry), clock=clock, store=store).run("a").check("t", {}, tokens=1)
        )
        assert decision.code == "budget.exceeded", entry


def test_a_charge_on_its_own_is_booked_for_good_and_one_with_its_call_is_held() -> None:
    store = MemoryStore(FakeClock())
    run = shield_for(policy({"tokens": 100, "stages": ["charge"]}), store=store).run("a", id="r")
    run.charge(tokens=5)
    assert list(store.holds()) == []
    decision = run.check("t", {}, tokens=7)
    assert [hold.id for hold in store.holds()] == [decision.id]
    run.result("t", {}, "done", call=decision.id, tokens=6)
    assert list(store.holds()) == []
    assert spent(store, "budget", "tokens", "run", "r") == 11


def test_a_policy_that_counts_only_calls_holds_nothing_and_makes_no_charges() -> None:
    counted = LostStore(MemoryStore(FakeClock()))
    run = shield_for(policy({"calls": 5}), store=counted).run("a")
    decision = run.check("t", {}, tokens=7)
    assert not decision.held
    run.result("t", {}, "done", call=decision.id)
    assert (len(counted.batches), list(counted.holds())) == (1, [])
    shield = shield_for(policy({"calls": 5, "duration_s": 60}))
    assert not any(stage == "charge" for stage in shield.policy.stages)
    assert "charge" in shield_for(policy({"calls": 5, "tokens": 9})).policy.stages


def test_children_spend_from_the_run_that_began_them() -> None:
    """A child has its parent's counters, unless something was carved out for it: that is charged
    above already."""
    budget = Budget(tokens=10, calls=5, per="run", counter="c")
    parent, child = RunInfo("p", "a"), RunInfo("c", "b", purse="p")
    assert budget.counts(child) == budget.counts(parent)
    carved = RunInfo("c", "b", purse="p", allotment=(-1, 4, -1, -1, -1), allotted_by="a")
    assert budget.counts(carved) == {Unit.ONE: budget.counts(parent)[Unit.ONE]}
    assert Unit.TOKENS not in budget.counts(
        RunInfo("c", "b", purse="p", allotment=(-1, 0, -1, -1, -1), allotted_by="a")
    )
    own = Budget(tokens=10, per="agent", counter="c")
    assert own.counts(carved) == own.counts(RunInfo("x", "b")), (
        "the child's own agent is bounded all the same"
    )
    (line,) = Allotment().lines(ToolCall(id="e", at=0, run=carved))
    assert (line.unit, line.bands, line.hold_ms) == (Unit.TOKENS, ((4, Action.BLOCK),), HOLD_MS)
    said = Allotment().word(ToolCall(id="e", at=0, run=carved), Action.BLOCK, (3,), (Action.BLOCK,))
    assert said.message == "this would exceed the 4 tokens of this child run: 3 used or reserved"
    spare = RunInfo("c", "b", allotment=(-1, 0, -1, -1, -1))
    assert Allotment().lines(Charge(id="e", at=0, run=spare))[0].bands == ((-1, Action.BLOCK),)


def test_in_strict_mode_marks_come_earlier_and_the_limit_stays() -> None:
    budget = Budget(tokens=1000, warn_at=33, degrade_at=80, escalate_at=95)
    strict = budget.tightened(0.8)
    (line,) = strict.lines(ToolCall(id="e", at=0, run=RunInfo("r")))
    assert line.bands == (
        (263, Action.WARN),
        (639, Action.DEGRADE),
        (759, Action.ESCALATE),
        (1000, Action.BLOCK),
    )
    plain = Budget(tokens=1000)
    assert plain.tightened(0.8) == plain


@pytest.mark.parametrize("seed", range(3))
def test_a_mark_is_the_first_number_that_is_its_share_or_more(seed: int) -> None:
    drawn = random.Random(seed)
    for _ in range(2_000):
        limit = drawn.randrange(10 ** drawn.randrange(1, 16))
        at = drawn.randrange(1, 100_001) / 1_000
        assert mark(limit, at) == ceil(Fraction(str(at)) * limit / 100)


@pytest.mark.parametrize(
    ("unit", "number", "words"),
    [
        (Unit.COST_MICROUSD, 10_000_000, "$10.00"),
        (Unit.COST_MICROUSD, 1_234_567_890_123, "$1,234,567.890123"),
        (Unit.COST_MICROUSD, 10, "$0.00001"),
        (Unit.COST_MICROUSD, 500_000, "$0.50"),
        (Unit.TOKENS, 1, "1 token"),
        (Unit.TOKENS, 1_000_000, "1,000,000 tokens"),
        (Unit.API_CALLS, 0, "0 API calls"),
        (Unit.ONE, 1, "1 call"),
        (Unit.DURATION_MS, 1_000, "1 second of work"),
        (Unit.DURATION_MS, 90_050, "90.05 seconds of work"),
        (Unit.DURATION_MS, 3_600_000, "3,600 seconds of work"),
        (Unit.DURATION_MS, 0, "0 seconds of work"),
    ],
)
def test_numbers_are_said_exactly_and_as_people_read_them(
    unit: Unit, number: int, words: str
) -> None:
    assert phrase(unit, number) == words
    assert words.startswith(shown(unit, number))


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (
            {"tokens": 100, "warn_at": 50},
            "this reaches 50 % of the 100 tokens of this run: 0 used or reserved before it",
        ),
        ({"tokens": 50}, "this would exceed the 50 tokens of this run: 0 used or reserved"),
        (
            {"tokens": 50, "window_s": 90},
            (
                "this would exceed the 50 tokens that this run may use in 90 seconds: 0 used or "
                "reserved"
            ),
        ),
    ],
)
def test_what_the_agent_reads(entry: dict[str, Any], says: str) -> None:
    assert shield_for(policy(entry)).run("a").check("t", {}, tokens=60).message == says


def test_a_host_that_cannot_degrade_hears_the_mark_as_something_stricter() -> None:
    """Whatever an action becomes at a place, the words are those of what was found."""
    able = tuple(action for action in Action if action != Action.DEGRADE)
    scene = Scene(Placed("b", Budget(calls=10, warn_at=20, degrade_at=30)), can=able)
    found = [scene.judge().findings for _ in range(3)][2][0]
    assert (found.action, found.said, found.code, found.args[0]) == (
        Action.RETRY,
        Action.DEGRADE,
        "budget.nearly",
        "30",
    )


LOCKED: Final = "; in lockdown, with so little left of a budget, warnings refuse"


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (
            {"tokens": 1000, "warn_at": 50},
            "this reaches 50 % of the 1,000 tokens of this run: 300 used or reserved before it",
        ),
        (
            {"tokens": 1000, "window_s": 60, "warn_at": 50, "escalate_at": 95},
            (
                "this reaches 50 % of the 1,000 tokens of this run for any 60 seconds: 300 used or "
                "reserved before it"
            ),
        ),
    ],
)
def test_a_mark_that_refuses_in_lockdown_is_said_to_be_a_mark(
    entry: dict[str, Any], says: str
) -> None:
    """Another budget is nearly used up, of this one only the mark is reached; the agent reads why
    that refuses."""
    entries = policy({"id": "calls", "calls": 6}, {"id": "tokens", **entry})
    run = shield_for({**entries, "autonomy": True}).run("a")
    for _ in range(5):
        assert run.check("t", {}, tokens=60).action == Action.ALLOW
    decision = run.check("t", {}, tokens=200)
    assert (decision.inputs.mode, decision.action, decision.code) == (
        "lockdown",
        Action.BLOCK,
        "budget.nearly",
    )
    assert decision.message == says + LOCKED
    assert decision.advice == "do what nothing warns about, or ask for a larger budget"
    assert decision.findings[0].said == Action.WARN
    assert run.check("t", {}, tokens=199).proceeds, "what does not reach the mark goes ahead"


def test_a_limit_that_refuses_in_lockdown_is_still_a_limit() -> None:
    run = shield_for(
        {**policy({"id": "calls", "calls": 6}, {"id": "plain", "tokens": 100}), "autonomy": True}
    ).run("a")
    for _ in range(5):
        assert run.check("t", {}).proceeds
    plain = run.check("t", {}, tokens=101)
    assert (plain.inputs.mode, plain.code, plain.findings[0].said) == (
        "lockdown",
        "budget.exceeded",
        None,
    )
    assert LOCKED not in plain.message


def test_what_is_over_its_limit_already_is_said_to_be_over_it_also_in_lockdown() -> None:
    scene = Scene(Placed("b", Budget(tokens=100, warn_at=50, per="tenant")))
    scene.budgets = (Share("k", 10),)
    scene.plans = Plans(scene, RUN)
    scene.records["k"] = (9, None)
    scene.store.carry(Batch("before", lines=(Line("k"),), amounts=(9, 0, 0, 0, 0)))
    name = key("default", "budget", "", "tokens", "tenant")
    scene.store.carry(
        Batch("spent", lines=(Line(name, unit=Unit.TOKENS),), amounts=(0, 101, 0, 0, 0))
    )
    decision = scene.judge()
    assert (decision.inputs.mode, decision.code, decision.findings[0].said) == (
        "lockdown",
        "budget.exceeded",
        None,
    )


def test_turns_bound_what_threads_spend_that_nobody_has_estimated(store: Store) -> None:
    """Each uses a fifth of the limit and says so afterwards only: no more than one is under way, so
    no more than its use comes on top."""
    shield = shield_for(policy({"tokens": 100, "per": "tenant", "turns": "refuse"}), store=store)
    used: list[int] = []

    def work(number: int) -> None:
        run = shield.run(f"agent-{number}")
        for _ in range(5):
            decision = run.check("spend", {})
            if decision.proceeds:
                used.append(20)
                run.result("spend", {}, "done", call=decision.id, tokens=20)

    in_threads(16, work)
    assert 20 <= sum(used) <= 120


def test_whose_turn_it_is_not_waits_or_is_refused_and_is_told_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    for turns, action in (("wait", Action.QUEUE), ("refuse", Action.BLOCK)):
        clock = FakeClock()
        shield = shield_for(policy({"duration_s": 60, "per": "agent", "turns": turns}), clock=clock)
        run = shield.run("ann")
        first = run.check("work", {})
        second = run.check("work", {})
        assert [(found.action, found.code) for found in second.findings] == [
            (action, "budget.turn")
        ]
        assert shield.run("bob").check("work", {}).proceeds
        run.result("work", {}, "done", call=first.id)
        assert run.check("work", {}).proceeds
    assert sum(waited) == pytest.approx(30, abs=0.2)


def test_a_budget_by_a_name_that_the_host_gives() -> None:
    shield = shield_for(policy({"calls": 2, "per": "customer"}))
    acme, other = [shield.run("ann", labels={"customer": name}) for name in ("acme", "other")]
    child = acme.spawn("bob")
    assert acme.check("t", {}).proceeds
    assert child.check("t", {}).proceeds
    refused = shield.run("eve", labels={"customer": "acme"}).check("t", {})
    assert (refused.code, refused.message) == (
        "budget.exceeded",
        "this would exceed the 2 calls of this customer: 2 used or reserved",
    )
    assert other.check("t", {}).proceeds
    nobody = shield.run("ann").check("t", {})
    assert (nobody.action, nobody.code) == (Action.BLOCK, "budget.unnamed")
    assert "`customer`" in nobody.message
    with pytest.raises(ValueError, match="is the parent's"):
        shield.run("bob", parent=acme, labels={"customer": "other"})
    with pytest.raises(ValueError, match="cannot be used"):
        shield.run("bob", labels={"tenant": "other"})


@pytest.mark.parametrize("labels", [3, ["acme"], "acme", {1: "acme"}, {"customer": None}])
def test_labels_that_are_none_are_told_as_such(labels: Any) -> None:
    with pytest.raises(ValueError, match="label"):
        shield_for(policy({"calls": 2})).run("ann", labels=labels)


BERLIN = ZoneInfo("Europe/Berlin")


def at(*when: int, fold: int = 0) -> int:
    """A time in Berlin, in milliseconds."""
    return int(datetime(*when, tzinfo=BERLIN, fold=fold).timestamp()) * 1000  # type: ignore[misc, arg-type]  # numbers, in the order of its arguments


@pytest.mark.parametrize(
    ("window", "begins", "last", "following"),
    [
        ("day", at(2026, 3, 29), at(2026, 3, 29, 23, 59, 59), at(2026, 3, 30)),  # 23 hours
        ("day", at(2026, 10, 25), at(2026, 10, 25, 23, 59, 59), at(2026, 10, 26)),  # 25 hours
        ("month", at(2026, 3, 1), at(2026, 3, 31, 23, 59, 59), at(2026, 4, 1)),
        ("month", at(2026, 12, 1), at(2026, 12, 31, 23, 59, 59), at(2027, 1, 1)),
        ("hour", at(2026, 10, 25, 2), at(2026, 10, 25, 2, 59, 59), at(2026, 10, 25, 2, fold=1)),
    ],
)
def test_a_window_by_name_begins_where_the_policy_s_time_zone_says(
    window: str, begins: int, last: int, following: int
) -> None:
    """By the store's clock: the host's is a year off."""
    entry = policy({"calls": 2, "per": "tenant", "window": window})
    clock, host = FakeClock(begins), FakeClock(begins + 31_536_000_000)
    shield = shield_for(
        {**entry, "timezone": "Europe/Berlin"}, store=MemoryStore(clock), clock=host
    )
    run = shield.run("ann")
    assert run.check("t", {}).proceeds
    clock.advance(last - begins)
    assert run.check("t", {}).proceeds
    refused = run.check("t", {})
    assert (refused.code, f"in one {window}" in refused.message) == ("budget.window_full", True)
    clock.advance(following - last)
    assert run.check("t", {}).proceeds


def test_a_time_zone_that_there_is_not_is_refused() -> None:
    with pytest.raises(PolicyError, match="`Mars/Base` is no time zone"):
        shield_for({"name": "calendar", "timezone": "Mars/Base"})


def test_a_full_window_halts_who_is_in_warning_if_the_policy_says_so() -> None:
    failing = {"use": "error_rate", "per": ["agent"], "min_calls": 2, "runs": 1}
    for halts, then in ((True, "kernel.halted"), (False, "budget.window_full")):
        spends = {"use": "budget", "per": "agent", "calls": 1, "window_s": 60, "halts": halts}
        policy = {"name": "window", "guards": [failing, spends]}
        run = Shield.load(policy, store="memory:", journal="memory:").run(agent="a")
        assert run.check("t", {}).proceeds
        assert run.check("t", {}).code == "budget.window_full", "who is well only waits"
        for _ in range(2):
            run.error("t", ConnectionError("down"))
        run.check("t", {})
        assert run.check("t", {}).code == then


def test_halting_without_a_window_is_an_error() -> None:
    with pytest.raises(PolicyError, match="about a window, and there is none"):
        Shield.load({"name": "w", "guards": [{"use": "budget", "calls": 1, "halts": True}]})
