"""`stanchion runs`: the runs that a trail tells of, and one of them in full."""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from typing import Final

from stanchion.cli.options import PROJECT, know_verb, option
from stanchion.cli.parser import count
from stanchion.cli.printing import put_json, put_table
from stanchion.cli.progress import progress
from stanchion.cli.run_lines import STYLES, burn_lines, run_lines
from stanchion.cli.screen import look_of
from stanchion.cli.stores import opened
from stanchion.cli.terminal import Terminal, put_line, put_lines, say
from stanchion.cli.trails import reader_of
from stanchion.cli.trouble import BadInput
from stanchion.cli.whose import whose
from stanchion.ops.views.runs import Kept, RunView, kept_in, none_kept, run_in_full, runs, totals_in
from stanchion.ops.views.times import shown, span
from stanchion.ops.views.trails import digits_of
from stanchion.runtime.standing.places import StateFinder

LISTED: Final = 20
COLUMNS: Final = (
    "run",
    "state",
    "began",
    "lasted",
    "decided",
    "refused",
    "agent",
    "task",
    "policy",
)
NUMBERS: Final = frozenset({"decided", "refused", "lasted"})

USAGE: Final = """stanchion runs [-n N] [--all] [--trail DIR] [--json]
       stanchion runs show ID [--trail DIR] [--store URL] [--json]
       stanchion runs manifest ID [--out FILE] [--trail DIR] [--json]
       stanchion runs verify FILE [--trail DIR] [--json]"""

DESCRIPTION: Final = """\
List the newest runs: agent, task, state, decisions by action, and duration. Or show one in
full: its policy, how its budgets were used over time, its last decisions, calls that were
started but never reported an outcome, and what it had produced when it ended.

`manifest` writes what the trail has of a run as one file. `verify` names every field of
such a file, or of one that a run of the Tutor wrote, that was changed since, or that is not as
the trail has it, and every file it names that was changed.

A run is open, idle (between two checks with --run), ended, halted (a guard or an operator
stopped it), cancelled, or lost: its end was never written, and its process is gone. One that
a guard has flagged says so: somebody should look at it."""

EPILOG: Final = """\
examples:
  stanchion runs
  stanchion runs --all --json | jq 'select(.state == "lost")'
  stanchion runs show last
  stanchion runs manifest last --out run.json
  stanchion runs verify run.json

The trail is the project's (`stanchion state --where`), or the one that STANCHION_AUDIT names;
the store, which knows what is left of budgets, is the project's or the one of STANCHION_STORE.

exit status:
  0  it is shown, or the manifest is whole
  1  the manifest is not whole
  2  there is no such run, no trail, or no manifest"""

DOES: Final = {
    "show": "shows one run",
    "manifest": "tells of one run",
    "verify": "looks at one file",
}


OPTIONS: Final = (
    option("verb show|manifest|verify", "what to do with one run", nargs="?"),
    option("id ID", "the run's ID, `last` is the newest; or a manifest", nargs="?"),
    option("-n, --lines N", "how many runs (default: 20)", type=count),
    option("--all", "all runs"),
    option("--trail DIR", "the folder of the trail"),
    option("--store URL", "the store with the run's budgets: a file or a URL"),
    option("--out FILE", "where to write the manifest (default: standard output)"),
    PROJECT,
    option("--json", "answer with JSON, one line for each run"),
)


def run(args: argparse.Namespace) -> int:
    """List runs, or show one."""
    if args.verb is None:
        if args.store is not None:
            raise BadInput("`--store` is for `stanchion runs show`: the list does not show budgets")
        if args.out is not None:
            raise BadInput("`--out` is for `stanchion runs manifest`: the list is printed")
        return _list(args)
    one = f"to see one run, write `stanchion runs show {args.verb}`"
    know_verb("runs", args.verb, DOES, one)
    if args.all or args.lines is not None:
        raise BadInput(
            f"`--all` and `-n` are for the list: `stanchion runs {args.verb}` {DOES[args.verb]}"
        )
    if args.id is None:
        if args.verb == "verify":
            raise BadInput("give the manifest: `stanchion runs manifest ID --out FILE` writes one")
        raise BadInput("give the run: `stanchion runs` lists them, and `last` is the newest")
    return _one(args)


def _one(args: argparse.Namespace) -> int:
    if args.verb != "show" and args.store is not None:
        raise BadInput("`--store` is for `stanchion runs show`: a manifest has no budgets")
    if args.verb != "manifest" and args.out is not None:
        raise BadInput("`--out` is for `stanchion runs manifest`")
    if args.verb == "show":
        return _show(args)
    from stanchion.cli.run_manifests import manifest, verify

    return manifest(args) if args.verb == "manifest" else verify(args)


def _list(args: argparse.Namespace) -> int:
    if args.all and args.lines is not None:
        raise BadInput("`--all` and `-n` cannot be combined: give one of them")
    most = None if args.all else LISTED if args.lines is None else args.lines
    with progress("looking") as done:
        state = whose(args.project)
        found = list(runs(reader_of(args.trail, state), most, done, _kept_by(args, state)))
    if args.json:
        put_json(*found)
        return 0
    if not found:
        put_line("no run is recorded yet")
        return 0
    styles = [
        {
            "state": "bad" if one.flagged else STYLES[one.state],
            "refused": "bad" if one.refused else "",
            "policy": "dim",
        }
        for one in found
    ]
    put_table(COLUMNS, [_row(one) for one in found], NUMBERS, styles)
    return 0


def _row(one: RunView) -> tuple[str, ...]:
    decided = f"{sum(one.decided.values()):,}"
    policy = f"{os.path.basename(one.source)} {one.policy[:12]}".strip()
    began, lasted, refused = shown(one.began_ms), span(one.lasted_ms), f"{one.refused:,}"
    state = f"{one.state}, flagged" if one.flagged else one.state
    return one.id, state, began, lasted, decided, refused, one.agent, one.task, policy


def _show(args: argparse.Namespace) -> int:
    state = whose(args.project, args.store)
    reader = reader_of(args.trail, state)
    with progress("looking") as done:
        found = run_in_full(
            reader, args.id, partial(_now, args.store, state), done, _kept_by(args, state)
        )
    if found is None:
        raise BadInput(
            f"there is no run `{args.id}` in `{reader.folder}`: `stanchion runs` lists the newest"
        )
    if args.json:
        put_json(found)
        return 0
    terminal = Terminal.of_stdout()
    budgets = burn_lines(found, terminal, look_of(sys.stdout).unicode)
    put_lines(run_lines(found, terminal, digits_of(reader), budgets))
    return 0


def _kept_by(args: argparse.Namespace, state: StateFinder) -> Kept:
    """Asks the store of the project; a trail from elsewhere has nothing to do with it, and one that
    cannot be read tells nothing: a run is then as the trail alone has it."""

    def kept(keys: frozenset[str]) -> frozenset[str]:
        try:
            with opened(args.store, state, quiet=True) as store:
                return frozenset() if store is None else kept_in(store, keys)
        except BadInput:
            return frozenset()

    return none_kept if args.trail is not None and args.store is None else kept


def _now(given: str | None, state: StateFinder, keys: frozenset[str]) -> dict[str, int]:
    """What the store has of those budgets now; where it cannot be asked, what the trail says is all
    there is."""
    try:
        with opened(given, state) as store:
            return {} if store is None else totals_in(store, keys)
    except BadInput as error:
        for line in error.lines:
            say(sys.stderr, f"stanchion: {line}")
        return {}
