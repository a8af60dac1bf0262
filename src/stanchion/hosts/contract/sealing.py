"""Seals: a call runs as it was judged, or not at all.

In most frameworks others come between a decision and the tool: a hook, a plugin or a middleware
that changes the call. An adapter seals the call with what was decided, and breaks the seal at the
innermost place that it reaches, the tool's own function: another call than the judged one raises
`Ungoverned` there, and nothing has run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from functools import lru_cache, partial
from typing import Any, Final

import msgspec

from stanchion.runtime.errors import Ungoverned
from stanchion.runtime.values.read_value import read


class CallSeal(msgspec.Struct, frozen=True):
    """A call as it was judged: its tool, what its arguments say, and its id where the host has
    one."""

    tool: str
    content: Any
    call: str | None = None

    def check(
        self, tool: str, args: Mapping[str, Any], advice: str, call: str | None = None
    ) -> None:
        """Raise `Ungoverned` where this is another call; `advice` says how to have it judged as it
        would run."""
        if self != CallSeal(tool, read(dict(args)).content, call):
            raise Ungoverned(f"the call of `{self.tool}` was changed after it was judged: {advice}")


def seal_of(tool: str, args: Mapping[str, Any], call: str | None = None) -> CallSeal:
    """The seal of a call; nobody can change it by changing the arguments in place."""
    return CallSeal(tool, deepcopy(read(dict(args)).content), call)


SEALED: Final[ContextVar[CallSeal | None]] = ContextVar("stanchion_sealed", default=None)
"""The call that goes ahead here."""

WITHIN: Final = CallSeal("", None)
"""Inside a tool that was let run: what it runs by itself is its own affair."""


@contextmanager
def sealed(tool: str, args: Mapping[str, Any], call: str | None = None) -> Iterator[None]:
    """Have this call run as it is, or not at all, for as long as the context lasts."""
    before = SEALED.set(seal_of(tool, args, call))
    try:
        yield
    finally:
        SEALED.reset(before)


def unbroken(tool: str, args: Mapping[str, Any], advice: str, call: str | None = None) -> None:
    """Raise `Ungoverned` where this is not the call that goes ahead here, or where none does."""
    seal = SEALED.get()
    if seal is None:
        raise Ungoverned(f"the call of `{tool}` was not judged: {advice}")
    if seal is not WITHIN:
        seal.check(tool, args, advice, call)


@contextmanager
def opened(
    tool: str, args: Mapping[str, Any], advice: str, call: str | None = None
) -> Iterator[None]:
    """Round a tool's own function: let it run, if this is the call that goes ahead here."""
    unbroken(tool, args, advice, call)
    before = SEALED.set(WITHIN)
    try:
        yield
    finally:
        SEALED.reset(before)


MOST_KINDS: Final = 1_000
"""How many kinds of tools are remembered with what was put round them."""


def put_round(tool: Any, method: str, around: Callable[..., Awaitable[Any]]) -> None:
    """Have an async method of this tool, and of copies of it, go through `around(run, tool, ...)`;
    once is enough."""
    kind: Any = type(tool)
    if not hasattr(kind, "stanchion_around"):
        tool.__class__ = _kind(kind, method, around)


@lru_cache(MOST_KINDS)
def _kind(kind: Any, method: str, around: Callable[..., Awaitable[Any]]) -> Any:
    inner = getattr(kind, method)

    async def run(self: Any, *args: Any, **named: Any) -> Any:
        return await around(partial(inner, self), self, *args, **named)

    own = {
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "stanchion_around": around,
        method: run,
    }
    return type(kind.__name__, (kind,), own)
