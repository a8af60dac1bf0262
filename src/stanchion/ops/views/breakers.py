"""Breakers of tools as they stand: whether calls go through, until when not, and how its last calls
went."""

from __future__ import annotations

import msgspec

from stanchion.guards.breaker import ToolCircuit
from stanchion.ops.views.times import shown, span


class BreakerView(msgspec.Struct, frozen=True, omit_defaults=True):
    """A breaker of a tool: `closed`, `open` or `half_open`. `until` is the moment in milliseconds
    at which one that is open lets a call try the tool. `agent` where it is one agent's own, `only`
    where it refuses the calls of some runs alone."""

    guard: str
    state: str
    until: int = 0
    cooldown_s: float = 0.0
    failures: int = 0
    successes: int = 0
    probing: bool = False
    agent: str = ""
    shadow: bool = False
    only: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """It in a few words."""
        whose = f" ({self.agent})" if self.agent else ""
        whose += " in shadow mode" if self.shadow else ""
        if self.state == "closed":
            return f"closed{f', {self.failures:,} failed' if self.failures else ''}{whose}"
        whose += f", for run {' and '.join(self.only)} alone" if self.only else ""
        lasts = span(round(self.cooldown_s * 1_000))
        if self.state == "open":
            return f"open until {shown(self.until)}, for {lasts}{whose}"
        trying = "a call tries it" if self.probing else "the next call tries it"
        return f"half-open, {trying}, {self.successes:,} succeeded, after {lasts}{whose}"


def breaker_of(circuit: ToolCircuit, guard: str, agent: str, shadow: bool, now: int) -> BreakerView:
    """A breaker as it stands at a time."""
    if not circuit.until:
        return BreakerView(guard, "closed", failures=circuit.failures, agent=agent, shadow=shadow)
    probing = bool(circuit.probe) and now < circuit.expires
    state = "open" if now < circuit.until else "half_open"
    cooldown_s = circuit.cooldown_ms / 1_000
    whose = (agent, shadow, circuit.only)
    return BreakerView(
        guard, state, circuit.until, cooldown_s, 0, circuit.successes, probing, *whose
    )
