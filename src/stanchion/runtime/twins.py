"""Twins: a method that is written once, as a flow, and given to sync and to async code."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from stanchion.runtime.desk import Desk
from stanchion.runtime.drivers import Flow, T, drive

P = ParamSpec("P")


class AtDesk(Protocol):
    """Whatever has a desk that its flows are driven with."""

    _desk: Desk


S = TypeVar("S", bound=AtDesk)


def twins(
    flow: Callable[Concatenate[S, P], Flow[T]],
) -> tuple[Callable[Concatenate[S, P], T], Callable[Concatenate[S, P], Coroutine[Any, Any, T]]]:
    """Two methods that take what a flow's function takes: one runs the flow in the calling thread, and its twin for
    async code, whose name has an `a` in front, on the running event loop."""

    @wraps(flow)
    def method(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return drive(flow(self, *args, **kwargs), self._desk)

    @wraps(flow)
    async def amethod(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        from stanchion.runtime.loop import adrive

        return await adrive(flow(self, *args, **kwargs), self._desk)

    name = flow.__name__.removeprefix("_")
    _introduce(method, name, flow)
    _introduce(amethod, f"a{name}", flow)
    amethod.__doc__ = f"`{name}` for async code."
    return method, amethod


def _introduce(method: Any, name: str, flow: Callable[..., Any]) -> None:
    """Have a method look as it is to its callers: its own name, and what it gives in place of the flow."""
    method.__name__, method.__qualname__ = name, flow.__qualname__.replace(flow.__name__, name)
    gives = str(flow.__annotations__["return"]).removeprefix("Flow[").removesuffix("]")
    method.__annotations__ = {**flow.__annotations__, "return": gives}
    method.__signature__ = inspect.signature(flow).replace(return_annotation=gives)
