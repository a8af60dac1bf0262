"""Sessions of threads and tasks, the end of a program, odd values, and what a program's own objects
do wrong."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from stanchion.approvals.errors import AnswerRefused
from stanchion.dialects.errors import DialectError
from stanchion.dialects.guardian import (
    AdviceContext,
    CircuitState,
    GuardianLayer,
    InMemoryCacheProvider,
    SQLiteStorageProvider,
    StorageProvider,
)
from stanchion.testing import FakeClock
from tests.dialects.guardian.playing import call, failing, guarded

TOOL = {
    "name": "query",
    "description": "Asks the database",
    "inputSchema": {
        "type": "object",
        "properties": {"sql": {"type": "string"}},
        "required": ["sql"],
    },
}
ENDS = """
import sys
from stanchion.dialects.guardian import GuardianLayer
guardian = GuardianLayer(db_path=sys.argv[1])
for number in range(7):
    guardian.report_result({"tool": "t", "arguments": {"n": number}}, False, "timeout")
"""


@pytest.mark.parametrize(("last", "code"), [("", 0), ("sys.exit(3)", 3)])
def test_a_program_that_ends_without_close_keeps_its_outcomes(
    tmp_path: Path, last: str, code: int
) -> None:
    path = str(tmp_path / "g.db")
    ended = subprocess.run([sys.executable, "-c", ENDS + last, path], check=False, timeout=60)
    assert ended.returncode == code
    with GuardianLayer(db_path=path) as guardian:
        assert guardian.experience._storage.execute("SELECT count(*) FROM incidents") == [(7,)]


def told(guardian: GuardianLayer, session: str, meet: Any) -> str:
    """Begin a session, fail in it, and say what it knows once the other has failed too."""
    guardian.experience.start_new_session(session)
    guardian.report_result(call("fetch"), False, f"{session} is out of reach")
    meet()
    return guardian.get_awareness_context()


def test_a_session_is_the_threads_that_began_it() -> None:
    with guarded(advice_style="expert") as guardian:
        barrier, said = threading.Barrier(2, timeout=30), dict[str, str]()

        def work(name: str) -> None:
            said[name] = told(guardian, name, barrier.wait)

        threads = [threading.Thread(target=work, args=(name,)) for name in ("north", "south")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert "north is out of reach" in said["north"]
        assert "south" not in said["north"]
        assert "south is out of reach" in said["south"]
        assert "north" not in said["south"]
        assert guardian.get_awareness_context() == "", "the session of whoever made the guardian"


def test_a_session_is_the_tasks_that_began_it() -> None:
    async def work(guardian: GuardianLayer, name: str, met: asyncio.Barrier) -> tuple[str, str]:
        guardian.experience.start_new_session(name)
        await guardian.report_result_async(call("fetch"), False, f"{name} is out of reach")
        await met.wait()
        inherited = await asyncio.create_task(guardian.get_awareness_context_async())
        return await guardian.get_awareness_context_async(), inherited

    async def both(guardian: GuardianLayer) -> list[tuple[str, str]]:
        met = asyncio.Barrier(2)
        return await asyncio.gather(*[work(guardian, name, met) for name in ("north", "south")])

    with guarded(advice_style="expert") as guardian:
        north, south = asyncio.run(both(guardian))
        assert ("north" in north[0], "south" in north[0]) == (True, False)
        assert ("north" in south[0], "south" in south[0]) == (False, True)
        assert (north[0], south[0]) == (north[1], south[1]), (
            "a task is in the session of the one that started it"
        )


def test_a_thread_that_begins_no_session_is_in_that_of_the_maker() -> None:
    with guarded() as guardian:
        guardian.experience.start_new_session("shared")
        seen: list[str] = []
        thread = threading.Thread(target=lambda: seen.append(guardian.experience.session_id))
        thread.start()
        thread.join()
        assert seen == ["shared"]


def test_a_call_reports_back_after_its_session_and_the_session_then_ends() -> None:
    with guarded() as guardian:
        before = guardian._sitting.run
        guardian.check(call("pay"))
        guardian.experience.start_new_session()
        assert before.desk.has_open()
        guardian.report_result(call("pay"), True)
        assert not before.desk.has_open()
        assert not before.check("pay", {}).proceeds
        assert guardian.check(call("pay"))["allowed"]


AFTER_CLOSE = {
    "reset": lambda one: one.reset(),
    "a new session": lambda one: one.experience.start_new_session(),
    "an outcome": lambda one: one.report_result(call("a"), True),
    "an outcome, async": lambda one: asyncio.run(one.report_result_async(call("a"), True)),
    "a layer": lambda one: one.loop_detector.check(call("a")),
}


@pytest.mark.parametrize("what", AFTER_CLOSE)
def test_a_closed_guardian_says_so(what: str) -> None:
    with guarded() as guardian:
        guardian.check(call("a"))
    with pytest.raises(DialectError, match="this guardian is closed: make another"):
        AFTER_CLOSE[what](guardian)
    assert not guardian.check(call("a"))["allowed"]


def _odd() -> dict[str, Any]:
    cyclic: dict[str, Any] = {}
    cyclic["x"] = cyclic
    deep: dict[str, Any] = {}
    inner = deep
    for _ in range(150):
        inner["x"] = inner = {}
    return {
        "digits": {"x": 10**5000},
        "a tuple": {(1, 2): 3},
        "itself": cyclic,
        "deep": deep,
        "a set": {frozenset(): 1},
    }


@pytest.mark.parametrize("what", _odd())
def test_odd_arguments_raise_nothing_and_their_outcomes_count(what: str) -> None:
    given = {"tool": "t", "arguments": _odd()[what]}
    with guarded(failure_threshold=2) as guardian:
        for _ in range(2):
            assert isinstance(guardian.check(given)["allowed"], bool)
            guardian.report_result(given, False, "timeout")
        assert guardian.health_monitor.get_health("t").state is CircuitState.OPEN
        assert guardian.experience.get_session_stats()["failures"] == 2
        assert not asyncio.run(guardian.check_async(given))["allowed"]


@pytest.mark.parametrize("what", _odd())
def test_odd_results_raise_nothing_and_count(what: str) -> None:
    with guarded() as guardian:
        guardian.check(call("t"))
        guardian.report_result(call("t"), True, result=_odd()[what])
        asyncio.run(guardian.report_result_async(call("t"), True, result=_odd()[what]))
        assert guardian.experience.get_session_stats()["successes"] == 2


def test_a_tuple_among_the_names_of_arguments_is_read() -> None:
    from stanchion.runtime.shield import Shield

    with Shield.load("default", store="memory:", journal="memory:") as shield:
        key = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
        assert shield.run().check("post", {(key,): 1}).code == "secrets.redacted"  # type: ignore[dict-item]


@pytest.mark.parametrize("result", [{"isError": True}, {"status_code": 500}, {"status": 500}])
def test_success_is_what_the_report_says(result: dict[str, Any]) -> None:
    with guarded() as guardian:
        for number in range(6):
            guardian.report_result(call("t", n=number), True, result=result)
        assert guardian.experience.get_session_stats()["successes"] == 6
        assert guardian.health_monitor.get_health("t").score == 100


def test_a_hook_is_asked_each_time_if_nothing_is_to_be_kept() -> None:
    for cache, times in ((True, 1), (False, 3)):
        asked: list[Any] = []
        with guarded(max_repeats=5) as guardian:
            guardian.register_hook("t", asked.append, cache=cache)
            for _ in range(3):
                assert guardian.check(call("t"))["allowed"]
            assert len(asked) == times
            assert guardian.mcp_facade.validate_call(call("t"))["valid"]


def test_rows_have_the_whole_call(tmp_path: Path) -> None:
    storage = SQLiteStorageProvider(tmp_path / "kept.db")
    for given in (None, storage):
        with guarded(storage_provider=given) as guardian:
            guardian.report_result(call("pay", to="ann"), True)
            assert guardian.shield.experience.flush()
            kept = guardian.experience._storage
            rows = kept.execute("SELECT call_data FROM incidents") + kept.execute(
                "SELECT last_success_data FROM best_practices"
            )
            assert [json.loads(row[0]) for row in rows] == [call("pay", to="ann")] * 2
            assert json.loads(kept.get_best_practice("pay")["last_success_data"]) == call(
                "pay", to="ann"
            )
            kept.execute("DELETE FROM incidents WHERE call_data LIKE ?", ("%ann%",))
            assert kept.execute("SELECT count(*) FROM incidents") == [(0,)]


def test_a_tool_keeps_its_description() -> None:
    with guarded() as guardian:
        guardian.ingest_tools([TOOL])
        tool = guardian.mcp_facade.get_tool("query")
        assert tool is not None
        assert tool.description == "Asks the database"


class _Yes:
    """A cache that has the same for everything."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def get(self, key: str) -> Any:
        return self.answer

    def set(self, key: str, value: Any, ttl: int | None = None) -> None: ...


@pytest.mark.parametrize("answer", ["valid", "valid:", "advice", True, 5])
def test_a_cache_that_says_yes_to_everything_is_not_believed(answer: Any) -> None:
    with guarded(cache_provider=_Yes(answer)) as guardian:
        guardian.ingest_tools([TOOL])
        assert not guardian.check(call("query"))["allowed"]
        guardian.report_result(call("query", sql="x"), False, "timeout")
        assert guardian.check(call("query", sql="y"))["advice"].startswith(
            "Tool 'query' failed 1x."
        )


def test_a_slow_hook_is_waited_for() -> None:
    """The document gives hooks no deadline; Stanchion's own is a second."""
    with guarded() as guardian:
        schema = next(one for one in guardian.policy["guards"] if one["use"] == "schema")
        assert schema["hook_deadline_ms"] == 30_000


@pytest.mark.parametrize(
    ("error", "opens"),
    [
        ("validation error for field x", False),
        ("2 validation errors for Order", False),
        ("connection reset", True),
    ],
)
def test_input_that_does_not_validate_is_the_users_error(error: str, opens: bool) -> None:
    with guarded() as guardian:
        failing(guardian, "t", 6, error)
        state = guardian.health_monitor.get_health("t").state
        assert state is (CircuitState.OPEN if opens else CircuitState.CLOSED)


def _raises(_call: dict[str, Any]) -> None:
    raise ConnectionError("password hunter2")


def _says_true(_call: dict[str, Any]) -> bool:
    return True


@pytest.mark.parametrize("hook", [_raises, _says_true])
def test_a_hook_that_fails_is_named_with_its_tool(hook: Any) -> None:
    with guarded() as guardian:
        guardian.register_hook("query", hook)
        for reason in (
            guardian.check(call("query", n=1))["reason"],
            asyncio.run(guardian.check_async(call("query", n=2)))["reason"],
            guardian.mcp_facade.validate_call(call("query", n=3))["reason"],
        ):
            assert reason.startswith(f"`{hook.__name__}`, the hook of `query`, gave no answer")
            assert "hunter2" not in reason


def test_an_operators_act_says_how_to_be_one(tmp_path: Path) -> None:
    with GuardianLayer(db_path=tmp_path / "g.db") as guardian:
        guardian.ingest_tools([TOOL])
        with pytest.raises(AnswerRefused, match=r"`reset_tool` is an operator's: .*`by=`"):
            guardian.reset_tool("query")
        with pytest.raises(AnswerRefused, match=r"`repin` is an operator's: .*`by=`"):
            guardian.ingest_tools([{**TOOL, "description": "Something else"}], repin=True)


WRONG: dict[str, tuple[Any, str]] = {
    "a class for storage": (
        lambda _: GuardianLayer(storage_provider=StorageProvider),  # type: ignore[arg-type]
        "is the class `StorageProvider`",
    ),
    "a class for a cache": (
        lambda _: GuardianLayer(cache_provider=InMemoryCacheProvider),  # type: ignore[arg-type]
        "is the class `InMemory",
    ),
    "no such folder": (
        lambda tmp: GuardianLayer(db_path=tmp / "no" / "g.db"),
        "there is no such folder",
    ),
    "a folder": (lambda tmp: GuardianLayer(db_path=tmp), "`db_path` cannot be used: "),
    "another server": (
        lambda _: GuardianLayer(db_path="mysql://x/y"),
        "`db_path` cannot be used: ",
    ),
    "a style": (lambda _: GuardianLayer(advice_style="loud"), "`advice_style` is `loud`"),
    "no name": (lambda _: AdviceContext(5), ("`tool_name` of an `AdviceContext` is `int`")),  # type: ignore[arg-type]
    "no count": (
        lambda _: AdviceContext("t", failure_count="x"),  # type: ignore[arg-type]
        "`failure_count` of an `AdviceContext` is `str`",
    ),
    "a resolver of nothing": (
        lambda _: GuardianLayer().set_custom_advice_resolver(lambda: ""),  # type: ignore[misc, arg-type]
        "the advice resolver cannot be called with an `AdviceContext`",
    ),
    "a hook of nothing": (
        lambda _: GuardianLayer().register_hook("t", lambda: None),  # type: ignore[misc, arg-type]
        "the hook of `t` cannot be called with the call",
    ),
    "a schema that is none": (
        lambda _: GuardianLayer().ingest_tools([{"name": "t", "inputSchema": {"type": "strnig"}}]),
        "`t` cannot be registered: the schema in its definition is of no use",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_work_is_said_at_once(what: str, tmp_path: Path) -> None:
    use, said = WRONG[what]
    with pytest.raises(DialectError, match=re.escape(said)) as caught:
        use(tmp_path)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_schema_that_is_none_leaves_other_tools_alone() -> None:
    with guarded(FakeClock()) as guardian:
        with pytest.raises(DialectError):
            guardian.ingest_tools([TOOL, {"name": "t", "inputSchema": {"type": "strnig"}}])
        assert guardian.mcp_facade.list_tools() == []
        assert guardian.check(call("other"))["allowed"]


def test_what_goes_ahead_without_its_store_is_not_called_refused(tmp_path: Path) -> None:
    path = tmp_path / "g.db"
    with GuardianLayer(db_path=str(path)) as guardian:
        assert guardian.check(call("query", n=1))["advice"] == ""
        guardian.shield.store.close()
        said = guardian.check(call("query", n=2))
    assert said["allowed"]
    assert said["advice"] == "the state store cannot be used, so nothing can be counted"


class Awaited:
    async def __call__(self, _context: AdviceContext) -> str:
        return "mine"


async def awaited(_context: AdviceContext) -> str:
    return "mine"


@pytest.mark.parametrize("resolver", [awaited, Awaited()])
def test_a_resolver_that_has_to_be_awaited_is_an_error(resolver: Any) -> None:
    with (
        guarded() as guardian,
        pytest.raises(DialectError, match="the advice resolver has to be awaited"),
    ):
        guardian.set_custom_advice_resolver(resolver)


class Listed(NamedTuple):
    tools: list[Any]


@pytest.mark.parametrize(
    "given",
    [lambda one: [one], lambda one: SimpleNamespace(tools=[one]), lambda one: Listed([one])],
)
def test_a_tool_can_be_an_object(given: Any) -> None:
    with guarded() as guardian:
        assert guardian.ingest_tools(given(SimpleNamespace(**TOOL))) == 1
        assert guardian.mcp_facade.get_tool("query").description == "Asks the database"  # type: ignore[union-attr]
        assert "sql" in str(guardian.check(call("query"))["reason"])
        with pytest.raises(DialectError, match="unknown shape"):
            guardian.ingest_tools([SimpleNamespace(name="query", does="anything")])


@pytest.mark.parametrize("first", ["the hook", "the tool"])
def test_a_hook_of_no_tool_is_named_once(first: str, caplog: pytest.LogCaptureFixture) -> None:
    with guarded() as guardian:
        steps: list[Callable[[], object]] = [
            lambda: guardian.register_hook("qeury", lambda _call: None),
            lambda: guardian.ingest_tools([TOOL]),
        ]
        for step in steps if first == "the hook" else reversed(steps):
            step()
        guardian.register_hook("query", lambda _call: None)
        guardian.ingest_tools([TOOL])
    assert caplog.text.count("a hook is for a tool that is not there") == 1
    assert "`qeury` is not registered: did you mean `query`?" in caplog.text


def test_health_counts_every_failure_that_was_reported() -> None:
    """Also those that are the caller's own; what stops a call counts the tool's alone."""
    with GuardianLayer() as guardian:
        for number in range(10):
            call = {"tool": "t", "arguments": {"n": number}}
            guardian.report_result(call, number == 0, None if number == 0 else "404 not found")
        assert guardian.get_metrics()["tool_health"]["t"] == {"score": 10, "state": "closed"}
        assert guardian.check({"tool": "t", "arguments": {"n": 99}})["allowed"]


def test_a_loop_of_which_nothing_was_reported_says_so() -> None:
    with GuardianLayer(max_repeats=3) as guardian:
        said = [guardian.check({"tool": "t", "arguments": {}})["reason"] for _ in range(5)]
    assert said[:3] == [None, None, None]
    assert all(str(one).endswith("nothing is known yet of what came of it") for one in said[3:])
