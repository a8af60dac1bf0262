"""What cannot be read of an event: it stands against the event, whichever part it is, as it does in
a call's arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from stanchion.dialects.penguiflow.events import GuardrailEvent
from stanchion.dialects.penguiflow.guards import HEARD
from stanchion.dialects.penguiflow.redactions import RESULT
from stanchion.kernel.decision import Decision
from stanchion.kernel.stages import Stage
from stanchion.runtime.calling.report_methods import judging
from stanchion.runtime.calling.reports import BadEvent, report
from stanchion.runtime.deciding.unread import unreadable
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.run import Run
from stanchion.runtime.values import Unreadable, read
from stanchion.runtime.values.containers import MAX_VALUES
from stanchion.runtime.values.content import MAX_DEPTH, TOO_DEEP, TOO_MANY

REPORTED: Final = {"llm_before": "messages", "tool_call_result": RESULT}
"""What of a payload is reported, and read there; the rest is for rules alone."""
BLANK: Final[dict[str, Any]] = {"args": {}, "messages": [], RESULT: None, "error": "Error"}
"""What stands in an event for what cannot be read; everything else is a text."""
END: Final = object()


def confused(event: GuardrailEvent) -> Unreadable | None:
    """Why what a payload has for rules alone cannot be handed to them; `None` where it can. The
    result beside a failure is handed to them with the failure, before it is reported."""
    reported = "" if "error" in event.payload else REPORTED.get(event.event_type, "")
    for name, value in event.payload.items():
        if name != reported and isinstance(value, dict | list | tuple):
            wrong = _wrong(value)
            if wrong:
                return Unreadable(wrong)
    return None


def _wrong(value: Any) -> str:
    """What is wrong with data as a rule's own copy of it is made: nothing, mostly."""
    levels, left = [iter((value,))], MAX_VALUES
    while levels:
        one = next(levels[-1], END)
        if one is END:
            levels.pop()
        elif isinstance(one, dict) or type(one) in (list, tuple):
            left -= 1
            if len(levels) >= MAX_DEPTH or left < 0:
                return TOO_MANY if left < 0 else TOO_DEEP
            levels.append(_parts(one))
    return ""


def _parts(value: Any) -> Iterator[Any]:
    return iter(value.values() if isinstance(value, dict) else value)


def reported(
    run: Run, stage: Stage, fields: dict[str, Any], failed: bool = False
) -> Flow[Decision]:
    """Have a run judge an event. One that cannot be read is judged without what cannot be, which
    stands against it; `failed` as in `report`."""
    try:
        flow = (
            report(run.desk, stage, dict(fields), failed=True)
            if failed
            else judging(run, stage, dict(fields))
        )
        return (yield from flow)
    except BadEvent:
        kept, why = _readable(fields)
        if why is None:
            raise
    return (yield from _against(run, stage, kept, why, failed))


def refused(run: Run, stage: Stage, fields: dict[str, Any], why: Unreadable) -> Flow[Decision]:
    """Have a run judge an event with something against it that cannot be read."""
    return (yield from _against(run, stage, _readable(fields)[0], why, False))


def _against(
    run: Run, stage: Stage, fields: dict[str, Any], why: Unreadable, failed: bool
) -> Flow[Decision]:
    heard = HEARD.get()
    if (
        heard is not None
    ):  # rules are told of it without what nobody can read; the gateway puts back what it has set
        HEARD.set(heard._replace(event=msgspec.structs.replace(heard.event, payload={})))
    return (yield from report(run.desk, stage, fields, unreadable(why), failed))


def _readable(fields: dict[str, Any]) -> tuple[dict[str, Any], Unreadable | None]:
    """What can be read of an event's fields, all together, and why the rest cannot."""
    kept: dict[str, Any] = {}
    why: Unreadable | None = None
    for name, value in fields.items():
        try:
            read({**kept, name: value})
        except Unreadable as error:
            kept[name], why = BLANK.get(name, ""), error
        else:
            kept[name] = value
    return kept, why
