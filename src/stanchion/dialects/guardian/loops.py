"""Layer 1: calls that are repeated without gain."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any, Final

import msgspec

from stanchion.dialects.guardian.calls import read_call
from stanchion.dialects.guardian.settings import Looping, alone
from stanchion.dialects.guardian.sitting import Part, Sitting
from stanchion.guards.loops import Metrics, history_key, metrics
from stanchion.kernel.decision import Decision
from stanchion.readings.history import LoopHistory

KINDS: Final = ("repeat", "cycle", "excessive")
"""The loops that there are: the same call in a row, in a short cycle, or too often."""


class LoopDetector:
    """Says whether a call is one of a loop."""

    def __init__(self, max_history: int = 10, max_repeats: int = 2) -> None:
        self._join(Looping(max_history, max_repeats), None)

    def _join(self, settings: Looping, host: Sitting | None) -> None:
        self._settings = settings
        self._part = Part(alone(settings.guards(), ("health", "breaker", "schema")), host)

    @classmethod
    def within(cls, settings: Looping, host: Sitting) -> LoopDetector:
        """The detector of a guardian."""
        made = cls.__new__(cls)
        made._join(settings, host)
        return made

    def check(self, tool_call: Any) -> tuple[bool, str | None]:
        """Whether a call is one of a loop, and why."""
        return _found(self._part.sitting.run.check(*read_call(tool_call)))

    async def check_async(self, tool_call: Any) -> tuple[bool, str | None]:
        """`check` for async code."""
        return _found(await self._part.sitting.run.acheck(*read_call(tool_call)))

    def reset(self) -> None:
        """Forget the calls so far, by beginning another session."""
        self._part.host.begin()

    def get_metrics(self) -> dict[str, Any]:
        """What was counted in this session."""
        counted: Metrics = metrics(self._record(), KINDS)
        found: dict[str, Any] = msgspec.to_builtins(counted)
        return found

    @property
    def _history(self) -> deque[str]:
        """The hashes of the last calls, the oldest first."""
        calls = LoopHistory.of(self._record()).calls
        return deque([one.exact for one in calls], maxlen=self._settings.max_history)

    @property
    def _repeat_counts(self) -> dict[str, int]:
        """How often each of them was called."""
        return dict(Counter(self._history))

    def _record(self) -> Any:
        host = self._part.host
        info = host.run.desk.info
        return host.shield.store.read(history_key(info.tenant, info.id))[1]

    def close(self) -> None:
        """Let go of what is this layer's own."""
        self._part.close()


def _found(decision: Decision) -> tuple[bool, str | None]:
    return (False, None) if decision.proceeds else (True, decision.message)
