"""A session: what one run has met with each of its tools. It ends with the run."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final

import msgspec

from stanchion.experience.bounded import cut
from stanchion.experience.incident import MOST_REASON
from stanchion.experience.tally import CANDIDATES

MOST_TOOLS: Final = 256
"""How many tools of a run are remembered; the one that was used longest ago is forgotten first."""
MOST_CALLS: Final = 512
"""How many calls of a run are remembered that worked. Of the tool that was used longest ago, all
but the last are forgotten first."""


class OfTool(msgspec.Struct):
    """What a run has met with one tool. `in_a_row` are failures since it last worked. `good` are
    the arguments of the last calls that worked, each once and the last one first, and `bad` those
    of the last call that failed, all as they are kept."""

    successes: int = 0
    failures: int = 0
    in_a_row: int = 0
    last_error: str = ""
    good: tuple[dict[str, Any], ...] = ()
    bad: dict[str, Any] | None = None


class Session:
    """The counters of one run, by tool."""

    def __init__(self) -> None:
        self._tools: OrderedDict[str, OfTool] = OrderedDict()
        self._calls = 0

    def met(
        self, tool: str, success: bool, error: str = "", args: dict[str, Any] | None = None
    ) -> None:
        """Count one outcome; `args` is `None` where the call cannot be told as an example."""
        one = self._tools.get(tool)
        if one is None:
            if len(self._tools) >= MOST_TOOLS:
                self._calls -= len(self._tools.popitem(last=False)[1].good)
            one = self._tools[tool] = OfTool()
        else:
            self._tools.move_to_end(tool)
        if success:
            one.successes += 1
            one.in_a_row = 0
            if args is not None and args != next(iter(one.good), None):
                self._keep(one, (args, *[each for each in one.good if each != args])[:CANDIDATES])
        else:
            one.failures += 1
            one.in_a_row += 1
            one.last_error, one.bad = cut(error, MOST_REASON), args

    def _keep(self, one: OfTool, good: tuple[dict[str, Any], ...]) -> None:
        self._calls += len(good) - len(one.good)
        one.good = good
        if self._calls > MOST_CALLS:
            oldest = next(each for each in self._tools.values() if len(each.good) > 1)
            self._calls -= len(oldest.good) - 1
            oldest.good = oldest.good[:1]

    def of(self, tool: str) -> OfTool:
        """What the run has met with a tool."""
        return self._tools.get(tool, OfTool())

    def tools(self) -> tuple[str, ...]:
        """The tools of the run, the one that was used longest ago first."""
        return tuple(self._tools)
