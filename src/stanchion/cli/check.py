"""`stanchion check`: judge one event, or a stream of them, without doing anything."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from functools import partial
from math import isfinite, nan
from typing import Any, BinaryIO, Final

from stanchion import Shield
from stanchion.cli.check_history import Checks
from stanchion.cli.check_output import (
    PROCEEDS,
    CommandRuns,
    JudgedEvent,
    Unasked,
    answer_of,
    line_of,
    status_of,
    verdict,
)
from stanchion.cli.command import PROJECT, Args, BadInput, DeclaredCommand, group, in_words, option
from stanchion.cli.events import fields_of, parse, read
from stanchion.cli.printing import row, shortened
from stanchion.cli.terminal import Terminal, put_lines, warn
from stanchion.cli.whose import checks_folder, whose
from stanchion.kernel.stages import Stage
from stanchion.runtime.calling.reports import BadEvent
from stanchion.runtime.standing.listeners import NOBODY
from stanchion.runtime.standing.places import MEMORY

BAD_LINES: Final = 2
MAX_RESULT: Final = 8 * 1024 * 1024
"""How many bytes of a result are read from standard input."""
RUN: Final = "check"
"""The run of an event that names none."""


EXAMPLES: Final = """\
examples:
  stanchion check --tool bash --args '{"command": "ls"}'
  stanchion check --tool bash --policy policy.yaml --agent builder --json
  stanchion check --stage prompt --event '{"text": "hello", "trusted": false}'
  stanchion check --batch events.jsonl > answers.jsonl
  my-agent | stanchion check --batch - --policy policy.yaml
  stanchion check --tool bash --policy policy.yaml --env trial --explain
  stanchion check --run job-7 --agent builder --tool bash --args '{"command": "ls"}' --json
  stanchion check --run job-7 --tool bash --call job-7.1f2e.1 --result "$(cat out.txt)"

CALL is the id of the answer that let the call start: its result settles what it reserved.
Decisions are kept for a while for `stanchion explain ID`; with --run, in the trail.
Host names in URLs are resolved only with --resolve. Without it the name alone is judged,
and the answer says so; with --run, when the request may follow, it is refused.

exit status:
  0  the event goes ahead; for a batch: every line was judged
  2  the input is bad; for a batch: some lines were not events
  3  the event is refused
  4  the event waits for a person"""


def run(args: Args) -> int:
    """Judge what was asked for and return the exit status; what guards print goes to standard
    error."""
    return _one(args) if args.batch is None else _many(args)


def _one(args: Args) -> int:
    if args.run is not None and args.explain:
        raise BadInput(
            "`--explain` is for a check without `--run`: for this one use `stanchion explain ID`"
        )
    checks = Checks(partial(checks_folder, whose(args.project)), _not_kept)
    report = read(_event(args))
    if args.run is not None:
        from stanchion.cli.counted import judge_counted

        judged, policy = judge_counted(args, report)
    else:
        unasked = Unasked()
        with redirect_stdout(sys.stderr), _shield(args, checks, unasked) as shield:
            judged = CommandRuns(shield, unresolved=unasked.take).judge(report)
            policy = shield.policy
    if args.explain:
        from stanchion.cli.explain import show
        from stanchion.ops.views.cures import cured
        from stanchion.ops.views.explain import explain

        case = checks.last()
        show(cured(explain(case, policy), case), args.json)
    elif args.json:
        sys.stdout.buffer.write(line_of(answer_of(judged)))
    else:
        terminal = Terminal.of_stdout()
        put_lines(
            [*verdict(judged, policy, terminal), *_ticket(judged, terminal, args.run is not None)]
        )
    return status_of(judged.decision)


def _ticket(judged: JudgedEvent, terminal: Terminal, counted: bool) -> list[str]:
    """Which ticket asks a person, or that one would be asked: a check that does not count asks
    nobody."""
    ticket = judged.run.ticket(judged.decision)
    if ticket is None:
        return []
    if counted:
        return row("ticket", f"{ticket}; check the same call again once it is approved", terminal)
    return row("person", "a check asks nobody: in a run, this opens a ticket", terminal)


def _many(args: Args) -> int:
    if args.run is not None:
        raise BadInput(
            f"`--run` is for one event, which counts: the lines of `{args.batch}` name their own "
            f"runs"
        )
    for name in ("event", *OPTIONS):
        if getattr(args, name) is not None:
            raise BadInput(
                f"`--{name}` is for one event: in a batch write it into the lines of `{args.batch}`"
            )
    if args.explain:
        raise BadInput("`--explain` is for one event: after a batch see `stanchion explain`")
    from stanchion.cli.batch import answer_lines

    answers = sys.stdout.buffer
    checks = Checks(partial(checks_folder, whose(args.project)), _not_kept)
    unasked = Unasked()
    with (
        _source(args.batch) as source,
        redirect_stdout(sys.stderr),
        _shield(args, checks, unasked) as shield,
    ):
        lines, bad = answer_lines(source, answers, CommandRuns(shield, unresolved=unasked.take))
    if bad:
        warn(
            f"{bad} of {lines} lines are not events: correct those answered with `error`",
        )
    return BAD_LINES if bad else PROCEEDS


def _source(name: str) -> AbstractContextManager[BinaryIO]:
    if name == "-":
        return nullcontext(sys.stdin.buffer)
    try:
        return open(name, "rb")
    except (OSError, ValueError) as error:
        raise BadInput(
            f"`{name}` cannot be read: {in_words(error)}; give a file of events, or `-`"
        ) from None


def _event(args: Args) -> dict[str, Any]:
    """One event from all the options that speak of it."""
    event = {} if args.event is None else _object("--event", args.event)
    given = {
        name: read_option(f"--{name}", value)
        for name, read_option in OPTIONS.items()
        if (value := getattr(args, name)) is not None
    }
    if "result" in given:
        given.setdefault("stage", str(Stage.TOOL_RESULT))
    for said, value in given.items():
        name = "cost_usd" if said == "cost" else said
        if event.setdefault(name, value) != value:
            raise BadInput(
                f"`--{said}` and `--event` say different things about `{name}`: give it once"
            )
    if not event.keys() - {"run", "agent", "task"}:
        raise BadInput(
            "there is nothing to judge: give a tool with `--tool NAME`, or see `stanchion check "
            "--help`"
        )
    return {"run": RUN, "stage": str(Stage.TOOL_CALL), **event}


def _result(option: str, text: str) -> str:
    if text != "-":
        return _text(option, text)
    try:
        return sys.stdin.buffer.read(MAX_RESULT + 1)[: MAX_RESULT + 1].decode()
    except UnicodeDecodeError:
        raise BadInput("the input of `--result -` is not UTF-8: give it in that encoding") from None


def _number(kind: type[int] | type[float], option: str, text: str) -> int | float:
    try:
        number = kind(text)
    except ValueError:
        number = nan
    if not isfinite(number):
        what = "a whole number" if kind is int else "a number, such as `0.05`"
        raise BadInput(f"`{option}` is `{shortened(text, 60)}`: give {what}")
    return number


def _object(option: str, text: str) -> dict[str, Any]:
    try:
        data = parse(_text(option, text).encode())
    except BadEvent as error:
        raise BadInput(f"`{option}` is `{shortened(text, 60)}`: {error}") from None
    if not isinstance(data, dict):
        raise BadInput(f"`{option}` is `{shortened(text, 60)}`: give a JSON object, as in `{{}}`")
    return data


def _text(option: str, text: str) -> str:
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise BadInput(f"`{option}` is not UTF-8: give it in that encoding")
    return text


OPTIONS: Final[dict[str, Callable[[str, str], Any]]] = {
    **dict.fromkeys(("run", "tool", "stage", "agent", "task", "call"), _text),
    "args": _object,
    "result": _result,
    "tokens": partial(_number, int),
    "cost": partial(_number, float),
}
"""What says something of one event, and how it is read."""


def _shield(args: Args, checks: Checks, unasked: Unasked) -> Shield:
    """The shield to judge with. It counts in memory, for this command alone, and keeps what it
    decides."""
    named: dict[str, Any] = {} if args.env is None else {"env": args.env}
    if not args.resolve:
        named["resolver"] = unasked
    quiet: Any = {"metrics": False, "notify": NOBODY, "prepare": args.batch is not None}
    shield: Shield = args.load(args.policy, store=MEMORY, journal=checks, **quiet, **named)
    shield.occurrences.mute()
    return shield


def _not_kept(why: str) -> None:
    """Say that there will be nothing to explain; it changes no answer."""
    warn(f"decisions are not kept for `stanchion explain`: {why}")


def _epilog() -> str:
    stages = [f"  {stage:<13} {', '.join(_marked(stage))}" for stage in Stage]
    everywhere = "  everywhere    call, tool, tokens, cost_usd, api_calls, duration_s"
    return "\n".join([EXAMPLES, "", "stages and their fields (* is needed):", *stages, everywhere])


def _marked(stage: Stage) -> list[str]:
    everywhere = {"call", "tokens", "cost_usd", "api_calls", "duration_s"}
    fields = [field for field in fields_of(stage) if field.name not in everywhere]
    return [
        f"{field.name}*" if field.required else field.name
        for field in fields
        if field.required or field.name != "tool"
    ]


CHECK_COMMAND: Final = DeclaredCommand(
    usage="""stanchion check --tool NAME [--args JSON] [options]
       stanchion check --stage STAGE --event JSON [options]
       stanchion check --run ID --tool NAME [--args JSON] [options]
       stanchion check --run ID --tool NAME --call CALL --result TEXT [options]
       stanchion check --batch FILE [--policy POLICY] [--env NAME]""",
    description="""\
Judge what an agent is about to do, or what it has just received, and do nothing about it.
One event is given by options and answered for people to read, or as JSON. With --batch
events come one a line from a file or from standard input, and each is answered by one
line of JSON before the next is read. Later events of a run see what earlier ones counted.

With --run the event counts: it belongs to that run, whose steps, budgets and tickets are in
the project's store, and it is written to the trail. All checks of a run share these,
whether they come one after another or at once. Only the first check needs to name the
agent.""",
    epilog=_epilog,
    options=(
        group(
            "the event",
            option("--tool NAME", "the tool that is about to be called"),
            option("--args JSON", "its arguments, a JSON object"),
            option("--stage STAGE", "the stage, if it is not `tool_call`"),
            option("--event JSON", "the event's fields, as in a line of a batch"),
            option("--agent NAME", "the agent"),
            option("--task NAME", "the task"),
            option("--call CALL", "the call that a result or an error belongs to"),
            option("--result TEXT", "the tool's result as text; `-` reads standard input"),
            option("--tokens N", "the tokens that the event uses or has used"),
            option("--cost USD", "the cost of the event, in dollars"),
            option("--batch FILE", "events as JSON lines instead; `-` reads standard input"),
        ),
        group(
            "judging and answering",
            option(
                "--policy POLICY",
                "a policy file, a pack, or `found` (default: default)",
                default="default",
            ),
            option("--env NAME", "use this environment of the policy"),
            option("--explain", "also print what `stanchion explain` says about the answer"),
            option("--run ID", "count the event as part of this run, in the project's store"),
            option("--resolve", "resolve host names with the system's DNS"),
            PROJECT,
            option("--json", "answer with one line of JSON, as a batch does"),
        ),
    ),
    work=run,
)
