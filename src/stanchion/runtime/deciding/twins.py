"""Twins: a method that is written once, as a flow, and given to sync and to async code."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from types import FunctionType, GeneratorType
from typing import Any, Concatenate, Final, Generic, NamedTuple, ParamSpec, Protocol, TypeVar

from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.driving.flow import Flow, T
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.keywords import misused

P = ParamSpec("P")


class AtDesk(Protocol):
    """Whatever has a desk that its flows are driven with."""

    _desk: Desk


S = TypeVar("S", bound=AtDesk)


class Short(NamedTuple, Generic[T]):
    """How something is decided straight that is given in so many places, and by these names at the
    most. `decide` gives what was decided, the flow that leads to it, or `None` where it has to be
    the flow of everything else."""

    decide: Callable[..., T | Flow[T] | None]
    places: int
    names: frozenset[str] = frozenset()


NOWHERE: Final = Short[Any](lambda *_given: None, -1)
"""Nothing is decided straight."""


def twins(
    flow: Callable[Concatenate[S, P], Flow[T]], short: Short[T] = NOWHERE
) -> tuple[Callable[Concatenate[S, P], T], Callable[Concatenate[S, P], Coroutine[Any, Any, T]]]:
    """Two methods that take what a flow's function takes: one runs the flow in the calling thread,
    and its twin for async code, whose name has an `a` in front, on the running event loop. What
    fits its `short` form goes straight."""
    name = flow.__name__.removeprefix("_")
    decide, places, names = short

    @wraps(flow)
    def method(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        desk = self._desk
        if len(args) == places and (not kwargs or kwargs.keys() <= names):
            going: Any = decide(desk, desk.store.carry, *args, **kwargs)
            if going is not None:
                done: T = drive(going, desk) if type(going) is GeneratorType else going
                return done
        try:
            asked = flow(self, *args, **kwargs)
        except TypeError as error:
            raise misused(error, flow, f"{type(self).__name__}.{name}", kwargs) from None
        return drive(asked, desk)

    @wraps(flow)
    async def amethod(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        from stanchion.runtime.driving.on_loop import adrive

        desk = self._desk
        if len(args) == places and (not kwargs or kwargs.keys() <= names):
            carry = desk.at_once
            going: Any = None if carry is None else decide(desk, carry, *args, **kwargs)
            if going is not None:
                done: T = await adrive(going, desk) if type(going) is GeneratorType else going
                return done
        try:
            asked = flow(self, *args, **kwargs)
        except TypeError as error:
            raise misused(error, flow, f"{type(self).__name__}.a{name}", kwargs) from None
        return await adrive(asked, desk)

    _introduce(method, name, flow)
    _introduce(amethod, f"a{name}", flow)
    amethod.__doc__ = f"`{name}` for async code."
    return method, amethod


def _introduce(method: Any, name: str, flow: Callable[..., Any]) -> None:
    """Have a method look as it is to its callers: its own name, and what it gives in place of the
    flow."""
    method.__name__, method.__qualname__ = name, flow.__qualname__.replace(flow.__name__, name)
    gives = str(flow.__annotations__["return"]).removeprefix("Flow[").removesuffix("]")
    method.__annotations__ = {**flow.__annotations__, "return": gives}
    method.__wrapped__ = _with_notes(flow, method.__annotations__)


def _with_notes(flow: Any, notes: dict[str, Any]) -> FunctionType:
    """The same function with other annotations. `inspect` reads a method's signature from what it
    wraps; making one here would have every process pay for `inspect`."""
    flow = getattr(flow, "__wrapped__", flow)
    shown = FunctionType(
        flow.__code__, flow.__globals__, flow.__name__, flow.__defaults__, flow.__closure__
    )
    shown.__kwdefaults__, shown.__annotations__, shown.__qualname__ = (
        flow.__kwdefaults__,
        notes,
        flow.__qualname__,
    )
    return shown
