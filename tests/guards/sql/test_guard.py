"""The guard in a policy: without its parser, with anything at all, and with what it has seen
before."""

from __future__ import annotations

import logging
import sys
from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion.guards.sql import Sql
from stanchion.kernel.actions import Action, Risk
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.policy.load import load_policy
from stanchion.readings import read
from stanchion.readings.sql.classes import classify
from tests.properties.examples import sample

RUN = RunInfo("r")


def judged(
    guard: Sql, args: dict[str, Any], tool: str = "run_sql", risk: Risk = Risk.MEDIUM
) -> Finding | None:
    return guard.judge(read(ToolCall(id="e", at=0, run=RUN, tool=tool, args=args, risk=risk)))


def test_a_policy_does_not_load_without_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(
        Exception, match=r"it needs `sqlglot`, which is not installed: install the extra `sql`"
    ):
        load_policy({"name": "p", "guards": [{"use": "sql"}]})


def test_a_policy_without_the_guard_loads_without_the_parser(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    load_policy({"name": "p", "guards": [{"use": "size_limits"}]})


WORDS = st.sampled_from(
    [
        *"();,'\"`[]{}<>=#@1\
",
        *(
            "--",
            "/*",
            "*/",
            "/*!",
            "$$",
            "::",
            "'a'",
            "t",
            "SELECT",
            "FROM",
            "WHERE",
            "DELETE",
            "UPDATE",
            "SET",
            "INSERT",
        ),
        *(
            "INTO",
            "DROP",
            "TABLE",
            "AND",
            "OR",
            "WITH",
            "AS",
            "EXPLAIN",
            "ANALYZE",
            "BEGIN",
            "EXECUTE",
            "COPY",
            "TO",
        ),
        *("CASE", "END", "ARRAY", "DATE", "PREPARE", "UNION", "VALUES", "NOT", "IN"),
    ]
)


@sample(75)
@given(
    st.one_of(
        st.text(max_size=60),
        st.lists(WORDS, max_size=25).map(" ".join),
        st.lists(WORDS, max_size=25).map("".join),
    )
)
def test_no_text_breaks_it(text: str) -> None:
    for dialect in (None, "mysql", "postgres", "tsql"):
        for one in classify(text, dialect):
            assert one.at >= 1
    found = judged(Sql(tools=("*",), level="read_only"), {"query": text})
    assert found is None or found.action is Action.BLOCK


@sample(50)
@given(
    st.lists(WORDS.filter(lambda word: not set(word) & set("'\"`-/#$[\\{")), max_size=12),
    st.sampled_from(["DROP TABLE t", "DELETE FROM t", "GRANT ALL ON t TO x"]),
)
def test_nothing_in_front_makes_a_change_a_read(words: list[str], change: str) -> None:
    """A change is refused whatever stands before it, as long as that opens no quote and no
    comment."""
    text = f"{' '.join(words)} ; {change}"
    assert judged(Sql(tools=("*",), level="read_only"), {"query": text}) is not None


def test_a_judgement_is_remembered_for_each_risk() -> None:
    guard = Sql()
    args = {"query": "SELECT FROM WHERE"}
    found = [judged(guard, args, risk=risk) for risk in Risk]
    assert [one.action for one in found if one] == [
        Action.WARN,
        Action.ESCALATE,
        Action.BLOCK,
        Action.BLOCK,
    ]
    assert judged(guard, args, risk=Risk.LOW) is found[0]


def test_of_several_texts_the_worst_is_said() -> None:
    guard = Sql(write="warn")
    found = judged(guard, {"queries": ["INSERT INTO t VALUES (1)", "SELECT 1", "DROP TABLE t"]})
    assert found is not None
    assert found.code == "sql.destructive"


def test_nothing_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    texts = [
        "WITH x AS (CALL p()) SELECT 1",
        "WITH x AS (REPLACE INTO t VALUES (1)) SELECT 1",
        "WITH x AS (SELECT 1) CREATE TABLE t AS SELECT 1 nonsense here",
        "REPLACE INTO t VALUES (1)",
        "CREATE nonsense",
        "ALTER TABLE t nonsense",
        "GRANT nonsense",
        "SHOW nonsense",
    ]
    for text in texts:
        for dialect in (None, "mysql", "bigquery", "snowflake", "tsql"):
            classify(text, dialect)
    assert caplog.records == []


@pytest.mark.parametrize("action", ["allow", "warn", "escalate", "block", "quarantine", "halt"])
def test_what_it_can_answer_is_told(action: Any) -> None:
    given_action = Action[action.upper()]
    assert given_action in Sql(fragments=action).actions()
    assert given_action in Sql(destructive=action).actions()
    assert set(Sql(level="read_only").actions()) == {Action.BLOCK}
    assert set(Sql().actions()) == {Action.WARN, Action.ESCALATE, Action.BLOCK}


def test_messages_have_no_values_of_the_text() -> None:
    for text in (
        "SELECT 'hunter2' FROM",
        "hunter2 FROM t",
        "DELETE FROM t WHERE 'hunter2' = 'hunter2'",
    ):
        found = judged(Sql(tools=("*",)), {"query": text})
        assert found is not None
        assert "hunter2" not in found.message
