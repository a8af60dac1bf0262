"""Tools: the calls that a reply asks for, run for whoever has asked the model, each judged as a
call of the run."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from stanchion.hosts import Hosted, Refusal, Told
from stanchion.kernel.stages import Stage
from stanchion.runtime.calling.tool import Tool
from stanchion.runtime.errors import Refused

Tools = Mapping[str, Callable[..., Any] | Tool] | Iterable[Callable[..., Any] | Tool]
"""Functions by name, or functions that have one."""
HANDOFF: Final = Stage.HANDOFF
TAKEN_OVER: Final = "`{}` has taken over"
"""What the model reads of a handoff that went ahead."""


class ReplyCall(msgspec.Struct, frozen=True):
    """A tool call in a reply: `args` is `None` where its arguments are no mapping."""

    id: str
    tool: str
    args: dict[str, Any] | None
    kind: str = ""


class CallAnswer(msgspec.Struct, frozen=True):
    """What came of a call: what the model may read of it."""

    call: ReplyCall
    content: Any
    failed: bool = False


def refused(refusal: Refusal) -> CallAnswer:
    """A refused call is an answer for the model; a refused request to the model is raised."""
    if not isinstance(refusal.about, ReplyCall):
        raise refusal.error
    return CallAnswer(refusal.about, str(refusal), failed=True)


class ReplyTools:
    """Runs calls with these tools for one run; `handoffs` are the tools by which the model hands
    over to an agent."""

    def __init__(self, hosted: Hosted, tools: Tools, handoffs: Mapping[str, str]) -> None:
        self._hosted, self._handoffs = hosted, handoffs
        named = (
            tools.items() if isinstance(tools, Mapping) else [(_name(tool), tool) for tool in tools]
        )
        self._tools: dict[str, Any] = dict(named)

    def run(self, call: ReplyCall) -> CallAnswer:
        """Run a call; whatever it raises is what the model reads, but for the end of the run."""
        if call.tool in self._handoffs:
            return _handed(
                call, self._handoffs, self._hosted.report(HANDOFF, **self._handing(call))
            )
        try:
            return _done(
                call, self._hosted.call(self._tool(call), call.args, self._carry(call), about=call)
            )
        except Refused:
            raise
        except Exception as error:  # noqa: BLE001 - a tool may raise anything; it was judged, and is for the model
            return _failed(call, error)

    async def arun(self, call: ReplyCall) -> CallAnswer:
        """`run` for async code; tools may be coroutine functions."""
        if call.tool in self._handoffs:
            return _handed(
                call, self._handoffs, await self._hosted.areport(HANDOFF, **self._handing(call))
            )
        try:
            carry = self._carry(call)
            return _done(
                call, await self._hosted.acall(self._tool(call), call.args, carry, about=call)
            )
        except Refused:
            raise
        except Exception as error:  # noqa: BLE001 - the same
            return _failed(call, error)

    async def arun_all(self, calls: Iterable[ReplyCall]) -> list[CallAnswer]:
        """Run calls side by side."""
        return list(await asyncio.gather(*[self.arun(call) for call in calls]))

    def _tool(self, call: ReplyCall) -> Tool | str:
        known = self._tools.get(call.tool)
        return known if isinstance(known, Tool) else call.tool

    def _carry(self, call: ReplyCall) -> Callable[[dict[str, Any]], Any]:
        known = self._tools.get(call.tool)
        fn: Any = known.fn if isinstance(known, Tool) else known

        def carry(args: dict[str, Any]) -> Any:
            if fn is None:
                raise LookupError(f"there is no tool `{call.tool}`")
            return fn(**args)

        async def acarry(args: dict[str, Any]) -> Any:
            return await fn(**args)

        return acarry if inspect.iscoroutinefunction(fn) else carry

    def _handing(self, call: ReplyCall) -> dict[str, Any]:
        payload = {} if call.args is None else call.args
        return {"to": self._handoffs[call.tool], "payload": payload, "key": call.id, "about": call}


def arguments(text: Any) -> dict[str, Any] | None:
    """The arguments of a call that are written as JSON; `None` where they are no mapping."""
    if isinstance(text, Mapping):
        return dict(text)
    try:
        found = json.loads(text) if text else {}
    except (TypeError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def part(value: Any, name: str) -> Any:
    """A part of a reply, which is an object of an SDK or a mapping; `None` where it has none."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def parts(value: Any, name: str) -> list[Any]:
    """The same for a list."""
    found = part(value, name)
    return list(found) if isinstance(found, list | tuple) else []


def text_of(content: Any) -> str:
    """A result as a text."""
    return (
        content
        if isinstance(content, str)
        else json.dumps(content, ensure_ascii=False, default=str)
    )


def _done(call: ReplyCall, came: Any) -> CallAnswer:
    return came if isinstance(came, CallAnswer) else CallAnswer(call, came)


def _failed(call: ReplyCall, error: Exception) -> CallAnswer:
    return CallAnswer(call, f"{type(error).__name__}: {error}", failed=True)


def _handed(call: ReplyCall, handoffs: Mapping[str, str], told: Told) -> CallAnswer:
    return (
        CallAnswer(call, TAKEN_OVER.format(handoffs[call.tool])) if told.proceeds else told.answer
    )


def _name(tool: Any) -> str:
    name = tool.name if isinstance(tool, Tool) else getattr(tool, "__name__", "")
    if not name:
        raise TypeError("a tool has no name: give the tools as a mapping from names to functions")
    return str(name)
