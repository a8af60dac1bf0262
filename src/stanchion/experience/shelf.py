"""What the runtime asks of whatever keeps experience beyond a process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from stanchion.experience.incident import Incident
from stanchion.experience.tally import Counted, Known
from stanchion.kernel.shown import Shown

PORTION: Final = 500
"""How many incidents leave at a time."""


class ShelfError(Shown):
    """Experience cannot be read or written; the message says where and why."""


class NothingKept(ShelfError):
    """No experience was ever kept where it is looked for."""


class Shelf(Protocol):
    """Keeps incidents, tallies and practices of all tenants. Raises `ShelfError` where it cannot.

    An incident counts once, however often it is written: a batch whose answer was lost can be
    written again.
    """

    def write(self, incidents: Sequence[Incident]) -> None:
        """Keep a batch, wholly or not at all."""

    def known(self, tenant: str, tool: str, today: int) -> Known:
        """What is known of a tool, found by keys, however much is kept."""

    def tools(self, tenant: str) -> list[str]:
        """The tools of a tenant that something is known of, in order."""

    def newest(self, tenant: str, tool: str, most: int) -> list[Incident]:
        """The last incidents of a tenant, or of one of its tools, the newest first."""

    def count(self) -> int:
        """How many incidents are kept, of all tenants."""

    def oldest(self, before_ms: int, most: int) -> list[Incident]:
        """The oldest incidents of all tenants that happened before a time, the oldest first."""

    def forget(self, incidents: Sequence[Incident]) -> int:
        """Remove incidents; says how many were there."""

    def forget_before(self, before_ms: int, most: int) -> int:
        """Remove incidents that happened before a time, at least `most` where there are so many;
        says how many."""

    def forget_practices(self, before_ms: int, most: int) -> int:
        """Remove practices that have not worked since a time, and the days of tallies that no
        longer count."""

    def close(self) -> None:
        """Let go of files and connections."""


class Sums(NamedTuple):
    """What a batch adds: to the tally of a tool on a day, and to practices."""

    days: dict[tuple[str, str, int], Counted]
    practices: dict[tuple[str, str], PracticeSum]


class PracticeSum(NamedTuple):
    """What a batch adds to a practice, and the newest arguments that worked in it."""

    tool: str
    successes: int
    failures: int
    data: str | None
    at_ms: int


def sums_of(incidents: Sequence[Incident]) -> Sums:
    """What a batch adds, each key once and in order, so that two batches cannot wait for each
    other."""
    days: dict[tuple[str, str, int], Counted] = {}
    practices: dict[tuple[str, str], PracticeSum] = {}
    for one in incidents:
        good, bad = int(one.success), int(not one.success)
        day = (one.tenant, one.tool_name, one.day)
        before = days.get(day, (0, 0))
        days[day] = (before[0] + good, before[1] + bad)
        name = (one.tenant, one.fingerprint)
        known = practices.get(name, PracticeSum(one.tool_name, 0, 0, None, 0))
        data, at_ms = (
            (known.data, known.at_ms) if one.good_data is None else (one.good_data, one.at_ms)
        )
        practices[name] = PracticeSum(
            one.tool_name, known.successes + good, known.failures + bad, data, at_ms
        )
    return Sums(dict(sorted(days.items())), dict(sorted(practices.items())))
