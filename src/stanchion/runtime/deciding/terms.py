"""The terms on which a decision is carried out."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from stanchion.kernel.decision import Decision
from stanchion.kernel.findings import Isolate, Pause, Retry, Wait

if TYPE_CHECKING:
    from stanchion.policy.sections import Escalation

Named = TypeVar("Named", Wait, Retry, Isolate)


def terms_of(decision: Decision, default: Named) -> Named:
    """The terms of the determining finding, or the defaults where it has none of that kind."""
    determining = decision.determining
    terms = None if determining is None else determining.terms
    return terms if isinstance(terms, type(default)) else default


def paused(decision: Decision, usual: Escalation) -> Escalation:
    """On what terms a decision waits for a person: those of its determining finding, or else the
    policy's."""
    pause = None if decision.determining is None else decision.determining.terms
    if not isinstance(pause, Pause):
        return usual
    roles = pause.roles if pause.roles else usual.roles
    return msgspec.structs.replace(usual, roles=roles, timeout_s=max(1, pause.timeout_ms) / 1_000)


def question(decision: Decision) -> str:
    """What a person is asked, in words for them."""
    pause = None if decision.determining is None else decision.determining.terms
    return pause.prompt if isinstance(pause, Pause) and pause.prompt else decision.message
