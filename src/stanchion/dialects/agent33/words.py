"""The words of the specification: hooks, verdicts, categories, levels, modes, and what becomes of
an error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final, TypeVar

from stanchion.dialects.errors import DialectError
from stanchion.kernel.autonomy import EXHAUSTED, LOCKDOWN, STRICT
from stanchion.kernel.states import NORMAL
from stanchion.policy.nearest import hint

W = TypeVar("W", bound=StrEnum)


class HookType(StrEnum):
    """Where guardrails stand."""

    PRE_EXECUTION = "pre_execution"
    POST_EXECUTION = "post_execution"
    PRE_HANDOFF = "pre_handoff"
    POST_HANDOFF = "post_handoff"
    ON_ERROR = "on_error"


class Verdict(StrEnum):
    """What a guardrail, or a chain of them, says."""

    PASS = "pass"
    WARN = "warn"
    BLOCK = "block"
    ESCALATE = "escalate"


class Category(StrEnum):
    """What a guardrail is for. Between equal priorities, safety stands first, then compliance,
    budget, scope and quality."""

    SAFETY = "safety"
    QUALITY = "quality"
    COMPLIANCE = "compliance"
    BUDGET = "budget"
    SCOPE = "scope"


class RiskLevel(StrEnum):
    """How much harm a run can do."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class GuardrailMode(StrEnum):
    """How strictly a run is judged, by what is left of its budgets."""

    STANDARD = "standard"
    STRICT = "strict"
    LOCKDOWN = "lockdown"
    HALT = "halt"


class ErrorSeverity(StrEnum):
    """How bad an error is."""

    RECOVERABLE = "recoverable"
    FATAL = "fatal"
    UNKNOWN = "unknown"


class RecoveryAction(StrEnum):
    """What becomes of a failed action."""

    RETRY = "retry"
    ROLLBACK = "rollback"
    ESCALATE = "escalate"
    QUARANTINE = "quarantine"


MODE_OF: Final = {
    NORMAL: GuardrailMode.STANDARD,
    STRICT: GuardrailMode.STRICT,
    LOCKDOWN: GuardrailMode.LOCKDOWN,
    EXHAUSTED: GuardrailMode.HALT,
}
"""The modes by the names that decisions have for them."""


def word(kind: type[W], given: str, name: str) -> W:
    """A word of a kind; `DialectError` with the nearest one where there is no such word."""
    try:
        return kind(given)
    except ValueError:
        raise DialectError(f"`{name}` is `{given!s:.80}`: {hint(str(given), kind)}") from None


def a_text(given: object, name: str, hook: str) -> str:
    """A text; `DialectError` where a hook is given something else for it."""
    if not isinstance(given, str):
        raise DialectError(f"`{name}` of `{hook}` is a `{type(given).__name__}`: give a text")
    return given


def a_mapping(given: object, name: str, of: str) -> dict[str, Any]:
    """A mapping, empty where nothing is given; `DialectError` where it is something else."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise DialectError(f"`{name}` is a `{type(given).__name__}`: give a mapping {of}")
    return dict(given)


def names_of(given: object, name: str, of: str) -> list[str]:
    """A list of names; `DialectError` where it is something else."""
    if isinstance(given, str):
        raise DialectError(f"`{name}` is a text: give a list of the names of {of}")
    if not isinstance(given, Iterable) or isinstance(given, bytes | Mapping):
        raise DialectError(
            f"`{name}` is a `{type(given).__name__}`: give a list of the names of {of}"
        )
    names: list[str] = []
    for each in given:
        if not isinstance(each, str):
            raise DialectError(
                f"`{name}` has a `{type(each).__name__}`: give a list of the names of {of}"
            )
        if not each.strip():
            raise DialectError(f"`{name}` has an empty name: give a list of the names of {of}")
        names.append(each)
    return names
