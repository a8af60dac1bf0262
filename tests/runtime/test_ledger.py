"""The effect ledger: what happens once is answered, refused or started again by what is known of
it, in any process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stanchion import Action, Refused, Run, Shield, Stage
from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import MemoryJournal
from stanchion.kernel.findings import Patch
from stanchion.kernel.state import Batch, Reply
from stanchion.runtime.calling.ledger import MAX_RESULT
from stanchion.runtime.calling.tool import NothingDone
from stanchion.runtime.operating.settle_effects import EffectError, settle_effect
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, LostStore, shield_for
from tests.runtime.guards import says

HOUR_MS = 3_600_000
POLICY: dict[str, Any] = {
    "name": "once",
    "tools": {"pay": {"annotations": ["once"], "harmless": ["ConnectionError"]}},
}


class Bank:
    """A tool that pays, and counts how often; `raises` is raised before or after it has."""

    def __init__(
        self,
        result: Any = None,
        before: BaseException | None = None,
        after: BaseException | None = None,
    ):
        self.paid: list[int] = []
        self.before, self.after = before, after
        self._result = result

    def pay(self, amount: int) -> Any:
        """Pay, once for every call."""
        if self.before is not None:
            raise self.before
        self.paid.append(amount)
        if self.after is not None:
            raise self.after
        return {"receipt": len(self.paid)} if self._result is None else self._result


class World:
    """One store that several processes share, one after the other."""

    def __init__(self, policy: dict[str, Any] | None = None, **options: Any) -> None:
        self.clock = FakeClock()
        self.store: Any = MemoryStore(self.clock)
        self._policy = POLICY if policy is None else policy
        self._options = options

    def process(self) -> Shield:
        """A new process: nothing is left of the one before but the store."""
        return shield_for(self._policy, clock=self.clock, store=self.store, **self._options)

    def run(self, run_id: str = "r", task: str = "") -> Run:
        """A run in a new process; the same id is the same run, resumed."""
        return self.process().run("clerk", task, id=run_id)


def code(refused: pytest.ExceptionInfo[Refused]) -> str:
    return refused.value.decision.code


def effect_in(refused: pytest.ExceptionInfo[Refused]) -> str:
    """The id of the effect that a refusal names."""
    determining = refused.value.decision.determining
    assert determining is not None
    return str(determining.args[2])


def test_a_resumed_run_gets_the_result_of_what_was_done() -> None:
    """Nothing runs, and the records say where the answer came from."""
    world, bank = World(), Bank()
    assert world.run().call(bank.pay, 10) == {"receipt": 1}
    shield = world.process()
    run = shield.run("clerk", id="r")
    assert run.call(bank.pay, 10) == {"receipt": 1}
    assert bank.paid == [10]
    *_, record = [one.read() for one in shield.journal.kept()]
    assert record.stage == "tool_result"
    assert any(note.startswith("answered from the ledger: call `r.") for note in record.notes)


def test_the_same_call_again_in_the_same_run_is_another_one() -> None:
    """An agent that pays twice means it, once it has got its receipt; a resumed run replays both in
    order."""
    world, bank = World(), Bank()
    run = world.run()
    assert [run.call(bank.pay, 10)["receipt"] for _ in range(2)] == [1, 2]
    assert run.call(bank.pay, 11) == {"receipt": 3}
    resumed = world.run()
    assert [resumed.call(bank.pay, 10)["receipt"] for _ in range(3)] == [1, 2, 4]
    assert bank.paid == [10, 10, 11, 10]


def test_another_run_is_another_story() -> None:
    """Calls that nobody named belong to their run."""
    world, bank = World(), Bank()
    world.run("r").call(bank.pay, 10)
    world.run("s").call(bank.pay, 10)
    assert bank.paid == [10, 10]


def test_a_key_names_one_thing_in_its_task_whichever_run_asks() -> None:
    """Also for a tool that is not marked; another task's key is another."""
    world, bank = World({"name": "bare"}), Bank()
    assert world.run("r", "billing").call_once("invoice-7", bank.pay, 10) == {"receipt": 1}
    assert world.run("s", "billing").call_once("invoice-7", bank.pay, 10) == {"receipt": 1}
    assert world.run("s", "refunds").call_once("invoice-7", bank.pay, 10) == {"receipt": 2}
    assert world.run("t").call_once("invoice-7", bank.pay, 10) == {"receipt": 3}
    assert world.run("t").call_once("invoice-7", bank.pay, 10) == {"receipt": 3}


def test_a_key_that_is_used_for_something_else_is_refused() -> None:
    """Other arguments, or another tool."""
    world, bank = World(), Bank()
    run = world.run()
    run.call_once("k", bank.pay, 10)
    with pytest.raises(Refused) as refused:
        run.call_once("k", bank.pay, 11)
    assert code(refused) == "ledger.other_call"
    with pytest.raises(Refused) as refused:
        run.call_once("k", lambda amount: amount, amount=10)
    assert code(refused) == "ledger.other_call"
    assert bank.paid == [10]


def test_async_tools_happen_once_too() -> None:
    """By mark and by key."""
    world, bank = World(), Bank()

    async def pay(amount: int) -> Any:
        return bank.pay(amount)

    async def main() -> list[Any]:
        first, second = world.run(), world.run()
        return [
            await first.acall(pay, 10),
            await second.acall(pay, 10),
            await second.acall_once("k", pay, 10),
        ]

    assert asyncio.run(main()) == [{"receipt": 1}, {"receipt": 1}, {"receipt": 2}]


def test_a_tool_can_be_registered_as_one_that_acts_once() -> None:
    """Without an entry in the policy; as a function and as a method."""
    world = World({"name": "bare"})

    def given(shield: Shield, bank: Bank) -> Any:
        return shield.tool(once=True, name="pay")(bank.pay)

    bank = Bank()
    for _ in range(2):
        shield = world.process()
        with shield.run(id="r"):
            assert given(shield, bank)(10) == {"receipt": 1}
    assert bank.paid == [10]


def test_an_error_after_which_nobody_knows_is_not_followed_by_another_try() -> None:
    """Not by Stanchion, not by the agent, not by a resumed run: a person has to say."""
    world, bank = World(), Bank(after=TimeoutError("slow"))
    run = world.run()
    with pytest.raises(TimeoutError):
        run.call(bank.pay, 10)
    bank.after = None
    for again in (run, world.run()):
        with pytest.raises(Refused) as refused:
            again.call(bank.pay, 10)
        assert code(refused) == "ledger.outcome_unknown"
        assert "find out whether it happened" in str(refused.value)
    assert bank.paid == [10]


@pytest.mark.parametrize("error", [ConnectionRefusedError("no"), NothingDone("no funds")])
def test_an_error_before_which_nothing_happened_lets_it_start_again(error: Exception) -> None:
    """The policy knows such errors, and a tool can say it itself."""
    world, bank = World(), Bank(before=error)
    with pytest.raises(type(error)):
        world.run().call(bank.pay, 10)
    bank.before = None
    assert world.run().call(bank.pay, 10) == {"receipt": 1}


def test_wrong_arguments_never_began_anything() -> None:
    """Python refused the call: the right one can follow under the same key."""
    world, bank = World(), Bank()
    run = world.run()
    with pytest.raises(TypeError):
        run.call_once("k", bank.pay, amuont=10)  # type: ignore[call-overload]  # the mistake is what is tested
    with pytest.raises(Refused) as refused:
        run.call_once("other", bank.pay, 10) and run.call_once("other", bank.pay, 11)
    assert code(refused) == "ledger.other_call"
    assert bank.paid == [10]


@pytest.mark.parametrize(
    "entry", [{"annotations": ["once", "idempotent"]}, {"annotations": ["once"], "effect": "read"}]
)
def test_what_can_be_repeated_starts_again_after_any_error(entry: dict[str, Any]) -> None:
    """Repeating it does no harm."""
    policy = {"name": "p", "tools": {"pay": entry}}
    world, bank = World(policy), Bank(before=ValueError("odd"))
    with pytest.raises(ValueError, match="odd"):
        world.run().call(bank.pay, 10)
    bank.before = None
    assert world.run().call(bank.pay, 10) == {"receipt": 1}


@pytest.mark.parametrize(("harmless", "times"), [(True, 3), (False, 1)])
def test_stanchion_retries_it_only_where_nothing_happened(harmless: bool, times: int) -> None:
    """Whatever the policy says about unsafe retries: the ledger knows better."""
    guard = {"use": "recovery", "backoff_base_s": 0, "max_retries": 2, "retry_unsafe": True}
    tools = {"pay": {"annotations": ["once"], "harmless": ["ConnectionError"] if harmless else []}}
    world = World({"name": "p", "tools": tools, "guards": [guard]})
    calls: list[int] = []

    def pay(amount: int) -> int:
        calls.append(amount)
        if len(calls) < 3:
            raise ConnectionError("down")
        return len(calls)

    run = world.run()
    if harmless:
        assert run.call(pay, 10) == 3
    else:
        with pytest.raises(ConnectionError):
            run.call(pay, 10)
    assert len(calls) == times


def test_who_comes_while_it_is_under_way_is_refused() -> None:
    """In another process as well; afterwards the result is there for all."""
    world, bank = World(), Bank()
    begun, free = threading.Event(), threading.Event()

    def pay(amount: int) -> Any:
        begun.set()
        assert free.wait(30)
        return bank.pay(amount)

    got: list[Any] = []
    worker = threading.Thread(target=lambda: got.append(world.run().call(pay, 10)))
    worker.start()
    try:
        assert begun.wait(30)
        with pytest.raises(Refused) as refused:
            world.run().call(pay, 10)
        assert code(refused) == "ledger.in_progress"
    finally:
        free.set()
        worker.join(30)
    assert got == [{"receipt": 1}] == [world.run().call(pay, 10)]
    assert bank.paid == [10]


class Killed(BaseException):
    """The process is gone: nothing of it is carried out any more."""


class Dying(LostStore):
    """A store whose process dies before a chosen batch."""

    def __init__(self, store: MemoryStore, at: int) -> None:
        super().__init__(store)
        self._at = at

    def carry(self, batch: Batch) -> Reply:
        """Carry batches out until it is time."""
        if len(self.batches) + 1 >= self._at:
            raise Killed
        return super().carry(batch)


def started(world: World, bank: Bank) -> None:
    """Leave an effect behind that was started by a process which died before it could say what came
    of it."""
    dying = Dying(world.store, 3)
    shield = shield_for(POLICY, clock=world.clock, store=dying, nonces=iter("abc").__next__)
    with pytest.raises(Killed):
        shield.run("clerk", id="r").call(bank.pay, 10)
    assert bank.paid == [10]


def test_a_start_without_an_outcome_is_under_way_for_an_hour_and_unknown_after_that() -> None:
    """By the store's clock."""
    world, bank = World(), Bank()
    started(world, bank)
    world.clock.advance(HOUR_MS - 1)
    with pytest.raises(Refused) as refused:
        world.run().call(bank.pay, 10)
    assert code(refused) == "ledger.in_progress"
    world.clock.advance(1)
    with pytest.raises(Refused) as refused:
        world.run().call(bank.pay, 10)
    assert code(refused) == "ledger.outcome_unknown"
    assert bank.paid == [10]


def test_a_tool_s_own_time_limit_shortens_that() -> None:
    """Nobody who has three seconds is at work for an hour."""
    policy = {"name": "once", "tools": {"pay": {"annotations": ["once"], "timeout_s": 3}}}
    world, bank = World(policy), Bank()
    dying = Dying(world.store, 3)
    with pytest.raises(Killed):
        shield_for(policy, clock=world.clock, store=dying, nonces=iter("abc").__next__).run(
            id="r"
        ).call(bank.pay, 10)
    world.clock.advance(3_000)
    with pytest.raises(Refused) as refused:
        world.run().call(bank.pay, 10)
    assert code(refused) == "ledger.outcome_unknown"


def test_a_person_who_says_that_it_happened_ends_it() -> None:
    """It is never done again; with a result, that is the answer."""
    for result, answer in ((None, "ledger.result_not_kept"), ({"receipt": 7}, None)):
        world, bank = World(), Bank()
        started(world, bank)
        world.clock.advance(HOUR_MS)
        with pytest.raises(Refused) as refused:
            world.run().call(bank.pay, 10)
        settle_effect(world.process(), effect_in(refused), True, result=result, by="ada")
        if answer is None:
            assert world.run().call(bank.pay, 10) == result
        else:
            with pytest.raises(Refused) as refused:
                world.run().call(bank.pay, 10)
            assert code(refused) == answer
        assert bank.paid == [10]


def test_a_person_who_says_that_it_did_not_happen_lets_it_start() -> None:
    """By the key of the call, from within a run."""
    world, bank = World(), Bank(before=TimeoutError("slow"))
    run = world.run()
    with pytest.raises(TimeoutError):
        run.call_once("k", bank.pay, 10)
    bank.before = None
    run.settle_effect("k", happened=False)
    assert world.run().call_once("k", bank.pay, 10) == {"receipt": 1}


def test_there_has_to_be_something_to_settle() -> None:
    """What is known stays as it is known."""
    world, bank = World(), Bank()
    run = world.run()
    with pytest.raises(EffectError, match="there is no effect"):
        run.settle_effect("k", happened=True)
    run.call_once("k", bank.pay, 10)
    with pytest.raises(EffectError, match="is done: there is nothing to settle"):
        run.settle_effect("k", happened=False)
    assert world.run().call_once("k", bank.pay, 10) == {"receipt": 1}


def test_who_settled_what_is_in_the_trail(tmp_path: Path) -> None:
    """A person's word is a record."""
    from stanchion.audit.options import TrailOptions
    from stanchion.audit.trail import Trail
    from tests.audit.written import of_kind, whole

    world, bank = World(), Bank()
    started(world, bank)
    shield = shield_for(
        POLICY,
        clock=world.clock,
        store=world.store,
        journal=Trail(tmp_path / "trail", TrailOptions()),
    )
    with pytest.raises(Refused) as refused:
        shield.run(id="r").call(bank.pay, 10)
    settle_effect(shield, effect_in(refused), False, by="ada")
    shield.close()
    (records,) = whole(tmp_path / "trail").values()
    (fact,) = of_kind(records, "fact")
    assert (fact["what"], fact["about"], fact["by"]) == (
        "effect.not_happened",
        effect_in(refused),
        "ada",
    )


def test_a_late_outcome_does_not_overrule_a_person() -> None:
    """Who settles a call that is still at work is told so by nobody: what the person said is
    kept."""
    world, bank = World(), Bank()
    run = world.run()

    def pay(amount: int) -> Any:
        world.run().settle_effect("k", happened=True, result={"receipt": "by hand"})
        return bank.pay(amount)

    assert run.call_once("k", pay, 10) == {"receipt": 1}
    assert any("what the person said is kept" in notice for notice in run.notices())
    assert world.run().call_once("k", pay, 10) == {"receipt": "by hand"}


@pytest.mark.parametrize("result", ["x" * MAX_RESULT, {"token": "abc"}])
def test_a_result_that_is_long_or_secret_is_not_kept(result: Any) -> None:
    """That it happened is known all the same."""
    world, bank = World(), Bank(result)
    assert world.run().call(bank.pay, 10) is result
    with pytest.raises(Refused) as refused:
        world.run().call(bank.pay, 10)
    assert code(refused) == "ledger.result_not_kept"
    assert bank.paid == [10]
    assert "abc" not in str(list(world.store.look()))


def test_a_result_as_long_as_can_be_is_kept() -> None:
    """Quotes included; nothing at all is kept as well."""
    for result in ("x" * (MAX_RESULT - 2), 0, False):
        world, bank = World(), Bank(result)
        assert [world.run().call(bank.pay, 10) for _ in range(2)] == [result, result]
        assert bank.paid == [10]
    world = World()
    calls: list[int] = []
    assert [world.run().call(shielded(calls), 10) for _ in range(2)] == [None, None]
    assert calls == [10]


def shielded(calls: list[int]) -> Any:
    """A tool that gives nothing."""

    def pay(amount: int) -> None:
        calls.append(amount)

    return pay


def test_what_is_kept_is_what_the_agent_saw() -> None:
    """A redacted result is kept redacted, and judged again when it answers."""
    hide = says(Action.REDACT, Stage.TOOL_RESULT, id="hide", patches=(Patch((), "hidden"),))
    world, bank = World(guards=[hide]), Bank("secret")
    assert world.run().call(bank.pay, 10) == "hidden"
    assert "secret" not in str(list(world.store.look()))
    assert world.run().call(bank.pay, 10) == "hidden"


def test_an_answer_is_judged_like_any_result() -> None:
    """What was fit to be seen then may not be now; nothing is undone for it."""
    world, bank = World(), Bank()
    world.run().call(bank.pay, 10)
    undone: list[int] = []
    strict = shield_for(
        POLICY,
        clock=world.clock,
        store=world.store,
        guards=[says(Action.BLOCK, Stage.TOOL_RESULT, id="no")],
    )
    tool = strict.tool(name="pay", undo=undone.append)(bank.pay)
    with pytest.raises(Refused) as refused:
        strict.run(id="r").call(tool, 10)
    assert code(refused) == "test.said"
    assert (bank.paid, undone) == ([10], [])


def test_a_refused_call_enters_nothing() -> None:
    """A guard said no: nothing has begun."""
    world, bank = World(), Bank()
    strict = shield_for(
        POLICY,
        clock=world.clock,
        store=world.store,
        guards=[says(Action.BLOCK, Stage.TOOL_CALL, id="no")],
    )
    with pytest.raises(Refused):
        strict.run(id="r").call(bank.pay, 10)
    assert world.run().call(bank.pay, 10) == {"receipt": 1}


def test_what_was_undone_can_be_done_again() -> None:
    """By a refused result, or by rolling back."""
    world, bank = World(), Bank()
    undone: list[int] = []
    shield = world.process()
    tool = shield.tool(name="pay", undo=undone.append)(bank.pay)
    run = shield.run(id="r")
    run.call_once("k", tool, 10)
    run.rollback()
    assert run.call_once("k", tool, 10) == {"receipt": 2}
    strict = shield_for(
        POLICY,
        clock=world.clock,
        store=world.store,
        guards=[says(Action.BLOCK, Stage.TOOL_RESULT, id="no")],
    )
    with pytest.raises(Refused):
        strict.run(id="r").call_once(
            "other", strict.tool(name="pay", undo=undone.append)(bank.pay), 10
        )
    assert undone == [10, 10]
    assert world.run().call_once("other", bank.pay, 10) == {"receipt": 4}


def test_a_result_that_was_refused_and_not_undone_is_done() -> None:
    """It happened; nobody may see what came of it."""
    strict = says(Action.BLOCK, Stage.TOOL_RESULT, id="no")
    world, bank = World(guards=[strict]), Bank()
    with pytest.raises(Refused):
        world.run().call(bank.pay, 10)
    with pytest.raises(Refused) as refused:
        world.run().call(bank.pay, 10)
    assert code(refused) == "ledger.result_not_kept"
    assert bank.paid == [10]


def test_it_is_the_patched_call_that_happens_once() -> None:
    """Two proposals that become the same call are one; the proposals themselves stay free."""
    patch = says(Action.REDACT, Stage.TOOL_CALL, id="cap", patches=(Patch(("amount",), 5),))
    world, bank = World(guards=[patch]), Bank()
    assert world.run().call(bank.pay, 10) == {"receipt": 1}
    assert world.run().call(bank.pay, 20) == {"receipt": 1}
    assert bank.paid == [5]
    free = shield_for(POLICY, clock=world.clock, store=world.store)
    assert free.run(id="r").call(bank.pay, 20) == {"receipt": 2}, "nobody has paid 20 yet"
    assert free.run(id="r").call(bank.pay, 10) == {"receipt": 3}, "nor 10"
    assert free.run(id="r").call(bank.pay, 5) == {"receipt": 1}


def test_a_patched_call_whose_outcome_is_unknown_is_refused_and_gives_everything_back() -> None:
    """What the proposal had reserved is free again."""
    patch = says(Action.REDACT, Stage.TOOL_CALL, id="cap", patches=(Patch(("amount",), 5),))
    tools = {"pay": {"annotations": ["once"], "timeout_s": 30}}
    policy = {"name": "p", "tools": tools, "guards": [{"use": "budget", "duration_s": 50}]}
    world, bank = World(policy, guards=[patch]), Bank(after=TimeoutError("slow"))
    with pytest.raises(TimeoutError):
        world.run().call(bank.pay, 10)
    with pytest.raises(Refused) as refused:
        world.run().call(bank.pay, 20)
    assert code(refused) == "ledger.outcome_unknown"
    assert bank.paid == [5]
    (used_ms,) = [cell.number for cell in world.store.look() if "budget" in cell.key]
    assert used_ms == 0


@pytest.mark.parametrize("lost", [1, 2])
@pytest.mark.parametrize("applied", [False, True])
def test_without_the_store_nothing_starts(lost: int, applied: bool) -> None:
    """The ledger cannot be asked, or does not answer whether the call is taken: then it does not
    run."""
    world, bank = World(), Bank()
    store = LostStore(world.store, on=(lost,), applied=applied)
    shield = shield_for(POLICY, clock=world.clock, store=store, nonces=iter("abc").__next__)
    with pytest.raises(Refused) as refused:
        shield.run("clerk", id="r").call(bank.pay, 10)
    assert code(refused) == "kernel.store_lost"
    assert bank.paid == []


def test_a_guard_that_may_fail_open_does_not_start_it_without_the_store() -> None:
    """The exactly-once promise needs the store, whatever guards do without."""
    policy = {**POLICY, "guards": [{"use": "step_limit", "fail_open": True}]}
    world, bank = World(policy), Bank()
    store = LostStore(world.store, on=(2,))
    shield = shield_for(policy, clock=world.clock, store=store, nonces=iter("abc").__next__)
    with pytest.raises(Refused) as refused:
        shield.run("clerk", id="r").call(bank.pay, 10)
    assert code(refused) == "kernel.store_lost"
    assert bank.paid == []


def test_a_policy_that_only_watches_still_keeps_it_to_once() -> None:
    """Who asks for once gets once."""
    world, bank = World({**POLICY, "mode": "shadow"}), Bank()
    assert [world.run().call(bank.pay, 10) for _ in range(2)] == [{"receipt": 1}] * 2
    bank.after = TimeoutError("slow")
    run = world.run()
    with pytest.raises(TimeoutError):
        run.call_once("k", bank.pay, 10)
    with pytest.raises(Refused):
        run.call_once("k", bank.pay, 10)
    assert bank.paid == [10, 10]


def test_an_outcome_that_cannot_be_written_down_is_unknown_later() -> None:
    """The caller has its result; the ledger errs on the safe side."""
    world, bank = World(), Bank()
    store = LostStore(world.store, on=range(3, 99))
    run = shield_for(POLICY, clock=world.clock, store=store, nonces=iter("abc").__next__).run(
        "clerk", id="r"
    )
    assert run.call(bank.pay, 10) == {"receipt": 1}
    assert any("not written there yet" in notice for notice in run.notices())
    world.clock.advance(HOUR_MS)
    with pytest.raises(Refused) as refused:
        world.run().call(bank.pay, 10)
    assert code(refused) == "ledger.outcome_unknown"
    assert bank.paid == [10]


class FullDisk(MemoryJournal):
    """Takes records, and cannot get them to the disk."""

    def sync(self, mark: int) -> None:
        """Fail."""
        raise AuditLost("the disk is full")


def test_what_could_not_be_recorded_has_not_begun() -> None:
    """The stake was written before the record was lost: it is given back, and the call can start
    when records can."""
    policy = {"name": "once", "tools": {"pay": {"annotations": ["once"], "risk": "high"}}}
    world, bank = World(policy), Bank()
    full = shield_for(policy, clock=world.clock, store=world.store, journal=FullDisk())
    with pytest.raises(Refused) as refused:
        full.run("clerk", id="r").call(bank.pay, 10)
    assert code(refused) == "kernel.audit_lost"
    assert bank.paid == []
    assert world.run().call(bank.pay, 10) == {"receipt": 1}


def test_an_interrupted_call_is_unknown_at_once() -> None:
    """Nobody has to wait an hour to be told."""
    world, bank = World(), Bank(after=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        world.run().call(bank.pay, 10)
    with pytest.raises(Refused) as refused:
        world.run().call(bank.pay, 10)
    assert code(refused) == "ledger.outcome_unknown"


def test_generators_do_not_happen_once() -> None:
    """They have no one result that could answer; it is an error, not a promise that is not kept."""

    def many(amount: int) -> Iterator[int]:
        yield amount

    shield = shield_for({"name": "p", "tools": {"many": {"annotations": ["once"]}}})
    run = shield.run("a")
    with pytest.raises(TypeError, match="gives many items"):
        next(run.call(many, 1))
    with pytest.raises(TypeError, match="gives many items"):
        run.call_once("k", many, 1)
    with pytest.raises(ValueError, match="gives many items"):
        shield.tool(once=True)(many)


def test_a_key_is_a_text_and_an_async_tool_is_awaited() -> None:
    """Mistakes are named."""

    async def pay() -> None: ...

    run = shield_for(POLICY).run("a")
    with pytest.raises(ValueError, match="give a text"):
        run.call_once("", len, "a")
    with pytest.raises(TypeError, match="acall_once"):
        run.call_once("k", pay)


def test_calls_that_are_not_marked_make_no_trip_for_it() -> None:
    """The ledger costs those who use it."""
    clock = FakeClock()
    store = LostStore(MemoryStore(clock))
    run = shield_for(POLICY, clock=clock, store=store).run("a")
    run.call(len, "abc")
    before = len(store.batches)
    run.call(len, "abc")
    assert len(store.batches) == before
