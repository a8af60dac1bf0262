"""`stanchion experience`: what was learnt from the outcomes of calls, and what of it leaves."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from stanchion.cli.options import PROJECT, STORE, TENANT, check_verb, option
from stanchion.cli.parser import count
from stanchion.cli.printing import put_json, put_table
from stanchion.cli.stores import opened
from stanchion.cli.terminal import Terminal, put_line, say, tell, visible
from stanchion.cli.trouble import AsBadInput, BadInput
from stanchion.cli.whose import tenant_of, whose
from stanchion.experience.bounded import cut
from stanchion.experience.incident import MOST_HINT
from stanchion.experience.shelf import Shelf, ShelfError
from stanchion.ops.views.experience import ExperienceView, experience
from stanchion.ops.views.times import shown
from stanchion.ops.views.veiled import veiled
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import load_policy
from stanchion.policy.sections import Experience
from stanchion.runtime.learning.shelves import IncidentRetention, LeftIncidents, prune, shelf_of
from stanchion.runtime.standing.tenancy import DEFAULT
from stanchion.stores.memory import wall_ms

USAGE: Final = """stanchion experience [show] [TOOL] [--tenant NAME] [--store URL] [--json]
       stanchion experience prune [--days N] [--rows N] [--policy FILE] [--store URL]
       stanchion experience archive FILE [--days N] [--rows N] [--policy FILE] [--store URL]"""

DESCRIPTION: Final = """\
show     how reliable each tool is, as reported and lately; of one TOOL also its last
         outcomes and the calls that worked
prune    remove incidents that are too old or too many, and calls that have not worked for
         as long; counters stay
archive  the same, after appending the incidents to FILE, one JSON object on each line"""

EPILOG: Final = """\
examples:
  stanchion experience
  stanchion experience show send_mail --json
  stanchion experience archive incidents.jsonl --days 30

Experience is kept where a policy says `experience: {tier: persistent}`, beside the store.
What is too old or too many is set by `days` and `rows` of that section, by options, or is
90 days and 1,000,000. An interrupted archive loses nothing: run it again. The store is the
project's (`stanchion state --where`), or the one that STANCHION_STORE names.

exit status:
  0  it is shown or done, or there is nothing yet
  2  the store, the policy or the file cannot be used"""

TAKES: Final = {
    "show": frozenset({"name", "json", "tenant"}),
    "prune": frozenset({"days", "rows", "policy"}),
    "archive": frozenset({"name", "days", "rows", "policy"}),
}
LONGEST: Final = 60


OPTIONS: Final = (
    option("verb show|prune|archive", "what to do (default: show)", nargs="?", default="show"),
    option("name TOOL|FILE", "a tool, or the file of the archive", nargs="?", default=""),
    TENANT,
    option("--days N", "incidents older than this leave", type=count),
    option("--rows N", "more incidents than this leave, the oldest first", type=count),
    option("--policy FILE", "the policy whose `days` and `rows` count"),
    STORE,
    PROJECT,
    option("--json", "answer with JSON, one line for each tool"),
)


def run(args: argparse.Namespace) -> int:
    """Show experience, or have some of it leave."""
    check_verb("experience", TAKES, args, "name")
    if args.verb == "archive" and not args.name:
        raise BadInput("archive into which file? write `stanchion experience archive FILE`")
    keep = _keep(args)
    with _shelf(args, reading=args.verb == "show") as shelf:
        if shelf is None:
            return 0
        if args.verb == "show":
            found = experience(shelf, _named(_tenant(args)), wall_ms(), _named(args.name))
        else:
            tell(_told(_pruned(shelf, keep, args.name), args.name))
            return 0
    if args.json:
        put_json(*found)
    else:
        _show(found, args.name)
    return 0


def _pruned(shelf: Shelf, keep: IncidentRetention, archive: str) -> LeftIncidents:
    try:
        return prune(shelf, keep, wall_ms(), Path(archive) if archive else None)
    except OSError as error:
        if not archive:
            raise
        raise BadInput(
            f"`{veiled(archive)}` cannot be written: {error.strerror}; give a file in a folder "
            f"that is there"
        ) from None


@contextmanager
def _shelf(args: argparse.Namespace, reading: bool) -> Iterator[Shelf | None]:
    """The experience beside the store that is meant; `None`, and a word why, where there is none
    yet."""
    with opened(args.store, whose(args.project, args.store)) as store:
        if store is None:
            yield None
            return
        with AsBadInput(ShelfError):
            looked = shelf_of(store, reading=True)
            try:
                looked.count()
            except ShelfError as error:
                say(sys.stderr, f"nothing can be shown: {error}")
                yield None
                return
            finally:
                looked.close()
            shelf = shelf_of(store, reading)
            try:
                yield shelf
            finally:
                shelf.close()


def _keep(args: argparse.Namespace) -> IncidentRetention:
    with AsBadInput(PolicyError):
        said = Experience() if args.policy is None else load_policy(args.policy).file.experience
    return IncidentRetention(
        said.days if args.days is None else args.days, said.rows if args.rows is None else args.rows
    )


def _named(name: str) -> str:
    """A name as experience keeps it."""
    return cut(veiled(name), MOST_HINT)


def _tenant(args: argparse.Namespace) -> str:
    named = tenant_of(args.tenant)
    return DEFAULT if named is None else named


def _told(left: LeftIncidents, archive: str) -> str:
    incidents = f"{left.incidents:,} incident{'' if left.incidents == 1 else 's'}"
    practices = f"{left.practices:,} call{'' if left.practices == 1 else 's'} that worked long ago"
    where = f" after they were written to `{veiled(archive)}`" if archive else ""
    return f"{incidents} removed{where}; {practices} forgotten"


def _show(found: list[ExperienceView], tool: str) -> None:
    if not found and tool:
        put_line(f"no outcome of the tool `{visible(_named(tool))}` is kept")
        return
    if not found:
        put_line("nothing is known: set `experience: {tier: persistent}` in the policy")
        return
    terminal = Terminal.of_stdout()
    columns = ("tool", "worked", "failed", "rate", "lately", "likely between")
    rows = [
        (
            one.tool, f"{one.successes:,}", f"{one.failures:,}", _share(one.rate),
            _share(one.recent),
            "" if one.low is None else f"{_share(one.low)} and {_share(one.high)}",
        )
        for one in found
    ]  # fmt: skip
    put_table(columns, rows, ("worked", "failed", "rate", "lately"))
    for one in found if tool else ():
        _show_whole(one, terminal)


def _show_whole(one: ExperienceView, terminal: Terminal) -> None:
    worked = [
        (f"{each.success_count:,}", f"{each.failure_count:,}", _short(each))
        for each in one.practices
    ]
    if worked:
        put_line("")
        put_table(("worked", "failed", "with"), worked, ("worked", "failed"))
    last = [
        (
            shown(each.at_ms),
            "worked" if each.success else "failed",
            each.session_id,
            each.error_reason,
        )
        for each in one.incidents
    ]
    put_line("")
    put_table(("when", "outcome", "run", "error"), last, ())


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"


def _short(one: Any) -> str:
    text = visible(json.dumps(one.last_success_data, ensure_ascii=False))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
