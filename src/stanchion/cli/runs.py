"""`stanchion runs`: the runs that a trail tells of, and one of them in full."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, Final

from stanchion.audit.runs import RunStory, newest_runs, run_detail
from stanchion.cli.burn_lines import Totals, burn_data, burn_lines
from stanchion.cli.parser import Parser, count, nearest
from stanchion.cli.progress import progress
from stanchion.cli.run_lines import STYLES, run_lines
from stanchion.cli.screen import look_of
from stanchion.cli.stores import opened
from stanchion.cli.table import table
from stanchion.cli.terminal import Terminal, json_line, put, say
from stanchion.cli.times import shown, span
from stanchion.cli.trails import digits_of, reader_of
from stanchion.cli.trouble import BadInput
from stanchion.cli.whose import add_project, whose
from stanchion.lab.burn_down import Burned, burn_down, policy_of
from stanchion.runtime.state_places import Whose

LISTED: Final = 20
LAST: Final = "last"
COLUMNS: Final = ("run", "state", "began", "lasted", "decided", "refused", "agent", "task", "policy")
NUMBERS: Final = frozenset({"decided", "refused", "lasted"})

USAGE: Final = """stanchion runs [-n N] [--all] [--trail DIR] [--json]
       stanchion runs show ID [--trail DIR] [--store URL] [--json]"""

DESCRIPTION: Final = """\
List the newest runs: who is at work on what, how each stands, how often what was decided,
how long it took. Or show one in full: under which policy, how its budgets were used up as
its time went by, its last decisions, calls that were started and never said what came of
them, and what it had produced when it ended.

A run is open, ended, halted (a guard or an operator stopped it), cancelled, or lost: its
end was never written, and the process that was at it is gone."""

EPILOG: Final = """\
examples:
  stanchion runs
  stanchion runs --all --json | jq 'select(.state == "lost")'
  stanchion runs show last

The trail is that of the project (`stanchion state --where`), or where STANCHION_AUDIT says;
the store has what is left of budgets now: the project's, or where STANCHION_STORE says.

exit status:
  0  it is shown
  2  there is no such run, or no trail"""


def add(commands: Any) -> None:
    """Add the command to those of the command line."""
    summary = "list runs and how they stand, or tell one in full"
    parser: Parser = commands.add_parser("runs", help=summary, usage=USAGE, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("verb", metavar="show", nargs="?", help="tell one run in full")
    parser.add_argument("id", metavar="ID", nargs="?", help="the run; `last` is the one that began last")
    parser.add_argument("-n", "--lines", metavar="N", type=count, help="how many runs (default: 20)")
    parser.add_argument("--all", action="store_true", help="all runs")
    parser.add_argument("--trail", metavar="DIR", help="the folder of the trail")
    parser.add_argument("--store", metavar="URL", help="the store of its budgets: a file, or a URL")
    add_project(parser)
    parser.add_argument("--json", action="store_true", help="answer with JSON, one line for each run")


def run(args: argparse.Namespace) -> int:
    """List runs, or show one."""
    if args.verb is None:
        if args.store is not None:
            raise BadInput("`--store` is for `stanchion runs show`: the list tells nothing of budgets")
        return _list(args)
    if args.verb != "show":
        raise BadInput(f"`stanchion runs` cannot `{args.verb}`: {nearest(args.verb, ['show'], 'write `show`')}")
    if args.all or args.lines is not None:
        raise BadInput("`--all` and `-n` are for the list: `stanchion runs show` shows one run")
    if args.id is None:
        raise BadInput("name the run: `stanchion runs` lists them, and `last` is the newest")
    return _show(args)


def _list(args: argparse.Namespace) -> int:
    if args.all and args.lines is not None:
        raise BadInput("`--all` and `-n` exclude each other: give one of them")
    most = None if args.all else LISTED if args.lines is None else args.lines
    with progress("looking") as done:
        stories = list(newest_runs(reader_of(args.trail, whose(args.project)), most, done))
    if args.json:
        for story in stories:
            sys.stdout.buffer.write(_line(story))
        return 0
    if not stories:
        put(sys.stdout, "no run was written down yet")
        return 0
    terminal = Terminal.of(sys.stdout, os.environ)
    styles = [
        {"state": STYLES[story.state], "refused": "bad" if story.refused else "", "policy": "dim"} for story in stories
    ]
    for line in table(COLUMNS, [_row(story) for story in stories], NUMBERS, terminal, styles):
        put(sys.stdout, line)
    return 0


def _row(story: RunStory) -> tuple[str, ...]:
    run = story.run
    decided = f"{sum(story.decided.values()):,}"
    policy = f"{os.path.basename(story.source)} {story.policy[:12]}".strip()
    refused = f"{story.refused:,}"
    began = shown(story.began)
    return run.id, story.state, began, span(story.lasted_ms), decided, refused, run.agent, run.task, policy


def _line(story: RunStory, **more: Any) -> bytes:
    run = story.run
    data = {
        "id": run.id,
        "agent": run.agent,
        "role": run.role,
        "task": run.task,
        "tenant": run.tenant,
        "parents": run.parents,
        "state": story.state,
        "began_ms": story.began,
        "ended_ms": story.ended,
        "last_ms": story.last,
        "lasted_ms": story.lasted_ms,
        "code": story.code,
        "why": story.why,
        "decided": story.decided,
        "refused": story.refused,
        "policy": story.policy,
        "source": story.source,
        "env": story.env,
    }
    return json_line({**data, **more})


def _show(args: argparse.Namespace) -> int:
    state = whose(args.project, args.store)
    reader = reader_of(args.trail, state)
    with progress("looking") as done:
        name = args.id
        if name == LAST:
            name = next((story.run.id for story in newest_runs(reader, 1, done)), LAST)
        detail = run_detail(reader, name, done)
        if detail is None:
            raise BadInput(f"there is no run `{args.id}` in `{reader.folder}`: `stanchion runs` lists the newest")
        burned = burn_down(reader, detail.story, policy_of(detail.story), done)
    now = _now(burned, args.store, state)
    if args.json:
        unfinished = {"unfinished": detail.unfinished_count, "calls": [one.stub.id for one in detail.unfinished]}
        produced = {"produced": detail.story.produced, "left_out": detail.story.left_out}
        sys.stdout.buffer.write(_line(detail.story, **unfinished, **produced, **burn_data(burned, detail.story, now)))
        return 0
    terminal = Terminal.of(sys.stdout, os.environ)
    budgets = burn_lines(burned, detail.story, now, terminal, look_of(sys.stdout).unicode)
    for line in run_lines(detail, terminal, digits_of(reader.folder), budgets):
        put(sys.stdout, line)
    return 0


def _now(burned: list[Burned], given: str | None, state: Whose) -> Totals:
    """What the store has of those budgets now; where it cannot be asked, what the trail says is all there is."""
    found: Totals = {}
    keys = {one.key for one in burned if one.key}
    if not keys:
        return found
    try:
        with opened(given, state) as store:
            cells = () if store is None else (cell for key in sorted(keys) for cell in store.look(key))
            found |= {cell.key: cell.number if cell.live is None else cell.live for cell in cells if cell.key in keys}
    except BadInput as error:
        for line in error.lines:
            say(sys.stderr, f"stanchion: {line}")
    return found
