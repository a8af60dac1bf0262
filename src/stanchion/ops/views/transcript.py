"""Transcripts: the calls and replies that a host's own log tells of, whatever its shape.

A log is read for what it holds, not for where it holds it: messages of OpenAI (chat and responses),
Anthropic and LangChain and traffic of MCP are known by their own marks, at any depth. Requests
repeat what was said before; what has an id counts once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

import msgspec

from stanchion.runtime.calling.price import usage_of
from stanchion.runtime.values.words import words_of

USED: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
ANSWERS: Final = {
    "tool_result": "tool_use_id",
    "mcp_tool_result": "tool_use_id",
    "function_call_output": "call_id",
}
"""The marks of a tool's answer, and where each names its call."""
REPLIED: Final = ("choices", "content", "output", "candidates")


class BadTranscript(ValueError):
    """A file that holds no JSON."""


class Call(msgspec.Struct, frozen=True):
    """A tool call in a transcript. `answered`: something came back for it, so it was carried out or
    refused."""

    id: str
    tool: str
    args: Any
    answered: bool = False


class Reply(msgspec.Struct, frozen=True):
    """A model's reply in a transcript: the provider's id for it, what it says, and the tokens it
    reports."""

    id: str
    model: str
    text: str
    tokens: int = 0


class Transcript(msgspec.Struct, frozen=True):
    """What a log tells of, in its order."""

    calls: tuple[Call, ...]
    replies: tuple[Reply, ...]


def read_transcript(data: bytes) -> Transcript:
    """Read a log: one JSON value, or one a line. Raises `BadTranscript` where a line is none."""
    calls: dict[str, Call] = {}
    replies: dict[str, Reply] = {}
    answered: set[str] = set()
    for value in _values(data):
        for one in _dicts(value):
            answer = _answer(one)
            if answer:
                answered.add(answer)
            for call in _calls(one):
                calls.setdefault(call.id if call.id else f"\0{len(calls)}", call)
            reply = _reply(one)
            if reply is not None:
                replies.setdefault(reply.id if reply.id else f"\0{len(replies)}", reply)
    told = [
        msgspec.structs.replace(call, answered=not call.id or call.id in answered)
        for call in calls.values()
    ]
    return Transcript(tuple(told), tuple(replies.values()))


def _values(data: bytes) -> Iterator[Any]:
    try:
        yield msgspec.json.decode(data)
        return
    except msgspec.DecodeError:
        lines = data.splitlines()
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield msgspec.json.decode(line)
            except msgspec.DecodeError as error:
                raise BadTranscript(f"line {number} is no JSON: {error}") from None


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    """Every object, the outer before the inner, in their order."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting += reversed(list(one.values()))
        elif isinstance(one, list):
            waiting += reversed(one)


def _calls(one: dict[str, Any]) -> Iterator[Call]:
    """The tool call that an object is, by the marks of whoever made it."""
    kind, function = one.get("type"), one.get("function")
    if isinstance(function, dict) and "arguments" in function:
        yield _call(one.get("id"), function.get("name"), function["arguments"])
    elif kind == "function_call" and "arguments" in one:
        yield _call(one.get("call_id", one.get("id")), one.get("name"), one["arguments"])
    elif kind in USED and "input" in one:
        yield _call(one.get("id"), one.get("name"), one["input"])
    elif kind == "tool_call" and "args" in one:
        yield _call(one.get("id"), one.get("name"), one["args"])
    elif one.get("method") == "tools/call" and isinstance(params := one.get("params"), dict):
        yield _call(_rpc(one), params.get("name"), params.get("arguments", {}))


def _call(name: Any, tool: Any, args: Any) -> Call:
    if isinstance(args, str):
        with suppress(
            msgspec.DecodeError
        ):  # a model's arguments need not be JSON: then they are what they are
            args = msgspec.json.decode(args) if args.strip() else {}
    return Call(name if isinstance(name, str) else "", str(tool), args)


def _answer(one: dict[str, Any]) -> str:
    """The id of the call that an object answers; empty where it answers none."""
    if one.get("role") == "tool" or (one.get("type") == "tool" and "tool_call_id" in one):
        return str(one.get("tool_call_id", ""))
    kind = one.get("type")
    if isinstance(kind, str) and kind in ANSWERS:
        return str(one.get(ANSWERS[kind], ""))
    if "jsonrpc" in one and "method" not in one and ("result" in one or "error" in one):
        return _rpc(one)
    return ""


def _rpc(one: dict[str, Any]) -> str:
    return f"jsonrpc:{one['id']}" if one.get("id") is not None else ""


def _reply(one: dict[str, Any]) -> Reply | None:
    """The reply that an object is: what a provider says, with what it used."""
    usage = usage_of(one)
    if usage is None or not any(isinstance(one.get(name), list) for name in REPLIED):
        return None
    name, model = one.get("id"), one.get("model")
    return Reply(
        name if isinstance(name, str) else "",
        model if isinstance(model, str) else "",
        words_of(one).text(one),
        usage.total,
    )
