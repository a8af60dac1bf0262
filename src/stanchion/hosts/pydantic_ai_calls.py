"""What pydantic-ai runs of a call: tools with the arguments that were judged, and output functions
as tool calls."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any, Final

from pydantic import BaseModel
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.toolsets import WrapperToolset

from stanchion.hosts.contract.sealing import opened, unbroken
from stanchion.runtime.errors import Ungoverned

UNNAMED: Final = "final_result"
"""How pydantic-ai begins the name of an output tool that was given none."""

ADVICE: Final = "change it in `before_tool_validate` or `after_tool_validate`, which come before"
OUTPUT_ADVICE: Final = (
    "change it in `before_output_validate` or `after_output_validate`, which come before"
)


class SealedToolset(WrapperToolset[Any]):
    """An agent's tools, which run as they were judged: all hooks of all capabilities come
    before."""

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
        """Run a tool, if this is the call that was judged."""
        with opened(name, tool_args, ADVICE, ctx.tool_call_id):
            return await super().call_tool(name, tool_args, ctx, tool)


class OutputCall:
    """A call of an output function: its name and arguments as those of a tool."""

    def __init__(self, context: Any, value: Any) -> None:
        call, own = context.tool_call, context.function_name
        self.tool = own if call is None or call.tool_name.startswith(UNNAMED) else call.tool_name
        if self.tool is None:
            raise Ungoverned(
                "it is not known which output function would run: give each as a `ToolOutput`"
            )
        self._name = _parameter(context, value)
        self.args = value if self._name is None else {self._name: value}

    def given(self, args: dict[str, Any]) -> Any:
        """What the function is given, from arguments that may have been changed."""
        return args if self._name is None else args[self._name]


class SealedOutput(AbstractCapability[Any]):
    """Lets an output function run as it was judged: the hooks of all other capabilities come
    before."""

    def get_ordering(self) -> CapabilityOrdering:
        """Innermost: the last to be asked."""
        return CapabilityOrdering(position="innermost")

    async def before_output_process(self, ctx: Any, *, output_context: Any, output: Any) -> Any:
        """Let this output be processed, if it is the one that was judged."""
        if output_context.has_function:
            made = OutputCall(output_context, output)
            unbroken(made.tool, made.args, OUTPUT_ADVICE)
        return output


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
