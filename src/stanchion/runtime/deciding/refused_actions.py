"""Refused actions: those of a run that a guardrail has refused lately, for whoever asks to go past
it."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, NamedTuple

from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event
from stanchion.locks import Lock

MOST: Final = 32
"""How many a run remembers; the oldest is forgotten first."""


class RefusedAction(NamedTuple):
    """An action, by which guardrail it was refused, and the decision that says so."""

    guardrail: str
    event: Event
    decision: Decision


class RefusedActions:
    """What guardrails have refused a run, by the id of the decision."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: OrderedDict[str, RefusedAction] = OrderedDict()

    def enter(self, one: RefusedAction) -> None:
        """Remember one."""
        with self._lock:
            if len(self._known) >= MOST:
                self._known.popitem(last=False)
            self._known[one.decision.id] = one

    def find(self, guardrail: str, call: str | None) -> RefusedAction | None:
        """The one that a guardrail refused last, or that of a decision; `None` where there is
        none."""
        with self._lock:
            fits = [one for one in self._known.values() if one.guardrail == guardrail]
        if call is not None:
            fits = [one for one in fits if call in (one.decision.id, one.event.call)]
        return fits[-1] if fits else None
