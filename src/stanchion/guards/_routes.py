"""Routes: how long a call waits for a deep rule, by the risk of what it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec

from stanchion.kernel.actions import Risk, RiskName
from stanchion.kernel.lookups import Lookup

Wait = Annotated[int, msgspec.Meta(ge=0, le=60_000)]
Waits = dict[RiskName, Wait]
"""Milliseconds by risk."""

USUAL: Final[Mapping[RiskName, int]] = {"low": 0, "medium": 100, "high": 200, "critical": 200}
"""How long a call waits where nobody says otherwise."""

NAMES: Final[dict[Risk, RiskName]] = {
    Risk.LOW: "low",
    Risk.MEDIUM: "medium",
    Risk.HIGH: "high",
    Risk.CRITICAL: "critical",
}


def lookup(payload: Any, risk: Risk, waits: Mapping[RiskName, int] | None, deadline_ms: int) -> Lookup:
    """A deep rule's question about something of that risk: waited for by the risk, and never longer than the deadline.
    At low risk one that is not waited for is asked beside the call."""
    name = NAMES[risk]
    wait = USUAL[name] if waits is None else waits.get(name, USUAL[name])
    wait = min(deadline_ms, wait)
    return Lookup("", payload, wait, 0, wait == 0 and risk == Risk.LOW)


def routed(own: Mapping[RiskName, int] | None, usual: Mapping[str, int]) -> dict[RiskName, int]:
    """The waits of a rule: those it names, and the usual ones for the rest."""
    return {**usual, **({} if own is None else own)}  # type: ignore[dict-item] # the policy names every risk
