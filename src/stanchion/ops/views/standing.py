"""The states of a tenant or the fleet, and of what is in it: what each is now, until when, and
why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from stanchion.kernel.gates import Standing
from stanchion.kernel.scopes import FLEET
from stanchion.kernel.state import FOREVER
from stanchion.kernel.states import HALTED, NORMAL, QUARANTINE, SAFE, WARNING, Mark, phase

PLAIN: Final = "normal"
"""What the state of a thing is called that is in none of its own."""

NOW: Final = {
    NORMAL: PLAIN,
    WARNING: "watched",
    QUARANTINE: "in quarantine",
    SAFE: "in safe mode",
    HALTED: "halted",
}
"""What something is that is in a state."""


class StateView(msgspec.Struct, frozen=True):
    """One state: of the `fleet`, a `tenant`, a `tool`, an `agent` or a `run`.

    `state` is what it is now, `put` what it was put into: they differ where that has ended by
    itself. `until_ms` is when it ends, `None` where somebody has to end it.
    """

    kind: str
    name: str
    state: str
    put: str
    until_ms: int | None = None
    why: str = ""

    @property
    def over(self) -> bool:
        """Whether what it was put into has ended by itself."""
        return self.state != self.put


def states(tenant: str, standing: Standing, now: int) -> Iterator[StateView]:
    """The states that a record tells, as they stand at a time: the tenant's own first."""
    yield state_of("fleet" if tenant == FLEET else "tenant", tenant, standing.own, now)
    for name, mark in sorted(standing.marks.items()):
        kind, _, who = name.partition(":")
        yield state_of(kind, who, mark, now)


def state_of(kind: str, name: str, mark: Mark, now: int) -> StateView:
    """One state as it stands at a time."""
    until = mark.until if 0 < mark.until < FOREVER else None
    alone = f" (for run {' and '.join(mark.only)} alone)" if mark.only else ""
    state, put = _called(phase(mark, now).state), _called(mark.state)
    return StateView(kind, name, state, put, until, f"{mark.why}{alone}")


def _called(state: str) -> str:
    return PLAIN if state == NORMAL else state
