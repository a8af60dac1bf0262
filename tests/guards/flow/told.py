"""Runs in a few words: what the user says, what is read, and what stands against a call."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.guards.flow.egress import links
from stanchion.guards.flow.memory import MOST_SIZE, Memory
from stanchion.guards.flow.rules import check, explains
from stanchion.guards.flow.settings import SETTINGS, How, Setting
from stanchion.guards.flow.tools import Tool

EVIL = "US133000000121212121212"
IBAN = "GB29NWBK60161331926819"


def counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[tuple[Any, ...]]:
    """What a function is called with from now on; it does what it did."""
    calls: list[tuple[Any, ...]] = []
    real = getattr(owner, name)

    def call(*args: Any) -> Any:
        calls.append(args)
        return real(*args)

    monkeypatch.setattr(owner, name, call)
    return calls


class Told:
    """A run as a test tells it."""

    def __init__(self, *prompts: str, setting: Setting = "firm", most: int = MOST_SIZE) -> None:
        self.memory = Memory(explains, most)
        self.memory.how = How(SETTINGS[setting])
        self.tools: dict[str, Tool] = {}
        for prompt in prompts:
            self.memory.say(prompt)

    def tool(self, name: str, about: str = "") -> Tool:
        """The tool of a name, always the same."""
        return self.tools.setdefault(name, Tool(name, about))

    def read(self, name: str, args: Any, content: Any, result: str = "content") -> Told:
        """A tool has returned something."""
        self.memory.read(self.tool(name), args, content, result)
        return self

    def went(self, name: str, args: Any) -> Told:
        """A call went ahead."""
        self.memory.went(self.tool(name), args)
        return self

    def rule(self, name: str, args: Any) -> str:
        """The rule that stands against a call; empty where it may go ahead."""
        found = check(self.memory, self.tool(name), args)
        if found is not None:
            return found.rule
        carried = links(self.memory, self.tool(name), args)
        return str(carried["rule"]) if carried is not None else ""
