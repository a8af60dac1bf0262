"""`stanchion budget`: what is used of every budget, what is held of it, and what operators do about
that."""

from __future__ import annotations

import argparse
from typing import Final

from stanchion.cli.answerers import WAYS
from stanchion.cli.found_policy import load_given
from stanchion.cli.options import BY, PROJECT, SIGNER, STORE, TENANT, WHY, option
from stanchion.cli.printing import put_json, put_table
from stanchion.cli.stores import opened
from stanchion.cli.terminal import put_line
from stanchion.cli.trouble import BadInput
from stanchion.cli.whose import whose
from stanchion.ops.views.amounts import amount, percent
from stanchion.ops.views.budgets import BudgetView, Limits, budgets, limits_of, most_used
from stanchion.ops.views.times import span

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


OPTIONS: Final = (
    option(
        "what " + "|".join(VERBS),
        "what to do (default: show)",
        nargs="?",
        default="show",
        choices=VERBS,
    ),
    option(
        "name NAME",
        "only those of this run, task, agent, tenant; or the call to release, or the budget to top "
        "up",
        nargs="?",
        default="",
    ),
    option(
        "amount MEASURE=AMOUNT",
        "how much more may be spent, as MEASURE=AMOUNT",
        nargs="?",
        default="",
    ),
    option("-n N", "how many `top` shows (default: 10)", type=int, default=10),
    option("--policy POLICY", "the policy with the limits: a file or a pack"),
    STORE,
    PROJECT,
    option("--json", "answer with JSON, one line for each budget"),
    option("--used MEASURE=AMOUNT", "how much the released call has used", default=""),
    WHY,
    BY,
    TENANT,
    SIGNER,
)


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
        from stanchion.cli.budget_acts import show_holds

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
        put_json(*found)
    else:
        _show(found)
    return 0


def _show(found: list[BudgetView]) -> None:
    if not found:
        put_line(
            "nothing is spent yet: a budget appears with the first action that a `budget` guard "
            "counts",
        )
        return
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
    put_table(
        ("whose", "budget", "used", "limit", "share", ""), rows, ("used", "limit", "share"), styles
    )


def _window(one: BudgetView) -> str:
    if one.period:
        return f" in {one.period}"
    return "" if one.window_s is None else f" in {span(round(one.window_s * 1000))}"


def _bar(share: float) -> str:
    # A top-up is taken off what is used, so a share can be less than nothing.
    full = max(0, min(BAR, int(share * BAR)))
    return "#" * full + "." * (BAR - full)
