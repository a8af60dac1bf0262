"""The words of the specification: hooks, verdicts, categories, levels, modes, and what becomes of
an error; and what Stanchion says about wrong use, said in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final, TypeVar

from stanchion.approvals.errors import BypassRefused, TicketError
from stanchion.dialects.errors import DialectError
from stanchion.kernel.autonomy import EXHAUSTED, LOCKDOWN, STRICT
from stanchion.kernel.regex import regex
from stanchion.kernel.states import NORMAL
from stanchion.policy.errors import PolicyError
from stanchion.policy.nearest import hint
from stanchion.runtime.calling.reports import BadEvent

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


ESTIMATED: Final = {
    "tokens": "estimated_tokens",
    "cost_usd": "estimated_cost",
    "duration_s": "estimated_duration",
}
USED: Final = {"tokens": "tokens", "cost_usd": "cost", "duration_s": "duration"}
HANDED: Final = {"tokens": "token_budget", "cost_usd": "cost_budget"}
"""What the hooks call amounts before an action, after it, and in a handoff."""
BUDGETS: Final = {
    "tokens": ("token_budget", "builtin-001` or `budget-001"),
    "time_s": ("time_budget", "builtin-002` or `budget-002"),
    "api_calls": ("api_call_budget", "budget-003"),
    "cost_usd": ("cost_budget", "budget-004"),
}
"""What a task calls its budgets, and the guardrails that keep to them."""

_AMOUNT: Final = regex(r"(\w+) is `")
_TYPED: Final = regex(r"`\w+`: (expected .+) - at `\$\.(\w+)`")
_UNREAD: Final = regex(r"[^`]*`tasks\.(.+)\.budget\.(\w+)`")


class Border:
    """Round a use of a hook: where it cannot be carried out, `DialectError` says so in the hook's
    own words."""

    __slots__ = ("_amounts", "_hook")

    def __init__(self, hook: HookType | str, amounts: Mapping[str, str] = USED) -> None:
        self._hook, self._amounts = str(hook), amounts

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: object, _at: object) -> None:
        if isinstance(error, BadEvent):
            raise DialectError(_told(str(error), self._hook, self._amounts)) from None
        if isinstance(error, TicketError) and not isinstance(error, BypassRefused):
            raise DialectError(f"`{self._hook}`: {error}") from None


def _told(said: str, hook: str, amounts: Mapping[str, str]) -> str:
    amount, typed = _AMOUNT.match(said), _TYPED.fullmatch(said)
    if amount is not None:
        word = amounts.get(amount[1], amount[1])
        return f"`{word}` is `{said[amount.end() :]}"
    if typed is not None:
        return f"`{typed[2]}` of `{hook}`: {typed[1]}"
    if said.startswith("`tool_call` takes"):
        return f"`{hook}` takes{said.partition(' takes')[2].partition(': give the name')[0]}"
    return f"`{hook}`: {said.partition(': ')[2] if said.startswith('`') and ': ' in said else said}"


def unread_budget(error: PolicyError) -> DialectError | None:
    """What is wrong where a task has a budget that no guardrail keeps to; `None` where that is not
    the fault."""
    for fault in error.faults:
        found = _UNREAD.match(fault.message)
        if found is not None and found[2] in BUDGETS and "nothing acts on" in fault.message:
            word, rails = BUDGETS[found[2]]
            return DialectError(
                f"task `{found[1]}` has a `{word}`, and no guardrail keeps to it: add `{rails}`, "
                f"or leave it out"
            )
    return None
