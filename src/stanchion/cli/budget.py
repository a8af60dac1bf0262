"""`stanchion budget`: what is used of every budget, what is held of it, and what operators do about
that."""

from __future__ import annotations

from typing import Final

from stanchion.cli.answerers import WAYS, answerer, loaded
from stanchion.cli.command import (
    BY,
    PROJECT,
    SIGNER,
    STORE,
    TENANT,
    WHY,
    Args,
    AsBadInput,
    BadInput,
    DeclaredCommand,
    Verb,
    option,
)
from stanchion.cli.policies import given
from stanchion.cli.printing import Layout, put_found
from stanchion.cli.terminal import tell
from stanchion.cli.whose import opened, tenant_of, whose
from stanchion.ops.views.amounts import amount, percent, shown, span
from stanchion.ops.views.budgets import (
    BudgetLimits,
    BudgetView,
    HeldPart,
    HeldView,
    budgets,
    held,
    limits_of,
    most_used,
)
from stanchion.ops.views.veiled import veiled
from stanchion.runtime.operating.budgets import FRACTIONS, WHOLE
from stanchion.stores.memory import wall_ms

BAR: Final = 20


def _budgets(args: Args) -> list[BudgetView]:
    policy = None if args.policy is None else given(args.policy, None).policy
    limits = BudgetLimits() if policy is None else limits_of(policy)
    state = whose(args.project, args.store, () if policy is None else policy.files)
    with opened(args.store, state) as store:
        return [] if store is None else budgets(store, limits, args.name)


def show(args: Args) -> int:
    """Show the budgets."""
    put_found(_budgets(args), SPENT, args.json)
    return 0


def top(args: Args) -> int:
    """Show those of which least is left."""
    if args.n < 1:
        raise BadInput(f"`-n` is `{args.n}`: give a number of at least 1")
    put_found(most_used(_budgets(args), args.n), SPENT, args.json)
    return 0


def _row(one: BudgetView) -> tuple[str, ...]:
    whose = f"{one.per} {one.whose}".strip() if one.per != "tenant" else f"tenant {one.tenant}"
    used = whose, one.budget, amount(one.measure, one.used)
    if one.limit is None:
        return *used, "", "", ""
    limit = f"{amount(one.measure, one.limit)}{_window(one)}"
    return *used, limit, percent(one.share), _bar(one.share)


def _window(one: BudgetView) -> str:
    if one.period:
        return f" in {one.period}"
    return "" if one.window_s is None else f" in {span(round(one.window_s * 1000))}"


def _bar(share: float) -> str:
    # A top-up is taken off what is used, so a share can be less than nothing.
    full = max(0, min(BAR, int(share * BAR)))
    return "#" * full + "." * (BAR - full)


SPENT: Final = Layout(
    ("whose", "budget", "used", "limit", "share", ""),
    _row,
    ("used", "limit", "share"),
    "nothing is spent yet: a budget appears with the first action that a `budget` guard counts",
    lambda one: {"share": "bad" if one.share >= 0.95 else "mild" if one.share >= 0.8 else "good"},
)


FORM: Final = "write `tokens=500`, or several with commas between them"


def release(args: Args) -> int:
    """Give back what a call has reserved."""
    used = amounts("--used", args.used) if args.used else None

    with AsBadInput(ValueError), loaded(args) as shield:
        by = answerer(args, shield)
        shield.release_call(args.name, used, why=args.why, by=by, tenant=args.tenant)
    kept = (
        f"{_worded(used)} of it is charged, as used"
        if used is not None
        else "nothing of it is charged"
    )
    tell(f"{veiled(args.name)} is released: {kept}")
    return 0


def top_up(args: Args) -> int:
    """Let more be spent of a budget."""
    if not args.name or not args.amount:
        raise BadInput(
            "which budget, and by how much? write `stanchion budget top-up spend/run:ID tokens=500`"
        )
    more = amounts("MEASURE=AMOUNT", args.amount)

    with AsBadInput(ValueError), loaded(args) as shield:
        by = answerer(args, shield)
        shield.top_up(args.name, more, why=args.why, by=by, tenant=args.tenant)
    tell(f"{veiled(args.name)} is topped up by {_worded(more)}")
    return 0


def _worded(given: dict[str, int | float]) -> str:
    """Amounts as people read them: `5,000 tokens and $0.12`."""
    whole = {name: (counted, many) for counted, (name, many) in WHOLE.items()}
    each = [(*whole.get(name, (name, 1)), value) for name, value in given.items()]
    return " and ".join([amount(counted, round(value * many)) for counted, many, value in each])


def amounts(option: str, text: str) -> dict[str, int | float]:
    """Amounts from what was typed; `BadInput` where they are none."""
    found: dict[str, int | float] = {}
    for part in text.split(","):
        measure, equals, number = (word.strip() for word in part.partition("="))
        try:
            value = float(number) if measure in FRACTIONS else int(number)
        except ValueError:
            raise BadInput(f"`{option}` is `{text}`, which is not an amount: {FORM}") from None
        if not equals or measure in found:
            raise BadInput(f"`{option}` is `{text}`, which is not an amount: {FORM}")
        found[measure] = value
    return found


def show_holds(args: Args) -> int:
    """Show what is held."""
    with opened(args.store, whose(args.project, args.store)) as store:
        found = [] if store is None else held(store, args.name, tenant_of(args.tenant))
    rows = [(one, part) for one in found for part in one.parts]
    put_found(found if args.json else rows, HELD, args.json)
    return 0


def _held_row(one: tuple[HeldView, HeldPart]) -> tuple[str, ...]:
    held_view, part = one
    silent = held_view.heard_ms
    return (
        shown(held_view.since_ms),
        "a process of the fleet" if held_view.slice else held_view.run,
        held_view.call,
        amount(part.measure, part.amount),
        " ".join(word for word in (part.budget, part.per, part.whose) if word),
        "" if silent is None else span(max(0, wall_ms() - silent)),
    )


HELD: Final = Layout(
    ("since", "held by", "call", "reserved", "of", "silent for"),
    _held_row,
    ("reserved",),
    "nothing is held: every call has reported its outcome",
)


BUDGET_COMMAND: Final = DeclaredCommand(
    usage="""stanchion budget [show] [NAME] [--policy POLICY] [--store URL] [--json]
       stanchion budget top [-n N] [--policy POLICY] [--store URL] [--json]
       stanchion budget holds [NAME] [--store URL] [--json]
       stanchion budget release CALL [--used MEASURE=AMOUNT] [--why WORDS] [--tenant NAME]
       stanchion budget top-up BUDGET MEASURE=AMOUNT [--why WORDS] [--tenant NAME]""",
    description="""\
show     what is used or reserved of every budget in the store: by run, task, agent and
         tenant, and of what was carved out for child runs; with a policy beside its limit
top      the budgets with the least left first
holds    what is reserved and not settled: by whom, for which call, since when, from which
         budget; what a killed process held stays reserved until someone releases it
release  give back what a call reserved if its process is gone, or what a process held of a
         fleet budget; `--used` says how much of it was used
top-up   raise a budget above its policy's limit""",
    epilog="""\
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

"""
    + WAYS
    + """

The store is the project's, which is found from the policy's file or the current
folder, or the one that STANCHION_STORE names.

exit status:
  0  it is shown or done, or there is nothing yet
  2  not done: the store or the policy cannot be read, there is nothing to release, its
     process may still be running, or you are not allowed to""",
    options=(
        option(
            "verb show|top|holds|release|top-up",
            "what to do (default: show)",
            nargs="?",
            default="show",
        ),
        option(
            "name NAME",
            "only those of this run, task, agent, tenant; or the call to release, or the budget to top "  # noqa: E501
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
    ),
    work={
        "show": Verb(show, "name policy json"),
        "top": Verb(top, "name policy json"),
        "holds": Verb(show_holds, "name json"),
        "release": Verb(
            release,
            "name used why by",
            "which call? write `stanchion budget release CALL`; `stanchion budget holds` shows "
            "them",
        ),
        "top-up": Verb(top_up, "name amount why by"),
    },
)
