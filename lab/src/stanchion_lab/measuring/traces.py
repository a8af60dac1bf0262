"""Traces of agents: recorded work, read from rows and played to a shield as if it happened now."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from stanchion.kernel.decision import Decision
from stanchion.runtime.run import Run
from stanchion_lab.measuring.rows import NoRows, Row

CODE: Final = re.compile(r"```(?:py|python)?\n(.*?)(?:```|\Z)", re.DOTALL)

SAID: Final = re.compile(
    r"^(user|assistant|tool): (.*?)(?=^(?:user|assistant|tool): |\Z)", re.DOTALL | re.MULTILINE
)


class User(msgspec.Struct, frozen=True):
    """The user says something."""

    text: str


class Reply(msgspec.Struct, frozen=True):
    """The agent says something."""

    text: str


class Gave(msgspec.Struct, frozen=True):
    """What a call gave."""

    result: Any


class Failed(msgspec.Struct, frozen=True):
    """How a call failed."""

    error: str
    text: str = ""


class Call(msgspec.Struct, frozen=True):
    """The agent calls a tool; `outcome` is `None` where the row does not say what came of it."""

    tool: str
    args: dict[str, Any]
    outcome: Gave | Failed | None = None


class Came(msgspec.Struct, frozen=True):
    """A result comes of a call that the row does not have."""

    result: Any


Step = User | Reply | Call | Came


class Heard(msgspec.Struct, frozen=True):
    """What a shield had to say of one step: the step's place in the trace, the decision, and
    whether that is about a call before it is made."""

    at: int
    decision: Decision
    call: bool = False


def play(run: Run, steps: Iterable[Step]) -> Iterator[Heard]:
    """Play a trace to a shield; gives every decision that says something. The agent is deaf: it
    goes on as recorded, and a call that was refused has no outcome."""
    for at, step in enumerate(steps, 1):
        for nth, decision in enumerate(_judged(run, step)):
            if decision.findings:
                yield Heard(at, decision, isinstance(step, Call) and nth == 0)


def _judged(run: Run, step: Step) -> Iterator[Decision]:
    match step:
        case User(text):
            yield run.prompt(text)
        case Reply(text):
            yield run.model_reply(text)
        case Came(result):
            yield run.result("tool", {}, result)
        case Call(tool, args, outcome):
            decision = run.check(tool, args)
            yield decision
            if not decision.proceeds:
                return
            if isinstance(outcome, Gave):
                yield run.result(tool, args, outcome.result, call=decision.id)
            elif isinstance(outcome, Failed):
                yield run.error(tool, outcome.error, text=outcome.text, args=args, call=decision.id)


def steps_of(row: Row) -> list[Step] | None:
    """The steps of a row's trace; `None` where it has none that can be read."""
    payload = row.payload
    match row.kind:
        case "oas":
            return [_shell_step(call) for call in payload["calls"]]
        case "tau":
            return [_bare_step(call) for call in payload["calls"]]
        case "trail":
            return list(_span_steps(payload["events"]))
        case "trace":
            return list(_turn_steps(payload["turns"]))
        case "gold_actions":
            return [Call(step["tool"], step["args"]) for step in payload["steps"]]
        case "dialogue":
            return list(_said_steps(payload))
        case _:
            return None


def session_of(row: Row) -> list[Step]:
    """The steps of a whole session: words of the user, replies, and calls with what came of
    them."""
    return [_session_step(step) for step in row.payload["steps"]]


def _session_step(step: dict[str, Any]) -> Step:
    match step:
        case {"user": text}:
            return User(str(text))
        case {"reply": text}:
            return Reply(str(text))
        case {"tool": tool, "args": args}:
            result = step.get("result")
            return Call(
                tool,
                args,
                Failed("ToolError", str(result or "")) if step.get("failed") else Gave(result),
            )
        case _:
            raise NoRows(
                f"a step of a session has none of `user`, `reply` and `tool`: it has {sorted(step)}"
            )


def _shell_step(call: dict[str, Any]) -> Step:
    """A call with its exit status: anything but 0 is a failure."""
    status, result = call.get("exit"), call.get("result")
    outcome = (
        Failed(f"exit_{status}", str(result or "")) if status not in (None, 0) else Gave(result)
    )
    return Call(call["tool"], call["args"], outcome)


def _bare_step(call: str) -> Step:
    """A call written as a pair of its tool and its arguments; nothing is known of its result."""
    tool, args = ast.literal_eval(call)
    return Call(tool, _args(args))


def _args(text: str) -> dict[str, Any]:
    try:
        read = json.loads(text)
    except ValueError:
        return {"text": text}
    return read if isinstance(read, dict) else {"value": read}


def _span_steps(events: list[dict[str, Any]]) -> Iterator[Step]:
    """Spans of a traced agent: calls of tools, and the code that an agent which writes code had run
    in each step."""
    step: dict[str, Any] | None = None
    for event in events:
        match event["kind"]:
            case "CHAIN":
                step = event
            case "LLM" if step is not None:
                code = CODE.search(_content(event.get("output")))
                if code is not None:
                    error = step.get("error")
                    yield Call(
                        "python",
                        {"code": code[1]},
                        Failed("CodeError", error) if error else Gave(None),
                    )
                    step = None
            case "TOOL":
                args = _args(event.get("input") or "{}")
                given = {
                    **args.get("kwargs", {}),
                    **({"args": args["args"]} if args.get("args") else {}),
                }
                error = event.get("error")
                outcome = Failed("ToolError", error) if error else Gave(event.get("output"))
                yield Call(event["name"], given, outcome)


def _content(output: str | None) -> str:
    """The words of a model's message; one that was cut off is read as far as it goes."""
    text = output if output is not None else ""
    try:
        said = json.loads(text)["content"]
        return said if isinstance(said, str) else ""
    except (ValueError, KeyError, TypeError):
        return text.replace("\\n", "\n").replace('\\"', '"')


def _turn_steps(turns: list[dict[str, Any]]) -> Iterator[Step]:
    """Turns of a chat with tool calls, each answered by a later turn."""
    waiting: list[tuple[str, dict[str, Any]]] = []
    for turn in turns:
        content = turn.get("content")
        match turn["role"]:
            case "user":
                yield User(content or "")
            case "assistant":
                if content:
                    yield Reply(content)
                for call in turn.get("tool_calls") or ():
                    waiting.append((call["function"]["name"], _args(call["function"]["arguments"])))
            case "tool" if waiting:
                tool, args = waiting.pop(0)
                failed = isinstance(content, str) and content.startswith("Error")
                yield Call(tool, args, Failed("Error", str(content)) if failed else Gave(content))
    for tool, args in waiting:
        yield Call(tool, args)


def _said_steps(text: str) -> Iterator[Step]:
    """A dialogue written down, `who: words`; calls are not in it, their results are."""
    for who, words in SAID.findall(text):
        said = words.strip()
        if who == "user":
            yield User(said)
        elif who == "tool":
            yield Came(said)
        elif said != "None":
            yield Reply(said)
