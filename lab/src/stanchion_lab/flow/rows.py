"""Rows of other measurements as traces: poisoned results that ask for a call, recorded work, whole
sessions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from stanchion_lab.flow.trace import Call, Definitions, Prompt, Reply, Side, Step, Trace
from stanchion_lab.measuring import traces as recorded
from stanchion_lab.measuring.injecagent import HOLE, args_for, fetching
from stanchion_lab.measuring.rows import Row

NAMED: Final = "by name"
"""The tools of a trace that are defined by what can be made of their names."""

FETCHED: Final = {"data": "what was asked for"}

HUMP: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
TYPES: Final = {bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


def is_hijack(row: Row) -> bool:
    """Whether a row is a call of a user, its result, and perhaps what the result asks for."""
    return isinstance(row.payload, dict) and "user_tool" in row.payload


def is_playable(row: Row) -> bool:
    """Whether a trace can be made of a row. Without calls there is nothing for a guard of calls to
    judge."""
    return is_hijack(row) or any(isinstance(step, recorded.Call) for step in _steps(row))


def of_row(row: Row) -> Trace:
    """The trace of a row."""
    if is_hijack(row):
        kind: Side = "attack" if row.label == "attack" else "honest"
        steps = tuple(_hijack(row.payload))
        asked = row.payload.get("attacker_instruction", "")
        goal = row.payload.get("attack_type", "")
        return Trace(row.id, "injecagent", kind, steps, NAMED, goal, injected=asked)
    steps = _last_is_final(
        [_step(step) for step in _steps(row) if not isinstance(step, recorded.Came)]
    )
    return Trace(row.id, _family(row), "honest", steps)


def definitions_of(traces: Iterable[Trace]) -> Definitions:
    """Definitions for tools that come without any: the words of a name, and the arguments that it
    was called with. They say no more than the names do; what real definitions add is measured with
    a file of them."""
    properties: dict[str, dict[str, Any]] = {}
    for trace in traces:
        for step in trace.steps:
            if isinstance(step, Call):
                known = properties.setdefault(step.tool, {})
                known.update(
                    {
                        name: {"type": TYPES.get(type(value), "string")}
                        for name, value in step.args.items()
                    }
                )
    return [
        {
            "name": tool,
            "description": f"{_words(tool)}.",
            "parameters": {"type": "object", "properties": known},
        }
        for tool, known in properties.items()
    ]


def _words(name: str) -> str:
    """What a name says, as a sentence: `GmailSendEmail` is "Gmail send email"."""
    return " ".join(HUMP.findall(name)).capitalize()


def _hijack(said: dict[str, Any]) -> Iterator[Step]:
    """The user's call and its result; then the calls that this asks for, the last of which reaches
    the goal."""
    yield Prompt(said["user_instruction"])
    result = said.get("tool_response", said.get("tool_response_template", "")).replace(HOLE, "")
    yield Call(said["user_tool"], ast.literal_eval(said["user_args"]), result)
    asked = said.get("attacker_instruction", "")
    tools = said.get("attacker_tools", ())
    for tool in tools[:-1]:
        yield Call(tool, fetching(tool, asked), FETCHED, side="attack")
    for tool in tools[-1:]:
        yield Call(tool, args_for(tool, asked), FETCHED, side="attack", essential=True)


def _steps(row: Row) -> list[recorded.Step]:
    if not isinstance(row.payload, dict):
        return []
    if row.label == "honest" and "steps" in row.payload:
        return recorded.session_of(row)
    found = recorded.steps_of(row)
    reason = row.payload.get("reason")
    return [*([recorded.User(reason)] if reason else []), *(found if found is not None else [])]


def _step(step: recorded.Step) -> Step:
    match step:
        case recorded.User(text):
            return Prompt(text)
        case recorded.Reply(text):
            return Reply(text)
        case recorded.Call(tool, args, recorded.Gave(result)):
            return Call(tool, args, result)
        case recorded.Call(tool, args, recorded.Failed(error, text)):
            return Call(tool, args, error=text if text else error)
        case recorded.Call(tool, args):
            return Call(tool, args)
        case _:
            raise TypeError(f"no step of a trace: {step}")


def _last_is_final(steps: list[Step]) -> tuple[Step, ...]:
    """The steps, with the last words as the answer."""
    if steps and isinstance(steps[-1], Reply):
        steps[-1] = msgspec.structs.replace(steps[-1], final=True)
    return tuple(steps)


def _family(row: Row) -> str:
    collection, _, path = row.source.partition(" ")
    field = next(
        (part for part in ("airline", "retail", "telecom", "banking", "mock") if part in path), ""
    )
    name = collection.partition("@")[0] if row.label != "honest" else "sessions"
    return " ".join([word for word in (name, field if field else row.kind) if word])
