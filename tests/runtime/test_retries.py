"""Retries: only what is safe to repeat, with time in between, and from one allowance that all
layers share."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from stanchion import Action, Refused, Run, Shield, Stage, ToolFailed
from stanchion.kernel.findings import Patch, Retry
from stanchion.runtime.deciding.retries import backoff_ms
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, LostStore, ScriptedTool, shield_for
from tests.runtime.guards import says
from tests.runtime.stepping import Stepped

SAFE = {"flaky": {"annotations": ["idempotent"]}}


def policy(tools: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    """A policy that recovers from errors, without waiting unless it says so."""
    guard = {"use": "recovery", "backoff_base_s": 0, **options}
    return {"name": "recovering", "tools": SAFE if tools is None else tools, "guards": [guard]}


def flaky(*outcomes: Any) -> ScriptedTool:
    """A tool that gives these outcomes in order."""
    return ScriptedTool(*outcomes, name="flaky")


def reset() -> ConnectionError:
    """An error that passes by itself."""
    return ConnectionResetError("reset")


def test_what_passes_by_itself_is_tried_again() -> None:
    """The caller sees the result alone; the records tell both attempts."""
    shield = shield_for(policy())
    tool = flaky(reset(), reset(), "done")
    assert shield.run("a").call(tool) == "done"
    kept = [one.read() for one in shield.journal.kept()]
    assert [(one.stage, one.action) for one in kept] == [
        ("tool_call", "ALLOW"),
        ("error", "RETRY"),
        ("tool_call", "ALLOW"),
        ("error", "RETRY"),
        ("tool_call", "ALLOW"),
        ("tool_result", "ALLOW"),
    ]
    assert [one.call for one in kept if one.stage == "tool_call"] == ["", kept[0].id, kept[2].id]
    assert kept[3].beside["attempt"] == 2
    assert [note for note in kept[-1].notes if "attempt" in note] == [
        "attempt 1 failed with `ConnectionResetError` after 0 ms",
        "attempt 2 failed with `ConnectionResetError` after 0 ms",
    ]


def test_so_many_retries_and_not_one_more() -> None:
    """Then the error itself comes back, and says what was tried."""
    tool = flaky(*[reset() for _ in range(9)])
    run = shield_for(policy(max_retries=3)).run("a")
    with pytest.raises(ConnectionResetError) as raised:
        run.call(tool)
    assert tool.count == 4
    (note,) = raised.value.__notes__
    assert "attempt 4" in note
    assert "recovery.exhausted" in note
    assert note.count("failed with `ConnectionResetError`") == 3


def test_without_a_known_safe_tool_nothing_is_repeated() -> None:
    """What it does may have happened."""
    tool = flaky(reset(), "done")
    run = shield_for(policy(tools={})).run("a")
    with pytest.raises(ConnectionResetError):
        run.call(tool)
    assert tool.count == 1
    assert run.last_error is not None
    assert run.last_error.code == "recovery.unsafe"


def test_a_policy_may_say_so_all_the_same() -> None:
    """`retry_unsafe` is for hosts that know better."""
    tool = flaky(reset(), "done")
    assert shield_for(policy(tools={}, retry_unsafe=True)).run("a").call(tool) == "done"


@pytest.mark.parametrize("entry", [{"annotations": ["idempotent"]}, {"effect": "read"}])
def test_what_can_be_repeated_is(entry: dict[str, Any]) -> None:
    """By declaration of the tool."""
    tool = flaky(reset(), "done")
    assert shield_for(policy(tools={"flaky": entry})).run("a").call(tool) == "done"


def test_an_error_that_shows_that_nothing_happened_is_enough() -> None:
    """The policy names it, or one of the kinds it is a kind of."""
    tools = {"flaky": {"harmless": ["ConnectionError"]}}
    tool = flaky(reset(), "done")
    assert shield_for(policy(tools=tools)).run("a").call(tool) == "done"
    tool = flaky(TimeoutError("slow"), "done")
    with pytest.raises(TimeoutError):
        shield_for(policy(tools=tools)).run("a").call(tool)


def test_waiting_grows_and_is_bounded() -> None:
    """One second, two, four, and then the longest, with jitter on top."""
    terms = Retry(9, 1_000, 2.0, 5_000, 0.25)
    assert [backoff_ms(terms, attempt, lambda: 0.5) for attempt in (1, 2, 3, 4)] == [
        1_000,
        2_000,
        4_000,
        5_000,
    ]
    assert [backoff_ms(terms, attempt, lambda: 0.0) for attempt in (1, 2, 3, 4)] == [
        750,
        1_500,
        3_000,
        5_000,
    ]
    assert backoff_ms(terms, 1, lambda: 1.0) == 1_250
    assert backoff_ms(terms, 4, lambda: 1.0) == 5_000, "the bound is the last word"
    assert backoff_ms(Retry(9, 1_000, jitter=0.0), 1_000, lambda: 0.5) == 30_000


def test_the_caller_waits_between_attempts() -> None:
    """By the defaults: one second and its doubles, give or take a quarter."""
    clock = FakeClock()
    chances = iter([0.5, 0.0, 1.0])
    shield = shield_for(
        {**policy(), "guards": [{"use": "recovery"}]}, clock=clock, chance=lambda: next(chances)
    )
    stepped = Stepped(shield.run("a"), clock)
    assert stepped.call(flaky(reset(), reset(), reset(), "done")) == "done"
    assert stepped.pauses == [1.0, 1.5, 5.0]


def test_no_waiting_beyond_the_deadline() -> None:
    """A retry that would come too late is not made, and uses nothing."""
    clock = FakeClock()
    shield = shield_for(
        {**policy(), "guards": [{"use": "recovery"}]}, clock=clock, chance=lambda: 0.5
    )
    run = shield.run("a", id="r", deadline_s=3)
    stepped = Stepped(run, clock)
    tool = flaky(reset(), reset(), "done")
    with pytest.raises(ConnectionResetError):
        stepped.call(tool)
    assert (tool.count, stepped.pauses) == (2, [1.0])
    assert shield.store.read("{default}retry:run:r")[0] == 1
    assert run.last_error is not None
    assert run.last_error.ended == "not tried again: the run's deadline is before the next attempt"


def test_a_run_has_so_many_retries_in_all() -> None:
    """However many calls make them, in however many children."""
    shield = shield_for(policy(max_retries=2, per_run=3))
    run = shield.run("a")
    first = flaky(reset(), reset(), "done")
    assert run.call(first) == "done"
    second = flaky(reset(), reset(), "done")
    child = run.spawn("b")
    with pytest.raises(ConnectionResetError):
        child.call(second)
    assert second.count == 2
    assert child.last_error is not None
    assert child.last_error.ended == "not tried again: all 3 retries of the run are used"
    assert shield.run("a").call(flaky(reset(), "done")) == "done", "another run has its own"


def test_without_the_store_nothing_is_tried_again() -> None:
    """What cannot be counted is not done."""
    clock = FakeClock()
    store = LostStore(MemoryStore(clock))
    run = shield_for(policy(), clock=clock, store=store).run("a")
    tool = ScriptedTool("warm", reset(), "done", name="flaky")
    run.call(tool)
    store.on = range(len(store.batches) + 1, 1_000)
    with pytest.raises(ConnectionResetError):
        run.call(tool)
    assert tool.count == 2
    assert run.last_error is not None
    assert "retries cannot be counted" in run.last_error.ended


def test_calls_without_errors_count_no_retries_and_make_no_trip() -> None:
    """Nothing is asked of the store for a retry that is not made."""
    clock = FakeClock()
    store = LostStore(MemoryStore(clock))
    run = shield_for(policy(), clock=clock, store=store).run("a")
    run.call(flaky("a"))
    trips = len(store.batches)
    run.call(flaky("b"))
    assert len(store.batches) == trips


def test_a_retry_that_is_refused_says_so_and_why_it_came_to_that() -> None:
    """A step limit holds for attempts as well."""
    limited = policy()
    limited["guards"] = [*limited["guards"], {"use": "step_limit", "max_steps": 1}]
    tool = flaky(reset(), "done")
    with pytest.raises(Refused) as refused:
        shield_for(limited).run("a").call(tool)
    assert refused.value.decision.code == "steps.exceeded"
    assert isinstance(refused.value.__cause__, ConnectionResetError)
    assert tool.count == 1


def test_a_patched_call_is_proposed_again_as_it_was() -> None:
    """Guards see the same proposal each time, and the tool gets the same patched arguments."""
    seen: list[str] = []
    patch = says(Action.REDACT, Stage.TOOL_CALL, patches=(Patch(("text",), "hidden"),))
    shield = shield_for(policy(), guards=[patch])

    def send(text: str) -> str:
        seen.append(text)
        if len(seen) == 1:
            raise reset()
        return text

    assert shield.run("a").call(shield.tool(name="flaky")(send), text="secret") == "hidden"
    assert seen == ["hidden", "hidden"]


def test_a_redacted_error_stays_redacted_when_retries_are_used_up() -> None:
    """Whatever else is decided about it."""
    patch = says(Action.REDACT, Stage.ERROR, id="hide", patches=(Patch((), "withheld"),))
    for options in (
        {"max_retries": 1},
        {"per_run": 0},
        {"on_recoverable": "block"},
        {"on_recoverable": "quarantine"},
    ):
        run = shield_for(policy(**options), guards=[patch]).run("a")
        with pytest.raises(ToolFailed) as raised:
            run.call(
                flaky(ConnectionResetError("the password is tulip"), ConnectionResetError("tulip"))
            )
        assert "tulip" not in f"{raised.value}{raised.value.__cause__}{run.last_error}"


def test_a_nested_call_shares_what_its_outermost_call_may_try_again() -> None:
    """Layers add, whichever of them tries again."""
    shield = shield_for(
        policy({"flaky": SAFE["flaky"], "outer": {"annotations": ["idempotent"]}}, max_retries=2)
    )
    leaf = flaky(*[reset() for _ in range(20)])

    @shield.tool
    def outer() -> Any:
        return current(shield).call(leaf)

    with shield.run("a") as run, pytest.raises(ConnectionResetError):
        run.call(outer)
    assert leaf.count == 3


def current(shield: Shield) -> Run:
    """The run around the caller, or a child of it."""
    from stanchion import current_run

    run = current_run()
    assert run is not None
    return run.spawn("child")


def test_calls_side_by_side_have_an_allowance_each() -> None:
    """One outermost call does not use up another's."""
    shield = shield_for(policy(max_retries=2))
    tools = [flaky(reset(), reset(), number) for number in range(3)]

    async def main() -> list[int]:
        async with shield.run("a") as run:
            return list(await asyncio.gather(*[run.acall(tool.as_async()) for tool in tools]))

    assert asyncio.run(main()) == [0, 1, 2]


def test_work_that_a_call_left_behind_has_its_own_allowance() -> None:
    """A background task is not part of the call any more that began it."""
    shield = shield_for(policy(max_retries=1))
    tasks: list[asyncio.Task[Any]] = []

    async def main() -> str:
        async with shield.run("a") as run:

            async def begin() -> None:
                async def later() -> Any:
                    await over.wait()
                    return await run.acall(flaky(reset(), "done").as_async())

                tasks.append(asyncio.ensure_future(later()))
                await run.acall(flaky(reset(), "used").as_async())

            over = asyncio.Event()
            await run.acall(begin)
            over.set()
            return str(await tasks[0])

    assert asyncio.run(main()) == "done"


def test_what_failed_can_be_looked_at() -> None:
    """What, with which arguments, after how long, made from what; secrets masked, texts bounded."""
    clock = FakeClock()
    shield = shield_for(policy(tools={}), clock=clock)
    run = shield.run("a")

    def login(user: str, password: str) -> None:
        clock.advance(40)
        try:
            raise KeyError("the cause has a text of its own")
        except KeyError as error:
            raise ConnectionResetError("x" * 5_000) from error

    with pytest.raises(ConnectionResetError):
        run.call(login, user="ada", password="tulip")
    trouble = run.last_error
    assert trouble is not None
    assert (trouble.tool, trouble.error, trouble.attempt, trouble.took_ms) == (
        "login",
        "ConnectionResetError",
        1,
        40,
    )
    assert trouble.args == {"user": "ada", "password": "[redacted]"}
    assert trouble.behind == ("KeyError",)
    assert len(trouble.text) == 2_001
    record = shield.journal.kept()[-1].read()
    assert record.notes == ("it failed after 40 ms", "it was caused by `KeyError`")
    assert "tulip" not in str(trouble)


def test_nothing_is_known_before_anything_has_failed() -> None:
    """And what went well is no trouble."""
    run = shield_for(policy()).run("a")
    run.call(flaky("done"))
    assert run.last_error is None


def test_an_error_that_takes_no_notes_comes_back_all_the_same() -> None:
    """Some errors cannot be changed."""

    class Frozen(ConnectionError):
        def __setattr__(self, name: str, value: object) -> None:
            raise TypeError("frozen")

    error = Frozen("as it is")
    run = shield_for(policy(tools={})).run("a")
    with pytest.raises(Frozen) as raised:
        run.call(flaky(error))
    assert raised.value is error


def test_notes_on_one_error_do_not_grow() -> None:
    """An error that is raised again and again keeps some."""
    error = reset()
    run = shield_for(policy(tools={})).run("a")
    for _ in range(50):
        with pytest.raises(ConnectionResetError):
            run.call(flaky(error))
    assert len(error.__notes__) == 10
