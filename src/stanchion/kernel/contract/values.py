"""What guards hand over under the contract: switches, gates, guards beside them, and points
about their entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from stanchion.kernel.stages import Stage
from stanchion.kernel.tuples import NamedTuple

Switch = tuple[Callable[[Any], Any], frozenset[Any]]
"""What is asked of a reading, and the answers without which a pure guard certainly passes."""


class GuardGate(NamedTuple):
    """What has to be in an event, any of it, for a guard to have something to say: expressions of
    RE2 that stand in the texts of `reading.leaves` (with `\\x1f` between them), or `flat` ones that
    stand in `reading.joined.flat`, or work for `reading.of` that gives something else than `None`.
    No shorter texts than `shortest` have any.

    An event that `opens` is looked at whatever its texts say: by its run, its tool, and the names
    and types of its arguments."""

    expressions: tuple[str, ...] = ()
    works: tuple[Callable[[Any], Any], ...] = ()
    shortest: int = 0
    flat: tuple[str, ...] = ()
    opens: Callable[[Any], bool] | None = None


class Beside(NamedTuple):
    """A guard that stands beside another in its name: its id is the other's with `suffix`; it
    stands where the other does unless it has `stages`."""

    suffix: str
    guard: Any
    stages: frozenset[Stage] | None = None
    logs_pass: bool = True


Sure = Literal["certain", "likely", "info"]


class Point(NamedTuple):
    """Something about a guard's entry; `path` leads from the entry to it."""

    code: str
    sure: Sure
    message: str
    advice: str
    path: tuple[str, ...] = ()


class Standing(NamedTuple):
    """A guard's place, as it is told when somebody looks its entry over; mark `last` of a task
    waits for a person, or none does where it is 0."""

    id: str
    stages: frozenset[Stage]
    shadow: bool
    last: int
