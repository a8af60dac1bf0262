"""The table of what says that a tool does not work, as the page has it: all five guards that ask go
by it, and every kind of recorded error stands where it says."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Final

import pytest

from stanchion.guards.loops import history_key
from stanchion.readings.history import LoopHistory
from stanchion.readings.past_call import CallMark
from stanchion.runtime.shield import Shield
from stanchion.testing import shield_for
from stanchion_lab.measuring.rows import VARIABLE, rows

PAGE: Final = Path(__file__).parents[2] / "docs" / "how-to" / "report-from-a-host.md"
FOLDER: Final = Path(os.environ.get(VARIABLE, "corpora"))
FILE: Final = "tool_errors.jsonl"
POLICY: Final[dict[str, Any]] = {
    "name": "alike",
    "guards": [
        {"use": "breaker", "failure_threshold": 1, "runs": 1},
        {"use": "error_rate", "min_calls": 1, "runs": 1},
        {"use": "health", "min_calls": 1},
        {"use": "recovery", "on_unknown": "allow", "on_fatal": "allow"},
        {"use": "loops"},
    ],
}
COUNTING: Final = {"breaker.opened", "errors.failing", "health.low"}


def table() -> list[list[str]]:
    """The rows of the page's table."""
    section = PAGE.read_text("utf-8").partition("## What says that a tool does not work")[2]
    lines = [line for line in section.partition("- **Commands.**")[0].splitlines() if "|" in line]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def examples() -> list[tuple[str, dict[str, Any], list[str]]]:
    """Each example of the table: a tool, what is reported of it, and the cells behind it."""
    found = []
    for what, shown, *said in table():
        tool, colon, rest = shown.partition(": ")
        given = (tool.strip("`"), rest) if colon and tool == "`bash`" else ("pay", shown)
        quoted = re.findall(r"`([^`]+)`", given[1])
        for text in quoted:
            name, _, words = text.partition(": ")
            typed = re.fullmatch(r"\w*Error|exit_1", name)
            error = {"error": name, "text": words} if typed else {"error": "Odd", "text": text}
            found.append((given[0], error, [what, *said]))
        for status in re.findall(r"\b[45]\d\d\b", re.sub("`[^`]+`", "", given[1])):
            found.append((given[0], {"error": "Odd", "status": int(status)}, [what, *said]))
    return found


def reported(shield: Shield, tool: str, error: dict[str, Any]) -> tuple[set[str], int, str]:
    """The codes of all guards about a failed call, what loops keep of it, and its class."""
    run = shield.run("a")
    args = {"command": "make"} if tool == "bash" else {"amount": 1}
    call = run.check(tool, args)
    name, known = error["error"], {key: each for key, each in error.items() if key != "error"}
    decision = run.error(tool, name, args=args, call=call.id, **known)
    history = LoopHistory.of(shield.store.read(history_key("default", run.id))[1])
    trouble = run.desk.trouble
    assert trouble is not None
    codes = {finding.code for finding in decision.findings}
    return codes, history.calls[-1].marks, trouble.fault


@pytest.mark.parametrize(("tool", "error", "said"), examples())
def test_all_guards_go_by_the_table(tool: str, error: dict[str, Any], said: list[str]) -> None:
    _, of_class, fails, passes, severity = said
    codes, marks, fault = reported(shield_for(POLICY), tool, error)
    assert of_class in (fault, "by its words")
    assert (codes & COUNTING) == (COUNTING if fails == "yes" else set())
    assert bool(marks & CallMark.TRANSIENT) == (passes == "yes")
    assert marks & CallMark.FAILED
    found = {code.partition(".")[2] for code in codes if code.startswith("recovery.")}
    found = {"recoverable" if code == "unsafe" else code for code in found}
    agents, either = severity == "the agent's", severity == "recoverable, some fatal"
    assert found <= ({"recoverable", "fatal"} if either else set() if agents else {severity})
    assert len(found) == (0 if agents else 1)


def test_the_table_has_examples_of_every_row() -> None:
    assert {said[0] for *_, said in examples()} == {row[0] for row in table()}
    assert len(table()) > 9


@pytest.mark.skipif(not (FOLDER / FILE).is_file(), reason=f"no corpora: set {VARIABLE} to a folder")
def test_recorded_errors_of_every_kind_stand_where_the_table_says() -> None:
    watched = {"name": "watched", "guards": [{"use": "health", "calls": 1, "min_calls": 1}]}
    run = shield_for(watched).run("a")
    counts: dict[str, set[bool]] = {}
    for row in rows(FOLDER, FILE):
        text = str(row.payload)
        if row.kind == "shell_exit":
            decision = run.error("bash", row.label, text=text, args={"command": "make all"})
        else:
            decision = run.error("lookup", "ToolError", text=text, args={})
        counts.setdefault(row.kind, set()).add(decision.code == "health.low")
    assert counts == {
        "shell_exit": {False},  # whatever a command ends with
        "tau_tool": {False},  # a tool that says no
        "agent_error_observation": {False},  # a call that is wrong
        "trail_span": {False, True},  # calls that are wrong, services that are down, and others
        "trail_human": {False, True},
    }
