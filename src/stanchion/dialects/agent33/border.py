"""The border: what Stanchion says about wrong use, said in the words of the specification."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stanchion.approvals.errors import BypassRefused, TicketError
from stanchion.dialects.agent33.words import HookType
from stanchion.dialects.errors import DialectError
from stanchion.kernel.regex import regex
from stanchion.policy.errors import PolicyError
from stanchion.runtime.calling.reports import BadEvent

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
