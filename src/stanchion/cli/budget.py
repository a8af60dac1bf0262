"""`stanchion budget`: what is used of every budget, what is held of it, and what operators do about that."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from stanchion.cli.answerers import WAYS, add_answerer
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
       stanchion budget top [-n N] [--policy POLICY] [--store URL] [--json]
       stanchion budget holds [NAME] [--store URL] [--json]
       stanchion budget release CALL [--used MEASURE=AMOUNT] [--why WORDS] [--tenant NAME]
       stanchion budget top-up BUDGET MEASURE=AMOUNT [--why WORDS] [--tenant NAME]"""

DESCRIPTION: Final = """\
show     what is used or reserved of every budget in the store: by run, task, agent and
         tenant, and of what was carved out for child runs; with a policy beside its limit
top      those first of which least is left
holds    what is reserved and not settled: by whom, for which call, since when, of which
         budget; what a killed process held stays reserved until somebody settles it
release  give back what a call has reserved whose process is gone, or what a process held
         of a budget of the whole fleet; `--used` says what of it was used
top-up   let more be spent of a budget than its policy says"""

EPILOG: Final = f"""\
examples:
  stanchion budget show
  stanchion budget show fix-login --policy policy.yaml
  stanchion budget top -n 5 --policy policy.yaml
  stanchion budget holds
  stanchion budget release run-7.1f2e3d4c.12 --used tokens=400 --why 'the host went down'
  stanchion budget top-up spend/run:run-7 tokens=5000 --why 'one more chapter'

NAME is a run, task, agent or tenant, CALL one of those that `holds` shows. BUDGET is the id
of a guard and whose budget it is: `spend/run:ID`, `spend/task:NAME`, `spend/agent:NAME`,
`spend/tenant` or `spend/fleet`. MEASURE is calls, tokens, cost_usd, api_calls or
duration_s, or one as `holds` shows it, in whole units (cost_microusd=120000 is
cost_usd=0.12); give several with commas between them. What `--used` does not name stays
charged at its estimate, and without `--used` nothing was used. A release and a top-up are
written to the trail.

{WAYS}

The store is that of the project, which is found from the policy's file or the current
folder, or where STANCHION_STORE says.

exit status:
  0  it is shown or done, or there is nothing yet
  2  it cannot be: the store or the policy cannot be read, there is nothing to release, its
     process may be at work, or you may not"""

VERBS: Final = ("show", "top", "holds", "release", "top-up")
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
    summary = "show what is used and held of budgets, release holds, top one up"
    parser: Parser = commands.add_parser("budget", help=summary, usage=USAGE, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("what", metavar="|".join(VERBS), choices=VERBS, help="what to do")
    named = "only those of this run, task, agent, tenant; or the call to release, or the budget to top up"
    parser.add_argument("name", metavar="NAME", nargs="?", default="", help=named)
    parser.add_argument("amount", metavar="MEASURE=AMOUNT", nargs="?", default="", help="how much more may be spent")
    parser.add_argument("-n", metavar="N", type=int, default=10, help="how many `top` shows (default: 10)")
    parser.add_argument("--policy", metavar="POLICY", help="the policy that has the limits, a file or a pack")
    parser.add_argument("--store", metavar="URL", help="the store: a file, a URL, or `user:`")
    add_project(parser)
    parser.add_argument("--json", action="store_true", help="answer with JSON, one line for each budget")
    parser.add_argument("--used", metavar="MEASURE=AMOUNT", default="", help="what a released call has used")
    parser.add_argument("--why", metavar="WORDS", default="", help="the reason, for the trail")
    parser.add_argument("--by", metavar="NAME", default="", help="what you are called, where no key says so")
    parser.add_argument("--tenant", metavar="NAME", help="whose; STANCHION_TENANT, or else `default`, if none is named")
    add_answerer(parser, policy=False)


def run(args: argparse.Namespace) -> int:
    """Show the budgets, or what is held of them; release a call; top one up."""
    if args.what in ("release", "top-up"):
        from stanchion.cli.budget_acts import release, top_up

        return release(args) if args.what == "release" else top_up(args)
    if args.amount:
        raise BadInput(f"`stanchion budget {args.what}` takes one NAME: `{args.amount}` is one too many")
    if args.what == "holds":
        from stanchion.cli.budget_holds import show_holds

        return show_holds(args)
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
