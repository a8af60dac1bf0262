"""`stanchion state`: what the store holds, for people."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from stanchion.cli.cells import MOST, Cell, Tenant, by_tenant, cell_of, data_of, hold_data, name_of
from stanchion.cli.parser import Parser
from stanchion.cli.project_list import project_lines, project_states
from stanchion.cli.stored import hold_lines, tenant_lines
from stanchion.cli.stores import opened
from stanchion.cli.terminal import Terminal, json_line, put, say
from stanchion.cli.trouble import BadInput
from stanchion.cli.veiled import veiled
from stanchion.cli.where import Where, former, where, where_lines
from stanchion.cli.whose import add_project, whose
from stanchion.kernel.state import ANCHOR, EPOCH
from stanchion.runtime.projects import MARKERS
from stanchion.runtime.state_places import Whose
from stanchion.stores.memory import wall_ms
from stanchion.stores.protocol import Store, StoreError
from stanchion.stores.seen import Hold

USAGE: Final = """stanchion state [PREFIX] [--store URL] [--project DIR] [--json]
       stanchion state --where [--store URL] [--project DIR] [--json]
       stanchion state --projects [--json]"""

DESCRIPTION: Final = """\
Show what the store holds, tenant by tenant: whether the shield is in safe mode or halted
and why, which tools and agents are isolated until when, which runs have ended, counters
with their totals and what is in their windows, records of guards, and open holds with
what they took and when they are due. The store is only read, and nobody waits for it.
First comes which state it is: whose, where its store and trail are, and why those."""

EPILOG: Final = """\
examples:
  stanchion state
  stanchion state steps
  stanchion state --where
  stanchion state --store ./state.db --json | jq 'select(.kind == "hold")'

PREFIX is the beginning of a name as it is shown, or of a key. Each project has its own
state, in your state folder. A project is found from the current folder; its root is the
nearest folder with MARKS
in it. STANCHION_STATE_DIR names one folder for everything, STANCHION_STORE or --store
another store; `user:` is the state that all your projects can share. A folder that was
moved, a worktree and a clone are projects of their own. As JSON everything comes, one line
each; for people at most 50 of a kind.

exit status:
  0  it is shown, or there is nothing yet
  2  the store cannot be read""".replace("MARKS", ", ".join(MARKERS))


def add(commands: Any) -> None:
    """Add the command to those of the command line."""
    summary = "show what the store holds: shield state, counters, records, holds"
    parser: Parser = commands.add_parser("state", help=summary, usage=USAGE, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("prefix", metavar="PREFIX", nargs="?", default="", help="only what is named so")
    parser.add_argument("--store", metavar="URL", help="the store: a file, a URL, or `user:`")
    add_project(parser)
    parser.add_argument("--where", action="store_true", help="say only which state it is")
    parser.add_argument("--projects", action="store_true", help="list the states of all your projects instead")
    parser.add_argument("--json", action="store_true", help="answer with JSON, one line for each thing")


def run(args: argparse.Namespace) -> int:
    """Show what the store holds, which state it is, or which there are."""
    if args.projects:
        return _projects(args)
    if args.where and args.prefix:
        raise BadInput(f"`--where` says which state it is, and `{args.prefix}` is in one: leave one of them out")
    state = whose(args.project, args.store)
    if args.where:
        if args.json:
            sys.stdout.buffer.write(json_line(veiled(_where(args, state))))
        else:
            _say_where(args, state)
        return 0
    with opened(args.store, state) as store:
        if not args.json:
            _say_where(args, state)
        if store is not None:
            (_print if args.json else _show)(store, args.prefix)
    return 0


def _where(args: argparse.Namespace, state: Whose) -> Where:
    try:
        return where(state, args.store, args.project)
    except StoreError as error:
        raise BadInput(str(error)) from None


def _say_where(args: argparse.Namespace, state: Whose) -> None:
    found = _where(args, state)
    for line in where_lines(veiled(found), Terminal.of(sys.stdout, os.environ)):
        put(sys.stdout, line)
    if args.where and not found.kept:
        say(sys.stdout, "nothing is kept in the folder yet")
    old = former()
    if old is not None:
        say(
            sys.stderr,
            f"`{old}` is of before each project had its own state: STANCHION_STATE_DIR={old.parent} shows it",
        )


def _projects(args: argparse.Namespace) -> int:
    for name in ("prefix", "store", "project", "where"):
        if getattr(args, name):
            said = f"`{args.prefix}`" if name == "prefix" else f"`--{name}`"
            raise BadInput(f"`--projects` lists all states and takes no {said}: leave it out")
    try:
        found = veiled(project_states(os.environ))
    except OSError as error:
        raise BadInput(f"the states of projects cannot be read: {error}") from None
    if args.json:
        sys.stdout.buffer.write(b"".join(json_line(one) for one in found))
    elif not found:
        say(sys.stdout, "no project keeps a state yet")
    else:
        for line in project_lines(found, Terminal.of(sys.stdout, os.environ)):
            put(sys.stdout, line)
    return 0


def _cells(store: Store, prefix: str) -> Iterator[Cell]:
    if prefix.startswith(("{", "~")):
        return map(cell_of, store.look(prefix))
    kept_aside = (EPOCH, f":{ANCHOR}")
    found = (seen for seen in store.look() if prefix or not seen.key.endswith(kept_aside))
    return (cell for cell in map(cell_of, found) if _fits(cell.name.text, prefix))


def _fits(name: str, prefix: str) -> bool:
    """Whether a name begins so, as it is or as it is shown."""
    return name.startswith(prefix) or ("[" in prefix and veiled(name).startswith(prefix))


def _holds(store: Store, prefix: str) -> Iterator[Hold]:
    for hold in store.holds():
        names = [name for took in hold.took for name in (took.key, name_of(took.key).text)]
        if not prefix or any(_fits(name, prefix) for name in names):
            yield hold


def _print(store: Store, prefix: str) -> None:
    for cell in _cells(store, prefix):
        sys.stdout.buffer.write(json_line(veiled(data_of(cell))))
    for hold in _holds(store, prefix):
        sys.stdout.buffer.write(json_line(veiled(hold_data(hold))))


def _shown(held: Tenant) -> Tenant:
    """What is shown of a tenant."""
    held.cells = {kind: veiled(cells) for kind, cells in held.cells.items()}
    return held


def _show(store: Store, prefix: str) -> None:
    terminal = Terminal.of(sys.stdout, os.environ)
    tenants = by_tenant(_cells(store, prefix))
    holds = list(islice(_holds(store, prefix), MOST + 1))
    if not tenants and not holds:
        named = f" that is named `{veiled(prefix)}`" if prefix else ""
        say(sys.stdout, f"the store holds nothing{named}")
    now = wall_ms()
    parts = [tenant_lines(veiled(name), _shown(held), terminal, now) for name, held in sorted(tenants.items())]
    parts += [hold_lines(veiled(holds), terminal)] if holds else []
    for part in parts:
        for line in ("", *part):
            put(sys.stdout, line)
