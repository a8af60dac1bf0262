"""What is logged, on which level and by whom; and what is not."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion import PolicyError, Shield
from stanchion.kernel.state import Batch, Reply, StoreLost
from stanchion.stores.memory import MemoryStore
from stanchion.telemetry.loggers import AREAS, key_values
from tests.telemetry.shields import watched

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def told(caplog: pytest.LogCaptureFixture, area: str) -> list[tuple[str, str]]:
    """The level and the text of what a logger was told."""
    name = f"stanchion.{area}"
    return [(one.levelname, one.getMessage()) for one in caplog.records if one.name == name]


def test_each_decision_is_one_line_on_the_level_of_its_action(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "stanchion")
    shield = watched()
    with shield.run("writer", "fix it") as run:
        run.check("ls", {"path": SECRET})
        run.check("rm", {"path": SECRET})
    allowed, refused = [one for one in caplog.records if one.name == "stanchion.decisions"]
    assert (allowed.levelname, refused.levelname) == ("DEBUG", "WARNING")
    assert refused.getMessage().startswith(
        "decided action=BLOCK stage=tool_call tool=rm code=tool.denied guard=no-rm agent=writer "
        'task="fix it" '
        f"tenant=default run={run.id} decision={run.id}."
    )
    about: Any = refused
    assert (about.action, about.tool, about.code, about.run) == (
        "BLOCK",
        "rm",
        "tool.denied",
        run.id,
    )
    assert SECRET not in caplog.text


def test_names_are_veiled(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "stanchion")
    shield = Shield.load(
        {"name": "p", "guards": [{"use": "secrets"}]}, store="memory:", journal="memory:"
    )
    with shield.run(f"agent {SECRET}", SECRET) as run:
        run.check(f"send_{SECRET}", {})
        run.call(len, [SECRET])
    assert len(told(caplog, "decisions")) >= 3
    assert SECRET not in caplog.text
    assert SECRET not in repr([vars(one) for one in caplog.records])


def test_a_line_stays_a_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "stanchion")
    watched().run("a1\nERROR forged").check("ls\x1b[2J action=ALLOW", {})
    ((_, line),) = told(caplog, "decisions")
    assert "\n" not in line
    assert "\x1b" not in line
    assert 'tool="ls\\\\x1b[2J action=ALLOW"' in line


@given(st.dictionaries(st.sampled_from(["tool", "agent", "code"]), st.text(max_size=30)))
def test_values_cannot_pass_for_fields(fields: dict[str, str]) -> None:
    import shlex

    line = key_values(fields)
    assert len(line.splitlines()) <= 1
    lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters, lexer.quotes, lexer.escapedquotes = True, "", '"', '"'
    assert [one.partition("=")[0] for one in lexer] == list(fields)


class Flaky(MemoryStore):
    """A store somewhere else, which can be lost."""

    lost = False
    place = "sqlite:/very/secret/place"

    def carry(self, batch: Batch) -> Reply:
        if self.lost:
            raise StoreLost("db-7.internal:5432 does not answer")
        return super().carry(batch)


def test_a_lost_store_is_told_to_operators_once_and_its_place_to_no_agent(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "stanchion")
    store = Flaky()
    policy = {"name": "p", "guards": [{"use": "step_limit", "max_steps": 100}]}
    with Shield.load(policy, store=store, journal="memory:") as shield:
        run = shield.run("a1")
        assert run.check("ls", {}).proceeds
        store.lost = True
        refused = [run.check("ls", {}) for _ in range(3)]
        store.lost = False
        assert run.check("ls", {}).proceeds
        assert {one.code for one in refused} == {"kernel.store_lost"}
        assert not any("db-7" in text for one in refused for text in (one.message, one.advice))
        lost, back = told(caplog, "notices")
        assert lost[0] == "ERROR"
        assert "db-7.internal:5432" in lost[1]
        assert back[0] == "INFO"
        assert "answers again" in back[1]
        told_of = [
            one
            for one in caplog.records
            if one.name != "stanchion.decisions" and "db-7" in one.getMessage()
        ]
        assert len(told_of) == 1, "one loss is one line"
        decisions = [
            level for level, text in told(caplog, "decisions") if "kernel.store_lost" in text
        ]
        assert decisions == ["ERROR"] * 3
        found = {one.metric: one for one in shield.telemetry.collect()}
        assert found["stanchion_store_failures_total"].values[0] >= 3
        assert found["stanchion_failures_total"].labels == ("kernel.store_lost",)


def test_a_refused_policy_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "stanchion")
    file = tmp_path / "policy.yaml"
    file.write_text("name: one\n")
    with Shield.load(file, store="memory:", journal="memory:") as shield:
        file.write_text("name: one\nguards: [{use: nothing}]\n")
        with pytest.raises(PolicyError):
            shield.reload()
        file.write_text("name: two\n")
        shield.reload()
        refused, loaded = [one for one in told(caplog, "policy") if f"policy={file}" in one[1]]
        assert refused[0] == "ERROR"
        assert "nothing" in refused[1]
        assert loaded == ("INFO", f"policy loaded policy={file}")
        found = {
            one.labels: one.values[0]
            for one in shield.telemetry.collect()
            if "policy_loads" in one.metric
        }
        assert found == {("refused",): 1, ("loaded",): 1}


def test_tickets_are_told_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "stanchion")
    policy = {
        "name": "p",
        "guards": [{"use": "tool_denylist", "tools": ["pay"], "action": "escalate"}],
    }
    shield = Shield.load(policy, store="memory:", journal="memory:")
    decision = shield.run("a1").check("pay", {})
    assert decision.action.name == "ESCALATE"
    (ticket,) = shield.tickets()
    assert any(f"about={ticket.id}" in text for _, text in told(caplog, "tickets"))
    found = {
        one.labels: one.values[0]
        for one in shield.telemetry.collect()
        if one.metric == "stanchion_tickets_total"
    }
    assert found == {("opened",): 1}
    occurred = {
        one.labels: one.values[0]
        for one in shield.telemetry.collect()
        if "occurrences" in one.metric
    }
    assert occurred == {("ticket.opened",): 1}
    (waiting,) = [
        one for one in shield.telemetry.collect() if one.metric == "stanchion_tickets_waiting"
    ]
    assert waiting.values == (1,)


def test_nothing_is_printed_where_nobody_listens() -> None:
    code = """
import logging
from stanchion import Shield
shield = Shield.load({"name": "p", "guards": [{"use": "tool_denylist", "tools": ["rm"]}]}, store="memory:")
shield.halt("a drill", scope="tool:mail")
assert not shield.run("a1").check("rm", {}).proceeds
assert [type(one).__name__ for one in logging.getLogger("stanchion").handlers] in ([], ["NullHandler"])
"""  # noqa: E501
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_every_area_is_a_logger_that_somebody_uses() -> None:
    root = Path(__file__).resolve().parents[2] / "src" / "stanchion"
    source = "".join(file.read_text("utf-8") for file in root.rglob("*.py"))
    for area in AREAS:
        assert f"loggers.{area.upper()}" in source or f": {area.upper()}," in source, json.dumps(
            area
        )
