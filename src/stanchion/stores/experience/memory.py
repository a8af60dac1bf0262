"""Experience in this process's memory: bounded, and gone with the process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from stanchion.experience.incident import Incident, Practice
from stanchion.experience.shelf import PracticeSum, sums_of
from stanchion.experience.tally import WINDOW_DAYS, Known, Tally, chosen
from stanchion.locks import Lock

MOST_INCIDENTS: Final = 100_000
MOST_PRACTICES: Final = 10_000
MOST_TOOLS: Final = 10_000


class MemoryShelf:
    """Keeps the newest of everything; what there is no room for leaves, the oldest first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._incidents: OrderedDict[str, Incident] = OrderedDict()
        self._tallies: OrderedDict[tuple[str, str], Tally] = OrderedDict()
        self._practices: OrderedDict[tuple[str, str], PracticeSum] = OrderedDict()
        self._of_tool: dict[tuple[str, str], dict[str, None]] = {}

    def write(self, incidents: Sequence[Incident]) -> None:
        """Keep a batch."""
        with self._lock:
            fresh = [one for one in incidents if one.id not in self._incidents]
            self._incidents.update({one.id: one for one in fresh})
            self._add(fresh)
            while len(self._incidents) > MOST_INCIDENTS:
                self._incidents.popitem(last=False)
            while len(self._practices) > MOST_PRACTICES:
                self._drop(next(iter(self._practices)))
            while len(self._tallies) > MOST_TOOLS:
                self._tallies.popitem(last=False)

    def _add(self, fresh: list[Incident]) -> None:
        sums = sums_of(fresh)
        for (tenant, tool, day), (good, bad) in sums.days.items():
            self._tallies[tenant, tool] = self._tallies.get((tenant, tool), Tally()).plus(
                good, bad, day
            )
            self._tallies.move_to_end((tenant, tool))
        for name, one in sums.practices.items():
            before = self._practices.get(name, PracticeSum(one.tool, 0, 0, None, 0))
            data, at_ms = (before.data, before.at_ms) if one.data is None else (one.data, one.at_ms)
            good, bad = before.successes + one.successes, before.failures + one.failures
            self._practices[name] = PracticeSum(one.tool, good, bad, data, at_ms)
            self._practices.move_to_end(name)
            self._of_tool.setdefault((name[0], one.tool), {})[name[1]] = None

    def _drop(self, name: tuple[str, str]) -> None:
        tool = self._practices.pop(name).tool
        self._of_tool[name[0], tool].pop(name[1], None)

    def known(self, tenant: str, tool: str, today: int) -> Known:
        """What is known of a tool."""
        with self._lock:
            tally = self._tallies.get((tenant, tool), Tally())
            days = {
                day: counted for day, counted in tally.days.items() if day > today - WINDOW_DAYS
            }
            names = self._of_tool.get((tenant, tool), {})
            found = [(name, self._practices[tenant, name]) for name in names]
        worked = [
            Practice(name, of, good, bad, data, at_ms)
            for name, (of, good, bad, data, at_ms) in found
            if data is not None
        ]
        return Known(Tally(tally.successes, tally.failures, days), chosen(worked))

    def tools(self, tenant: str) -> list[str]:
        """The tools of a tenant."""
        with self._lock:
            return sorted([tool for whose, tool in self._tallies if whose == tenant])

    def newest(self, tenant: str, tool: str, most: int) -> list[Incident]:
        """The last incidents."""
        with self._lock:
            every = sorted(self._incidents.values(), key=lambda one: one.id, reverse=True)
        return [one for one in every if one.tenant == tenant and tool in ("", one.tool_name)][:most]

    def count(self) -> int:
        """How many incidents are kept."""
        with self._lock:
            return len(self._incidents)

    def oldest(self, before_ms: int, most: int) -> list[Incident]:
        """The oldest incidents."""
        with self._lock:
            every = [one for one in self._incidents.values() if one.at_ms < before_ms]
        return sorted(every, key=lambda one: one.id)[:most]

    def forget(self, incidents: Sequence[Incident]) -> int:
        """Remove incidents."""
        with self._lock:
            return len([one for one in incidents if self._incidents.pop(one.id, None) is not None])

    def forget_before(self, before_ms: int, most: int) -> int:
        """Remove old incidents."""
        return self.forget(self.oldest(before_ms, most))

    def forget_practices(self, before_ms: int, most: int) -> int:
        """Remove practices that were not used since."""
        with self._lock:
            gone = [name for name, one in self._practices.items() if one.at_ms < before_ms][:most]
            for name in gone:
                self._drop(name)
            return len(gone)

    def close(self) -> None:
        """Nothing to let go of."""
