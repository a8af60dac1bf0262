"""Answers: a decision as one JSON object, and the exit status it amounts to."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.cli.check_runs import JudgedEvent
from stanchion.kernel.actions import NAMES, Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.findings import Finding
from stanchion.ops.views.encode import json_line

PROCEEDS: Final = 0
REFUSED: Final = 3
WAITS: Final = 4


class Said(msgspec.Struct, frozen=True, omit_defaults=True):
    """One finding. `said` is what the guard asked for where that became something stricter."""

    guard: str
    action: str
    code: str
    message: str
    advice: str
    said: str | msgspec.UnsetType = msgspec.UNSET


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done with an event.

    `event` is the id the caller gave it. `content` is what goes ahead, after patches: there is none
    where nothing does, and none at a stage without content. `shadow` is what guards in shadow mode
    would have said. `unresolved` are names whose addresses were not looked up, so that they were
    judged as if they had none. `ticket` is the id of what a person is asked, or would be.
    """

    id: str
    event: str | msgspec.UnsetType = msgspec.UNSET
    run: str
    action: str
    proceeds: bool
    code: str
    message: str
    advice: str
    findings: tuple[Said, ...]
    skipped: tuple[str, ...]
    shadow: tuple[Said, ...] | msgspec.UnsetType = msgspec.UNSET
    content: Any = msgspec.UNSET
    unresolved: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    ticket: str | msgspec.UnsetType = msgspec.UNSET


class Unread(msgspec.Struct, frozen=True):
    """The answer to a line that is no event: nothing was judged, so nothing may go ahead."""

    line: int
    error: str


def answer_of(judged: JudgedEvent) -> Answer:
    """The answer to an event that was judged."""
    report, run, decision, unresolved = judged
    return Answer(
        id=decision.id,
        event=msgspec.UNSET if report.id is None else report.id,
        run=run.id,
        action=NAMES[decision.action],
        proceeds=decision.proceeds,
        code=decision.code,
        message=decision.message,
        advice=decision.advice,
        findings=_said(decision.findings),
        skipped=decision.skipped,
        shadow=_said(decision.shadow) if decision.shadow else msgspec.UNSET,
        content=decision.patched(report.content)
        if decision.proceeds and report.has_content
        else msgspec.UNSET,
        unresolved=unresolved if unresolved else msgspec.UNSET,
        ticket=ticket if (ticket := run.ticket(decision)) is not None else msgspec.UNSET,
    )


def _said(findings: tuple[Finding, ...]) -> tuple[Said, ...]:
    return tuple(
        Said(
            f.guard,
            NAMES[f.action],
            f.code,
            f.message,
            f.advice,
            msgspec.UNSET if f.said is None else NAMES[f.said],
        )
        for f in findings
    )


def line_of(answer: Answer | Unread) -> bytes:
    """An answer as one line of JSON."""
    return json_line(answer)


def status_of(decision: Decision) -> int:
    """The exit status for one decision."""
    if decision.proceeds:
        return PROCEEDS
    return WAITS if decision.action == Action.ESCALATE else REFUSED
