"""What telemetry is told: of a decision and of a run, with names as they may be shown and nothing
of what was said."""

from __future__ import annotations

from typing import Final

import msgspec

from stanchion.kernel.actions import NAMES, PROCEEDS, Action
from stanchion.telemetry.loggers import DEBUG, ERROR, INFO, WARNING

BROKEN: Final = frozenset(
    {
        "kernel.store_lost",
        "kernel.store_forgot",
        "kernel.audit_lost",
        "kernel.broker_lost",
        "kernel.done_unrecorded",
        "kernel.done_unsettled",
    }
)
"""Codes that say that the store or the trail cannot be used: operators have to look at it."""

LEVELS: Final = tuple(
    [
        DEBUG if action is Action.ALLOW else INFO if action < Action.ESCALATE else WARNING
        for action in Action
    ]
)
"""On which level a decision is logged, by its action."""


class Told(msgspec.Struct, frozen=True):
    """A decision as telemetry is told of it. `call` is the call that an outcome belongs to; `codes`
    are those of all findings, in order; `error` is the class of a failure; `parent` is the run that
    it works for. There are no arguments, texts and results in it. `key` and `of` tell which
    decision and which call it is; they may have secrets in them, and are not shown.
    """

    id: str
    run: str
    stage: str
    action: Action
    took_ns: int
    call: str = ""
    agent: str = ""
    task: str = ""
    tenant: str = ""
    tool: str = ""
    model: str = ""
    code: str = ""
    guard: str = ""
    codes: tuple[str, ...] = ()
    error: str = ""
    policy: str = ""
    part: int = 0
    parent: str = ""
    key: str = ""
    of: str = ""

    @property
    def proceeds(self) -> bool:
        """Whether it goes ahead."""
        return self.action <= PROCEEDS

    @property
    def level(self) -> int:
        """On which level it is logged."""
        return ERROR if self.code in BROKEN else LEVELS[self.action]

    @property
    def fields(self) -> dict[str, object]:
        """What is logged of it."""
        return {
            "action": NAMES[self.action],
            "stage": self.stage,
            "tool": self.tool,
            "code": self.code,
            "guard": self.guard,
            "agent": self.agent,
            "task": self.task,
            "tenant": self.tenant,
            "run": self.run,
            "decision": self.id,
            "call": self.call,
            "error": self.error,
            "took_us": self.took_ns // 1000,
        }


class ToldRun(msgspec.Struct, frozen=True):
    """A run as telemetry is told of it."""

    id: str
    agent: str = ""
    task: str = ""
    tenant: str = ""
    parent: str = ""
