"""A call of a host while it is carried out: what a host does under a decision, and whose failure it
is where something fails."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final

from stanchion.hosts.contract.terms import Changed, HostTerms, itself
from stanchion.kernel.declared import ELEMENT
from stanchion.kernel.shown import StanchionError
from stanchion.runtime.calling.reports import BadEvent
from stanchion.runtime.calling.tool import Tool, ToolShape, shape_of
from stanchion.runtime.values.anatomy import awaits
from stanchion.runtime.values.form_of import is_stream


class Undertaking:
    """Remembers whether something was begun, and what it has raised."""

    __slots__ = ("_raised", "begun")

    def __init__(self) -> None:
        self.begun = False
        self._raised: BaseException | None = None

    def of(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """The function, watched; one that is async stays so."""

        @functools.wraps(fn, updated=())
        def done(*args: Any, **kwargs: Any) -> Any:
            made = self._tried(fn, args, kwargs)
            return self._awaited(made) if awaits(made) else made

        @functools.wraps(fn, updated=())
        async def adone(*args: Any, **kwargs: Any) -> Any:
            return await self._awaited(self._tried(fn, args, kwargs))

        return adone if shape_of(fn) is ToolShape.ASYNC else done

    def is_ours(self, error: Exception) -> bool:
        """Whether an error is ours and not meant to be raised. A generator cannot let a
        `StopIteration` out: a host whose tool raises one gets another error in its place."""
        if isinstance(error, StanchionError) or error is self._raised:
            return False
        return not isinstance(self._raised, StopIteration | StopAsyncIteration)

    def _tried(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.begun, self._raised = True, None
        try:
            return fn(*args, **kwargs)
        except BaseException as error:
            self._raised = error
            raise

    async def _awaited(self, made: Any) -> Any:
        try:
            return await made
        except BaseException as error:
            self._raised = error
            raise


Carry = Callable[[dict[str, Any]], Any]
"""Carries a call out with the arguments that it is given; sync or async."""


FAILURE: Final = "content"
"""Where a result that its host marks as a failure stands, beside a mark that the runtime knows."""


UNKNOWN: Final = Tool(dict)
"""Stands for a tool of which a host knows its name alone."""


class HostedTool(Tool):
    """One call of a host."""

    __slots__ = ("_carry", "_failed", "_host", "_judged", "_whole")

    def __init__(self, host: HostTerms, tool: Tool | str, carry: Carry, doing: Undertaking) -> None:
        if not isinstance(tool, Tool) and callable(tool):
            raise TypeError(
                "the tool is given as a function: give its name, or a `Tool` made from it"
            )
        known = tool if isinstance(tool, Tool) else UNKNOWN
        self.name = tool if known is UNKNOWN else known.name  # type: ignore[assignment] # a name, as is checked below
        self.undo, self.timeout_s, self.once = known.undo, known.timeout_s, known.once
        self.declared, self.usage, self.spends = known.declared, known.usage, known.spends
        self._host, self._carry = host, doing.of(carry) if callable(carry) else carry
        self._failed = False
        self._whole: Any = None
        self._judged: Any = None
        self._take(self._acarried if shape_of(carry) is ToolShape.ASYNC else self._carried)
        if not callable(carry):
            raise TypeError(
                f"`{self.name}` has nothing to run: give the function that runs it with its "
                f"arguments"
            )

    def _carried(self, /, **args: Any) -> Any:
        args.pop(ELEMENT, None)
        made = self._carry(args)
        return self._awaited(made) if awaits(made) else self._took(made)

    async def _acarried(self, /, **args: Any) -> Any:
        args.pop(ELEMENT, None)
        return self._took(await self._carry(args))

    async def _awaited(self, made: Any) -> Any:
        return self._took(await made)

    def _took(self, made: Any) -> Any:
        self._whole, self._failed = made, False
        if is_stream(made):
            self._judged = made
            return made
        self._judged = self._host.shown(made)
        self._failed = self._host.failed(made)
        if self._failed:
            self._judged = {"isError": True, FAILURE: self._judged}
        return self._judged

    def handed(self, came: Any, about: Any) -> Any:
        """What the host gets: its own result, with what was changed put back into it."""
        if self._whole is not None and is_stream(self._whole):
            return came
        if self._whole is not None and came is self._judged:
            return self._whole
        if self._failed:
            came = came[FAILURE]
        if self._host.shown is itself:
            return came
        return self._host.changed(Changed(came, self._whole, about))

    def _with(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], changed: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return args, {**kwargs, **changed}


def by_name(args: Any) -> dict[str, Any]:
    """A call's arguments as they are handed to a function; raises `BadEvent` for what has no
    names, or has one that is its host's alone."""
    if isinstance(args, Mapping) and ELEMENT in args:
        raise BadEvent(f"`{ELEMENT}` is for hosts alone: leave it out")
    if not isinstance(args, Mapping) or not all(type(name) is str for name in args):
        raise BadEvent("`tool_call` takes the tool's name and its arguments as a mapping")
    return dict(args)
