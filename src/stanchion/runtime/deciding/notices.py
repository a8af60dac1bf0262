"""Notices: words that a run keeps for its agent, and for the records of what comes of its calls."""

from __future__ import annotations

from collections import OrderedDict, deque
from contextlib import suppress
from typing import Final

from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding
from stanchion.kernel.shown import visible
from stanchion.kernel.stages import Stage

MAX_OPEN: Final = 10_000
"""How many judged calls a run remembers until their results are reported; the oldest is forgotten
first."""
MAX_NOTICES: Final = 100
"""How many notices wait for the agent; the oldest is forgotten first."""


class Notices:
    """What a run has to say to its agent. Safe to use from several threads."""

    def __init__(self) -> None:
        self._notices: deque[str] = deque(maxlen=MAX_NOTICES)
        self._notes: OrderedDict[str, tuple[str, ...]] = OrderedDict()

    def notice(self, event: Event, finding: Finding) -> None:
        """Keep a warning: for the agent, and for the record of what comes of the call."""
        message, advice = finding.message, finding.advice
        self.tell(f"{message}; {advice}" if advice else message)
        if event.stage is Stage.TOOL_CALL:
            if len(self._notes) >= MAX_OPEN:
                self._notes.popitem(last=False)
            self._notes[event.id] = (*self._notes.get(event.id, ()), message)

    def tell(self, words: str) -> None:
        """Keep words for the agent."""
        self._notices.append(visible(words, lines=True))

    def take_back(self, words: str) -> None:
        """Forget words that the agent has been given in another way."""
        with suppress(ValueError):
            self._notices.remove(visible(words, lines=True))

    def take_notices(self) -> tuple[str, ...]:
        """The words kept for the agent since the last call."""
        return tuple([self._notices.popleft() for _ in range(len(self._notices))])

    def take_notes(self, call: str) -> tuple[str, ...]:
        """The warnings that a call's outcome is annotated with."""
        return self._notes.pop(call, ()) if self._notes else ()
