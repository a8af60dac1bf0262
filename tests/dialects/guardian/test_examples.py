"""The examples of the document run as they stand, and do what it says of them."""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from stanchion.dialects import guardian as dialect
from stanchion.dialects.guardian import AdviceContext, GuardianLayer, StorageProvider
from stanchion.guards.breaker import Breaker
from stanchion.guards.loops import Loops
from stanchion.policy.load import load_policy
from stanchion.testing import FakeClock
from tests.dialects.guardian.playing import block, call, failing, guarded, ran


def guards_of(guardian: GuardianLayer) -> dict[str, Any]:
    return {seat.placed.id: seat.placed.guard for seat in load_policy(guardian.policy).seats}


def test_line_055_the_parameters_of_the_breaker() -> None:
    with ran(55)["guardian"] as guardian:
        breaker: Breaker = guards_of(guardian)["breaker"]
        assert (breaker.failure_threshold, breaker.cooldown_s, breaker.max_cooldown_s) == (
            5,
            60,
            3600,
        )
    with GuardianLayer(failure_threshold=2, base_cooldown=7, max_cooldown=9) as other:
        breaker = guards_of(other)["breaker"]
        assert (breaker.failure_threshold, breaker.cooldown_s, breaker.max_cooldown_s) == (2, 7, 9)


def test_line_088_the_parameters_of_loops() -> None:
    with ran(88)["guardian"] as guardian:
        loops: Loops = guards_of(guardian)["loops"]
        assert (loops.max_history, loops.max_repeats) == (10, 2)
        assert [guardian.check(call("read", n=1))["allowed"] for _ in range(4)] == [
            True,
            True,
            False,
            False,
        ]
    with GuardianLayer(max_history=4, max_repeats=3) as other:
        assert [other.check(call("read", n=1))["allowed"] for _ in range(4)] == [
            True,
            True,
            True,
            False,
        ]


def test_line_121_tools_of_an_mcp_client(monkeypatch: pytest.MonkeyPatch) -> None:
    from mcp.types import ListToolsResult, Tool

    schema = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}

    class Client:
        def __init__(self, address: str) -> None:
            assert address == "mcp://tool-server"

        def list_tools(self) -> ListToolsResult:
            return ListToolsResult(
                tools=[Tool(name="search", description="Find a page.", inputSchema=schema)]
            )

    library = ModuleType("mcp")
    library.Client = Client  # type: ignore[attr-defined]  # a stand-in for the library
    monkeypatch.setitem(sys.modules, "mcp", library)
    with guarded() as guardian:
        assert guardian.check(call("anything"))["allowed"], "nothing is registered yet"
        ran(121, guardian=guardian)
        assert guardian.mcp_facade.list_tools() == ["search"]
        assert guardian.check(call("search", q="tea"))["allowed"]
        assert "lacks `q`" in guardian.check(call("search"))["reason"]
        assert "expected" in guardian.check(call("search", q=5))["reason"]
        assert "did you mean `search`" in guardian.check(call("serch", q="tea"))["reason"]


def test_line_133_a_hook_is_given_the_call_as_a_mapping() -> None:
    with guarded() as guardian:
        ran(133, guardian=guardian)
        refused = guardian.check(call("database_query", query="drop table users"))
        assert not refused["allowed"]
        assert "SQL injection attempt detected" in refused["reason"]
        assert guardian.check(call("database_query", query="select 1"))["allowed"]
        assert guardian.check(call("other", query="drop table users"))["allowed"]
        assert not guardian.mcp_facade.validate_call(call("database_query", query="DROP TABLE x"))[
            "valid"
        ]


@pytest.mark.parametrize("place", ["memory", "file"])
def test_line_166_the_tables_have_these_columns(place: str, tmp_path: Path) -> None:
    tables = dict(re.findall(r"CREATE TABLE (\w+) \((.*?)\n\);", block(166), re.DOTALL))
    assert list(tables) == ["incidents", "best_practices"]
    with guarded(db_path=None if place == "memory" else tmp_path / "g.db") as guardian:
        guardian.report_result(call("search", q="tea"), False, "timeout", "find a page")
        guardian.report_result(call("search", q="milk"), True)
        storage = guardian.experience._storage
        for table, body in tables.items():
            columns = [re.split(r"\s+", line.strip())[0] for line in body.strip().splitlines()]
            rows = storage.execute(
                f"SELECT {', '.join(columns)} FROM {table} ORDER BY tool_name, rowid"  # noqa: S608
            )
            every = storage.execute(f"SELECT * FROM {table}")  # noqa: S608 - the document's own names
            assert {len(row) for row in every} == {len(columns)}
            found = [dict(zip(columns, row, strict=True)) for row in rows]
            assert {one["tool_name"] for one in found} == {"search"}
        failed = next(row for row in _incidents(guardian) if not row["success"])
        assert failed == {
            "session_id": guardian.experience.session_id,
            "tool_name": "search",
            "success": 0,
            "timestamp": FakeClock()() / 1000,
            "error_reason": "timeout",
            "context_hint": "find a page",
            "call_data": '{"tool":"search","arguments":{"q":"tea"}}',
        }
        best = storage.get_best_practice("search")
        assert best is not None
        assert (best["success_count"], best["failure_count"]) == (1, 0)
        assert best["last_success_data"] == '{"tool":"search","arguments":{"q":"milk"}}'


def _incidents(guardian: GuardianLayer) -> list[dict[str, Any]]:
    columns = (
        "session_id",
        "tool_name",
        "success",
        "timestamp",
        "error_reason",
        "context_hint",
        "call_data",
    )
    rows = guardian.experience._storage.execute(f"SELECT {', '.join(columns)} FROM incidents")  # noqa: S608
    return [dict(zip(columns, row, strict=True)) for row in rows]


@pytest.mark.parametrize(("successes", "failures"), [(1, 0), (0, 2), (3, 1), (2, 4)])
def test_line_200_reliability(successes: int, failures: int) -> None:
    with guarded() as guardian:
        for number in range(successes):
            guardian.report_result(call("search", n=number), True)
        failing(guardian, "search", failures)
        said = ran(200, successes=successes, failures=failures)["reliability"]
        assert guardian.experience.get_tool_reliability("search") == said
        assert 0.0 <= said <= 1.0


def test_line_239_awareness_is_put_into_the_prompt() -> None:
    with guarded() as guardian:
        failing(guardian, "search", 3)
        prompt = ran(239, guardian=guardian, message="find it")["prompt"]
        assert "Tool 'search' failed 3x. Try different approach." in prompt
        assert "User: find it" in prompt


def test_line_253_a_resolver_of_ones_own() -> None:
    with guarded() as guardian:
        world = ran(253, guardian=guardian)
        assert world["AdviceContext"] is AdviceContext
        guardian.report_result(call("search", n=9), True)
        failing(guardian, "search", 4)
        said = guardian.check(call("search", n=10))["advice"]
        assert said == "⚠️ Warning: search has only 20% reliability!"
        guardian.report_result(call("fetch"), True)
        assert guardian.check(call("fetch", n=1))["advice"] == ""


def test_line_352_the_interfaces_of_providers() -> None:
    tree = ast.parse(block(352))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    assert [node.name for node in classes] == [
        "StorageProvider",
        "CacheProvider",
        "AsyncStorageProvider",
    ]
    for node in classes:
        ours = getattr(dialect, node.name)
        assert [ast.unparse(base) for base in node.bases] == [
            base.__name__ for base in ours.__bases__
        ]
        for method in node.body:
            assert isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef)
            made = getattr(ours, method.name)
            assert inspect.iscoroutinefunction(made) == isinstance(method, ast.AsyncFunctionDef)
            taken = [name for name in inspect.signature(made).parameters if name != "self"]
            assert taken == [arg.arg for arg in method.args.args]


def test_line_376_storage_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    library = ModuleType("psycopg2")
    library.connect = lambda address: address  # type: ignore[attr-defined]  # a stand-in for the library
    monkeypatch.setitem(sys.modules, "psycopg2", library)
    world = ran(376)
    with world["guardian"] as guardian:
        storage = guardian.experience._storage
        assert isinstance(storage, world["PostgreSQLStorageProvider"])
        assert issubclass(type(storage), StorageProvider)
        assert storage.conn == "postgresql://..."
        told: list[dict[str, Any]] = []
        storage.log_incident = told.append
        guardian.report_result(call("search", q="tea"), True)
        assert guardian.shield.experience.flush()
        assert [(one["tool_name"], one["success"]) for one in told] == [("search", True)]
        assert guardian.check(call("search", q="milk"))["allowed"]


def test_line_445_tenants_are_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    world = ran(445, tenants=["ann", "bob"], tenant_id="cay")
    ann, bob, one = world["guardians"]["ann"], world["guardians"]["bob"], world["guardian"]
    assert {"tenant_ann.db", "tenant_bob.db"} <= {file.name for file in tmp_path.iterdir()}
    # By a database each: neither knows anything of the other.
    ann.report_result(call("pay", to="ann", amount=5), True)
    failing(ann, "fetch")
    assert (
        ann.experience.get_tool_reliability("pay"),
        bob.experience.get_tool_reliability("pay"),
    ) == (1.0, None)
    assert not ann.check(call("fetch"))["allowed"]
    assert bob.check(call("fetch"))["allowed"]
    # By a session each: its calls, its counts and its errors are its own, and values stay in it.
    assert one.experience.session_id == "tenant_cay"
    one.report_result(call("pay", to="cay-private", amount=5), True)
    failing(one, "find", 2, "no such page: cay-private")
    assert [one.check(call("read", n=1))["allowed"] for _ in range(3)] == [True, True, False]
    assert one.experience.start_new_session(session_id="tenant_dan") == "tenant_dan"
    assert one.experience.get_session_stats()["total_calls"] == 0
    assert one.check(call("read", n=1))["allowed"]
    assert "cay-private" not in json.dumps(one.check(call("pay", to="dan")))
    assert "cay-private" not in one.get_awareness_context()
    found = one.experience.find_similar_success("pay", {"to": "dan"})
    assert found["arguments"] is None
    assert "cay-private" not in json.dumps(found)
    for guardian in (ann, bob, one):
        guardian.close()


@pytest.mark.parametrize("place", ["memory", "file"])
def test_line_465_the_cleanup_job(place: str, tmp_path: Path) -> None:
    clock = FakeClock(1_700_000_000_000)
    with guarded(clock, db_path=None if place == "memory" else tmp_path / "g.db") as guardian:
        guardian.report_result(call("search", q="old"), True)
        guardian.shield.experience.flush()
        clock.advance(
            10 * 365 * 86_400_000
        )  # further than the document's own `datetime.now()` will be for long
        guardian.report_result(call("search", q="new"), True)
        ran(465, guardian=guardian)
        shelf = guardian.shield.experience.shelf()
        assert [one.call_data for one in shelf.newest("default", "", 10)] == ['{"q":"new"}']
        assert guardian.experience.get_tool_reliability("search") == 1.0, "counters stay"


@pytest.mark.parametrize("place", ["memory", "file"])
def test_line_483_values_are_parameters(place: str, tmp_path: Path) -> None:
    name = "x' OR '1'='1"
    with guarded(db_path=None if place == "memory" else tmp_path / "g.db") as guardian:
        guardian.report_result(call("search"), True)
        found: list[Any] = []

        class Cursor:
            def execute(self, statement: str, given: tuple[Any, ...]) -> None:
                found.append(guardian.experience._storage.execute(statement, given))

        ran(483, cursor=Cursor(), tool_name=name)
        guardian.report_result(call(name), True)
        ran(483, cursor=Cursor(), tool_name=name)
        assert [len(rows) for rows in found] == [0, 1]


def test_line_497_what_is_sanitized_is_kept_so() -> None:
    with guarded() as guardian:
        given = call("pay", to="ann", api_key="not-to-be-kept-anywhere")
        ran(497, guardian=guardian, tool_call=given)
        assert guardian.shield.experience.flush()
        kept = _incidents(guardian)
        assert [row["success"] for row in kept] == [1]
        records = b"".join([one.body for one in guardian.shield.journal.kept()])
        assert "not-to-be-kept" not in json.dumps(kept)
        assert b"not-to-be-kept" not in records
        assert '"to":"ann"' in kept[0]["call_data"]
        assert not guardian._sitting.run.desk.has_open(), (
            "it was taken for the outcome of the call that was checked"
        )
