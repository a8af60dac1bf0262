"""Coding agents that are guarded by their own hooks: what each of them says, and how it is
answered."""

from collections.abc import Mapping
from typing import Final

from stanchion.hosts.coding.agent import CodingAgent, Heard, HostAnswer
from stanchion.hosts.coding.claude import CLAUDE
from stanchion.hosts.coding.codex import CODEX

AGENTS: Final[Mapping[str, CodingAgent]] = {agent.name: agent for agent in (CLAUDE, CODEX)}
"""The coding agents that are known, by the name that commands and requests give them."""

__all__ = ["AGENTS", "CodingAgent", "Heard", "HostAnswer"]
