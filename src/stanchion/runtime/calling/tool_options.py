"""What `shield.tool` takes besides a function, and what it makes of one, for type checkers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, ParamSpec, Protocol, TypedDict, TypeVar, overload

from stanchion.kernel.actions import RiskName

P = ParamSpec("P")
R = TypeVar("R")


class ToolOptions(TypedDict, total=False):
    """The options of a shielded function, but for what it does when it is refused."""

    name: str | None
    risk: RiskName | None
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
