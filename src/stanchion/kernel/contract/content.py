"""How a guard treats texts: what it holds back of a stream, hides in names, tells apart, and keeps
from being read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol


class Settles(Protocol):
    """Looks for things that can be cut in two. Asked for every piece of a stream, which waits until
    what is in it can be judged for good; and for texts that are handed on beside a reply, which
    such guards judge, too."""

    @property
    def CONTEXT(self) -> int:  # noqa: N802 - it is a constant of its class
        """How many characters before a piece matter for what is found in it: they stand in the
        event's `before`."""

    def settled(self, text: str, /) -> int:
        """How many characters at the beginning can be judged for good, whatever follows."""


class Veils(Protocol):
    """Hides what its findings are about, whatever they lead to. Asked when something has to be
    hidden that is written down or shown: such a guard judges, though its `actions` have no
    `REDACT`."""

    @property
    def veils(self) -> bool:
        """Whether it does."""


class NamesSecrets(Protocol):
    """Finds what has to be hidden in names: of tools, agents, runs. Asked once for each name that
    is shown or written down; where it raises, all of the name is withheld. Its judgement of a
    prompt hides the same in people's words."""

    def in_name(self, name: str, /) -> Iterable[Sequence[Any]]:
        """What to hide, each as beginning, end and kind, such as `(0, 8, "badge")`; more behind
        them is ignored."""


class Fingerprints(Protocol):
    """Can tell what it finds apart, so that a person can allow one finding and no other. Asked
    where it has found something; what is allowed of it stands in the event's `cleared` when it is
    judged once more, and the guard must let that pass."""

    def fingerprints(self, reading: Any, /) -> Iterable[str]:
        """Twelve digits from 0 to f for each thing that it finds in an event, the same wherever it
        is found."""


class Seeks(Protocol):
    """Looks for patterns in texts. Asked when the policy is put in force: what all guards seek is
    found in one scan of an event, and each asks `reading.of(seek)` for its own."""

    @property
    def seeks(self) -> tuple[Any, ...]:
        """The patterns, each as a `stanchion.readings.scan.Seek`."""
