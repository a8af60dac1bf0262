"""Patience: how long a caller waits for a person, and how often it looks meanwhile."""

from __future__ import annotations

from typing import Final

from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.needs import Turn

FIRST_S: Final = 0.05
LONGEST_S: Final = 1.0
"""How long a caller who waits lets the store rest between two looks: first, and at most."""


class Patience:
    """The time that one caller has for an answer: what the policy gives, and never more than the
    run's deadline."""

    def __init__(self, desk: Desk, waits: bool = True) -> None:
        self._desk = desk
        self._pause_s = FIRST_S
        self._left_s = desk.shield.policy.file.escalation.wait_s if waits else 0.0
        if desk.deadline_at_ms is not None:
            self._left_s = min(self._left_s, (desk.deadline_at_ms - desk.shield.clock()) / 1000)

    @property
    def is_over(self) -> bool:
        """Whether the caller waits no longer: its time is over, or its run is."""
        return self._left_s <= 0 or self._desk.ended is not None

    def pause(self, key: str) -> Flow[None]:
        """Wait until a ticket is answered in this process, by its key, or for a while, which is
        longer each time."""
        waiting = self._desk.shield.waiting
        place = waiting.join(key)
        try:
            yield Turn(place, min(self._pause_s, self._left_s))
        finally:
            waiting.leave(key, place)
        self._left_s -= self._pause_s
        self._pause_s = min(self._pause_s * 2, LONGEST_S)
