"""Routes: how long a call waits for a deep rule, by the risk of what it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

import msgspec

from stanchion.kernel.actions import Risk, RiskName

Wait = Annotated[int, msgspec.Meta(ge=0, le=60_000)]
Waits = dict[RiskName, Wait]
"""Milliseconds by risk."""

USUAL: Final[Mapping[str, int]] = {"low": 0, "medium": 100, "high": 200, "critical": 200}
"""How long a call waits where nobody says otherwise."""

NAMES: Final = {risk: risk.name.lower() for risk in Risk}


def wait_ms(risk: Risk, waits: Mapping[RiskName, int] | None, deadline_ms: int) -> int:
    """How many milliseconds a call of that risk waits; never longer than the deadline."""
    name = NAMES[risk]
    given = USUAL[name] if waits is None else waits.get(name, USUAL[name])  # type: ignore[call-overload] # it is one
    return min(deadline_ms, int(given))


def routed(own: Mapping[RiskName, int] | None, usual: Mapping[str, int]) -> dict[RiskName, int]:
    """The waits of a rule: those it names, and the usual ones for the rest."""
    return {**usual, **({} if own is None else own)}  # type: ignore[dict-item] # the policy names every risk
