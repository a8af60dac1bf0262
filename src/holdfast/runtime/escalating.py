"""Escalating: an action that waits for a person."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.kernel.decision import Decision
from holdfast.kernel.events import Event
from holdfast.kernel.state import Claim
from holdfast.runtime.desk import Desk
from holdfast.runtime.drivers import Flow


class Granted(NamedTuple):
    """A person's yes to one action: the ticket, and the record that is used up when the action starts."""

    ticket: str
    claim: Claim


def ask(desk: Desk, event: Event, decision: Decision, waits: bool) -> Flow[Granted | None]:
    """A person's yes to an action, where there is one; `waits` says whether the caller waits for it."""
    yield from ()
    return None
