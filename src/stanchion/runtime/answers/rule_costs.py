"""What answers of deep rules cost: charged to the run that asked, as its own model calls are."""

from __future__ import annotations

from typing import Any, Protocol

from stanchion.kernel.events import ModelCall
from stanchion.kernel.state import Batch
from stanchion.kernel.units import LARGEST, Amounts


class Payer(Protocol):
    """A run, as far as something can be charged to it."""

    info: Any
    measures: frozenset[int]

    @property
    def pays(self) -> bool:
        """Whether it has anything left to pay with, as far as is known."""

    @property
    def shield(self) -> Any: ...

    @property
    def plans(self) -> Any: ...

    def event(self, kind: type[Any], tool: str = "") -> Any: ...

    def new_id(self) -> str: ...


def owe_cost(desk: Payer, tokens: int, cost_microusd: int) -> None:
    """Leave what an answer has cost to the run's next trip to the store. It is spent already, so it
    is counted whatever it exceeds; what comes after it is judged by what is left then."""
    if not desk.measures:
        return
    plan = desk.plans.of((desk.event(ModelCall),), "")
    lines = tuple([line._replace(bands=(), hold_ms=0) for line in plan.lines if not line.follows])
    spent: Amounts = (0, _at_most(tokens), _at_most(cost_microusd), 1, 0)
    if lines:
        desk.shield.unsettled.keep(
            Batch(desk.new_id(), desk.info.tenant, lines=lines, amounts=spent)
        )


def _at_most(amount: int) -> int:
    """What somebody else says that was used, as far as one action can use it: no store forgets it
    for its size."""
    return min(max(amount, 0), LARGEST - 1)
