"""`stanchion state`: what the store holds, for people."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from stanchion.cli.options import ANSWERER, DOER, PROJECT, STORE, TENANT, option
from stanchion.cli.printing import put_json, table
from stanchion.cli.refused_policies import refused, refused_lines
from stanchion.cli.stored import hold_lines, tenant_lines
from stanchion.cli.stores import opened
from stanchion.cli.terminal import Terminal, put_lines, tell, visible
from stanchion.cli.trouble import AsBadInput, BadInput
from stanchion.cli.whose import whose
from stanchion.ops.views.amounts import size
from stanchion.ops.views.projects import ProjectView, project_states
from stanchion.ops.views.stored import MOST, by_tenant, cells, holds
from stanchion.ops.views.times import shown
from stanchion.ops.views.veiled import veiled
from stanchion.ops.views.where import StatePlace, where
from stanchion.runtime.standing.places import MARKERS, SHARED, StateFinder
from stanchion.stores.memory import wall_ms
from stanchion.stores.protocol import Store, StoreError


def place_lines(one: StatePlace, terminal: Terminal) -> Iterator[str]:
    """Which state it is: whose, where, how much is kept, and why that one."""
    rows = {"project": one.project, "folder": one.folder, "store": one.store, "trail": one.trail}
    rows |= {"keeps": one.keeps, "witness": one.witness, "because": one.why}
    for name, text in rows.items():
        if text:
            yield f"{terminal.paint(f'{name:<8}', 'dim')} {visible(text)}"


def project_lines(found: Sequence[ProjectView], terminal: Terminal) -> Iterator[str]:
    """The states of all projects."""
    rows = [(one.name, size(one.size_bytes), shown(one.last_used_ms), _root(one)) for one in found]
    styles = [{} if one.exists or not one.root else {"root": "mild"} for one in found]
    return table(("state", "size", "last used", "project"), rows, ("size",), terminal, styles)


def _root(one: ProjectView) -> str:
    if one.root:
        return one.root if one.exists else f"{one.root} (no longer exists)"
    return "shared by all projects" if one.name == SHARED else "owner unknown"


NOTHING: Final = (
    "the store holds nothing; if it has lost something, look at why, and then let runs go on with "
    "`stanchion store accepted` or, from a copy, `stanchion store restored`"
)
USAGE: Final = """stanchion state [PREFIX] [--store URL] [--project DIR] [--json]
       stanchion state --where [--store URL] [--project DIR] [--json]
       stanchion state --projects [--json]
       stanchion state --break-lock NAME [--why WORDS] [--by NAME] [--tenant NAME]
       [--key FILE | --ssh-agent] [--store URL] [--project DIR]"""

DESCRIPTION: Final = """\
Show what the store holds, tenant by tenant: whether the shield is in safe mode or halted
and why, which tools and agents are isolated until when, which runs have ended, counters
with their totals and what is in their windows, records of guards, and open holds with
what they took and when they are due. The store is only read, and nobody waits for it;
`--break-lock` alone changes something: it releases what an agent has locked.
The first lines say which state is shown: its owner, its store and trail, and why."""

EPILOG: Final = """\
examples:
  stanchion state
  stanchion state steps
  stanchion state --where
  stanchion state tasks
  stanchion state --break-lock src/login.py --why 'bob is on holiday'
  stanchion state --store ./state.db --json | jq 'select(.kind == "hold")'

PREFIX is the beginning of a name as it is shown, or of a key. Each project has its own
state, in your state folder. A project is found from the current folder; its root is the
nearest folder with MARKS
in it. STANCHION_STATE_DIR names one folder for everything, STANCHION_STORE or --store
another store; `user:` is the state that all your projects can share. A folder that was
moved, a worktree and a clone are projects of their own. JSON shows everything, one line
each; the text shows at most 50 of a kind.

exit status:
  0  it is shown, or there is nothing yet; the lock is broken
  1  the lock is not broken: you are not allowed to
  2  the store cannot be read; nobody has locked that""".replace("MARKS", ", ".join(MARKERS))


OPTIONS: Final = (
    option("prefix PREFIX", "show only names that start with this", nargs="?", default=""),
    STORE,
    PROJECT,
    option("--where", "show only which state is used, and why"),
    option("--projects", "list the states of all your projects instead"),
    option("--break-lock NAME", "release what is locked under this name", default=""),
    option("--why WORDS", "the reason for that, for the trail", default=""),
    DOER,
    TENANT,
    option("--json", "answer with JSON, one line for each thing"),
    ANSWERER,
)


def run(args: argparse.Namespace) -> int:
    """Show what the store holds, which state it is, or which there are; or break a lock."""
    if args.break_lock:
        from stanchion.cli.break_lock import break_lock

        return break_lock(args)
    if args.projects:
        return _projects(args)
    if args.where and args.prefix:
        raise BadInput(
            f"`--where` only says which state is used, and `{args.prefix}` selects from it: leave "
            f"one of them out"
        )
    state = whose(args.project, args.store)
    if args.where:
        if args.json:
            put_json(veiled(_where(args, state)))
        else:
            _say_where(args, state)
        return 0
    with opened(args.store, state) as store:
        if not args.json:
            _say_where(args, state)
        _say_refused(args)
        if store is not None:
            (_print if args.json else _show)(store, args.prefix)
    return 0


def _where(args: argparse.Namespace, state: StateFinder) -> StatePlace:
    with AsBadInput(OSError, StoreError):
        return where(state, args.store, args.project)


def _say_where(args: argparse.Namespace, state: StateFinder) -> None:
    found = _where(args, state)
    put_lines(place_lines(veiled(found), Terminal.of_stdout()))
    if args.where and not found.kept:
        tell("nothing is kept in the folder yet")


def _say_refused(args: argparse.Namespace) -> None:
    """Say which policies processes of this user could not load."""
    found = veiled(refused())
    if args.json:
        put_json(*[{"refused_policy": one} for one in found])
    else:
        put_lines(refused_lines(found, Terminal.of_stdout()))


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
        put_json(*found)
    elif not found:
        tell("no project keeps a state yet")
    else:
        put_lines(project_lines(found, Terminal.of_stdout()))
    return 0


def _print(store: Store, prefix: str) -> None:
    for one in (*cells(store, prefix, wall_ms()), *holds(store, prefix)):
        put_json(one)


def _show(store: Store, prefix: str) -> None:
    terminal = Terminal.of_stdout()
    tenants = by_tenant(cells(store, prefix, wall_ms()))
    held = list(islice(holds(store, prefix), MOST + 1))
    if not tenants and not held:
        named = f" with a name that begins with `{veiled(prefix)}`" if prefix else ""
        tell(f"the store holds nothing{named}" if named else NOTHING)
    parts = [tenant_lines(one, terminal) for one in tenants]
    parts += [hold_lines(held, terminal)] if held else []
    for part in parts:
        put_lines(["", *part])
