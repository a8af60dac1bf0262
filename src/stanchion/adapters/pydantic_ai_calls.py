"""What pydantic-ai runs of a call: tools with the arguments that were judged, and output functions as tool calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import is_dataclass
from typing import Any, Final

import msgspec
from pydantic import BaseModel
from pydantic_ai.toolsets import WrapperToolset

from stanchion.runtime.errors import Ungoverned
from stanchion.runtime.values.content import read

UNNAMED: Final = "final_result"
"""How pydantic-ai begins the name of an output tool that was given none."""


class JudgedCall(msgspec.Struct, frozen=True):
    """A call as it was judged: which it is, and what its arguments say."""

    call: str | None
    tool: str
    content: Any


JUDGED: Final[ContextVar[JudgedCall | None]] = ContextVar("stanchion_pydantic_ai_judged", default=None)
"""The call that is carried out here."""


@contextmanager
def sealed(call: Any, args: dict[str, Any]) -> Iterator[None]:
    """Have a call run with these arguments or not at all."""
    before = JUDGED.set(JudgedCall(call.tool_call_id, call.tool_name, deepcopy(read(args).content)))
    try:
        yield
    finally:
        JUDGED.reset(before)


class SealedToolset(WrapperToolset[Any]):
    """An agent's tools, which run as they were judged: all hooks of all capabilities come before."""

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
        """Run a tool, if this is the call that was judged."""
        if JudgedCall(ctx.tool_call_id, name, read(tool_args).content) != JUDGED.get():
            raise Ungoverned(
                f"a capability has changed the call of `{name}` after it was judged: change it in "
                "`before_tool_validate` or `after_tool_validate`, which come before"
            )
        return await super().call_tool(name, tool_args, ctx, tool)


class Output:
    """A call of an output function: its name and arguments as those of a tool."""

    def __init__(self, context: Any, value: Any) -> None:
        call, own = context.tool_call, context.function_name
        self.tool = own if call is None or call.tool_name.startswith(UNNAMED) else call.tool_name
        if self.tool is None:
            raise Ungoverned("it is not known which output function would run: give each as a `ToolOutput`")
        self._name = _parameter(context, value)
        self.args = value if self._name is None else {self._name: value}

    def given(self, args: dict[str, Any]) -> Any:
        """What the function is given, from arguments that may have been changed."""
        return args if self._name is None else args[self._name]


def _parameter(context: Any, value: Any) -> str | None:
    """What the value is called among the arguments; nothing where it is all of them by name."""
    if context.object_def is None:
        return "text"
    names = list(context.object_def.json_schema.get("properties", {}))
    if isinstance(value, BaseModel) or is_dataclass(value):
        return "output"
    if len(names) == 1:
        return str(names[0])
    return None if isinstance(value, dict) else "output"
