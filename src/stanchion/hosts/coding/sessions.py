"""Sessions of coding agents: one run for each, kept between its hooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from stanchion.hosts.coding.agent import CodingAgent, HostAnswer
from stanchion.hosts.coding.speaker import Speaker
from stanchion.runtime.shield import Shield


class Sessions:
    """What hooks of coding agents have said, judged in one run for each session. Safe between
    threads."""

    def __init__(self, opened: Callable[[str], Shield]) -> None:
        self._opened = opened

    def hear(self, agent: CodingAgent, body: bytes, speaker: Speaker) -> HostAnswer:
        """Judge what a hook says and answer it in the host's words; never raises."""
        said: Any = msgspec.json.decode(body)
        return agent.refusal(str(said["hook_event_name"]), f"not judged: {speaker.why}")

    def close(self) -> None:
        """Let go of all runs and shields."""
