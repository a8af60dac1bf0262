"""The tools of the suite: plain functions with types and a line of words, as every framework takes
them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

KEY: Final = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
"""A secret that no model, user or error may ever show."""

Ran = tuple[str, dict[str, Any]]
"""A tool that ran, and what it ran with."""


def look(name: str) -> str:
    """Read the page of a person."""
    if name == "nobody":
        raise LookupError(f"no page for nobody, tried with {KEY}")
    return f"ann's key is {KEY}" if name == "ann" else f"page of {name}"


def take(name: str, limit: int) -> str:
    """Take some rows of a table."""
    return f"{limit} rows of {name}"


def send(to: str) -> str:
    """Send a letter to a person."""
    return f"letter to {to} is sent"


TOOLS: Final = (look, take, send)


def recorded(fn: Callable[..., str], ran: list[Ran]) -> Callable[..., str]:
    """The tool, which writes down what it ran with."""

    @functools.wraps(fn)
    def tool(*args: Any, **kwargs: Any) -> str:
        ran.append((fn.__name__, _named(fn, args, kwargs)))
        return fn(*args, **kwargs)

    return tool


def arecorded(fn: Callable[..., str], ran: list[Ran]) -> Callable[..., Any]:
    """The same as a coroutine function."""

    @functools.wraps(fn)
    async def tool(*args: Any, **kwargs: Any) -> str:
        ran.append((fn.__name__, _named(fn, args, kwargs)))
        return fn(*args, **kwargs)

    return tool


def _named(fn: Callable[..., str], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    names = fn.__code__.co_varnames[: fn.__code__.co_argcount]
    return {**dict(zip(names, args, strict=False)), **kwargs}
