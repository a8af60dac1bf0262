"""Deeds: which calls of a run went ahead, and which a person has said yes to."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.guards.flow.values import Value, values

MOST: Final = 1_000
"""How many different calls of one tool, and how many approved values, are remembered."""

_encode = msgspec.json.Encoder(order="sorted", enc_hook=str).encode


class Deeds:
    """What was done and approved."""

    def __init__(self) -> None:
        self._done: dict[str, set[bytes]] = {}
        self._cleared: set[tuple[str, str]] = set()
        self._own: set[str] = set()
        self.yeses: dict[str, int] = {}
        """How often a person has said yes to a tool."""

    def did(self, tool: str, args: Any) -> None:
        """A call goes ahead."""
        done = self._done.setdefault(tool, set())
        if len(done) < MOST:
            done.add(_encode(args))

    def made_up(self, text: str) -> None:
        """The agent uses something in a command that it has read nowhere."""
        if len(self._own) < MOST:
            self._own.add(text)

    def is_own(self, value: Value) -> bool:
        """Whether the agent used a value before it was read anywhere."""
        return value.normal in self._own

    def undid(self, tool: str, args: Any) -> None:
        """A call that went ahead has failed."""
        done = self._done.get(tool)
        if done:
            done.discard(_encode(args))

    def times(self, tool: str, args: Any) -> int:
        """How many other calls of a tool went ahead; none where this very call did."""
        done = self._done.get(tool)
        return 0 if not done or _encode(args) in done else len(done)

    def approve(self, tool: str, args: Any) -> None:
        """A person has said yes to a call: its values may be used by this tool from now on."""
        self.yeses[tool] = self.yeses.get(tool, 0) + 1
        for name, text in values(args):
            if len(self._cleared) < MOST:
                self._cleared.add((tool, Value(name, text).normal))

    def approved(self, tool: str, value: Value) -> bool:
        """Whether a person has said yes to a value for a tool."""
        return bool(self._cleared) and (tool, value.normal) in self._cleared
