"""Layer 0: the health of tools, and their circuits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any
from urllib.parse import unquote

import msgspec

from stanchion.dialects.errors import DialectError
from stanchion.dialects.guardian.calls import HEALTHY
from stanchion.dialects.guardian.settings import Breaking, alone
from stanchion.dialects.guardian.sitting import Part, Sitting
from stanchion.guards.breaker import ToolCircuit, circuit_key, circuit_of
from stanchion.guards.health import health_key
from stanchion.kernel.decision import Decision

LAYER = "breaker"


class CircuitState(Enum):
    """Whether calls of a tool go ahead: all of them, none, or one at a time to see whether it works
    again."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class ToolHealth(msgspec.Struct, frozen=True):
    """How a tool is: its score from 0 to 100, and the state of its circuit."""

    name: str
    score: int
    state: CircuitState
    cooldown: float = 0.0


class HealthMonitor:
    """Says whether a tool may be called, by how it has worked."""

    def __init__(
        self, failure_threshold: int = 5, base_cooldown: float = 60, max_cooldown: float = 3600
    ) -> None:
        self._join(Breaking(failure_threshold, base_cooldown, max_cooldown), None)

    def _join(self, settings: Breaking, host: Sitting | None) -> None:
        self._part = Part(alone(settings.guards(), ("loops", "schema")), host)

    @classmethod
    def within(cls, settings: Breaking, host: Sitting) -> HealthMonitor:
        """The monitor of a guardian."""
        made = cls.__new__(cls)
        made._join(settings, host)
        return made

    def check_tool(self, tool_name: str) -> dict[str, Any]:
        """Whether a tool may be called: `allowed`, `advice`, `health_score`, `is_probe`. One that
        is let through to see whether the tool works again is taken: report what came of it."""
        return _checked(self._part.sitting.run.check(_named(tool_name), {}))

    async def check_tool_async(self, tool_name: str) -> dict[str, Any]:
        """`check_tool` for async code."""
        return _checked(await self._part.sitting.run.acheck(_named(tool_name), {}))

    def report_result(self, tool_name: str, success: bool, error_message: Any = None) -> None:
        """Say what came of a call of a tool, to this layer alone: `GuardianLayer.report_result`
        tells all of them."""
        self._part.sitting.report(_named(tool_name), {}, success, error_message, None, None)

    async def report_result_async(
        self, tool_name: str, success: bool, error_message: Any = None
    ) -> None:
        """`report_result` for async code."""
        await self._part.sitting.areport(_named(tool_name), {}, success, error_message, None, None)

    def reset_tool(self, tool_name: str, *, by: Any = "an operator") -> bool:
        """Let a tool be called again at once; says whether it was not."""
        return self._part.host.shield.reset_tool(_named(tool_name), by=by)

    def get_health(self, tool_name: str) -> ToolHealth:
        """How a tool is."""
        sitting = self._part.host
        shield, tenant = sitting.shield, sitting.run.desk.info.tenant
        score = shield.health(tool_name, tenant)
        key = circuit_key(sitting.run.desk.info, tool_name, "tenant", LAYER)
        circuit = circuit_of(shield.store.read(key)[1])
        state = _state(circuit, shield.clock())
        return ToolHealth(
            tool_name, HEALTHY if score is None else score, state, circuit.cooldown_ms / 1000
        )

    def get_all_health(self) -> dict[str, dict[str, Any]]:
        """The score and the state of every tool that something was reported of."""
        return {
            name: {"score": one.score, "state": one.state.value}
            for name, one in sorted(self._tools.items())
        }

    @property
    def _tools(self) -> Mapping[str, ToolHealth]:
        return dict(self._known())

    def _known(self) -> Iterator[tuple[str, ToolHealth]]:
        sitting = self._part.host
        prefix = health_key(sitting.run.desk.info.tenant, "")
        for seen in sitting.shield.store.look(prefix):
            name = unquote(seen.key.removeprefix(prefix))
            yield name, self.get_health(name)

    def close(self) -> None:
        """Let go of what is this layer's own."""
        self._part.close()


def _state(circuit: ToolCircuit, now: int) -> CircuitState:
    if not circuit.until:
        return CircuitState.CLOSED
    return CircuitState.OPEN if now < circuit.until else CircuitState.HALF_OPEN


def _named(tool_name: Any) -> str:
    if not isinstance(tool_name, str) or not tool_name:
        raise DialectError(f"`tool_name` is `{tool_name!r}`: give the name of a tool")
    return tool_name


def _checked(decision: Decision) -> dict[str, Any]:
    result = decision.guardian_result()
    return {
        "allowed": result.allowed,
        "advice": result.advice if result.allowed else f"{result.reason}; {result.suggestion}",
        "health_score": HEALTHY if result.health_score is None else result.health_score,
        "is_probe": result.is_probe,
    }
