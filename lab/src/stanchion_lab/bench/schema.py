"""What holding calls against definitions costs, beside the same checks written by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from stanchion.guards.schema import Schema
from stanchion.guards.schema.tools import CheckedDefinition, ToolDefinition, ToolDefinitions
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.readings import read
from stanchion.runtime.calling.validation_cache import ValidationCache
from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import MEMORY
from stanchion_lab.bench.measure import compare
from stanchion_lab.bench.table import Effort, Section, rows_of

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "pattern": "^[a-z0-9_/.]+$"},
        "content": {"type": "string", "maxLength": 10_000},
        "mode": {"enum": ["create", "append"]},
        "lines": {"type": "array", "items": {"type": "integer", "minimum": 1}, "maxItems": 100},
    },
    "required": ["path", "content"],
    "additionalProperties": False,
}
ARGS: Final[dict[str, Any]] = {
    "path": "src/app.py",
    "content": "x" * 200,
    "mode": "create",
    "lines": [1, 2, 3],
}
WRONG: Final[dict[str, Any]] = {"path": "src/app.py", "contents": "x" * 200, "lines": [1, "2", 3]}
HOSTILE: Final[dict[str, Any]] = {"type": "object", "properties": {"path": {"pattern": "^(a+)+$"}}}


def schemas(effort: Effort) -> Section:
    """The section: a call that fits, one that does not, one that is known already, and a hostile
    pattern."""
    run = RunInfo("r1")
    plain = _guard(SCHEMA)
    cached = plain.with_tools(plain.tools, ValidationCache())
    hostile = _guard(HOSTILE)
    long = ToolCall(id="e1", at=0, run=run, tool="write_file", args={"path": "a" * 10_000 + "!"})
    fits = ToolCall(id="e1", at=0, run=run, tool="write_file", args=ARGS)
    wrong = ToolCall(id="e1", at=0, run=run, tool="write_file", args=WRONG)
    policy = {
        "name": "one",
        "tools": {"write_file": {"schema": SCHEMA}},
        "guards": [{"use": "schema"}],
    }
    checked = Shield.load(policy, store=MEMORY, journal=MEMORY).run("a1", "t1")
    bare = Shield.load({"name": "none"}, store=MEMORY, journal=MEMORY).run("a1", "t1")
    contenders: dict[str, Callable[[], object]] = {
        "by hand": lambda: by_hand(ARGS),
        "a call that fits": lambda: plain.judge(read(fits)),
        "a call that is known": lambda: cached.judge(read(fits)),
        "a call that does not fit, explained": lambda: plain.judge(read(wrong)),
        "the same, known": lambda: cached.judge(read(wrong)),
        "10,000 characters against `^(a+)+$`": lambda: hostile.judge(read(long)),
        "run.check without the guard": lambda: bare.check("write_file", ARGS),
        "run.check with it": lambda: checked.check("write_file", ARGS),
    }
    costs = compare(contenders, max(2, effort.rounds // 2), effort.calls)
    return Section(
        "calls against schemas",
        "four arguments, a pattern, a list; 10,000 characters",
        rows_of(costs, "by hand"),
    )


def by_hand(args: dict[str, Any]) -> bool:
    """The same checks, without words."""
    if not {"path", "content"} <= args.keys() <= {"path", "content", "mode", "lines"}:
        return False
    path, content, lines = args["path"], args["content"], args.get("lines", [])
    if not (
        isinstance(path, str) and path and all(char.isalnum() or char in "_/." for char in path)
    ):
        return False
    if not (
        isinstance(content, str)
        and len(content) <= 10_000
        and args.get("mode", "create") in ("create", "append")
    ):
        return False
    return (
        isinstance(lines, list)
        and len(lines) <= 100
        and all(isinstance(each, int) and each > 0 for each in lines)
    )


def _guard(schema: dict[str, Any]) -> Schema:
    return Schema().with_tools(
        ToolDefinitions(
            {"write_file": CheckedDefinition(ToolDefinition(name="write_file", schema=schema))}
        )
    )
