"""`stanchion explain`: explain why something was decided, and what would have made it pass."""

from __future__ import annotations

import argparse
import os
from typing import Final

from stanchion.audit.reader import TrailReader
from stanchion.cli.checks_folder import checks_folder
from stanchion.cli.explanation import show
from stanchion.cli.options import PROJECT, option
from stanchion.cli.printing import put_json
from stanchion.cli.progress import progress
from stanchion.cli.terminal import Terminal, put_line, visible
from stanchion.cli.trails import reader_of
from stanchion.cli.trouble import BadInput
from stanchion.cli.verdict import style_of
from stanchion.cli.whose import whose
from stanchion.kernel.actions import Action
from stanchion.ops.views.decisions import LAST, NoDecision, Unreadable, explained, newest_decisions
from stanchion.ops.views.records import DecisionView
from stanchion.ops.views.times import shown
from stanchion.ops.views.trails import Ambiguous
from stanchion.runtime.standing.places import trail_folder
from stanchion.runtime.standing.state_places import Whose

LISTED: Final = 20

NOTHING: Final = "nothing was decided yet: try `stanchion check --tool bash`"

USAGE: Final = "stanchion explain [ID] [--trail DIR] [--project DIR] [--json]"

DESCRIPTION: Final = """\
Say why something was decided: the findings in order, the entry of the policy behind each
with its place in the file, its conditions part by part, the counters as they stood, which
guards passed and which were not asked, and what would have made it pass. It knows every
decision in the trail, and those of `stanchion check`; without an ID the newest are listed."""

EPILOG: Final = """\
examples:
  stanchion explain
  stanchion explain last
  stanchion explain check.1f0c9a2b.1 --json
  stanchion explain 5f1d0c2a:411

An ID is a decision's id, or a record's position as `stanchion audit tail` shows it. The
trail is the project's (`stanchion state --where`), or the one that STANCHION_AUDIT names.
Decisions of `stanchion check` are kept beside it, in a few megabytes at most.

exit status:
  0  the decision is explained, or decisions are listed
  2  there is no such decision"""


OPTIONS: Final = (
    option("id ID", "the decision's ID; `last` is the newest", nargs="?"),
    option("--trail DIR", "look only in this trail"),
    PROJECT,
    option("--json", "answer with JSON, one line for each decision"),
)


def run(args: argparse.Namespace) -> int:
    """Explain a decision, or list the newest ones."""
    readers = _readers(args.trail, whose(args.project))
    if args.id is None:
        return _list(newest_decisions(readers, LISTED), args.json)
    try:
        with progress("looking") as told:
            found = explained(readers, args.id, told)
    except NoDecision:
        raise BadInput(
            f"`{args.id}` is not a decision: see `stanchion audit show {args.id}`"
        ) from None
    except Unreadable:
        raise BadInput(
            f"the record of `{args.id}` cannot be read: see `stanchion audit verify`"
        ) from None
    except Ambiguous as error:
        raise BadInput(str(error)) from None
    if found is None:
        known = "`stanchion explain` lists the newest" if args.id != LAST else NOTHING
        raise BadInput(f"there is no decision `{args.id}`: {known}")
    show(found, args.json)
    return 0


def _readers(trail: str | None, state: Whose) -> list[TrailReader]:
    """What can be looked in: the trail of shields and that of checks, as far as they are there."""
    if trail is not None:
        return [reader_of(trail, state)]
    try:
        folder = trail_folder(None, os.environ, state)
        return [
            TrailReader(where)
            for where in (folder, checks_folder(state))
            if where is not None and where.is_dir()
        ]
    except OSError as error:
        raise BadInput(f"what was decided cannot be read: {error}") from None


def _list(found: list[DecisionView], as_json: bool) -> int:
    if as_json:
        put_json(*found)
        return 0
    if not found:
        put_line(NOTHING)
        return 0
    terminal = Terminal.of_stdout()
    width = max(len(visible(one.id)) for one in found)
    for one in found:
        painted = terminal.paint(f"{one.action:<10}", style_of(Action[one.action]))
        about = one.tool if one.tool else one.stage
        why = f"{visible(f'{about:<20}')} {visible(one.reason)}"
        put_line(f"{shown(one.at_ms)}  {visible(one.id):<{width}}  {painted}  {why}".rstrip())
    return 0
