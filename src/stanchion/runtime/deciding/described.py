"""Describing runs: what a policy says of a run's agent and task becomes part of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from stanchion.kernel.actions import RISK_NAMES, RiskName
from stanchion.kernel.chain import EVERY_ACTION
from stanchion.kernel.counter_scopes import SCOPES
from stanchion.kernel.events import RunInfo
from stanchion.kernel.mandate import Layer, Mandate, join, layer_of, layer_of_task
from stanchion.kernel.names import names, require_texts, texts_in
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.hosts import able

if TYPE_CHECKING:
    from stanchion.kernel.units import Amounts
    from stanchion.policy.compiled import CompiledPolicy
    from stanchion.runtime.keywords import RunOptions
    from stanchion.runtime.shield import Shield


def new_desk(
    shield: Shield,
    nonces: Callable[[], str],
    agent: str,
    task: str,
    options: RunOptions,
    labels: Mapping[str, str] | None,
    above: Desk | None,
    allotment: Amounts | None,
) -> Desk:
    """The desk of a new run, with what it has from the one above it, and the `allotment` that was
    carved out of that one's budgets. `nonces` gives texts that nobody else has."""
    said: dict[str, Any] = {name: one for name, one in options.items() if one is not None}
    named = {name: said[name] for name in ("id", "role", "tenant") if name in said}
    require_texts(agent=agent, task=task, **named)
    ends = deadline(
        said.get("deadline_s"), shield.policy.task(task).deadline_s, shield.clock, above
    )
    info = RunInfo(
        id=said["id"] if "id" in said else f"run-{nonces()}{nonces()}",
        agent=agent,
        role=said.get("role", ""),
        task=task,
        tenant=shield.tenancy.of(said.get("tenant"))
        if above is None or "tenant" in said
        else above.info.tenant,
        additional_tools=names(texts_in("tools", said.get("tools", ()))),
        level=worst(said.get("risk")),
        labels=labelled({} if labels is None else labels, None if above is None else above.info),
        may=Mandate((host_layer(said["may"]),)) if "may" in said else UNSET,
    )
    info = info if above is None else inherited(info, above.plans.run, allotment)
    host = EVERY_ACTION if above is None else above.can
    host = able(said["can"]) if "can" in said else host
    return Desk(shield, info, nonces(), ends, above, host)


def host_layer(may: Iterable[str]) -> Layer:
    """What a host says that a run may do; `ValueError` for what is neither effect nor tool. Values
    are for a policy to name."""
    return layer_of("may", texts_in("may", may))


def labelled(
    given: Mapping[str, str], above: RunInfo | None
) -> tuple[tuple[str, str], ...] | msgspec.UnsetType:
    """The labels of a run: those of the run above it, and its own. `ValueError` where it would have
    another than that, or one that is no name for something."""
    inherited = () if above is None or above.labels is UNSET else above.labels
    labels = dict(inherited)
    if not isinstance(given, Mapping):
        raise ValueError(f"`labels` is of the type `{type(given).__name__}`: give names and texts")
    for name, value in given.items():
        if (
            not str(name).isidentifier()
            or name in SCOPES
            or not isinstance(value, str)
            or not value
        ):
            raise ValueError(
                f"the label `{name}` cannot be used: give a plain name of your own, and a text"
            )
        if labels.setdefault(name, value) != value:
            raise ValueError(f"the label `{name}` is the parent's: a child has the same one")
    return tuple(sorted(labels.items())) if labels else UNSET


def described(info: RunInfo, policy: CompiledPolicy) -> RunInfo:
    """A run as a policy describes it: its agent's role and tools, its task's additional tools
    and risk level."""
    agent, task = policy.agent(info.agent), policy.task(info.task)
    role = info.role if info.role else agent.role
    shared, layer = policy.role(role), layer_of_task(task.may)
    allowed = shared.allowed_tools if agent.allowed_tools is None else agent.allowed_tools
    extra = info.additional_tools
    return msgspec.structs.replace(
        info,
        role=role,
        allowed_tools=None if allowed is None else names(allowed),
        capabilities=tuple(dict.fromkeys((*shared.capabilities, *agent.capabilities))),
        additional_tools=names((*extra.exact, *extra.globs, *task.additional_tools))
        if task.additional_tools
        else extra,
        level=worst(info.level, task.risk),
        may=info.may if layer is None else on_top(info.may, Mandate((layer,))),
    )


def inherited(info: RunInfo, above: RunInfo, allotment: Amounts | None) -> RunInfo:
    """A run with what it has from the one above it: whose budgets it spends from, and a level that
    is no lower."""
    carved = {} if allotment is None else {"allotted_by": above.agent, "allotted_for": above.task}
    return msgspec.structs.replace(
        info,
        parents=(above.id, *above.parents),
        purse=above.purse if above.purse else above.id,
        allotment=allotment,
        level=worst(info.level, above.level),
        may=info.may if above.may is UNSET else on_top(above.may, info.mandate),
        **carved,
    )


def on_top(may: Mandate | msgspec.UnsetType, more: Mandate) -> Mandate:
    """What a run may do with more said of it on top, which can only narrow it."""
    return more if may is UNSET else join(may, more)


def deadline(
    given_s: float | None, task_s: float | None, now: Callable[[], int], above: Desk | None
) -> int | None:
    """When a run has to be done: the first of its own deadline, its task's and that of the run
    above it."""
    if given_s is not None and not (isinstance(given_s, int | float) and 0 < given_s < 1e9):
        raise ValueError(f"deadline_s is `{given_s}`: give a positive number of seconds")
    ends = [now() + int(limit * 1000) for limit in (given_s, task_s) if limit is not None]
    if above is not None and above.deadline_at_ms is not None:
        ends.append(above.deadline_at_ms)
    return min(ends, default=None)


def worst(*levels: str | msgspec.UnsetType | None) -> RiskName | msgspec.UnsetType:
    """The worst of the risk levels that are given; `UNSET` where none is. `ValueError` for one that
    there is not."""
    given = [level for level in levels if level is not UNSET and level]
    if not given:
        return UNSET
    for level in given:
        if level not in RISK_NAMES:
            raise ValueError(f"`{level}` is not a risk level: give one of {', '.join(RISK_NAMES)}")
    return max([name for name in RISK_NAMES if name in given], key=RISK_NAMES.index, default=UNSET)
