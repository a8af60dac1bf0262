"""The inbox: a page of tickets is listed and one is answered, where a hundred wait and where ten
thousand do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Final

from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import MEMORY
from stanchion.stores.protocol import Store
from stanchion_lab.bench.measure import compare
from stanchion_lab.bench.stores import OPENED
from stanchion_lab.bench.table import Effort, Row, Section

FEW: Final = 100
MANY: Final = 10_000
STORES: Final = ("memory", "SQLite")
ANSWERS: Final = 8
"""How many tickets are answered in a round; all rounds together leave some of the few."""
ROUNDS: Final = 8
POLICY: Final = {
    "name": "inbox",
    "guards": [{"use": "tool_denylist", "tools": ["pay"], "action": "escalate"}],
    "escalation": {
        "timeout_s": 86_400,
        "tickets_for_a_run": 1_000_000,
        "tickets_a_minute": 1_000_000,
    },
}


def inbox(effort: Effort) -> Section:
    """What a look and an answer cost, by how many tickets wait."""
    rows: list[Row] = []
    for name in STORES:
        with ExitStack() as stack:
            few, many = [
                _crowded(stack.enter_context(OPENED[name]()).store, count) for count in (FEW, MANY)
            ]
            rows += _rows(
                name,
                "list a page",
                few.tickets,
                many.tickets,
                effort.rounds,
                max(4, effort.calls // 50),
            )
            rows += _rows(name, "answer one", _answering(few), _answering(many), ROUNDS, ANSWERS)
    return Section(
        "an inbox that fills", f"{FEW} open tickets beside {MANY:,}; the ratio is to the few", rows
    )


def _rows(
    name: str,
    what: str,
    few: Callable[[], object],
    many: Callable[[], object],
    rounds: int,
    calls: int,
) -> list[Row]:
    costs = compare({"few": few, "many": many}, rounds, calls)
    ratio = round(costs["many"].p50_us / costs["few"].p50_us, 2)
    return [
        Row(f"{name}: {what}, {FEW} open", costs["few"]),
        Row(f"{name}: {what}, {MANY:,} open", costs["many"], ratio),
    ]


def _crowded(store: Store, count: int) -> Shield:
    """A shield on whose store so many tickets are open."""
    shield = Shield.load(POLICY, store=store, journal=MEMORY)
    with shield.run("bot", "t") as run:
        for amount in range(count):
            run.check("pay", {"amount": amount})
    return shield


def _answering(shield: Shield) -> Callable[[], object]:
    """Answers one ticket after the other, the most urgent first."""
    ids: Iterator[str] = iter([one.id for one in shield.tickets(most=FEW)])
    return lambda: shield.deny(next(ids), by="ann", comment="not this one")
