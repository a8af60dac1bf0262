"""`stanchion budget`: what is used of every budget, what is held of it, and what operators do about
that."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, Final

from stanchion.cli.answerers import WAYS, add_answerer
from stanchion.cli.found_policy import load_given
from stanchion.cli.parser import Parser
from stanchion.cli.stores import opened
from stanchion.cli.table import table
from stanchion.cli.terminal import Terminal, put
from stanchion.cli.trouble import BadInput
from stanchion.cli.whose import add_project, whose
from stanchion.views.amounts import amount, percent
from stanchion.views.budgets import BudgetView, Limits, budgets, limits_of, most_used
from stanchion.views.encode import json_line
from stanchion.views.times import span

USAGE: Final = """stanchion budget [show] [NAME] [--policy POLICY] [--store URL] [--json]
       stanchion budget top [-n N] [--policy POLICY] [--store URL] [--json]
       stanchion budget holds [NAME] [--store URL] [--json]
       stanchion budget release CALL [--used MEASURE=AMOUNT] [--why WORDS] [--tenant NAME]
       stanchion budget top-up BUDGET MEASURE=AMOUNT [--why WORDS] [--tenant NAME]"""

DESCRIPTION: Final = """\
show     what is used or reserved of every budget in the store: by run, task, agent and
         tenant, and of what was carved out for child runs; with a policy beside its limit
top      the budgets with the least left first
holds    what is reserved and not settled: by whom, for which call, since when, from which
         budget; what a killed process held stays reserved until someone releases it
release  give back what a call reserved if its process is gone, or what a process held of a
         fleet budget; `--used` says how much of it was used
top-up   raise a budget above its policy's limit"""

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
duration_s, or one as `--json` names it, in whole units (cost_microusd=120000 is
cost_usd=0.12); give several with commas between them. What `--used` does not name stays
charged at its estimate, and without `--used` nothing was used. A release and a top-up are
written to the trail.

{WAYS}

The store is the project's, which is found from the policy's file or the current
folder, or the one that STANCHION_STORE names.

exit status:
  0  it is shown or done, or there is nothing yet
  2  not done: the store or the policy cannot be read, there is nothing to release, its
     process may still be running, or you are not allowed to"""

VERBS: Final = ("show", "top", "holds", "release", "top-up")
BAR: Final = 20


def add(commands: Any) -> None:
    """Add the command to those of the command line."""
    summary = "show how much of each budget is used, release holds, raise a budget"
    parser: Parser = commands.add_parser(
        "budget", help=summary, usage=USAGE, description=DESCRIPTION, epilog=EPILOG
    )
    parser.add_argument(
        "what",
        metavar="|".join(VERBS),
        nargs="?",
        default="show",
        choices=VERBS,
        help="what to do (default: show)",
    )
    named = (
        "only those of this run, task, agent, tenant; or the call to release, or the budget to top "
        "up"
    )
    parser.add_argument("name", metavar="NAME", nargs="?", default="", help=named)
    parser.add_argument(
        "amount",
        metavar="MEASURE=AMOUNT",
        nargs="?",
        default="",
        help="how much more may be spent, as MEASURE=AMOUNT",
    )
    parser.add_argument(
        "-n", metavar="N", type=int, default=10, help="how many `top` shows (default: 10)"
    )
    parser.add_argument(
        "--policy", metavar="POLICY", help="the policy with the limits: a file or a pack"
    )
    parser.add_argument("--store", metavar="URL", help="the store: a file, a URL, or `user:`")
    add_project(parser)
    parser.add_argument(
        "--json", action="store_true", help="answer with JSON, one line for each budget"
    )
    parser.add_argument(
        "--used", metavar="MEASURE=AMOUNT", default="", help="how much the released call has used"
    )
    parser.add_argument("--why", metavar="WORDS", default="", help="the reason, for the trail")
    parser.add_argument("--by", metavar="NAME", default="", help="your name, if no key proves it")
    parser.add_argument(
        "--tenant", metavar="NAME", help="the tenant (default: STANCHION_TENANT, or else `default`)"
    )
    add_answerer(parser, policy=False)


def run(args: argparse.Namespace) -> int:
    """Show the budgets, or what is held of them; release a call; top one up."""
    if args.what in ("release", "top-up"):
        from stanchion.cli.budget_acts import release, top_up

        return release(args) if args.what == "release" else top_up(args)
    if args.amount:
        raise BadInput(
            f"`stanchion budget {args.what}` takes one NAME: `{args.amount}` is one too many"
        )
    if args.what == "holds":
        from stanchion.cli.budget_holds import show_holds

        return show_holds(args)
    if args.n < 1:
        raise BadInput(f"`-n` is `{args.n}`: give a number of at least 1")
    policy = None if args.policy is None else load_given(args.policy)
    limits = Limits() if policy is None else limits_of(policy)
    state = whose(args.project, args.store, () if policy is None else policy.files)
    with opened(args.store, state) as store:
        found = [] if store is None else budgets(store, limits, args.name)
    if args.what == "top":
        found = most_used(found, args.n)
    if args.json:
        sys.stdout.buffer.write(b"".join(json_line(one) for one in found))
    else:
        _show(found)
    return 0


def _show(found: list[BudgetView]) -> None:
    if not found:
        put(
            sys.stdout,
            "nothing is spent yet: a budget appears with the first action that a `budget` guard "
            "counts",
        )
        return
    terminal = Terminal.of(sys.stdout, os.environ)
    rows = [
        (
            f"{one.per} {one.whose}".strip() if one.per != "tenant" else f"tenant {one.tenant}",
            one.budget,
            amount(one.measure, one.used),
            "" if one.limit is None else f"{amount(one.measure, one.limit)}{_window(one)}",
            "" if one.limit is None else percent(one.share),
            "" if one.limit is None else _bar(one.share),
        )
        for one in found
    ]
    styles = [
        {"share": "bad" if one.share >= 0.95 else "mild" if one.share >= 0.8 else "good"}
        for one in found
    ]
    for line in table(
        ("whose", "budget", "used", "limit", "share", ""),
        rows,
        ("used", "limit", "share"),
        terminal,
        styles,
    ):
        put(sys.stdout, line)


def _window(one: BudgetView) -> str:
    if one.period:
        return f" in {one.period}"
    return "" if one.window_s is None else f" in {span(round(one.window_s * 1000))}"


def _bar(share: float) -> str:
    # A top-up is taken off what is used, so a share can be less than nothing.
    full = max(0, min(BAR, int(share * BAR)))
    return "#" * full + "." * (BAR - full)
