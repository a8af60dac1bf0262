"""`stanchion check`: judge one event, or a stream of them, without doing anything."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from functools import partial
from typing import Any, BinaryIO, Final

from stanchion import PolicyError, Shield
from stanchion.cli.answers import PROCEEDS, answer_of, line_of, status_of
from stanchion.cli.batch import answer_lines
from stanchion.cli.checks import Checks
from stanchion.cli.events import fields_of, parse, read
from stanchion.cli.judging import Judged, Runs
from stanchion.cli.parser import Parser
from stanchion.cli.terminal import Terminal, put, say
from stanchion.cli.trails import checks_folder
from stanchion.cli.trouble import BadInput
from stanchion.cli.verdict import row, verdict
from stanchion.cli.whose import add_project, whose
from stanchion.kernel.stages import Stage
from stanchion.runtime.places import MEMORY
from stanchion.runtime.reports import BadEvent

BAD_LINES: Final = 2
RUN: Final = "check"
"""The run of an event that names none."""

USAGE: Final = """stanchion check --tool NAME [--args JSON] [options]
       stanchion check --stage STAGE --event JSON [options]
       stanchion check --batch FILE [--policy POLICY] [--env NAME]"""

DESCRIPTION: Final = """\
Judge what an agent is about to do, or what it has just received, and do nothing about it.
One event is given by options and answered for people to read, or as JSON. With --batch
events come one a line from a file or from standard input, and each is answered by one
line of JSON before the next is read; what one event of a run counts, later events find."""

EXAMPLES: Final = """\
examples:
  stanchion check --tool bash --args '{"command": "ls"}'
  stanchion check --tool bash --policy policy.yaml --agent builder --json
  stanchion check --stage prompt --event '{"text": "hello", "trusted": false}'
  stanchion check --batch events.jsonl > answers.jsonl
  my-agent | stanchion check --batch - --policy policy.yaml
  stanchion check --tool bash --policy policy.yaml --env trial --explain

What was decided is kept for a while, for `stanchion explain ID`.

exit status:
  0  it proceeds; for a batch: every line was judged
  2  the input is bad; for a batch: some lines were no events
  3  it is refused
  4  it waits for a person"""


def add(commands: Any) -> None:
    """Add the command to the parser's commands."""
    summary = "judge one event, or a stream of them, without doing anything"
    parser: Parser = commands.add_parser("check", help=summary, usage=USAGE, description=DESCRIPTION, epilog=_epilog())
    event = parser.add_argument_group("the event")
    event.add_argument("--tool", metavar="NAME", help="the tool that is about to be called")
    event.add_argument("--args", metavar="JSON", help="its arguments, a JSON object")
    event.add_argument("--stage", metavar="STAGE", help="another stage than `tool_call`")
    event.add_argument("--event", metavar="JSON", help="the event's fields, as in a line of a batch")
    event.add_argument("--agent", metavar="NAME", help="who is at work")
    event.add_argument("--task", metavar="NAME", help="what is worked on")
    event.add_argument("--batch", metavar="FILE", help="events as JSON lines instead; `-` is standard input")
    judging = parser.add_argument_group("judging and answering")
    judging.add_argument(
        "--policy", metavar="POLICY", default="default", help="a policy file, a pack, or `found` (default: default)"
    )
    judging.add_argument("--env", metavar="NAME", help="judge by the policy as it is in this environment")
    judging.add_argument("--explain", action="store_true", help="say at once what `stanchion explain` says of it")
    add_project(judging)
    judging.add_argument("--json", action="store_true", help="answer with one line of JSON, as a batch does")


def run(args: argparse.Namespace) -> int:
    """Judge what was asked for and return the exit status; what guards print goes to standard error."""
    return _one(args) if args.batch is None else _many(args)


def _one(args: argparse.Namespace) -> int:
    try:
        report = read(_event(args))
        checks = Checks(partial(checks_folder, whose(args.project)), _not_kept)
        with redirect_stdout(sys.stderr), _shield(args, checks) as shield:
            judged = Runs(shield).judge(report)
            policy = shield.policy
    except BadEvent as error:
        raise BadInput(str(error)) from None
    if args.explain:
        from stanchion.cli.explanation import show
        from stanchion.lab.explain import explain

        show(explain(checks.last(), policy), args.json)
    elif args.json:
        sys.stdout.buffer.write(line_of(answer_of(judged)))
    else:
        terminal = Terminal.of(sys.stdout, os.environ)
        for line in (*verdict(judged, policy, terminal), *_ticket(judged, terminal)):
            put(sys.stdout, line)
    return status_of(judged.decision)


def _ticket(judged: Judged, terminal: Terminal) -> list[str]:
    """That a person would be asked; a check asks nobody."""
    if judged.run.ticket(judged.decision) is None:
        return []
    return row("person", "nobody is asked by a check: a run that wants this opens a ticket", terminal)


def _many(args: argparse.Namespace) -> int:
    for name in ("tool", "args", "stage", "event", "agent", "task"):
        if getattr(args, name) is not None:
            raise BadInput(f"`--{name}` is for one event: in a batch write it into the lines of `{args.batch}`")
    if args.explain:
        raise BadInput("`--explain` is for one event: after a batch see `stanchion explain`")
    answers = sys.stdout.buffer
    checks = Checks(partial(checks_folder, whose(args.project)), _not_kept)
    with _source(args.batch) as source, redirect_stdout(sys.stderr), _shield(args, checks) as shield:
        lines, bad = answer_lines(source, answers, Runs(shield))
    if bad:
        say(sys.stderr, f"stanchion: {bad} of {lines} lines are no events: correct those answered with `error`")
    return BAD_LINES if bad else PROCEEDS


def _source(name: str) -> AbstractContextManager[BinaryIO]:
    if name == "-":
        return nullcontext(sys.stdin.buffer)
    try:
        return open(name, "rb")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise BadInput(f"`{name}` cannot be read: {reason.lower()}; give a file of events, or `-`") from None


def _event(args: argparse.Namespace) -> dict[str, Any]:
    """One event from all the options that speak of it."""
    event: dict[str, Any] = {} if args.event is None else _object("--event", args.event)
    said = {"tool": args.tool, "stage": args.stage, "agent": args.agent, "task": args.task}
    given: dict[str, Any] = {name: _text(f"--{name}", value) for name, value in said.items() if value is not None}
    if args.args is not None:
        given["args"] = _object("--args", args.args)
    for name, value in given.items():
        if event.setdefault(name, value) != value:
            raise BadInput(f"`--{name}` and `--event` say different things about `{name}`: give it once")
    if not event:
        raise BadInput("there is nothing to judge: name a tool with `--tool NAME`, or see `stanchion check --help`")
    return {"run": RUN, "stage": str(Stage.TOOL_CALL), **event}


def _object(option: str, text: str) -> dict[str, Any]:
    try:
        data = parse(_text(option, text).encode())
    except BadEvent as error:
        raise BadInput(f"`{option}` is `{_short(text)}`: {error}") from None
    if not isinstance(data, dict):
        raise BadInput(f"`{option}` is `{_short(text)}`: give a JSON object, which stands in braces")
    return data


def _text(option: str, text: str) -> str:
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise BadInput(f"`{option}` is not UTF-8: give it in that encoding")
    return text


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"


def _shield(args: argparse.Namespace, checks: Checks) -> Shield:
    """The shield to judge with. It counts in memory, for this command alone, and keeps what it decides."""
    named = {} if args.env is None else {"env": args.env}
    try:
        shield: Shield = args.load(args.policy, store=MEMORY, journal=checks, **named)
    except PolicyError as error:
        raise BadInput(*[str(fault) for fault in error.faults]) from None
    return shield


def _not_kept(why: str) -> None:
    """Say that there will be nothing to explain; it changes no answer."""
    say(sys.stderr, f"stanchion: decisions are not kept for `stanchion explain`: {why}")


def _epilog() -> str:
    stages = [f"  {stage:<13} {', '.join(_marked(stage))}" for stage in Stage]
    everywhere = "  everywhere    call, tool, tokens, cost_usd, api_calls, duration_s"
    return "\n".join([EXAMPLES, "", "stages and their fields (* is needed):", *stages, everywhere])


def _marked(stage: Stage) -> list[str]:
    everywhere = {"call", "tokens", "cost_usd", "api_calls", "duration_s"}
    fields = [field for field in fields_of(stage) if field.name not in everywhere]
    return [
        f"{field.name}*" if field.required else field.name for field in fields if field.required or field.name != "tool"
    ]
