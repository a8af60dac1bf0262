"""AGENT-HOOKS: a shield as an `Interceptor`, for hosts that speak that contract and so need no
adapter of their own.

    emitter = InterceptionEmitter().register(Interceptor(hosted))

It gives verdicts in the form in which they are written down, and needs no package.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from stanchion.hosts import Host, Hosted, Told
from stanchion.kernel.actions import Action

SPEC: Final = "agent-hooks/0."
"""What the versions of the contract begin with that are understood here."""

UNKNOWN: Final = "stanchion.unknown_context"

AGENT_HOOKS: Final = Host(
    "agent_hooks", can=["warn", "redact", "escalate"], refused=str, ended=str, stream="buffer"
)
"""What a host can carry out by this contract: change what is about to go on, or deny it, with a
message."""

Verdict = dict[str, Any]


class PointAsked(msgspec.Struct, frozen=True):
    """What a point of the contract is to a shield: a stage with its fields, and where its content
    is in the target."""

    stage: str
    fields: dict[str, Any]
    path: str = "$target"
    key: str = ""
    content: Any = None

    @property
    def has_place(self) -> bool:
        """Whether a changed text can stand where the content was."""
        return "text" not in self.fields or isinstance(self.content, str)


class Interceptor:
    """Judges what a host reports by the contract, in one run: give it a run of its own for each
    session.

    A verdict that would need a person is a plain denial, which no approval of the host lifts: the
    ticket's answer alone decides, and the same call goes ahead after a yes.
    """

    def __init__(self, hosted: Hosted) -> None:
        self._hosted = hosted

    async def intercept(self, context: Mapping[str, Any], /) -> Verdict:
        """The verdict on a context; whatever cannot be read is denied."""
        try:
            asked = asked_in(context)
        except (KeyError, TypeError, ValueError) as error:
            return denied(
                UNKNOWN,
                f"this cannot be judged: {type(error).__name__} in the context; report it as it is",
            )
        if asked is None:
            return {"decision": "allow"}
        told = await self._hosted.areport(asked.stage, key=asked.key, **asked.fields)
        return verdict_of(told, asked, self._hosted.notices())


def asked_in(context: Mapping[str, Any]) -> PointAsked | None:
    """What a context asks; `None` where nothing is to be judged. Raises `ValueError` for what is
    not known."""
    if not str(context["spec"]).startswith(SPEC):
        raise ValueError("another contract")
    point = context["interception_point"]
    match point:
        case "agent_startup" | "agent_shutdown":
            return None
        case "input":
            said = context["input"]
            fields = {"trusted": said["role"] == "user"}
            return of_text("prompt", said["content"], fields)
        case "pre_model_call":
            fields = {"model": context["model"]["id"], "messages": context["messages"]}
            return PointAsked("model_call", fields, key=request_of(context))
        case "post_model_call":
            return of_text(
                "model_reply", context["response"]["content"], used_in(context), request_of(context)
            )
        case "output":
            return of_text("model_reply", context["output"]["content"], {"final": True})
        case "pre_tool_call" | "post_tool_call":
            return of_tool(context, point)
    raise ValueError("an unknown point")


def of_tool(context: Mapping[str, Any], point: str) -> PointAsked:
    """What a call or its outcome asks."""
    call = context["tool_call"]
    fields = {"tool": call["name"], "args": call["args"]}
    if point == "pre_tool_call":
        return PointAsked("tool_call", fields, key=call["id"])
    result = context["tool_result"]
    if result["is_error"]:
        value = result["value"]
        return PointAsked(
            "error",
            {**fields, "error": "ToolError", "text": text_in(value)},
            key=call["id"],
            content=value,
        )
    return PointAsked("tool_result", {**fields, "result": result["value"]}, key=call["id"])


def of_text(stage: str, content: Any, fields: dict[str, Any], key: str = "") -> PointAsked:
    """What something asks that people or models have said."""
    return PointAsked(stage, {"text": text_in(content), **fields}, "$target.content", key, content)


def text_in(content: Any) -> str:
    """The text of some content; content of another kind is read as it would be written down."""
    return (
        content
        if isinstance(content, str)
        else msgspec.json.encode(content, order="sorted").decode()
    )


def request_of(context: Mapping[str, Any]) -> str:
    """What the host calls a request to a model, where it says."""
    named = context.get("request_id", "")
    return f"model:{named}" if named else ""


def used_in(context: Mapping[str, Any]) -> dict[str, int]:
    """What a reply has used, where the host says."""
    usage = context.get("usage")
    if usage is None:
        return {}
    return {"tokens": int(usage.get("prompt_tokens", 0)) + int(usage.get("completion_tokens", 0))}


def verdict_of(told: Told, asked: PointAsked, notices: tuple[str, ...]) -> Verdict:
    """What was decided, as the contract writes it."""
    decision = told.decision
    if not told.proceeds:
        return denied(decision.code, str(told.answer))
    verdict: Verdict = {"decision": "allow"}
    if decision.action == Action.WARN or notices:
        said = notices if notices else (decision.message,)
        verdict["warnings"] = [
            {"reason": decision.code if decision.code else None, "message": words} for words in said
        ]
    return changed(verdict, told, asked)


def changed(verdict: Verdict, told: Told, asked: PointAsked) -> Verdict:
    """The verdict with what goes on in the place of the target; it is denied where the target has
    no such place."""
    before, after = given_in(asked), told.content
    if asked.stage == "model_call":
        after = None if after is None else after["messages"]
    if after is None or after == before:
        return verdict
    if not asked.has_place:
        return denied(told.decision.code, told.decision.message)
    return {**verdict, "decision": "transform", "transform": {"path": asked.path, "value": after}}


def given_in(asked: PointAsked) -> Any:
    """The content of what was asked."""
    name = {"tool_call": "args", "tool_result": "result", "model_call": "messages"}.get(
        asked.stage, "text"
    )
    return asked.fields[name]


def denied(code: str, message: str) -> Verdict:
    """A denial that nothing lifts."""
    return {"decision": "deny", "reason": code, "message": message}
