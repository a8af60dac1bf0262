"""Choosing records: by run, agent, tool, stage, action, time, and what guards in shadow mode would
have done."""

from __future__ import annotations

from typing import Final

import msgspec

from stanchion.audit.reader import DECISIONS, Stub
from stanchion.kernel.actions import NAMES, PROCEEDS
from stanchion.kernel.names import Names
from stanchion.kernel.state import FOREVER

REFUSED: Final = frozenset(NAMES[PROCEEDS + 1 :])
"""The actions under which an event does not go ahead."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which records are wanted; without anything, all. Who asks for tools, stages or actions asks
    for decisions; who asks for `shadow`, for those that guards in shadow mode would have
    changed."""

    run: str | None = None
    agents: Names | None = None
    tools: Names | None = None
    stages: frozenset[str] = frozenset()
    actions: frozenset[str] = frozenset()
    since: int = 0
    until: int = FOREVER
    shadow: bool = False

    def has(self, stub: Stub) -> bool:
        """Whether a record is among those."""
        if not self.since <= stub.at < self.until:
            return False
        if self.run is not None and stub.run_id != self.run:
            return False
        if self.agents is not None and (not stub.run_id or agent_of(stub) not in self.agents):
            return False
        if (self.tools is not None or self.stages or self.actions) and stub.kind not in DECISIONS:
            return False
        if self.shadow and not would_change(stub):
            return False
        return (
            (self.tools is None or stub.tool in self.tools)
            and (not self.stages or stub.stage in self.stages)
            and (not self.actions or stub.action in self.actions)
        )


def would_change(stub: Stub) -> bool:
    """Whether a guard in shadow mode would have made a decision more severe."""
    if stub.kind not in DECISIONS or stub.action not in NAMES or not isinstance(stub.shadow, list):
        return False
    worse = NAMES[NAMES.index(stub.action) + 1 :]
    return any(isinstance(said, dict) and said.get("action") in worse for said in stub.shadow)


def agent_of(stub: Stub) -> str:
    """The agent that a record is about."""
    return str(stub.run.get("agent", "")) if isinstance(stub.run, dict) else stub.agent
