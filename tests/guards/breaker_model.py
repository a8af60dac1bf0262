"""What a breaker does, told step by step in the plainest way, to hold the real one against."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

THRESHOLD: Final = 3
COOLDOWN_MS: Final = 60_000
MAX_COOLDOWN_MS: Final = 200_000
SUCCESSES: Final = 2
PROBE_MS: Final = 60_000
RUNS: Final = 2
"""How many runs have to meet failures before the calls of all are refused."""

OPTIONS: Final = {
    "use": "breaker",
    "failure_threshold": THRESHOLD,
    "cooldown_s": COOLDOWN_MS / 1_000,
    "max_cooldown_s": MAX_COOLDOWN_MS / 1_000,
    "successes": SUCCESSES,
    "runs": RUNS,
}


@dataclass
class Model:
    """One tool. `met` are the runs that its failures came to, since it last worked. `log` remembers
    when it was open, and for whom, so that a test can look back."""

    state: str = "closed"
    failures: int = 0
    until: int = 0
    cooldown_ms: int = COOLDOWN_MS
    successes: int = 0
    probe: str = ""
    expires: int = 0
    met: set[str] = field(default_factory=set)
    log: list[str] = field(default_factory=list)

    def concerns(self, run: str) -> bool:
        """Whether it is open for a run: that has met the failures, or enough others have."""
        return self.state != "closed" and (run in self.met or len(self.met) >= RUNS)

    def call(self, run: str, call: str, now: int, refused_elsewhere: bool = False) -> str:
        """What is said of a call; one that another guard refuses takes nothing."""
        if not self.concerns(run):
            return ""
        if now < self.until:
            return "breaker.open"
        self.state = "half-open"
        if self.probe and now < self.expires:
            return "breaker.probing"
        if not refused_elsewhere:
            self.probe, self.expires = call, now + PROBE_MS
        return "breaker.probe"

    def outcome(self, run: str, call: str, how: str, now: int) -> str:
        """What is said of an outcome: `ok`, a failure of the tool (`system`), or the caller's own
        (`user`)."""
        if not self.concerns(run):
            if how == "ok":
                self._forget()
            if how == "system":
                self.met.add(run)
                self.failures += 1
            opens = self.state != "closed" or self.failures >= THRESHOLD
            return self._open(COOLDOWN_MS, now) if how == "system" and opens else ""
        if not call or call != self.probe:
            return ""
        self.probe = ""
        if how == "system":
            return self._open(min(2 * self.cooldown_ms, MAX_COOLDOWN_MS), now)
        if how == "ok":
            self.successes += 1
        return self.close() if self.successes >= SUCCESSES else ""

    def _open(self, cooldown_ms: int, now: int) -> str:
        self.log.append("opened" if len(self.met) >= RUNS else "opened for one")
        self.state, self.failures, self.successes, self.probe = "open", 0, 0, ""
        self.cooldown_ms, self.until = cooldown_ms, now + cooldown_ms
        return "breaker.opened"

    def close(self) -> str:
        """As if nothing had been."""
        self.log.append("closed")
        self._forget()
        return "breaker.closed"

    def _forget(self) -> None:
        self.state, self.failures, self.until, self.successes, self.probe = "closed", 0, 0, 0, ""
        self.met.clear()
