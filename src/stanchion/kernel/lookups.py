"""Lookups: what an asking guard wants from the world, and what can come back."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.kernel.actions import Action

WAITS_MS: Final = {"low": 0, "medium": 100, "high": 200, "critical": 200}
"""How many milliseconds a call waits for a deep rule, by its risk, where nobody says otherwise."""


def answer_name(guard: str, event: int) -> str:
    """What an answer is recorded under: its guard, and the number of its event unless that is the
    first."""
    return f"{guard}#{event}" if event else guard


class Lookup(msgspec.Struct, frozen=True, gc=False):
    """One question of one guard. The driver hands `payload` to whatever answers `guard`, within the
    deadline.

    One that is asked `beside` its event is not waited for: where no answer is known already, it is
    as if nobody had asked, and the answer is for the run's next event.
    """

    guard: str
    payload: Any
    deadline_ms: int
    event: int = 0
    beside: bool = False

    @property
    def name(self) -> str:
        """What its answer is recorded under: its guard, and the number of its event unless that is
        the first."""
        return answer_name(self.guard, self.event)


class Recall(msgspec.Struct, frozen=True, gc=False):
    """A question to the run's own memory, which is answered at once: what it knows of an event, by
    the lights of the guard that asks. `addresses` are those that the commands of a call go to."""

    event: Any
    guard: Any
    addresses: tuple[Any, ...] = ()


class Answered(msgspec.Struct, frozen=True, gc=False, tag="answered"):
    """The answer came in time."""

    value: Any


class Expired(msgspec.Struct, frozen=True, gc=False, tag="expired"):
    """No answer in time."""

    deadline_ms: int


class Failed(msgspec.Struct, frozen=True, gc=False, tag="failed"):
    """Whatever was to answer raised; only the error's type is kept, its text may hold secrets."""

    error: str


class Over(msgspec.Struct, frozen=True, gc=False, tag="over"):
    """The run was over before the answer could count: what stands against everything that it does
    from then on."""

    action: Action
    code: str
    args: tuple[str, ...] = ()
    text: str = ""


Answer = Answered | Expired | Failed | Over

UNHEARD: Final = Expired(0)
"""What stands for the answer to a question that was asked beside its event: it is neither judged
nor recorded."""


class Ask(msgspec.Struct, frozen=True, gc=False):
    """All lookups of a decision, answered together by the code that belongs to that policy."""

    lookups: tuple[Lookup, ...]
    policy: str = ""
