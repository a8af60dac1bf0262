"""A guard that knows one tool, and calls of it."""

from __future__ import annotations

from typing import Any

from stanchion.guards.schema import Schema
from stanchion.guards.schema.tools import CheckedDefinition, ToolDefinition, ToolDefinitions
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.readings import read

RUN = RunInfo("r1")


def guard_for(schema: Any, **options: Any) -> Schema:
    """A guard that knows a tool `t` by its schema."""
    return Schema(**options).with_tools(
        ToolDefinitions({"t": CheckedDefinition(ToolDefinition(name="t", schema=schema))})
    )


def call(args: dict[str, Any], at: int = 0) -> ToolCall:
    """A call of `t`."""
    return ToolCall(id="e1", at=at, run=RUN, tool="t", args=args)


def judged(schema: Any, args: dict[str, Any], **options: Any) -> Finding | None:
    """What is found about a call of a tool with that schema."""
    return guard_for(schema, **options).judge(read(call(args)))
