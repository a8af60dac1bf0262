"""A coding agent as data: the events of its hooks, and the words in which it is answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct


class HostAnswer(Struct, frozen=True):
    """What a hook tells its host. Over HTTP `stdout` is the body, and is never empty."""

    stdout: str
    stderr: str = ""
    status: int = 0


class Heard(Struct, frozen=True):
    """What the body of a hook says, read."""

    event: str
    session: str
    cwd: str
    body: Mapping[str, Any]


class CodingAgent(Struct, frozen=True):
    """One coding agent: the form of each event, and what becomes of a decision."""

    name: str
    refuses: Callable[[str, str], HostAnswer]

    def refusal(self, event: str, words: str) -> HostAnswer:
        """Refuse an event in the host's own words, whatever the event is, and known or not."""
        return self.refuses(event, words)
