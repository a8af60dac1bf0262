"""`stanchion explain`: say why something was decided, and what would have made it pass."""

from __future__ import annotations

import argparse
import heapq
import os
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import msgspec

from stanchion.audit.reading import Found, Reader
from stanchion.cli.explanation import show
from stanchion.cli.progress import progress
from stanchion.cli.record_line import decision_in, reason_of
from stanchion.cli.terminal import Terminal, json_line, put, visible
from stanchion.cli.times import shown
from stanchion.cli.trails import checks_folder, reader_of, record
from stanchion.cli.trouble import BadInput
from stanchion.cli.verdict import style_of
from stanchion.cli.whose import add_project, whose
from stanchion.kernel.actions import Action
from stanchion.lab.case import case_of, policy_of
from stanchion.lab.explain import explain
from stanchion.runtime.places import trail_folder
from stanchion.runtime.state_places import Whose

LAST: Final = "last"
LISTED: Final = 20

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

An ID is that of a decision, or a record's place as `stanchion audit tail` shows it. The
trail is that of the project (`stanchion state --where`), or where STANCHION_AUDIT says. What
`stanchion check` decides is kept beside it, a few megabytes at the most.

exit status:
  0  it is explained, or listed
  2  there is no such decision"""


def add(commands: Any) -> None:
    """Add the command to those of the command line."""
    summary = "say why something was decided, and what would have made it pass"
    parser = commands.add_parser("explain", help=summary, usage=USAGE, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("id", metavar="ID", nargs="?", help="the decision; `last` is the newest")
    parser.add_argument("--trail", metavar="DIR", help="look in this trail alone")
    add_project(parser)
    parser.add_argument("--json", action="store_true", help="answer with JSON, one line for each decision")


def run(args: argparse.Namespace) -> int:
    """Explain a decision, or list the newest ones."""
    readers = _readers(args.trail, whose(args.project))
    if args.id is None:
        return _list(list(islice(_newest(readers), LISTED)), args.json)
    found = next(_newest(readers), None) if args.id == LAST else _found(readers, args.id)
    if found is None:
        known = "`stanchion explain` lists the newest" if args.id != LAST else "nothing was decided yet"
        raise BadInput(f"there is no decision `{args.id}`: {known}")
    try:
        case = case_of(*found)
        explained = explain(case, policy_of(case))
    except (msgspec.MsgspecError, ValueError, KeyError):
        raise BadInput(f"the record of `{args.id}` cannot be read: see `stanchion audit verify`") from None
    show(explained, args.json)
    return 0


Known = tuple[Reader, Found]
"""A decision, and the trail it is in."""


def _readers(trail: str | None, state: Whose) -> list[Reader]:
    """What can be looked in: the trail of shields and that of checks, as far as they are there."""
    if trail is not None:
        return [reader_of(trail, state)]
    try:
        folder = trail_folder(None, os.environ, state)
        return [Reader(where) for where in (folder, checks_folder(state)) if where is not None and where.is_dir()]
    except OSError as error:
        raise BadInput(f"what was decided cannot be read: {error}") from None


def _newest(readers: list[Reader]) -> Iterator[Known]:
    """All decisions, the newest first."""
    return heapq.merge(*map(_decisions, readers), key=lambda known: known[1].stub.at, reverse=True)


def _decisions(reader: Reader) -> Iterator[Known]:
    return ((reader, found) for found in reader.backwards() if found.is_decision)


def _found(readers: list[Reader], name: str) -> Known | None:
    with progress("looking") as told:
        for reader in readers:
            found = record(reader, name, told)
            if found is not None and found.is_decision:
                return reader, found
            if found is not None:
                raise BadInput(f"`{name}` is no decision: see `stanchion audit show {name}`")
    return None


def _list(known: list[Known], as_json: bool) -> int:
    if as_json:
        sys.stdout.buffer.write(b"".join(json_line(_brief(*one)) for one in known))
        return 0
    entries = [entry for _, found in known if (entry := decision_in(found)) is not None]
    if not entries:
        put(sys.stdout, "nothing was decided yet: try `stanchion check --tool bash`")
        return 0
    terminal = Terminal.of(sys.stdout, os.environ)
    width = max(len(visible(entry.id)) for entry in entries)
    for entry in entries:
        painted = terminal.paint(f"{entry.action:<10}", style_of(Action[entry.action]))
        about = entry.tool if entry.tool else entry.stage
        why = f"{visible(f'{about:<20}')} {visible(reason_of(entry))}"
        put(sys.stdout, f"{shown(entry.at)}  {visible(entry.id):<{width}}  {painted}  {why}".rstrip())
    return 0


def _brief(reader: Reader, found: Found) -> dict[str, Any]:
    entry = found.entry()
    begun = reader.begun(found)
    return {
        "id": entry.id,
        "at_ms": entry.at,
        "action": entry.action,
        "stage": entry.stage,
        "tool": entry.tool,
        "agent": entry.agent,
        "codes": [said.code for said in entry.findings],
        "policy": None if begun is None else begun.source,
    }
