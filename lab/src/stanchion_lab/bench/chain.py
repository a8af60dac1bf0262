"""The chain that is measured: twelve guards that apply, eight pure and four stateful, and rules
that do not."""

from __future__ import annotations

from typing import Any, Final

from stanchion.audit.journal import Journal
from stanchion.kernel.units import amounts
from stanchion.runtime.deciding.judging import assess
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import MEMORY
from stanchion.stores.protocol import Store
from stanchion_lab.bench.floor import Floor
from stanchion_lab.bench.guards import (
    DROP,
    KEY,
    Rate,
    Repeats,
    Role,
    Schema,
    Tokens,
    Under,
    Without,
)

TOOLS: Final = (*[f"tool_{n}" for n in range(200)], "write_file")
DENIED: Final = tuple(f"denied_{n}" for n in range(200))
ARGS: Final[dict[str, Any]] = {
    "path": "src/app/login.py",
    "content": "def login(user: str, password: str) -> bool:\n    return check(user, password)\n"
    * 6,
}
SPENT: Final = amounts(tokens=1_200)
FEW = 1_000_000_000


RULES: Final = (
    "action.tool_name == 'other_{n}' and event.risk == 'critical'",
    "agent.role == 'role_{n}' and action.type == 'file_write'",
    "task.id == 'task_{n}' and action.target_file != null",
    "event.args.path == 'src/other_{n}.py' and action.type == 'file_write'",
)
"""Conditions that do not hold, by tool, role, task and argument: what a large policy mostly
consists of."""


def policy(rules: int = 0) -> dict[str, Any]:
    """A policy whose shipped guards all apply, and as many rules that do not as asked for."""
    other = [
        {"use": "rule", "id": f"rule-{n}", "when": RULES[n % 4].format(n=n)} for n in range(rules)
    ]
    return {
        "name": "bench",
        "agents": {"a1": {"role": "implementer", "allowed_tools": list(TOOLS)}},
        "guards": [
            {"use": "size_limits"},
            {"use": "tool_denylist", "tools": list(DENIED)},
            {"use": "tool_allowlist"},
            {"use": "step_limit", "max_steps": FEW},
            *other,
        ],
    }


EXTRA: Final = (
    Schema("arguments"),
    Under("in-src", "src/"),
    Without("no-keys", KEY),
    Without("no-drop", DROP),
    Role("is-implementer", "implementer"),
    Tokens("tokens", FEW * 1_000),
    Rate("rate", FEW),
    Repeats("repeats", 1_000),
)
"""With the shipped guards of the policy: eight that judge the event alone, four that keep state."""


def whole(
    rules: int = 0,
    *,
    store: Store | None = None,
    journal: Journal | None = None,
    risk: str = "medium",
) -> tuple[Shield, Run]:
    """A shield with the whole chain and a run in it; state and records are in memory unless others
    are given."""
    shield = Shield.load(
        {**policy(rules), "tools": {"write_file": {"risk": risk}}},
        guards=EXTRA,
        store=MEMORY if store is None else store,
        journal=MEMORY if journal is None else journal,
    )
    return shield, shield.run("a1", "t1", id="r1")


def checked(run: Run) -> Any:
    """A call that makes the event, the decision and the record of one tool call."""
    desk = run.desk

    def check() -> None:
        event = desk.tool_call("write_file", ARGS)
        decision, _ = drive(assess(desk, event, SPENT), desk)
        if not decision.proceeds:
            raise AssertionError(decision.message)

    return check


def by_hand() -> Any:
    """The same by hand."""
    floor = Floor(frozenset(TOOLS), frozenset(DENIED), "0" * 64)

    def check() -> None:
        if floor.check("write_file", ARGS, 1_200) != "ALLOW":
            raise AssertionError("refused")

    return check
