"""The words of the dialect: its decisions, the context of a call, and how Stanchion's decisions are
said in them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from stanchion.dialects.errors import DialectError
from stanchion.dialects.veronica.given import Named
from stanchion.kernel import decision as kernel
from stanchion.kernel.actions import Action
from stanchion.kernel.states import HALTED, NORMAL, QUARANTINE, SAFE, WARNING


class Decision(StrEnum):
    """What a hook or the pipeline answers. HALT refuses one dispatch or one retry; the work itself
    goes on."""

    ALLOW = "ALLOW"
    RETRY = "RETRY"
    HALT = "HALT"
    DEGRADE = "DEGRADE"
    QUARANTINE = "QUARANTINE"
    QUEUE = "QUEUE"


class ShieldState(StrEnum):
    """The states of a shield, and of each tool."""

    NORMAL = "NORMAL"
    WARNING = "WARNING"
    QUARANTINE = "QUARANTINE"
    SAFE_MODE = "SAFE_MODE"
    HALT = "HALT"


TEXTS: Final = ("request_id", "user_id", "session_id", "tool_name", "model", "endpoint")


@dataclass(frozen=True, slots=True)
class ToolCallContext(Named):
    """One call as hooks see it. `tool_name` is None where a model is asked and no tool is
    called."""

    request_id: str
    user_id: str | None = None
    session_id: str | None = None
    tool_name: str | None = None
    model: str | None = None
    endpoint: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    metadata: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what could not be judged, where it is made."""
        for name in TEXTS:
            if not isinstance(given := getattr(self, name), str) and (
                given is not None or name == "request_id"
            ):
                raise DialectError(f"`{name}` of the context is `{given!r}`: give a text")
        for name in ("tokens_in", "tokens_out"):
            if (given := getattr(self, name)) is not None and (type(given) is not int or given < 0):
                raise DialectError(
                    f"`{name}` of the context is `{given!r}`: give a whole number that is not "
                    f"negative"
                )
        cost = self.cost_usd
        # How much can be counted is for those to say who count it: without a shield nobody does.
        if cost is not None and (type(cost) not in (int, float) or not 0 <= cost < math.inf):
            raise DialectError(
                f"`cost_usd` of the context is `{cost!r}`: give a finite amount that is not "
                f"negative"
            )
        if not isinstance(self.metadata, dict):
            raise DialectError(
                f"`metadata` of the context is of the type `{type(self.metadata).__name__}`: give "
                f"a dict"
            )


SAID: Final = "veronica.decided"
"""The code of what a hook of the user's own decides; its arguments are the hook's name and the
decision."""

ACTIONS: Final = {
    Decision.RETRY: Action.RETRY,
    Decision.HALT: Action.BLOCK,
    Decision.DEGRADE: Action.DEGRADE,
    Decision.QUARANTINE: Action.QUARANTINE,
    Decision.QUEUE: Action.QUEUE,
}
"""What each decision of a hook is to Stanchion; ALLOW is no finding at all."""

WORDS: Final = {
    Action.ALLOW: Decision.ALLOW,
    Action.WARN: Decision.ALLOW,
    Action.REDACT: Decision.ALLOW,
    Action.DEGRADE: Decision.DEGRADE,
    Action.RETRY: Decision.RETRY,
    Action.QUEUE: Decision.QUEUE,
    Action.ESCALATE: Decision.HALT,
    Action.BLOCK: Decision.HALT,
    Action.QUARANTINE: Decision.QUARANTINE,
    Action.HALT: Decision.HALT,
}

CODES: Final = {"kernel.quarantined": Decision.QUARANTINE, "kernel.no_lesser": Decision.DEGRADE}
"""Refusals that have a word of their own, whatever their action is."""

STATES: Final = {
    NORMAL: ShieldState.NORMAL,
    WARNING: ShieldState.WARNING,
    QUARANTINE: ShieldState.QUARANTINE,
    SAFE: ShieldState.SAFE_MODE,
    HALTED: ShieldState.HALT,
}


def spoken(decision: kernel.Decision) -> Decision:
    """A decision of Stanchion in the dialect's words. What a hook has said is said again in the
    same word, also where Stanchion refuses because nobody here could carry it out: DEGRADE where
    nothing says what less is. A call of a tool in quarantine is QUARANTINE."""
    found = decision.determining
    if found is None:
        return WORDS[decision.action]
    if found.code == SAID:
        return Decision(str(found.args[1]))
    return CODES.get(found.code, WORDS[decision.action])
