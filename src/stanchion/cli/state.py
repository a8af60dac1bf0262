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
from stanchion.cli.stored import hold_lines, tenant_lines
from stanchion.cli.stores import opened
from stanchion.cli.terminal import Terminal, json_line, put, say
from stanchion.cli.veiled import veiled
from stanchion.kernel.state import EPOCH
from stanchion.stores.memory import wall_ms
from stanchion.stores.protocol import Store
from stanchion.stores.seen import Hold

USAGE: Final = "stanchion state [PREFIX] [--store URL] [--json]"

DESCRIPTION: Final = """\
Show what the store holds, tenant by tenant: whether the shield is in safe mode or halted
and why, which tools and agents are isolated until when, which runs have ended, counters
with their totals and what is in their windows, records of guards, and open holds with
what they took and when they are due. The store is only read, and nobody waits for it."""

EPILOG: Final = """\
examples:
  stanchion state
  stanchion state steps
  stanchion state --store ./state.db --json | jq 'select(.kind == "hold")'

PREFIX is the beginning of a name as it is shown, or of a key. The store is a file in your
state folder (STANCHION_STATE_DIR), or where STANCHION_STORE says. As JSON everything comes,
one line each; for people at most 50 of a kind.

exit status:
  0  it is shown, or there is nothing yet
  2  the store cannot be read"""


def add(commands: Any) -> None:
    """Add the command to those of the command line."""
    summary = "show what the store holds: shield state, counters, records, holds"
    parser: Parser = commands.add_parser("state", help=summary, usage=USAGE, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("prefix", metavar="PREFIX", nargs="?", default="", help="only what is named so")
    parser.add_argument("--store", metavar="URL", help="the store: a file, or `sqlite:/absolute/path`")
    parser.add_argument("--json", action="store_true", help="answer with JSON, one line for each thing")


def run(args: argparse.Namespace) -> int:
    """Show what the store holds."""
    with opened(args.store) as store:
        if store is not None:
            (_print if args.json else _show)(store, args.prefix)
    return 0


def _cells(store: Store, prefix: str) -> Iterator[Cell]:
    if prefix.startswith(("{", "~")):
        return map(cell_of, store.look(prefix))
    found = (seen for seen in store.look() if prefix or seen.key != EPOCH)
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
    for number, part in enumerate(parts):
        for line in ([""] if number else []) + list(part):
            put(sys.stdout, line)
