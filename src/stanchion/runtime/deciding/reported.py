"""Results that report failure: the tool answered, and its answer says that it did not work."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Failure
from stanchion.kernel.faults import FAILED
from stanchion.kernel.state import Settle
from stanchion.kernel.tuples import NamedTuple
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.faults import (
    MOST_SAID,
    JudgedFailure,
    notes_of,
    reported,
    trouble_of,
)
from stanchion.runtime.deciding.judging import judge
from stanchion.runtime.driving.flow import Flow

STATUS: Final = ("status_code", "statusCode", "status")
"""Where answers of HTTP servers have their status; under the last of these names other things have
one, too."""
WORDS: Final = ("error", "message", "detail", "reason", "reason_phrase", "statusText")
"""Where they say in words what went wrong."""
ANSWERING: Final = frozenset(
    ["headers", "body", "url", "ok", "text", "content", *STATUS[:2], *WORDS]
)
"""What else an answer has, one of which tells it from a row with a column `status`."""
MOST_PARTS: Final = 20


class ReportedFailure(NamedTuple):
    """What a result says of a failure: a name for it, an HTTP status where it has one, and its
    words."""

    error: str
    status: int | None = None
    text: str = ""


def failure_in(result: Any) -> ReportedFailure | None:
    """The failure that a result reports, as it was read; `None` where it reports none.

    Read are the marks by which protocols say that the call itself failed: `isError` of MCP
    (`is_error` beside `content`), an error of JSON-RPC, an HTTP status of 500 or more. What a
    command's exit code says is what the agent asked for, and no failure of the tool that ran it.
    """
    if not isinstance(result, dict):
        return None
    if _part(result, "jsonrpc") is not None:
        wrong = _part(result, "error")
        inner = _part(result, "result")
        if wrong is not None:
            return ReportedFailure("JSON-RPC error", None, _text(_part(wrong, "message")))
        return None if inner is None or _part(inner, "jsonrpc") is not None else failure_in(inner)
    content = _part(result, "content")
    if _part(result, "isError") is True or (
        content is not None and _part(result, "is_error") is True
    ):
        return ReportedFailure("isError", None, _text(content))
    for name in STATUS if any(part in result for part in ANSWERING) else STATUS[:-1]:
        status = _part(result, name)
        if isinstance(status, str) and len(status) == 3 and status.isascii() and status.isdigit():
            status = int(status)
        if isinstance(status, int) and 500 <= status <= 599:
            said = next((text for word in WORDS if (text := _text(_part(result, word)))), "")
            return ReportedFailure(f"HTTP {int(status)}", int(status), said)
    return None


def _part(owner: Any, name: str) -> Any:
    return owner.get(name) if isinstance(owner, dict) else None


def _text(value: Any) -> str:
    """The words of a text, or of the parts of a message that are texts; the rest is left out."""
    if isinstance(value, list | tuple):
        value = "\n".join(
            [text for part in value[:MOST_PARTS] if (text := _text(_part(part, "text")))]
        )
    return str(value)[:MOST_SAID] if isinstance(value, str) else ""


def taken_in(
    desk: Desk,
    said: ReportedFailure,
    call: str,
    tool: str,
    args: dict[str, Any],
    settles: tuple[Settle, ...] = (),
    notes: tuple[str, ...] = (),
    attempt: int = 1,
    began_ms: int | None = None,
    tried: tuple[str, ...] = (),
) -> Flow[JudgedFailure]:
    """Judge a failure that a result reports as the error it is; the result itself is judged
    afterwards (`failing`)."""
    known: dict[str, Any] = {**said._asdict(), "tool": tool, "args": args}
    known |= reported(desk.shield.policy, known)
    fault: Any = desk.event(Failure, call=call, attempt=attempt, **known)
    took_ms = 0 if began_ms is None else fault.at - began_ms
    notes = (
        *notes,
        *(tried if began_ms is None else notes_of(took_ms, (), tried)),
        "its result says so",
    )
    answer = yield from judge(desk, desk.moment(fault, settles=settles), notes)
    trouble = desk.trouble = trouble_of(fault, answer, took_ms, (), tried)
    return JudgedFailure(answer, trouble)


def failing(result: Any) -> Any:
    """The event of a result whose failure was judged before it: nothing counts it as a success."""
    return msgspec.structs.replace(result, traits=(*result.traits, FAILED))


def beside(answer: Decision, decision: Decision) -> Decision:
    """The decision about a result, with what was found about the failure that it reports."""
    if not answer.findings or decision.action == Action.HALT:
        return decision
    return msgspec.structs.replace(decision, findings=answer.findings + decision.findings)
