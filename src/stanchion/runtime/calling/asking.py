"""Asking a model: whose request is under way, for whatever is done for it meanwhile."""

from __future__ import annotations

from contextvars import ContextVar

from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.driving.flow import Flow, T

_asking: ContextVar[Desk | None] = ContextVar("stanchion_asking", default=None)


def asking() -> Desk | None:
    """The desk of the run whose request to a model is under way around the caller."""
    return _asking.get()


def asked_for(desk: Desk, flow: Flow[T]) -> Flow[T]:
    """A request to a model, known to whatever is done for it meanwhile."""
    before = _asking.get()
    _asking.set(desk)
    try:
        return (yield from flow)
    finally:
        _asking.set(before)
