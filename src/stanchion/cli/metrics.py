"""`stanchion metrics`: what all processes of a state have counted, for people and for
Prometheus."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Final

from stanchion.cli.command import (
    PROJECT,
    STORE,
    Args,
    BadInput,
    DeclaredCommand,
    Verb,
    group,
    in_words,
    option,
)
from stanchion.cli.policies import given
from stanchion.cli.printing import Layout, put_found, put_json
from stanchion.cli.terminal import note, warn
from stanchion.cli.whose import StoreAway, opened, tenant_of, whose
from stanchion.ops.views.veiled import veiled
from stanchion.policy.compiled import CompiledPolicy
from stanchion.runtime.operating.commands import switched_on
from stanchion.runtime.standing.places import METRICS, METRICS_DIR, StateFinder
from stanchion.runtime.standing.state_figures import state_figures
from stanchion.runtime.standing.tenancy import DEFAULT
from stanchion.telemetry.catalogue import BY_NAME, PROCESSES, STORE_UP, UNREADABLE
from stanchion.telemetry.exposition import exposed
from stanchion.telemetry.folder import Collected, collect
from stanchion.telemetry.guardrails import GuardrailState, states
from stanchion.telemetry.registry import Series, Sum
from stanchion.telemetry.server import server

NUMBERS: Final = ("reached", "pass", "warn", "escalate", "block", "avg ms")


def _row(one: GuardrailState) -> tuple[str, ...]:
    counts = (
        one.invocation_count,
        one.pass_count,
        one.warn_count,
        one.escalate_count,
        one.block_count,
    )
    average = "" if one.avg_duration_ms is None else f"{one.avg_duration_ms:.3f}"
    last = "" if one.last_triggered is None else one.last_triggered
    return (
        one.guardrail_id,
        "yes" if one.enabled else "no",
        *[f"{each:,}" for each in counts],
        average,
        last,
    )


def _state(args: Args) -> tuple[CompiledPolicy | None, StateFinder]:
    policy = None if args.policy is None else given(args.policy, None).policy
    return policy, whose(args.project, args.store, () if policy is None else policy.files)


def _guardrails(args: Args) -> int:
    """Print the state of each guardrail of a policy, and of those that were counted under another
    one."""
    policy, found = _state(args)
    if policy is None:
        raise BadInput("which guardrails? give their policy with `--policy POLICY`")
    figures = _counted(found).figures.figures()
    put_found(states(figures, switched_on(policy)), GUARDRAILS, args.json)
    return 0


def _figures_of(args: Args) -> int:
    """Show the figures, or serve them."""
    policy, found = _state(args)
    tenant = tenant_of(args.tenant) or DEFAULT
    if args.serve is not None:
        return _serve(args, found, policy, tenant)
    figures = _figures(args.store, found, policy, tenant, StoreTrouble())
    if args.json:
        put_json(*map(_data, figures))
    else:
        sys.stdout.write(exposed(figures, args.openmetrics))
    return 0


class StoreTrouble:
    """Says on standard error why the store cannot be read: once for as long as it is the same."""

    def __init__(self) -> None:
        self._last = ""

    def told(self, why: str) -> None:
        """Why it cannot be read for this answer; empty where it can."""
        if why and why != self._last:
            warn(f"{why}")
        self._last = why


def _figures(
    store: str | None,
    found: StateFinder,
    policy: CompiledPolicy | None,
    tenant: str,
    trouble: StoreTrouble,
) -> tuple[Series, ...]:
    kept = _counted(found)
    total: Sum = kept.figures
    total.add((Series(PROCESSES.name, (), (kept.alive,)),))
    if kept.unreadable:
        total.add((Series(UNREADABLE.name, (), (kept.unreadable,)),))
    try:
        with opened(store, found) as open_store:
            if open_store is not None:
                total.add([_veiled(one) for one in state_figures(open_store, policy, (tenant,))])
        trouble.told("")
    except StoreAway as error:
        # What was counted is wanted most of all while the store is away.
        total.add((Series(STORE_UP.name, (), (0,)),))
        trouble.told(str(error))
    return total.figures()


def _counted(found: StateFinder) -> Collected:
    try:
        folder = (
            Path(os.environ[METRICS_DIR])
            if os.environ.get(METRICS_DIR, "")
            else found.state.folder / METRICS
        )
        return collect(folder)
    except OSError as error:
        raise BadInput(f"the figures cannot be read: {error}") from None


def _veiled(one: Series) -> Series:
    """Figures of a store, whose names may hold secrets."""
    return Series(one.metric, veiled(one.labels), one.values)


def _serve(args: Args, found: StateFinder, policy: CompiledPolicy | None, tenant: str) -> int:
    trouble = StoreTrouble()
    try:
        made = server(
            lambda: _figures(args.store, found, policy, tenant, trouble), args.host, args.serve
        )
    except OverflowError:
        raise BadInput(
            f"`--serve` is `{args.serve}`, which is not a port: give a number from 0 to 65535"
        ) from None
    except OSError as error:
        raise BadInput(
            f"nothing can be served at `{args.host}:{args.serve}`: {in_words(error)}; choose "
            "another port"
        ) from None
    with made:
        note(
            f"serving metrics at http://{args.host}:{made.server_address[1]}/metrics; Ctrl-C ends "
            f"it",
        )
        made.serve_forever()
    return 0


def _data(one: Series) -> dict[str, Any]:
    metric = BY_NAME[one.metric]
    data: dict[str, Any] = {"metric": one.metric, "kind": metric.kind}
    data["labels"] = dict(zip(metric.labels, one.labels, strict=True))
    if metric.kind != "histogram":
        return {**data, "value": one.values[0]}
    total, *buckets = one.values
    return {
        **data,
        "sum": total,
        "count": sum(buckets),
        "bounds": metric.bounds,
        "buckets": buckets,
    }


GUARDRAILS: Final = Layout(("guardrail", "on", *NUMBERS, "last triggered"), _row, NUMBERS)


METRICS_COMMAND: Final = DeclaredCommand(
    usage="""stanchion metrics [--json | --openmetrics | --serve PORT] [--policy POLICY] [--store URL]
       stanchion metrics guardrails --policy POLICY [--json] [--store URL]""",  # noqa: E501
    description="""\
Show what all processes that use a state have counted: decisions, how long they took, the
store, the trail, tickets and budgets, in the text format of Prometheus. Counts
of ended processes are kept; gauges come only from processes that are alive.

`guardrails` shows the state of each guardrail of a policy: whether it is on, how often it
was reached, what it said, how long it takes on average and when it last said anything but
`pass`.""",
    epilog="""\
examples:
  stanchion metrics
  stanchion metrics --json
  stanchion metrics --serve 9464 --policy policy.yaml
  stanchion metrics guardrails --policy policy.yaml

Each process writes its figures about once a second to the folder `metrics` of the state
(`stanchion state --where`), or to the one that STANCHION_METRICS_DIR names. Nothing is
counted where STANCHION_METRICS is `off`. The server answers on /metrics, on this machine
alone unless `--host` says otherwise: figures name tools, tenants and budgets.

While the store cannot be read, `stanchion_store_up` is 0, standard error says why, and what
was counted is shown anyway.

exit status:
  0  they are shown
  2  not shown: the folder or the policy cannot be read, there is no such kind of store,
     or the port is taken""",
    options=(
        option("verb guardrails", "show each guardrail's state", nargs="?", default="figures"),
        group(
            "",
            option("--json", "answer with JSON, one line for each series"),
            option("--openmetrics", "print the OpenMetrics 1.0 format"),
            option("--serve PORT", "serve the figures over HTTP until you stop it", type=int),
        ),
        option(
            "--host ADDRESS", "the address to listen on (default: 127.0.0.1)", default="127.0.0.1"
        ),
        option("--policy POLICY", "the policy with the limits of budgets: a file or a pack"),
        option(
            "--tenant NAME",
            "the tenant of the budgets (default: STANCHION_TENANT, or else `default`)",
        ),
        STORE,
        PROJECT,
    ),
    work={"figures": Verb(_figures_of, "serve openmetrics"), "guardrails": Verb(_guardrails)},
)
