"""Shielding: what `shield.tool` takes besides a function, and what it makes of one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    ParamSpec,
    Protocol,
    TypedDict,
    TypeVar,
    Unpack,
    overload,
)

from stanchion.kernel.actions import RiskName
from stanchion.kernel.declared import EffectName, ResultName
from stanchion.runtime.calling.refusal_text import RAISE, Refusal
from stanchion.runtime.keywords import mistyped

if TYPE_CHECKING:
    from stanchion.runtime.calling.tool import Tool


P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])


class ToolOptions(TypedDict, total=False):
    """The options of a shielded function, but for what it does when it is refused."""

    name: str | None
    risk: RiskName | None
    effect: EffectName | None
    result: ResultName | None
    sinks: Iterable[str]
    records: str | None
    identity_fields: Iterable[str]
    undo: Callable[..., Any] | None
    timeout_s: float | None
    once: bool


class TextTool(Protocol):
    """What `shield.tool(refusal="text")` gives: it shields a function, which may then give a text
    besides."""

    @overload
    def __call__(
        self, fn: Callable[P, Coroutine[Any, Any, R]], /
    ) -> Callable[P, Coroutine[Any, Any, R | str]]: ...

    @overload
    def __call__(
        self, fn: Callable[P, AsyncIterator[R]], /
    ) -> Callable[P, AsyncIterator[R | str]]: ...

    @overload
    def __call__(self, fn: Callable[P, Iterator[R]], /) -> Callable[P, Iterator[R | str]]: ...

    @overload
    def __call__(self, fn: Callable[P, R], /) -> Callable[P, R | str]: ...


class Shielding:
    """A shield, here or through a broker, as far as it takes functions under it."""

    _run_for: Callable[[Any], Any]
    """The innermost run of it around the caller of a tool."""

    @overload
    def tool(self, fn: F, /) -> F: ...

    @overload
    def tool(
        self, *, refusal: Literal["raise"] = "raise", **options: Unpack[ToolOptions]
    ) -> Callable[[F], F]: ...

    @overload
    def tool(self, *, refusal: Literal["text"], **options: Unpack[ToolOptions]) -> TextTool: ...

    def tool(  # type: ignore[misc] # mypy does not see that unpacked options are the named ones
        self,
        fn: Callable[..., Any] | None = None,
        /,
        *,
        refusal: Refusal = RAISE,
        **options: Unpack[ToolOptions],
    ) -> Any:
        """Put every call of a function under the shield: the same function to look at, judged
        whenever it is called.

        `effect`, `result` and `sinks` declare what a call does, what its result counts as and which
        arguments say whom or what it acts on; `records` is the line that begins a record in a text
        that it returns, `identity_fields` are the fields that name things. `undo` takes the call's
        own arguments and runs where its result is refused, or the run is rolled back; with `once`
        each call of a run happens once, also where it is retried or the run goes on after a crash.
        With `refusal="text"` a refused call gives the words of the refusal, and only what ends the
        run is raised.
        """
        wrong = mistyped(Shielding.tool, options, ToolOptions.__annotations__, "shield.tool")
        if wrong is not None:
            raise wrong

        def shielded(target: Callable[..., Any]) -> Callable[..., Any]:
            from stanchion.runtime.calling.tool import Tool, wrapped

            made = Tool(target, refusal=refusal, **options)
            self._meet_tool(made)
            return wrapped(made, self._run_for)

        return shielded if fn is None else shielded(fn)

    def _meet_tool(self, tool: Tool) -> None:
        """Take in what is declared of a tool."""
