"""Names of what a store holds: its keys taken apart, and in words."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from msgspec import Struct

from stanchion.guards.budget import ALLOTTED
from stanchion.kernel.regex import regex
from stanchion.kernel.state import BUCKETS, key
from stanchion.kernel.units import Unit
from stanchion.ops.views.amounts import UNITS


def began_key(tenant: str, run: str) -> str:
    """Where the store keeps how a run began that is made of checks which count."""
    return key(tenant, "began", run)


_KEY: Final = regex(r"(~?)\{([^{}]*)\}([^{}]*)")
_WINDOW: Final = regex(r"(.*)/(\d+)", re.DOTALL)
_MEASURED: Final = {"budget": 2, ALLOTTED: 1}
"""Which part of a key names what is measured, by its first part."""
_SAID: Final = {
    Unit.ONE: "calls",
    Unit.COST_MICROUSD: "cost",
    Unit.API_CALLS: "API calls",
    Unit.DURATION_MS: "time",
}


class KeyName(Struct, frozen=True):
    """A key taken apart. `shadow`: it belongs to a guard in shadow mode."""

    tenant: str
    parts: tuple[str, ...]
    window_ms: int = 0
    shadow: bool = False

    @property
    def measure(self) -> str:
        """What its number counts, where its key says so: a budget, or what was carved out for a
        child."""
        at = _MEASURED.get(self.parts[0])
        return (
            self.parts[at]
            if at is not None and len(self.parts) > at and self.parts[at] in UNITS
            else ""
        )

    @property
    def asked_ms(self) -> int:
        """The window as it was asked for: that of a budget is counted a little longer, by whole
        buckets."""
        return self.window_ms // BUCKETS * (BUCKETS - 1) if self.measure else self.window_ms

    @property
    def plain(self) -> str:
        """The parts in one line as they are in the key, those that say nothing left out."""
        return " / ".join(part for part in self.parts if part)

    @property
    def text(self) -> str:
        """The parts in one line as people read them."""
        measure = self.measure
        if not measure:
            return self.plain
        said = list(self.parts)
        said[_MEASURED[self.parts[0]]] = _SAID.get(UNITS[measure], measure)
        said[0] = kind_of(said[0])
        return " / ".join(part for part in said if part)

    def begins(self, prefix: str) -> bool:
        """Whether the name begins so, in words or as it is in the key."""
        return self.text.startswith(prefix) or self.plain.startswith(prefix)


def kind_of(first: str) -> str:
    """What a key that begins so is for, in our words."""
    return "allotment" if first == ALLOTTED else first


def name_of(key: str, windowed: bool = False) -> KeyName:
    """A key as people read it; one that is none of Stanchion's own is left as it is."""
    taken = _KEY.fullmatch(key)
    if taken is None:
        return KeyName("", (key,))
    rest, window = taken[3], 0
    wide = _WINDOW.fullmatch(rest) if windowed else None
    if wide is not None:
        rest, window = wide[1], int(wide[2])
    return KeyName(
        unquote(taken[2]), tuple(unquote(part) for part in rest.split(":")), window, bool(taken[1])
    )
