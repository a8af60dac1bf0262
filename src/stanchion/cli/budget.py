"""`stanchion budget`: what is used of every budget, and which are nearest to their end."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from stanchion.cli.cells import name_of
from stanchion.cli.found_policy import given
from stanchion.cli.parser import Parser
from stanchion.cli.stores import opened
from stanchion.cli.table import table
from stanchion.cli.terminal import Terminal, json_line, put
from stanchion.cli.trouble import BadInput
from stanchion.cli.veiled import veiled
from stanchion.cli.whose import add_project, whose
from stanchion.guards.budget import Budget, shown
from stanchion.kernel.units import Unit
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.errors import PolicyError
from stanchion.stores.protocol import Store

USAGE: Final = """stanchion budget show [NAME] [--policy POLICY] [--store URL] [--json]
       stanchion budget top [-n N] [--policy POLICY] [--store URL] [--json]"""

DESCRIPTION: Final = """\
Show what is used or reserved of every budget in the store: by run, task, agent and tenant,
and of what was carved out for child runs. With a policy the limits stand beside it, and
`top` puts those first of which least is left."""

EPILOG: Final = """\
examples:
  stanchion budget show
  stanchion budget show fix-login --policy policy.yaml
  stanchion budget top -n 5 --policy policy.yaml

NAME is a run, task, agent or tenant. The store is that of the project, which is found from
the policy's file or the current folder, or where STANCHION_STORE says.

exit status:
  0  it is shown, or there is nothing yet
  2  the store or the policy cannot be read"""

UNITS: Final = {unit.name.lower(): unit for unit in Unit}
BAR: Final = 20


class Spent(msgspec.Struct, frozen=True):
    """One budget as it stands: whose, of what, how much is used or reserved, and its limit where that is known."""

    tenant: str
    budget: str
    per: str
    whose: str
    measure: str
    used: int
    limit: int | None = None
    window_s: float | None = None

    @property
    def share(self) -> float:
        """How much of it is used; 0 where its limit is not known."""
        return 0.0 if self.limit is None else 1.0 if not self.limit else self.used / self.limit


def add(commands: Any) -> None:
    """Add the command to those of the command line."""
    summary = "show what is used of every budget, and which are nearest to their end"
    parser: Parser = commands.add_parser("budget", help=summary, usage=USAGE, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("what", metavar="show|top", choices=("show", "top"), help="all of them, or the fullest first")
    parser.add_argument(
        "name", metavar="NAME", nargs="?", default="", help="only those of this run, task, agent, tenant"
    )
    parser.add_argument("-n", metavar="N", type=int, default=10, help="how many `top` shows (default: 10)")
    parser.add_argument("--policy", metavar="POLICY", help="the policy that has the limits, a file or a pack")
    parser.add_argument("--store", metavar="URL", help="the store: a file, a URL, or `user:`")
    add_project(parser)
    parser.add_argument("--json", action="store_true", help="answer with JSON, one line for each budget")


def run(args: argparse.Namespace) -> int:
    """Show the budgets."""
    if args.n < 1:
        raise BadInput(f"`-n` is `{args.n}`: give a number from 1 on")
    policy = None if args.policy is None else _policy(args.policy)
    limits = {} if policy is None else _limits(policy)
    state = whose(args.project, args.store, () if policy is None else policy.files)
    with opened(args.store, state) as store:
        found = [] if store is None else _chosen(spending(store, limits), args.name)
    if args.what == "top":
        found = sorted(found, key=lambda one: (-one.share, -one.used))[: args.n]
    else:
        found.sort(key=lambda one: (one.tenant, one.per, one.whose, one.budget, one.measure))
    if args.json:
        sys.stdout.buffer.write(b"".join(json_line(one) for one in found))
    else:
        _show(found)
    return 0


def spending(store: Store, limits: dict[tuple[str, str], tuple[int, float | None]]) -> Iterator[Spent]:
    """Every budget in a store, with its limit where one is known."""
    for cell in store.look():
        name = name_of(cell.key, cell.live is not None)
        used = cell.number if cell.live is None else cell.live
        match name.parts:
            case ("budget", counter, unit, per, *whose) if unit in UNITS and not name.shadow:
                limit, window_s = limits.get((counter, unit), (None, name.window_ms / 1000 if name.window_ms else None))
                yield Spent(name.tenant, counter, per, ":".join(whose), unit, used, limit, window_s)
            case ("grant", unit, "run", whose) if unit in UNITS:
                yield Spent(name.tenant, "grant", "child run", whose, unit, used)


def _policy(name: str) -> CompiledPolicy:
    try:
        return given(name, None).policy
    except PolicyError as error:
        raise BadInput(*[str(fault) for fault in error.faults]) from None


def _limits(policy: CompiledPolicy) -> dict[tuple[str, str], tuple[int, float | None]]:
    return {
        (str(guard.counter), unit.name.lower()): (limit, guard.window_s)
        for guard in [seat.placed.guard for seat in policy.seats]
        if isinstance(guard, Budget)
        for unit, limit in guard.limits().items()
    }


def _chosen(all_of_it: Iterator[Spent], name: str) -> list[Spent]:
    """Budgets as they are shown; chosen by a name as it is, or as it is shown."""
    each = ((one, veiled(one)) for one in all_of_it)
    return [shown for one, shown in each if _fits(one, name) or _fits(shown, name)]


def _fits(one: Spent, name: str) -> bool:
    return not name or name in (one.tenant, one.whose, one.budget)


def _show(found: list[Spent]) -> None:
    if not found:
        put(sys.stdout, "nothing is spent yet: budgets begin with the first action that a `budget` guard counts")
        return
    terminal = Terminal.of(sys.stdout, os.environ)
    rows = [
        (
            f"{one.per} {one.whose}".strip() if one.per != "tenant" else f"tenant {one.tenant}",
            one.budget,
            shown(UNITS[one.measure], one.used),
            "" if one.limit is None else shown(UNITS[one.measure], one.limit),
            "" if one.limit is None else f"{int(one.share * 100)}%",
            "" if one.limit is None else _bar(one.share),
        )
        for one in found
    ]
    styles = [{"share": "bad" if one.share >= 0.95 else "mild" if one.share >= 0.8 else "good"} for one in found]
    for line in table(
        ("whose", "budget", "used", "limit", "share", ""), rows, ("used", "limit", "share"), terminal, styles
    ):
        put(sys.stdout, line)


def _bar(share: float) -> str:
    full = min(BAR, int(share * BAR))
    return "#" * full + "." * (BAR - full)
