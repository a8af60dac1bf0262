"""Reporting a planner's events to a run: which stage each of them is, and what it says there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from stanchion.dialects.errors import DialectError
from stanchion.dialects.penguiflow.events import GuardrailEvent
from stanchion.dialects.penguiflow.guards import HEARD, user_place
from stanchion.dialects.penguiflow.redactions import BESIDE, RESULT, Path
from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.stages import Stage
from stanchion.runtime.calling.report_methods import judging
from stanchion.runtime.calling.reports import BadEvent, report
from stanchion.runtime.deciding.unreadable_content import unreadable
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.run import Run
from stanchion.runtime.values import Unreadable, read
from stanchion.runtime.values.containers import MAX_VALUES
from stanchion.runtime.values.read_value import MAX_DEPTH, TOO_DEEP, TOO_MANY

# What cannot be read of an event: it stands against the event, whichever part it is, as it does in
# a call's arguments.

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


Report = tuple[Stage, dict[str, Any], Path]
"""A stage, the fields of its event, and where its content has the text."""

CHANNEL: Final = "text"
OUTSIDE: Final = ("tool", "function")
"""The roles of messages that come from tools."""


def flow_of(run: Run, event: GuardrailEvent) -> tuple[Flow[Decision], Path]:
    """What has a run judge an event, and where its content has the event's text."""
    stage, fields, place = report_of(event)
    why = confused(event) if event.payload else None
    if why is not None:
        return refused(run, stage, fields, why), place
    if stage is Stage.ERROR and event.payload.get(RESULT) is not None:
        return _failed(run, fields, event.payload[RESULT]), place
    if stage is Stage.TOOL_CALL:
        return judging(
            run, stage, fields
        ), place  # what cannot be read of arguments stands against a call there
    if stage is not Stage.MODEL_CALL:
        return reported(run, stage, fields), place
    said = event.text_content if event.text_content and _is_new(event) else ""
    return _asked(run, fields, said, _results(event.payload.get("messages", []))), place


def _is_new(event: GuardrailEvent) -> bool:
    """Whether the text of a request stands beside its messages, and not in one of them."""
    contents = [one.get("content") for one in event.payload.get("messages", [])]
    return event.text_content not in contents


def _results(messages: list[Any]) -> list[str]:
    """What tools have given since the model was asked last, as a request has it."""
    found: list[str] = []
    for one in reversed(messages):
        if one.get("role") == "assistant":
            break
        if one.get("role") in OUTSIDE and isinstance(one.get("content"), str):
            found.append(one["content"])
    return found[::-1]


def _failed(run: Run, fields: dict[str, Any], result: Any) -> Flow[Decision]:
    """Have judged what a tool failed with, and what it gave all the same: nothing counts that as a
    success. What is taken out of it has the path `result`."""
    told = yield from reported(run, Stage.ERROR, fields)
    if told.action == Action.HALT:
        return told
    given = {"tool": fields["tool"], "args": fields["args"], "result": {RESULT: result}}
    gave = yield from reported(run, Stage.TOOL_RESULT, given, failed=True)
    worse = gave if gave.action > told.action else told
    findings = (*worse.findings, *(told if worse is gave else gave).findings)
    effects = tuple(dict.fromkeys([*told.effects, *gave.effects]))
    patches = (*told.patches, *gave.patches)
    return msgspec.structs.replace(worse, findings=findings, effects=effects, patches=patches)


def _asked(run: Run, fields: dict[str, Any], said: str, results: list[str]) -> Flow[Decision]:
    """Have judged what tools have given, the words of the user, and the request with what is left
    of them: they enter the run before they are part of a request."""
    for one in results:
        given = yield from reported(
            run, Stage.PROMPT, {"text": one, "source": "tool", "trusted": False}
        )
        if not given.proceeds:
            return given
    if not said:
        return (yield from reported(run, Stage.MODEL_CALL, fields))
    heard = yield from reported(run, Stage.PROMPT, {"text": said})
    if not heard.proceeds:
        return heard
    text = heard.patched(said)
    before = fields["messages"][:-1]
    request = {**fields, "messages": [*before, {"role": "user", "content": text}]}
    asked = yield from reported(run, Stage.MODEL_CALL, request)
    return _joined(heard, asked, request["messages"])


def _joined(heard: Decision, asked: Decision, messages: list[Any]) -> Decision:
    """What was decided of the user's words and of the request with them, as one decision about the
    text."""
    effects = tuple(dict.fromkeys([*heard.effects, *asked.effects]))
    found, action = (*heard.findings, *asked.findings), max(heard.action, asked.action)
    if not heard.patches:
        return (
            msgspec.structs.replace(asked, action=action, findings=found, effects=effects)
            if heard.findings
            else asked
        )
    place = ("messages", len(messages) - 1, "content")
    first = tuple([msgspec.structs.replace(patch, path=place) for patch in heard.patches])
    if not asked.proceeds:
        findings = (
            Finding(Action.REDACT, heard.code, patches=first, guard="kernel"),
            *asked.findings,
        )
        return msgspec.structs.replace(asked, findings=findings, effects=effects)
    if asked.patches:
        left = asked.patched({"messages": messages})["messages"][-1]["content"]
        first = (Patch(place, left), *[patch for patch in asked.patches if patch.path != place])
    return msgspec.structs.replace(
        asked, action=action, findings=found, effects=effects, patches=first
    )


def report_of(event: GuardrailEvent) -> Report:
    """An event as a run's host reports it."""
    if event.event_type == "tool_call_start":
        return Stage.TOOL_CALL, {"tool": _tool(event), "args": _args(event)}, ()
    payload = event.payload
    text = "" if event.text_content is None else event.text_content
    match event.event_type:
        case "llm_before":
            messages = list(payload.get("messages", ()))
            if _is_new(event) and (text or not messages):
                messages.append({"role": "user", "content": text})
            place = user_place(messages)
            fields: dict[str, Any] = {"messages": messages}
            if isinstance(payload.get("model"), str):
                fields["model"] = payload["model"]
            return Stage.MODEL_CALL, fields, () if place is None else place
        case "tool_call_result" if "error" in payload:
            said = {"text": text} if text else {}
            return (
                Stage.ERROR,
                {"tool": _tool(event), "error": payload["error"], "args": _args(event), **said},
                (),
            )
        case "tool_call_result":
            result = _both(payload["result"], text) if "result" in payload else event.text_content
            return (
                Stage.TOOL_RESULT,
                {"tool": _tool(event), "args": _args(event), "result": result},
                (),
            )
        case _ if payload.get("final") is True:
            return Stage.MODEL_REPLY, {"text": text, "final": True}, ()
        case _:
            channel, index = payload.get("channel"), payload.get("index", 0)
            about = {"channel": channel if isinstance(channel, str) else CHANNEL, "index": index}
            return Stage.MODEL_CHUNK, {"text": text, **about}, ()


def content_of(event: GuardrailEvent) -> Any:
    """What patches of an event edit, as it was reported."""
    stage, fields, _ = report_of(event)
    match stage:
        case Stage.TOOL_CALL:
            return fields["args"]
        case Stage.TOOL_RESULT:
            return fields["result"]
        case Stage.MODEL_CALL:
            return {"messages": fields["messages"]}
        case _:
            return (
                {RESULT: event.payload[RESULT]}
                if RESULT in event.payload
                else fields.get("text", "")
            )


def _both(result: Any, text: str) -> Any:
    """A result as data with the text beside it, unless that is the data once more."""
    if not text or text == result:
        return result
    try:
        if msgspec.json.decode(text) == result:
            return result
    except (msgspec.DecodeError, RecursionError):
        pass
    return {RESULT: result, BESIDE: text}


def _tool(event: GuardrailEvent) -> str:
    if not event.tool_name:
        raise DialectError(f"`{event.event_type}` is about no tool: give its `tool_name`")
    return event.tool_name


def _args(event: GuardrailEvent) -> dict[str, Any]:
    return {} if event.tool_args is None else event.tool_args
