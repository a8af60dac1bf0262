"""What is dispatched: a function as the tool that a context names, or as what asks a model, judged
with what the context says beside its arguments."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any, Final

from stanchion.dialects.errors import DialectError
from stanchion.dialects.veronica.carried import asked
from stanchion.dialects.veronica.words import ToolCallContext
from stanchion.kernel.regex import regex
from stanchion.runtime.calling.at_work import working
from stanchion.runtime.calling.call import call
from stanchion.runtime.calling.items import handed
from stanchion.runtime.calling.model_call import converse
from stanchion.runtime.calling.stream_end import Streaming
from stanchion.runtime.calling.tool import Tool, ToolShape
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.keywords import ModelOptions
from stanchion.runtime.run import Run
from stanchion.runtime.streams.stream import delivered
from stanchion.runtime.values import Seen, Unreadable, project
from stanchion.runtime.values.type_readers import ValueLeaf

MOST_TOOLS: Final = 256
"""Of how many functions is remembered how they look."""


_HOST: Final = regex(
    r"\s*(?:[/\\]{2})?(?:[^\s/?#@\\]*@)?(?:localhost|0x[0-9a-f.x]+|[0-9]{1,3}(?:\.[0-9]+){1,3}|"
    r"\[[0-9A-Fa-f:.]+\]"
    r"|[\w-]+(?:\.[\w-]+)*\.(?:[^\W\d_]{2,}|xn--[a-z0-9-]+)\.?|[\w.-]+:[0-9]{1,5})(?::[0-9]{1,5})"
    r"?(?:[/?#\s]|$)",
    re.IGNORECASE,
)
"""How an endpoint begins that has a host and no scheme: a name with dots, an address, or anything
with a port."""


def beside(
    ctx: ToolCallContext, own: dict[str, Any] | None = None, blind: bool = False
) -> dict[str, Any]:
    """What a context says of its call beside the call's `own` arguments: its metadata, and where it
    goes. What an argument of the same name says otherwise stands under a longer name, so that both
    are judged. `blind` as in `metadata_of`."""
    taken = {} if own is None else own
    metadata = metadata_of(ctx, blind)
    said = {_free(name, value, taken, "metadata"): value for name, value in metadata.items()}
    if ctx.endpoint is not None:
        place = located(ctx.endpoint)
        said[_free("endpoint", place, {**taken, **said}, "context")] = place
    return said


def metadata_of(ctx: ToolCallContext, blind: bool) -> dict[str, Any]:
    """The metadata of a context. Where everybody is `blind` to what they say, what is too deep or
    too large to be read, or has no text as its key, is marked as unread, and the call goes on.
    Otherwise such a key cannot be read."""
    if not blind:
        given = ctx.metadata
        return (
            given
            if all(isinstance(name, str) for name in given)
            else {_key(name): given[name] for name in given}
        )
    said = {name: _legible(value) for name, value in ctx.metadata.items() if isinstance(name, str)}
    unnamed = [(name, value) for name, value in ctx.metadata.items() if not isinstance(name, str)]
    for number, (name, value) in enumerate(unnamed, start=1):
        why = f"its key is of type `{type(name).__name__}`"
        said[_free(f"<{type(name).__name__}-{number}>", None, said, "key")] = ValueLeaf(
            "<unread>", value, why, Seen.NOTHING
        )
    return said


class NotText:
    """Stands for a key of metadata that is no text: what is said of a call has names, and nobody
    can read this one."""

    __slots__ = ()


def _key(name: Any) -> Any:
    return name if isinstance(name, str) else NotText()


def _legible(value: Any) -> Any:
    if value is None or type(value) in (int, float, bool):
        return value
    try:
        project(value)
    except Unreadable as error:
        return ValueLeaf(f"<{type(value).__name__}>", value, str(error), Seen.NOTHING)
    return value


def located(endpoint: str) -> str:
    """An endpoint as it is judged: one that begins with a host is a URL of that host, and any other
    is as it is."""
    return (
        endpoint if _HOST.match(endpoint) is None else "https://" + endpoint.strip().lstrip("/\\")
    )


def _free(name: Any, value: Any, taken: dict[str, Any], whose: str) -> Any:
    return f"{whose}.{name}" if name in taken and taken[name] is not value else name


class Dispatched(Tool):
    """A tool, and what the context of one call says beside its arguments: both are judged, and the
    function is given its arguments alone."""

    __slots__ = ("_blind", "_ctx")
    _ctx: ToolCallContext
    _blind: bool

    @classmethod
    def like(cls, tool: Tool, ctx: ToolCallContext, blind: bool) -> Dispatched:
        """The same tool for the call of a context."""
        made = object.__new__(cls)
        for name in Tool.__slots__:
            setattr(made, name, getattr(tool, name))
        made._ctx, made._blind = ctx, blind
        return made

    def values(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The call's arguments by name, and what its context says."""
        own = super().values(args, kwargs)
        return {**own, **beside(self._ctx, own, self._blind)}

    def _with(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], changed: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        own = super().values(args, kwargs)
        other = beside(self._ctx, own, self._blind).keys() - own.keys()
        return super()._with(
            args, kwargs, {name: value for name, value in changed.items() if name not in other}
        )


def model_of(
    ctx: ToolCallContext,
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    blind: bool = False,
) -> tuple[Callable[..., Any], list[Any], dict[str, Any]]:
    """What asks a model, its messages (a list in the first place, or none that are known), and what
    else is said of the request, which is judged with them: the function is given its own arguments
    alone."""
    noted = _noted(fn)
    other = beside(ctx, kwargs, blind)
    listed = len(args) == 1 and isinstance(args[0], list)
    unnamed = {} if listed or not args else {"*": list(args)}

    def asks(messages: list[Any], /, **given: Any) -> Any:
        own = {
            name: value
            for name, value in given.items()
            if name not in other and name not in unnamed
        }
        return noted(*([messages] if listed else args), **own)

    return asks, args[0] if listed else [], {**kwargs, **other, **unnamed}


def tool_of(
    ctx: ToolCallContext, fn: Callable[..., Any], used: dict[str, Any], blind: bool = False
) -> Tool:
    """The tool that a context names. One without a name is called by its function's: it is a tool,
    and safe mode refuses it like any other."""
    name = ctx.tool_name if ctx.tool_name else None
    try:
        tool = _known_tool(fn, name, used["tokens"], used["cost_usd"])
    except TypeError:
        tool = _made(fn, name, used["tokens"], used["cost_usd"])
    return Dispatched.like(tool, ctx, blind) if ctx.metadata or ctx.endpoint is not None else tool


def called(
    run: Run, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any], awaited: bool
) -> Flow[Any]:
    """Have a run call a tool: its result, or its items as they come."""
    if tool.shape in (ToolShape.GENERATOR, ToolShape.ASYNC_GENERATOR):
        return run.acall(tool, *args, **kwargs) if awaited else run.call(tool, *args, **kwargs)
    with working(tool.name):
        came = yield from call(run.desk, run.desk.shield.tool_of(tool), args, kwargs)
    return handed(run.desk, came, awaited)


def replied(
    run: Run, asks: Callable[..., Any], messages: list[Any], about: dict[str, Any], awaited: bool
) -> Flow[Any]:
    """Have a run ask a model: its reply, or its chunks as they come."""
    came = yield from converse(run.desk, asks, messages, ModelOptions(**about), ended="raise")
    return delivered(run.desk, came, awaited) if type(came) is Streaming else came


def _made(fn: Callable[..., Any], name: str | None, tokens: int, cost_usd: float) -> Tool:
    try:
        return Tool(
            _noted(fn), name, usage={"tokens": tokens, "cost_usd": cost_usd, "api_calls": 1}
        )
    except (TypeError, ValueError) as error:
        raise DialectError(f"the call cannot be carried out: {error}") from None


_known_tool: Final = functools.lru_cache(MOST_TOOLS)(_made)


def _noted(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, whose exceptions reach the hooks of the retry boundary as they are."""
    if inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn) or not callable(fn):
        return fn
    if inspect.iscoroutinefunction(fn):

        @functools.wraps(fn)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            try:
                return await fn(*args, **kwargs)
            except Exception as error:
                _note(error)
                raise

        return awaited

    @functools.wraps(fn)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return fn(*args, **kwargs)
        except Exception as error:
            _note(error)
            raise

    return called


def _note(error: Exception) -> None:
    known = asked.get()
    if known is not None:
        known.err = error
