"""The tool runner of `anthropic`: it asks the model and runs tools by itself, and each of its calls
is judged as a call of the run."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import wraps
from typing import Any, Final

from stanchion.hosts.clients.sending import JUDGED
from stanchion.hosts.clients.tools import CallAnswer, ReplyCall
from stanchion.kernel.shown import StanchionError

RUNS: Final = ("_run_tool", "_run_toolset_member")
"""The methods of a runner in which tools run; one that has others is not used."""


class UnknownRunner(StanchionError, TypeError):
    """A tool runner has not the form that can be judged."""


def judged_runner(messages: Any, hosted: Callable[[], Any], mark: str) -> None:
    """Have the tool runners that a resource makes judged; what else runs tools is refused when it
    asks the model."""
    make = getattr(messages, "tool_runner", None)
    if make is None or getattr(make, JUDGED, False):
        return

    @wraps(make)
    def tool_runner(*args: Any, **options: Any) -> Any:
        headers = options.get("extra_headers")
        headers = {**(headers if headers is not None else {}), JUDGED: mark}
        runner = make(*args, **{**options, "extra_headers": headers})
        _judge(runner, hosted)
        return runner

    setattr(tool_runner, JUDGED, True)
    messages.tool_runner = tool_runner


def _judge(runner: Any, hosted: Callable[[], Any]) -> None:
    missing = [name for name in RUNS if not callable(getattr(runner, name, None))]
    if missing:
        raise UnknownRunner(
            f"`{type(runner).__name__}` has no `{missing[0]}`, so its tools cannot be judged: run "
            f"the calls of each reply by `run_tools`"
        )
    run = runner._run_tool

    def run_tool(tool: Any, tool_use: Any) -> Any:
        return run(_judged(tool, tool_use, hosted()), tool_use)

    def run_member(tool_use: Any) -> Any:
        raise UnknownRunner(
            f"`{tool_use.name}` is of a toolset, which cannot be judged: give functions as tools"
        )

    runner._run_tool, runner._run_toolset_member = run_tool, run_member


def _judged(tool: Any, tool_use: Any, hosted: Any) -> Any:
    """A tool like that one, for one call: what it does and gives is judged."""
    from anthropic.lib.tools import ToolError

    call = ReplyCall(tool_use.id, tool_use.name, None)

    def answer(came: Any) -> Any:
        if isinstance(came, CallAnswer):
            raise ToolError(came.content)
        return came

    async def awaited(coming: Any) -> Any:
        return answer(await coming)

    def judged(args: Any) -> Any:
        if is_async:
            return awaited(hosted.acall(tool_use.name, args, tool.call, about=call))
        return answer(hosted.call(tool_use.name, args, tool.call, about=call))

    is_async = any("Async" in base.__name__ for base in type(tool).__mro__)
    made = copy(tool)
    made.call = judged
    return made
