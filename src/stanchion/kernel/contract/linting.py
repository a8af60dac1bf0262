"""What a guard says of its own entry: options that do nothing, warnings that everybody gets, how
far it reaches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from stanchion.kernel.contract.values import Point, Standing
from stanchion.kernel.stages import Stage


class HasIdle(Protocol):
    """Has options that do nothing at some stages. Asked when it is placed: they are errors of the
    policy."""

    def idle(self, stages: frozenset[Stage], alone: bool, /) -> Iterable[tuple[str, str]]:
        """Options that nothing acts on at these stages, each with why and what to do instead.
        `alone` says that the guard has its counters to itself: one that shares them may be there to
        look at what others have counted."""


class HasPoints(Protocol):
    """Knows what is easily meant otherwise in its options. Asked when a policy is looked over."""

    def points(self, standing: Standing, /) -> Iterable[Point]:
        """What there is to say of it at that place."""


class AlwaysSpeaks(Protocol):
    """May be written so that it speaks about every call it stands at. Asked when a policy is looked
    over, of a guard that concerns everybody: warnings that every call gets are no warnings."""

    def always_speaks(self) -> bool:
        """Whether it is."""


class Reaches(Protocol):
    """Speaks wherever some names have some values, and nowhere else. Asked when a policy is looked
    over: one that refuses silences what stands behind it."""

    def reaches(self) -> Mapping[str, tuple[str, ...]]:
        """The values of each name, as names or globs; nothing where it speaks about everything."""


class Degrades(Protocol):
    """Has a mark that asks for something lesser where there is something, beside what it always
    answers. Asked when a policy is compiled: a mark that nothing answers is an error."""

    @property
    def degrades(self) -> str:
        """The mark as it is written, such as `degrade_at: 80`; empty where it has none."""


class RisesWith(Protocol):
    """Does not always become stricter when a table of the policy does. Asked when two policies are
    compared."""

    def rises_with(self, table: str, key: str, old: Any, /) -> bool:
        """Whether it does, for a key of `roles`, `agents`, `tasks` or `tools` that said `old`
        before."""
