"""Windows by name: the hour, the day and the month of a time zone, as spans of the store's time."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

from stanchion.kernel.tuples import NamedTuple

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

Window = Literal["hour", "day", "month"]

LONGEST_S: Final[dict[Window, int]] = {"hour": 7_200, "day": 90_000, "month": 2_682_000}
"""How long each can be: the clocks of a place may be put back within it."""

NAMES: Final[dict[Window, str]] = {"hour": "%Y-%m-%dT%H%z", "day": "%Y-%m-%d", "month": "%Y-%m"}
"""How one is called; an hour that comes twice differs by its distance from UTC."""


class Period(NamedTuple):
    """One hour, day or month: its name, and from when until when it is, in milliseconds."""

    name: str
    since: int
    until: int


class Calendar:
    """Gives the period that a time is in. The first instant of a day is that of its date, also
    where its midnight is left out, so that days follow one another without a gap."""

    def __init__(self, window: Window, zone: str) -> None:
        self._window: Final[Window] = window
        self._zone = zone_of(zone)
        self._last = Period("", 0, 0)

    def period(self, at: int) -> Period:
        """The period that a time is in, in milliseconds since 1970."""
        last = self._last
        if not last.since <= at < last.until:
            last = self._last = self._found(at)
        return last

    def _found(self, at: int) -> Period:
        local = datetime.fromtimestamp(at // 1000, self._zone)
        name = local.strftime(NAMES[self._window])
        if self._window == "hour":
            since = at // 1000 - local.minute * 60 - local.second
            return Period(name, since * 1000, (since + 3_600) * 1000)
        first = local.replace(hour=0, minute=0, second=0, fold=0)
        if self._window == "day":
            return Period(name, _ms(first), _ms(first + timedelta(days=1)))
        first = first.replace(day=1)
        following = (first + timedelta(days=31)).replace(day=1)
        return Period(name, _ms(first), _ms(following))


@lru_cache(64)
def zone_of(name: str) -> ZoneInfo:
    """A time zone by its name; `ValueError` where this system knows none that is called so."""
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError(
            f"`{name}` is no time zone that this system knows: give one such as `Europe/Berlin`, "
            f"or install `tzdata`"
        ) from None


def wrong_in(name: str) -> list[str]:
    """What is wrong with the name of a time zone."""
    try:
        zone_of(name)
    except ValueError as error:
        return [str(error)]
    return []


def _ms(local: datetime) -> int:
    return int(local.timestamp()) * 1000
