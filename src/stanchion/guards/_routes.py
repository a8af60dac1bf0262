"""Routes: how long a call waits for a deep rule, by the risk of what it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import msgspec

from stanchion.kernel.actions import RISK_NAMES, Risk
from stanchion.kernel.lookups import WAITS_MS, Lookup
from stanchion.kernel.option import DeadlineMs, On

Waits = dict[str, DeadlineMs]
"""Milliseconds by risk."""


def named(waits: Mapping[str, int] | None) -> None:
    """Raise where waits are for something that is no risk."""
    for name in {} if waits is None else waits:
        if name not in WAITS_MS:
            raise ValueError(
                f"`waits` has `{name}`, which is no risk: choose among {', '.join(WAITS_MS)}"
            )


def lookup(
    payload: Any,
    risk: Risk,
    waits: Mapping[str, int] | None,
    deadline_ms: int,
    required: bool = False,
) -> Lookup:
    """A deep rule's question about something of that risk: waited for by the risk, and never longer
    than the deadline. At low risk one that is not waited for is asked beside the call. What is
    `required` is waited for, whatever the risk."""
    if required:
        return Lookup("", payload, deadline_ms)
    name = RISK_NAMES[risk]
    wait = WAITS_MS[name] if waits is None else waits.get(name, WAITS_MS[name])
    wait = min(deadline_ms, wait)
    return Lookup("", payload, wait, 0, wait == 0 and risk == Risk.LOW)


class Routed(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A deep rule that is waited for by the risk of what it judges, unless its answer is
    required."""

    waits: Waits | None = None
    """How many milliseconds a call waits for the answer, by its risk (`low`, `medium`, `high`,
    `critical`); never longer than `deadline_ms`. If absent, as the policy's `deep` says."""
    required: On[bool] = False
    """If `true`, the answer must come: every call waits for it, up to `deadline_ms`, and is refused
    without it."""

    def __post_init__(self) -> None:
        named(self.waits)

    @property
    def deep(self) -> bool:
        """Whether it may be late: not where its answer is required."""
        return not self.required

    def routed(self, waits: Mapping[str, int], /) -> Self:
        """The same guard, which waits as the policy says where it does not say so itself."""
        made = msgspec.structs.replace(self, waits=routed(self.waits, waits))
        made.__dict__.update(self.__dict__)
        return made


def routed(own: Mapping[str, int] | None, usual: Mapping[str, int]) -> dict[str, int]:
    """The waits of a rule: those it names, and the usual ones for the rest."""
    return {**usual, **({} if own is None else own)}
