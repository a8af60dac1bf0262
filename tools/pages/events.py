"""Events as JSON: the fields of every stage, each with a line that is really answered so."""

import json
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

from stanchion import Stage
from stanchion.cli.batch import MAX_LINE_BYTES
from stanchion.cli.check_output import MAX_RUNS, CheckAnswer
from stanchion.cli.events import FRAME, IDENTITY, JSON_WORDS, MAX_NAME, EventField, fields_of
from stanchion.kernel.stages import CAUGHT

PATH = "docs/reference/events.md"
GOLDEN = Path(__file__).resolve().parents[2] / "tests/golden/cli/batch"

INTRODUCTION = """\
# Events and answers

`stanchion check --batch` reads one event a line and answers each with one line, before it reads the next.
This page has the fields of every event and of the answers. The examples are lines of the golden tests with
their answers, byte for byte.

A field that is not listed, a field that is missing, a value of another type, a key that is there twice, a
number that JSON does not have: the line is no event. It is answered with `line` and `error`, it takes no
part in any run, and the lines after it are judged as if it had not been there.
"""

OF_A_RUN = """\
The first event of a run may say what the run is. Later events may repeat that; one that says something else
is no event.
"""

EVERYWHERE = """\
These may stand in an event of any stage.
"""

LIMITS = f"""\
A line has at most {MAX_LINE_BYTES:,} bytes, the names of runs, agents, tasks, roles and tenants have at most {MAX_NAME}
characters, and a batch has at most {MAX_RUNS:,} runs; what goes beyond is no event.
"""

FINDINGS = """\
A finding is an object with `guard`, `action`, `code`, `message` and `advice`; where the guard asked for something
milder that cannot be done at that stage, `said` is what it asked for.
"""

ANSWERED = {
    "id": "the decision; a later `tool_result`, `model_reply` or `error` names it as its `call`",
    "event": "the event's own `id`; left out where it had none",
    "run": "the run",
    "action": "what becomes of the event: one of the [actions](actions.md)",
    "proceeds": "whether it goes ahead; nothing goes ahead unless this is `true`",
    "code": "the reason, one of the [codes](codes.md); empty where nothing was found",
    "message": "why, in words for the agent",
    "advice": "what to do instead",
    "findings": "what guards found, in order",
    "skipped": "the guards that were no longer asked",
    "shadow": "what guards in shadow mode would have found; left out where there is nothing",
    "content": (
        "what goes ahead, after patches; left out where nothing does, and at `charge`, "
        "which has none"
    ),
    "unresolved": (
        "names whose addresses were not looked up, which `--resolve` does; left out "
        "where there are none"
    ),
    "ticket": "the id of what a person is asked, or would be; left out where nobody is",
}

MEANINGS = {
    "run": "the run it belongs to",
    "stage": "where it is caught",
    "id": "an id of your own; the answer repeats it as `event`",
    "agent": "who is at work",
    "task": "what is worked on",
    "role": "the agent's role; the policy's where it is left out",
    "tenant": "whose state it is: `default` where it is left out, a child has its parent's",
    "parent": "the run that began this one; its own first event comes before",
    "call": (
        "the `id` of the answer that let the call start; found by tool and arguments where it "
        "is left out"
    ),
    "tool": "the tool",
    "tokens": "tokens used: an estimate before, the real number after",
    "cost_usd": "what it costs in dollars, likewise",
    "api_calls": "how many calls of an API it makes, likewise",
    "duration_s": (
        "how many seconds it works: an estimate before, measured after where it is left out"
    ),
    "prompt.text": "the words",
    "prompt.source": "whose words they are",
    "prompt.trusted": "whether they are the user's own",
    "model_call.messages": "the messages of the request",
    "model_call.model": "the model",
    "model_call.params": "the request's other parameters",
    "model_chunk.text": "the piece",
    "model_chunk.channel": "what it is a piece of",
    "model_chunk.index": "its number, from 0",
    "model_reply.text": "the whole reply",
    "model_reply.model": "the model it came from",
    "model_reply.final": "whether it is the run's answer",
    "tool_call.args": "its arguments",
    "tool_result.args": "the arguments it was called with",
    "tool_result.result": "what it gave",
    "tool_result.part": "the number of an item, where a tool gives several one by one",
    "egress.url": "where it goes",
    "egress.method": "its method",
    "egress.headers": "its headers",
    "egress.payload": "its body",
    "error.error": "the kind of error",
    "error.text": "what it says",
    "error.args": "the arguments of the call that failed",
    "error.status": "a status code, where there is one",
    "error.attempt": "which attempt this was",
    "error.bases": "the kinds of error that this one is a kind of",
    "error.fault": "whose fault it is: `system`, `user`, `business` or `unknown`",
    "charge.model": "the model it is for",
    "charge.tokens": "how many tokens it is",
    "charge.cost_usd": "how much it is in dollars",
    "charge.settled": "whether it is the real cost, not an estimate",
    "handoff.to": "the agent that takes over",
    "handoff.payload": "what it is handed",
    "handoff_done.to": "the agent that has taken over",
    "handoff_done.payload": "what it was handed",
}


def render() -> str:
    """Render the common fields, then the stages one by one, then the answers."""
    everywhere = tuple(field for field in fields_of(Stage.PROMPT) if field.name in _COMMON)
    parts = [INTRODUCTION, "## Every event", "", *_table(FRAME), OF_A_RUN, *_table(IDENTITY)]
    parts += [
        EVERYWHERE,
        *_table(everywhere),
        "At `charge` there is neither `api_calls` nor `duration_s`.",
        "",
        LIMITS,
    ]
    events, answers = _lines("every_stage")
    for stage, event, answer in zip(Stage, events, answers, strict=True):
        assert json.loads(event)["stage"] == stage
        common = set(_COMMON) - ({"tokens", "cost_usd"} if stage is Stage.CHARGE else set())
        own = tuple(
            field for field in fields_of(stage) if field.required or field.name not in common
        )
        parts += [
            f"## {stage}",
            "",
            f"Caught: {CAUGHT[stage]}.",
            "",
            *_table(own, stage),
            *_pair(event, answer),
        ]
    parts += ["## Answers", "", *_answers(), FINDINGS]
    parts += [
        "### A refusal",
        "",
        *_example("refusals", "BLOCK"),
        "### A warning",
        "",
        *_example("refusals", "WARN"),
    ]
    parts += ["### Patched content", "", *_example("patched", "REDACT")]
    parts += ["### A line that is no event", "", *_example("malformed", None)]
    return "\n".join(parts)


_COMMON = ("call", "tool", "tokens", "cost_usd", "api_calls", "duration_s")


def _table(fields: tuple[EventField, ...], stage: Stage | None = None) -> list[str]:
    lines = ["| field | type | default | meaning |", "|---|---|---|---|"]
    for field in fields:
        if field.required:
            default = "**needed**"
        else:
            default = "" if field.default in (None, "") else f"`{json.dumps(field.default)}`"
        meaning = MEANINGS.get(f"{stage}.{field.name}", MEANINGS.get(field.name))
        assert meaning is not None, f"say in MEANINGS what `{field.name}` of `{stage}` means"
        lines.append(f"| `{field.name}` | {_type(field.type)} | {default} | {meaning} |")
    return [*lines, ""]


def _answers() -> list[str]:
    lines = ["| field | type | meaning |", "|---|---|---|"]
    for field in msgspec.structs.fields(CheckAnswer):
        lines.append(f"| `{field.name}` | {_type(field.type)} | {ANSWERED[field.name]} |")
    return [*lines, ""]


def _type(kind: Any) -> str:
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _type(args[0])
    if origin in (Union, UnionType):
        return " or ".join(_type(part) for part in args if part is not msgspec.UnsetType)
    if origin is dict:
        return "object" if args[1] is Any else f"object of {_type(args[1])}s"
    if origin in (list, tuple):
        return "array"
    if kind is Any:
        return "any"
    return "null" if kind is NoneType else JSON_WORDS[kind.__name__]


def _lines(name: str) -> tuple[list[str], list[str]]:
    files = [GOLDEN / f"{name}.jsonl", GOLDEN / f"{name}.answers.jsonl"]
    events, answers = [file.read_text(encoding="utf-8").splitlines() for file in files]
    return events, answers


def _example(name: str, action: str | None) -> list[str]:
    """The first event with that action; a line that is no event where there is none."""
    for event, answer in zip(*_lines(name), strict=True):
        if event and json.loads(answer).get("action") == action:
            return _pair(event, answer)
    raise ValueError(
        f"`{name}` has no answer with the action `{action}`: add one to the golden tests"
    )


def _pair(event: str, answer: str) -> list[str]:
    return ["```json", event, "```", "", "```json", answer, "```", ""]
