"""Scopes: whose counter something counts on, from one run to the whole fleet."""

from __future__ import annotations

from typing import Final, Literal, get_args

from stanchion.kernel.events import RunInfo
from stanchion.kernel.state import key

Scope = Literal["run", "task", "agent", "tenant", "fleet"]

SCOPES: Final = frozenset(get_args(Scope))
"""The scopes that every run has; any other name is one that a host gives its runs."""

FLEET: Final = "*"
"""The tenant of counters that all tenants share."""

ENDING: Final = frozenset({"run", "task"})
"""Scopes that end. A total of any other is kept however long nobody touches it."""


def spenders(run: RunInfo, per: str) -> tuple[str, ...]:
    """Whose state is moved when a budget is used up: that of the run, and that of the agent or the
    tenant (no name) if it is theirs."""
    own = f"run:{run.id}"
    return {"agent": (own, f"agent:{run.agent}"), "tenant": (own, "")}.get(per, (own,))


def scope_key(run: RunInfo, per: str, what: str, *parts: str) -> str:
    """The key of a counter in a scope. A run without a task is a task of its own; a child whose
    budget was not carved out spends from its parent's."""
    match per:
        case "fleet":
            return key(FLEET, what, *parts, per)
        case "tenant":
            return key(run.tenant, what, *parts, per)
        case "agent":
            return key(run.tenant, what, *parts, per, run.agent)
        case "task" if run.task:
            return key(run.tenant, what, *parts, per, run.task)
        case _ if per not in SCOPES:
            return key(run.tenant, what, *parts, per, run.label(per))
        case _:
            return key(run.tenant, what, *parts, "run", run.purse if run.purse else run.id)
