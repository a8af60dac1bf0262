"""The guard in a policy: before its parser is needed, with anything at all, and with what it has
seen before."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion.guards.sql import Sql
from stanchion.guards.sql.guard import HINTS
from stanchion.kernel.actions import Action, Risk
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.readings import read
from stanchion.readings.sql.recognise import classify
from stanchion.readings.sql.statement import KNOWN, SIMPLE, Does
from tests.properties.examples import sample

RUN = RunInfo("r")


def judged(
    guard: Sql, args: dict[str, Any], tool: str = "run_sql", risk: Risk = Risk.MEDIUM
) -> Finding | None:
    return guard.judge(read(ToolCall(id="e", at=0, run=RUN, tool=tool, args=args, risk=risk)))


LOOKS = """
import json, sys
from stanchion import Shield
texts = ["update src/user_service.py", "create a plan for q3", "delete the old notes", "do it",
         "select a colour", "list my_files", "with care", "drop by at 5 (or 6)", "get it from a.b"]
calls = [("bash", {"command": text}) for text in ("ls -la src", "git commit -m 'x'", "get a.b")]
calls += [("read_file", {"path": "src/a.py"}), ("fetch_url", {"url": "https://example.com/a?b=1"})]
calls += [(tool, {"text": text, "n": 1}) for tool in ("ask", "note", "plan") for text in texts]
shield = Shield.load("default", store="memory:", journal="memory:")
with shield, shield.run("a", "t") as run:
    assert all([run.check(tool, args).proceeds for tool, args in calls])
    before = "sqlglot" in sys.modules
    refused = not run.check("run_sql", {"sql": "DROP TABLE users"}).proceeds
    print(json.dumps([before, refused, "sqlglot" in sys.modules]))
"""


def test_the_parser_is_imported_at_the_first_sql_and_never_before() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOOKS], stdout=subprocess.PIPE, check=True, text=True
    )
    assert json.loads(done.stdout) == [False, True, True]


def test_what_no_hint_is_for_says_nothing_of_harm() -> None:
    """A statement whose first word is no hint only looks, brackets others or keeps house."""
    calm = {Does.READ, Does.TRANSACTION, Does.SESSION, Does.UPKEEP}
    left = {word for word in KNOWN if word.lower() not in HINTS} - {"("}
    assert {word for word in left if SIMPLE.get(word) not in calm} == set()
    assert {word for word in left if judged(Sql(), {"sql": f"{word} a"}) is not None} == set()


@pytest.mark.parametrize(
    "text", ["DROP TABLE t", "drop/**/table t", "EXEC xp_cmdshell 'dir'", "(delete from t)"]
)
def test_a_statement_that_does_harm_has_a_hint(text: str) -> None:
    found = judged(Sql(unclear="allow"), {"sql": text})
    assert found is not None
    assert found == judged(Sql(unclear="allow", fragments="allow"), {"sql": text})


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
