"""Parting a batch: which lines count for the whole fleet, and what stands in their place in the
tenant's batch."""

from __future__ import annotations

from typing import Final, NamedTuple

from stanchion.kernel.actions import PROCEEDS, Action
from stanchion.kernel.scopes import FLEET
from stanchion.kernel.state import FOREVER, Line, When, key

TAGS: Final = (key(FLEET), "~" + key(FLEET))
"""How the keys begin that all tenants share, those of guards in shadow mode included."""

MOST_KNOWN: Final = 4_096
"""How many tuples of lines, and how many outcomes of each, are remembered at the most."""

ALWAYS: Final = -FOREVER
"""A limit that every number is above."""

Bands = tuple[tuple[int, Action], ...]


class Terms(NamedTuple):
    """On which terms slices of a counter are taken: `bands` are those that refuse, `reach` is as
    far as slices may get ahead of what was asked for."""

    key: str
    unit: int
    bands: Bands
    reach: int
    window_ms: int
    idle_s: int

    def unbounded(self) -> Terms:
        """The same for what has to be counted whatever it exceeds: never more than asked for."""
        return self._replace(bands=(), reach=0)


class Shared(NamedTuple):
    """A line that counts for the whole fleet, with its place. One that only looks has the place of
    the line that takes from the same counter, if there is one, and no terms."""

    at: int
    line: Line
    terms: Terms | None
    taker: int


class Parted:
    """A batch's lines, parted once for each tuple of lines: a plan's are always the same."""

    __slots__ = ("_made", "_stand_in", "lines", "order", "shared", "tenant")

    def __init__(self, tenant: str, lines: tuple[Line, ...]) -> None:
        self.tenant = tenant
        self.lines = lines
        found = (
            [(at, line) for at, line in enumerate(lines) if _is_shared(line)]
            if tenant != FLEET
            else []
        )
        takers = {_place(line): at for at, line in reversed(found) if line.when != When.LOOK}
        self.shared = tuple([_shared(at, line, found, takers) for at, line in found])
        self.order = sorted(self.shared, key=lambda one: one.terms is None)
        self._stand_in = key(tenant, "lease")
        self._made: dict[tuple[int, ...], tuple[Line, ...]] = {}

    def judged(self, outcomes: tuple[int, ...]) -> tuple[Line, ...]:
        """The lines for the tenant's own batch: where a shared line stood, one that looks and says
        what that came to.

        So the store works out by itself what is stopped, skipped, idle and written, and every other
        line keeps its place.
        """
        made = self._made.get(outcomes)
        if made is None:
            if len(self._made) >= MOST_KNOWN:
                self._made.clear()
            lines = list(self.lines)
            for (at, line, _, _), outcome in zip(self.shared, outcomes, strict=True):
                bands = ((ALWAYS, Action(outcome)),) if outcome > 0 else ()
                lines[at] = Line(
                    self._stand_in, bands, when=When.LOOK, follows=line.follows, shadow=line.shadow
                )
            made = self._made[outcomes] = tuple(lines)
        return made


class Parting:
    """Parts batches, and remembers how."""

    __slots__ = ("_parted",)

    def __init__(self) -> None:
        self._parted: dict[int, Parted] = {}

    def part(self, tenant: str, lines: tuple[Line, ...]) -> Parted:
        """A batch's lines as they are parted."""
        parted = self._parted.get(id(lines))
        if parted is None or parted.lines is not lines or parted.tenant != tenant:
            if len(self._parted) >= MOST_KNOWN:
                self._parted.clear()
            parted = self._parted[id(lines)] = Parted(tenant, lines)
        return parted


def _is_shared(line: Line) -> bool:
    """Whether a line is reached by lease. A permit is not, because it has to come back by itself
    when its time is over; nor is a register, of which there are no parts."""
    return line.key.startswith(TAGS) and (line.keep or not line.hold_ms) and not line.bits


def _place(line: Line) -> tuple[str, int, int]:
    return line.key, line.unit, line.shadow


def _shared(
    at: int, line: Line, found: list[tuple[int, Line]], takers: dict[tuple[str, int, int], int]
) -> Shared:
    if line.when == When.LOOK:
        return Shared(at, line, None, takers.get(_place(line), -1))
    beside = [other for _, other in found if _place(other) == _place(line) and not other.follows]
    bands = [*line.bands, *[band for other in beside for band in other.bands]]
    refusing = tuple(sorted({(limit, action) for limit, action in bands if action > PROCEEDS}))
    reach = min(
        [limit for limit, _ in refusing], default=max([limit for limit, _ in bands], default=0)
    )
    return Shared(
        at, line, Terms(line.key, line.unit, refusing, reach, line.window_ms, line.idle_s), at
    )
