"""Through a broker a run works like one in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from stanchion import Action, Refused, Shield, Stage, Tool, ToolFailed
from stanchion.approvals import BypassRefused, TicketError
from stanchion.kernel.findings import Patch
from stanchion.runtime.calling.reports import BadEvent
from stanchion.runtime.remote.errors import NotThroughBroker
from tests.approvals.bypassing import WHY, policy
from tests.ops.broker.brokers import serving
from tests.runtime.guards import says

BARE = {"name": "bare", "unread": "allow"}


@pytest.fixture
def far() -> Iterator[Any]:
    """A shield behind a broker that refuses the tool `no` and lets everything else pass."""
    guard = says(Action.BLOCK, Stage.TOOL_CALL, tools=frozenset({"no"}))
    with Shield.load(BARE, guards=[guard]) as shield, serving(shield) as path, through(path) as far:
        yield far


def through(path: Any) -> Any:
    return Shield.load(f"broker:{path}")


def test_the_tools_own_result_comes_back(far: Any) -> None:
    kept: Any
    for kept in (["a"], {"a": (1, 2)}, b"a", SimpleNamespace(a=1), object(), None):
        with far.run() as run:
            assert run.call(lambda kept=kept: kept) is kept


def test_the_tools_own_exception_comes_back(far: Any) -> None:
    error = KeyError("missing")

    def fails() -> None:
        raise error

    with far.run() as run, pytest.raises(KeyError) as raised:
        run.call(fails)
    assert raised.value is error


def test_what_a_tool_says_that_a_call_uses_is_reserved() -> None:
    policy: dict[str, Any] = {**BARE, "guards": [{"use": "budget", "cost_usd": 1}]}
    with (
        Shield.load(policy) as shield,
        serving(shield) as path,
        through(path) as far,
        far.run() as run,
    ):
        tool = Tool(lambda number: number, "buy", usage={"cost_usd": 0.4})
        assert [run.call(tool, 1), run.call(tool, 2)] == [1, 2]
        with pytest.raises(Refused, match=r"\$1"):
            run.call(tool, 3)


def test_a_refused_call_does_not_run_and_says_why(far: Any) -> None:
    ran: list[int] = []

    def no() -> None:
        ran.append(1)

    with far.run() as run, pytest.raises(Refused) as refused:
        run.call(no)
    assert not ran
    assert refused.value.decision.action is Action.BLOCK
    with (
        Shield.load(BARE, guards=[says(Action.BLOCK, Stage.TOOL_CALL)]).run() as here,
        pytest.raises(Refused) as same,
    ):
        here.call(no)
    assert str(refused.value) == str(same.value)


def test_async_code_and_decorated_functions(far: Any) -> None:
    async def one_more(n: int) -> int:
        await asyncio.sleep(0)
        return n + 1

    fetch = far.tool(risk="high")(one_more)

    async def agent() -> Any:
        async with far.run(agent="ann") as run:
            decision = await run.acheck("search", {"q": "x"})
            assert (await run.aresult("search", {"q": "x"}, ["y"], call=decision.id)).proceeds
            assert await run.acall(len, "abc") == 3
            return await asyncio.gather(*[fetch(n) for n in range(20)])

    assert asyncio.run(agent()) == list(range(1, 21))


@pytest.mark.parametrize("kind", [dict, SimpleNamespace])
def test_redacted_results_keep_their_type_and_their_other_parts(kind: Any) -> None:
    other = object()
    hides = says(Action.REDACT, Stage.TOOL_RESULT, patches=(Patch(("text",), "[hidden]"),))
    with (
        Shield.load(BARE, guards=[hides]) as shield,
        serving(shield) as path,
        through(path) as far,
        far.run() as run,
    ):
        came = run.call(lambda: kind(text="secret", other=other))
        assert type(came) is kind
        fields = came if kind is dict else vars(came)
        assert fields["text"] == "[hidden]"
        assert fields["other"] is other


def test_redacted_arguments_reach_the_tool(far: Any) -> None:
    hides = says(Action.REDACT, Stage.TOOL_CALL, patches=(Patch(("text",), "[hidden]"),))
    other = object()
    with (
        Shield.load(BARE, guards=[hides]) as shield,
        serving(shield) as path,
        through(path) as far,
        far.run() as run,
    ):
        assert run.call(lambda text, other: (text, other), "secret", other=other) == (
            "[hidden]",
            other,
        )


def test_an_error_that_shows_what_guards_redact_is_withheld() -> None:
    hides = says(Action.REDACT, Stage.ERROR, patches=(Patch((), "[hidden]"),))

    def fails() -> None:
        raise OSError("the password is hunter2")

    with (
        Shield.load(BARE, guards=[hides]) as shield,
        serving(shield) as path,
        through(path) as far,
        far.run() as run,
    ):
        with pytest.raises(ToolFailed, match=r"\[hidden\]") as failed:
            run.call(fails)
        assert failed.value.__cause__ is None


def test_a_refused_result_is_undone_here_with_its_own_arguments() -> None:
    thing, undone = object(), list[Any]()
    guard = says(Action.BLOCK, Stage.TOOL_RESULT)
    with Shield.load(BARE, guards=[guard]) as shield, serving(shield) as path, through(path) as far:
        make = far.tool(undo=undone.append, name="make")(lambda thing: "made")
        with far.run(), pytest.raises(Refused):
            make(thing)
    assert undone == [thing]


def test_a_rollback_undoes_what_was_done_newest_first(far: Any) -> None:
    undone: list[int] = []
    make = far.tool(undo=undone.append, name="make")(lambda n: n)
    with far.run() as run:
        make(1)
        with run.spawn("bob"):
            make(2)
        assert [one.error for one in run.rollback()] == ["", ""]
    assert undone == [2, 1]


def test_what_happens_once_happens_once(far: Any) -> None:
    paid: list[int] = []

    def pay(amount: int) -> str:
        paid.append(amount)
        return "paid"

    with far.run(task="bill") as run:
        assert [run.call_once("bill-7", pay, 20) for _ in range(3)] == ["paid"] * 3
    assert paid == [20]


def test_failed_calls_are_tried_again_here() -> None:
    tries: list[int] = []

    def shaky() -> str:
        tries.append(1)
        if len(tries) < 3:
            raise TimeoutError("not yet")
        return "there"

    policy: Any = {"name": "again", "guards": [{"use": "recovery", "backoff_base_s": 0.001}]}
    policy |= {"tools": {"shaky": {"annotations": ["idempotent"]}}}
    with (
        Shield.load(policy) as shield,
        serving(shield) as path,
        through(path) as far,
        far.run() as run,
    ):
        assert run.call(shaky) == "there"
    assert len(tries) == 3


def test_children_spend_what_was_carved_out_for_them() -> None:
    policy = {"name": "p", "guards": [{"use": "budget", "calls": 5, "per": "run"}]}
    with (
        Shield.load(policy) as shield,
        serving(shield) as path,
        through(path) as far,
        far.run("ann") as run,
    ):
        with run.spawn("bob", budget={"calls": 2}) as child:
            codes = [child.check("x", {}).code for _ in range(3)]
            assert [code == "" for code in codes] == [True, True, False]
        with pytest.raises(Refused):
            run.spawn("bob", budget={"calls": 50})
        with pytest.raises(ValueError, match="not a measure"):
            run.spawn("bob", budget={"apples": 1})


def test_cancelled_and_closed_runs_refuse(far: Any) -> None:
    run = far.run("ann")
    child = run.spawn("bob")
    run.cancel("enough")
    assert child.check("x", {}).code == "kernel.cancelled"
    run.close()
    assert run.check("x", {}).code == "kernel.ended"
    with pytest.raises(Refused):
        run.call(len, "x")
    run.close()


def test_everybody_may_tighten_and_nobody_loosen(far: Any) -> None:
    run = far.run("ann")
    far.quarantine("tool:bash", why="odd")
    assert run.check("bash", {}).code == "kernel.quarantined"
    far.safe_mode(True, "incident")
    assert not run.check("search", {}).proceeds
    far.halt("stop")
    assert run.check("search", {}).code == "kernel.halted"
    with pytest.raises(NotThroughBroker, match="operator"):
        far.safe_mode(False)
    for name in ("resume", "approve", "reset_tool", "reload", "store", "tickets"):
        with pytest.raises(NotThroughBroker, match="operator"):
            getattr(far, name)
    with pytest.raises(ValueError, match="fleet"):
        far.halt("all", scope="fleet")


def test_somebody_can_be_called_through_a_broker(far: Any) -> None:
    with far.run("ann") as run:
        assert not run.check("no", {}).proceeds
        ticket = run.escalate("I cannot go on without it")
        assert len(ticket) == 12
        assert run.escalate("I cannot go on without it") == ticket
        assert asyncio.run(run.aescalate("something else")) != ticket
        with pytest.raises(TicketError, match="say in words why"):
            run.escalate(" ")


def test_a_bypass_is_asked_for_through_a_broker() -> None:
    paid: list[int] = []

    def pay(amount: int) -> None:
        paid.append(amount)

    with (
        Shield.load(policy(), store="memory:") as shield,
        serving(shield) as path,
        through(path) as far,
        far.run("ann") as run,
    ):
        with pytest.raises(Refused, match="ask for a bypass of `first`"):
            run.call(pay, 5)
        with pytest.raises(BypassRefused, match="says too little"):
            run.request_bypass("first", "please")
        made = run.request_bypass("first", WHY, "urgent")
        assert (made.guardrail_id, made.requested_by, made.urgency) == ("first", "ann", "urgent")
        assert asyncio.run(run.arequest_bypass("first", WHY)).id == made.id
        shield.approve(made.ticket, by="kim")
        run.call(pay, 5)
        with pytest.raises(Refused):
            run.call(pay, 5)
    assert paid == [5]


def test_what_an_agent_should_know_is_the_same_through_a_broker() -> None:
    policy = {"name": "p", "experience": {"tier": "process"}, "advice": {"style": "expert"}}

    def told(run: Any) -> list[str]:
        run.result("search", {"query": "refunds", "limit": 5}, ["a page"])
        run.error("search", TimeoutError("no answer"), args={"query": "refunds"})
        return [
            run.awareness(),
            run.awareness(tokens=1),
            run.advice("search", {"query": "refunds"}),
            asyncio.run(run.aawareness()),
            asyncio.run(run.aadvice("unknown")),
        ]

    with Shield.load(policy, store="memory:") as near, near.run("ann") as run:
        expected = told(run)
    loaded = Shield.load(policy, store="memory:")
    with loaded as shield, serving(shield) as path, through(path) as far, far.run("ann") as run:
        assert told(run) == expected
        with pytest.raises(ValueError, match="tokens"):
            run.awareness(tokens=-1)
    assert "search" in expected[0]
    assert expected[1] == ""


def test_what_does_not_go_through_a_broker_says_so(far: Any) -> None:
    def items() -> Iterator[int]:
        yield 1

    with far.run() as run:
        for name in ("model", "stream", "httpx_transport", "keep", "canary"):
            with pytest.raises(NotThroughBroker, match=name):
                getattr(run, name)
        with pytest.raises(NotThroughBroker, match="return a list"):
            run.call(items)
        with pytest.raises(NotThroughBroker, match="return a list"):
            run.call(lambda: items())
        with pytest.raises(NotThroughBroker):
            _ = run.desk.store
    for option in ("tenant", "id"):
        with pytest.raises(NotThroughBroker, match=option):
            far.run(**{option: "x"})


def test_bad_reports_are_errors_as_they_are_here(far: Any) -> None:
    with far.run() as run:
        for method, given, fields in (
            (run.judge, ["prompt"], {"words": "x"}),
            (run.judge, ["prompt"], {}),
            (run.check, ["x", {}], {"tokens": -1}),
            (run.check, ["x", ["no"]], {}),
            (run.charge, [], {"cost_usd": "much"}),
        ):
            with pytest.raises(BadEvent):
                method(*given, **fields)
        with pytest.raises(ValueError, match="nowhere"):
            run.judge("nowhere")
        with pytest.raises(TypeError, match="unexpected keyword argument 'apples'"):
            run.check("x", {}, apples=1)


def test_a_broker_is_named_by_store_and_by_environment(
    far: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"broker:{far.link.path}"
    for store in (name, None):
        with Shield.load(store=store) as one, one.run() as run:
            assert run.call(len, "abc") == 3
            assert type(run).__name__ == "RemoteRun"
        monkeypatch.setenv("STANCHION_STORE", name)
    with pytest.raises(NotThroughBroker, match="guards"):
        Shield.load(guards=[len])
    with pytest.raises(ValueError, match="absolute"):
        Shield.load("broker:here.sock")


def test_a_policy_that_is_not_in_force_is_said_to_be(
    far: Any, caplog: pytest.LogCaptureFixture
) -> None:
    Shield.load("strict", store=f"broker:{far.link.path}").close()
    assert "`strict` is not in force" in caplog.text


def test_an_answer_that_does_not_count_is_refused_in_words_that_tell_nothing(far: Any) -> None:
    with pytest.raises(ValueError, match="the broker does not accept this answer"):
        far.answer(b"yes")
    with far.run() as run:
        assert run.call(lambda: 1) == 1


def test_a_run_locks_and_releases_through_a_broker() -> None:
    locking = {"name": "locking", "guards": [{"use": "locks", "timeout_s": 0}]}
    with (
        Shield.load(locking) as shield,
        serving(shield) as path,
        through(path) as far,
        far.run("ann") as ann,
        far.run("bob") as bob,
    ):
        ann.lock("a")
        assert bob.check("write_file", {"path": "a"}).code == "locks.held"
        with pytest.raises(Refused):
            bob.lock("a")
        ann.unlock("a")
        asyncio.run(bob.alock("a"))
        assert ann.check("write_file", {"path": "a"}).code == "locks.held"
        asyncio.run(bob.aunlock("a"))
        assert ann.check("write_file", {"path": "a"}).proceeds


def test_nothing_is_locked_through_a_broker_that_keeps_no_locks(far: Any) -> None:
    with far.run() as run, pytest.raises(ValueError, match="no guard `locks`"):
        run.lock("a")
