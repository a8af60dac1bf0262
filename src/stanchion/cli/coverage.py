"""`stanchion audit coverage`: what was executed beside what was decided, and what escaped."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from stanchion.audit.reader import WantedRecords
from stanchion.cli.command import (
    JSON,
    PROJECT,
    TRAIL,
    Args,
    BadInput,
    DeclaredCommand,
    GivenOnce,
    in_words,
    option,
)
from stanchion.cli.printing import Layout, put_view
from stanchion.cli.terminal import Terminal
from stanchion.cli.trails import progress_in, records_in, tell_unread
from stanchion.hosts.canaries import driven, installed, unproven
from stanchion.ops.views.amounts import counted
from stanchion.ops.views.coverage import CoverageView, EscapedView, coverage, with_canaries
from stanchion.ops.views.trails import chosen
from stanchion.ops.views.transcript import BadTranscript, HostTranscript, read_transcript

ESCAPED: Final = 3


def run(args: Args) -> int:
    """Show what escaped."""
    told = None if args.transcript is None else _transcript(args.transcript)
    found = _found(args, told)
    if args.canaries:
        found = with_canaries(found, _canaries())
    put_view(found, partial(_all_lines, told is not None, args.canaries), args.json)
    return ESCAPED if found.escaped else 0


def _found(args: Args, told: HostTranscript | None) -> CoverageView:
    # Canaries need no trail: they are driven now.
    may_be_empty = args.canaries and args.run is None and told is None
    with records_in(args, may_be_empty) as reader:
        with progress_in(reader, "looking") as done:
            found = coverage(
                chosen(reader, WantedRecords(), done), "" if args.run is None else args.run, told
            )
        tell_unread(reader)
    if args.run is not None and not found.runs:
        raise BadInput(
            f"there is no run `{args.run}` in this trail: `stanchion runs` lists the newest"
        )
    return found


def _transcript(name: str) -> HostTranscript:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return read_transcript(data)
    except OSError as error:
        raise BadInput(f"the transcript `{name}` cannot be read: {in_words(error)}") from None
    except BadTranscript as error:
        raise BadInput(
            f"the transcript `{name}` cannot be read: {error}; give JSON, or one JSON value a line"
        ) from None


def _canaries() -> dict[str, str]:
    """What came of the canary of every adapter that is installed: why it was not caught, empty
    where it was."""
    came = {name: driven(name) for name in installed()}
    return {name: "" if one.caught else one.why for name, one in came.items()}


def _all_lines(
    matched: bool, driven_now: bool, found: CoverageView, terminal: Terminal
) -> Iterator[str]:
    if found.escaped:
        yield from (*ESCAPED_ROWS.lines(found.escaped, terminal), "")
    yield from _lines(found, matched)
    if driven_now:
        yield f"without a canary: {', '.join(unproven())}"


def _row(one: EscapedView) -> tuple[str, ...]:
    does = " ".join(word for word in (one.kind, one.target) if word)
    if one.through and one.through != one.name:
        does = f"{does} by {one.through}"
    stopped = ", stopped" if one.stopped else ""
    told = f"{one.told_by}, by time" if one.by == "time" else one.told_by
    return one.what, one.name, f"{does if does else one.why}{stopped}", one.place, one.run, told


ESCAPED_ROWS: Final = Layout(
    ("what", "name", "does", "where", "run", "told by"),
    _row,
    styles=lambda _: {"what": "bad", "told by": "dim"},
)


def _lines(found: CoverageView, matched: bool) -> list[str]:
    """What is known besides: how many runs were watched, and what could not be told."""
    runs, escaped = len(found.runs), len(found.escaped)
    apart = sum(not one.mode for one in found.runs)
    unreported = sum(one.unreported for one in found.runs)
    unsure, vouched = sum(one.unsure for one in found.runs), sum(one.vouched for one in found.runs)
    what = f"{counted(escaped, 'thing')} escaped" if escaped else "nothing is known to have escaped"
    recorded = found.tokens_recorded
    tokens = f"{recorded:,}" if recorded else "none, because no budget counts them"
    caught = f"{sum(found.canaries.values())} of {len(found.canaries)}"
    known = (
        (True, f"{what}, in {counted(runs, 'run')}"),
        (apart, f"not watched, or not to their end: {counted(apart, 'run')}; {WATCH}"),
        (unreported, f"decided, and no outcome reported: {counted(unreported, 'call')}"),
        (unsure, f"done in a thread of no run while a call was under way, {APART}: {unsure:,}"),
        (vouched, f"called the host's own work: {vouched:,}"),
        (matched, f"in the transcript: {found.asked:,} asked for and never answered"),
        (matched, f"decided and not in the transcript: {counted(found.untold, 'call')}"),
        (
            matched and found.tokens_told,
            f"tokens in the transcript: {found.tokens_told:,}; counted in the trail: {tokens}",
        ),
        (found.canaries, f"canaries caught: {caught} ({', '.join(found.canaries)})"),
        (found.left_out, f"too many to be told: {found.left_out:,}"),
    )
    return [words for some, words in known if some]


WATCH: Final = "start the shield with coverage"
APART: Final = "so not told apart"


AUDIT_COVERAGE_COMMAND: Final = DeclaredCommand(
    usage="""stanchion audit coverage [--run ID] [--transcript FILE] [--canaries]
                          [--trail DIR] [--json]""",
    description="""\
Reconcile what was executed with what was decided, and name what escaped: code that started
a process, opened a connection or wrote a file outside every guarded call, clients that asked
a model without a decision, sub-agents that work inside a tool, tools that an adapter found
unguarded, and adapters that did not catch their canary.

Runs are watched if the shield was started with coverage. A transcript (messages of OpenAI,
Anthropic or LangChain, traffic of MCP, as JSON or one JSON value a line) is matched with the
trail as well: each call that was answered needs a decision about that tool and those
arguments, and each reply of a model one about its words. If a budget counts tokens, those
that replies say they used are compared with those that were counted.""",
    epilog="""\
examples:
  stanchion audit coverage
  stanchion audit coverage --run last --json
  stanchion audit coverage --run run-1f0c --transcript messages.jsonl
  stanchion audit coverage --canaries

exit status:
  0  nothing is known to have escaped
  2  there is no trail or no such run, or the transcript cannot be read
  3  something escaped""",
    options=(
        option(
            "--run ID",
            "one run and those below it (default: all); `last` is the newest",
            action=GivenOnce,
        ),
        option(
            "--transcript FILE",
            "the host's own log, to be matched; `-` reads it from stdin",
            action=GivenOnce,
        ),
        option("--canaries", "drive the canary of every adapter that is installed, now"),
        TRAIL,
        option("--schema NAME", "the schema of the database (default: stanchion)"),
        PROJECT,
        JSON,
    ),
    work=run,
)
