"""CrewAI's tools while a crew is guarded: each runs as it was judged, once for one decision."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, Final

from crewai.hooks.dispatch import InterceptionPoint, get_scoped_hooks
from crewai.tools.agent_tools.base_agent_tools import BaseAgentTool

from stanchion.hosts import opened, sealed
from stanchion.hosts.contract.sealing import SEALED, WITHIN
from stanchion.runtime.errors import Ungoverned

ADVICE: Final = (
    "let hooks change calls and nobody else, and open no `scoped_hooks` inside a kickoff"
)
RAISED: ContextVar[list[Exception] | None] = ContextVar("stanchion_crewai_raised", default=None)
"""What the tool that is at work has raised: CrewAI hands on only its text."""


class Last(list[Any]):
    """Hooks of which the first is asked last, whatever is registered later: it judges what the
    others have made."""

    def __iter__(self) -> Iterator[Any]:
        first, *others = super().__iter__()
        return iter([*others, first])


def hooks_of(judge: Any) -> dict[Any, list[Any]]:
    """The hooks that there are, and those of a judge round every tool. A scope hides the one around
    it; a crew round this one does not judge its calls once more."""
    hooks = {
        point: [
            hook
            for hook in get_scoped_hooks(point)
            if not isinstance(getattr(hook, "__self__", None), type(judge))
        ]
        for point in InterceptionPoint
    }
    hooks[InterceptionPoint.PRE_TOOL_CALL] = Last(
        [judge.before, *hooks[InterceptionPoint.PRE_TOOL_CALL]]
    )
    hooks[InterceptionPoint.POST_TOOL_CALL].append(judge.after)
    return hooks


def watch(tool: Any) -> None:
    """Have a tool run as it was judged, and its errors remembered for the hook after it."""

    def run(*args: Any, **named: Any) -> Any:
        seal = SEALED.get()
        try:
            with opened(tool.name if seal is None else seal.tool, named, ADVICE):
                return type(tool).run(tool, *args, **named)
        except Exception as error:
            raised = RAISED.get()
            if raised is not None:
                raised.append(error)
            raise

    @wraps(tool._run)
    def own(*args: Any, **named: Any) -> Any:
        if (
            SEALED.get() is not WITHIN
        ):  # an agent that writes its calls as text comes here without `run`
            raise Ungoverned(f"the call of `{tool.name}` was not judged: {ADVICE}")
        return type(tool)._run(tool, *args, **named)

    tool.__dict__.update(run=run, _run=own)


def once(tool: Any, given: dict[str, Any], failures: list[Exception]) -> None:
    """Have a tool run as it was judged, and once for one decision: CrewAI runs a failing one up to
    six times where an agent writes its calls as text. A further run fails as the first one did."""
    function = getattr(tool, "func", None)
    if function is None:
        return
    function = getattr(function, "unguarded", function)
    judged = _parsed(tool, given)

    def run_once(*args: Any, **named: Any) -> Any:
        with _first(failures), sealed(tool.name, judged), opened(tool.name, named, ADVICE):
            return function(*args, **named)

    async def arun_once(*args: Any, **named: Any) -> Any:
        with _first(failures), sealed(tool.name, judged), opened(tool.name, named, ADVICE):
            return await function(*args, **named)

    made: Any = wraps(function)(arun_once if iscoroutinefunction(function) else run_once)
    made.unguarded = function
    tool.func = made


def _parsed(tool: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments as CrewAI makes them of what an agent has written: without what the tool does
    not take, and with defaults. What it cannot make anything of does not run."""
    known = (
        given.keys()
        if tool.args_schema is None
        else tool.args_schema.model_json_schema().get("properties", {})
    )
    try:
        made: dict[str, Any] = tool._parse_args(
            {name: given[name] for name in given if name in known}
        )
    except ValueError:
        return given
    return made


@contextmanager
def _first(failures: list[Exception]) -> Iterator[None]:
    if failures:
        raise failures[0]
    try:
        yield
    except Exception as error:
        failures.append(error)
        raise


def again(tool: Any) -> None:
    """Have a tool as it was."""
    function = getattr(tool, "func", None)
    if function is not None and hasattr(function, "unguarded"):
        tool.func = function.unguarded


def coworker(ctx: Any) -> str:
    """The agent that a call hands work to, by the role that CrewAI finds for what the model has
    written; empty where it is a call of a tool."""
    tool = getattr(ctx.tool, "_original_tool", None)
    if not isinstance(tool, BaseAgentTool):
        return ""
    named = tool._get_coworker(
        ctx.tool_input.get("coworker"), co_worker=ctx.tool_input.get("co_worker")
    )
    wanted = tool.sanitize_agent_name(named if named else "")
    return next(
        (one.role for one in tool.agents if tool.sanitize_agent_name(one.role) == wanted),
        wanted or "nobody",
    )
