"""Cases from whole sessions of corpora: one run each, in order, as if it happened now, by three
packs or one of all."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion_lab.measuring import traces
from stanchion_lab.measuring.injecagent import HOLE, args_for, fetching
from stanchion_lab.measuring.rows import Row, rows
from tools.decisions.case import Case, Judge
from tools.decisions.policies import PACKS, choose_further, choose_one

FLOW: Final = (
    "apibank",
    "bfcl",
    "dyn_honest",
    "dyn_https",
    "dyn_real",
    "dyn_variants",
    "dyn_variants_plain",
    "dyn_worst",
)
"""Files of the folder `flow`; their tools stand in the file of the first part of the name."""
ALIKE: Final = ("dyn_variants", "dyn_variants_plain")
"""Files with the same long sessions in many wordings: each is played under one pack."""


def cases(folder: Path) -> Iterator[Case]:
    """Every session, under its packs."""
    for file in ("honest_sessions", "benign_traces", "loops", "injecagent"):
        if (folder / f"{file}.jsonl").is_file():
            for row in rows(folder, f"{file}.jsonl"):
                yield from _cases(f"corpora/{file}: {row.id}", _steps(file, row))
    for name in FLOW:
        if (folder / "flow" / f"{name}.jsonl").is_file():
            yield from _flow(folder / "flow", name)


def _cases(
    name: str, steps: Iterable[Judge], tools: tuple[dict[str, Any], ...] = ()
) -> Iterator[Case]:
    """A session under its packs; none where nothing happens in it that can be read."""
    told = tuple(steps)
    alike = name.partition(":")[0].rpartition("/")[2] in ALIKE
    for pack in () if not told else choose_one(name) if alike else (*PACKS, *choose_further(name)):
        yield Case(f"{name} ({pack})", pack, told, {"": {"agent": "ann", "task": "work"}}, tools)


def _steps(file: str, row: Row) -> Iterator[Judge]:
    match file:
        case "honest_sessions":
            return _told(row.payload["steps"])
        case "injecagent":
            return _hijack(row.payload, row.label == "attack")
        case _:
            found = traces.steps_of(row)
            return _traced(() if found is None else found)


def _told(steps: list[dict[str, Any]]) -> Iterator[Judge]:
    for step in steps:
        if "user" in step:
            yield Judge("prompt", {"text": step["user"]})
        elif "reply" in step:
            yield Judge("model_reply", {"text": step["reply"]})
        else:
            yield from called(
                step["tool"],
                step["args"],
                result=step.get("result"),
                failed=bool(step.get("failed")),
            )


def called(tool: str, args: dict[str, Any], result: Any, failed: bool) -> Iterator[Judge]:
    """A call and what came of it. The agent goes on as recorded, also where a call is refused."""
    yield Judge("tool_call", {"tool": tool, "args": args})
    if failed:
        yield Judge(
            "error",
            {"tool": tool, "args": args, "error": "Error", "text": str(result)},
            of_call=True,
        )
    else:
        yield Judge("tool_result", {"tool": tool, "args": args, "result": result}, of_call=True)


def _traced(steps: Iterable[traces.Step]) -> Iterator[Judge]:
    for step in steps:
        match step:
            case traces.User(text):
                yield Judge("prompt", {"text": text})
            case traces.Reply(text):
                yield Judge("model_reply", {"text": text})
            case traces.Came(result):
                yield Judge("tool_result", {"tool": "tool", "args": {}, "result": result})
            case traces.Call(tool, args, traces.Failed(error, text)):
                yield Judge("tool_call", {"tool": tool, "args": args})
                yield Judge(
                    "error",
                    {"tool": tool, "args": args, "error": error, "text": text},
                    of_call=True,
                )
            case traces.Call(tool, args, traces.Gave(result)):
                yield from called(tool, args, result, failed=False)
            case traces.Call(tool, args):
                yield Judge("tool_call", {"tool": tool, "args": args})


def _hijack(said: dict[str, Any], attack: bool) -> Iterator[Judge]:
    """The user's words, the user's call and its result, and the calls that the result asks for."""
    result = said.get("tool_response", said.get("tool_response_template", "")).replace(HOLE, "")
    yield Judge("prompt", {"text": said["user_instruction"]})
    yield from called(said["user_tool"], ast.literal_eval(said["user_args"]), result, failed=False)
    if attack:
        *before, last = said["attacker_tools"]
        asked = said["attacker_instruction"]
        for name in before:
            yield from called(
                name, fetching(name, asked), {"data": "what was asked for"}, failed=False
            )
        yield Judge("tool_call", {"tool": last, "args": args_for(last, asked)})


def _flow(folder: Path, name: str) -> Iterator[Case]:
    definitions = msgspec.json.decode(
        (folder / f"{name.partition('_')[0]}_tools.json").read_bytes()
    )
    for line in (folder / f"{name}.jsonl").read_bytes().splitlines():
        trace = msgspec.json.decode(line, type=dict[str, Any])
        # Taking definitions in costs more than judging: those that are called are enough, and some
        # others.
        names = {step.get("tool") for step in trace["steps"]}
        some = [
            each
            for at, each in enumerate(definitions[trace["tools"]])
            if at < 5 or each["name"] in names
        ]
        tools = tuple([{"type": "function", "function": each} for each in some])
        yield from _cases(f"corpora/flow/{name}: {trace['id']}", _flow_steps(trace["steps"]), tools)


def _flow_steps(steps: list[dict[str, Any]]) -> Iterator[Judge]:
    for step in steps:
        match step["t"]:
            case "prompt":
                yield Judge("prompt", {"text": step["text"]})
            case "reply":
                yield Judge(
                    "model_reply", {"text": step["text"], "final": step.get("final", False)}
                )
            case _ if "result" in step or "error" in step:
                failed = "error" in step
                yield from called(
                    step["tool"], step["args"], step["error" if failed else "result"], failed
                )
            case _:
                yield Judge("tool_call", {"tool": step["tool"], "args": step["args"]})
