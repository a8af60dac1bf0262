"""Stanchion's own places: where a shield keeps its state, records, keys and policy, and whether a
path leads there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, Final, TypeVar

import msgspec

from stanchion.guards._protected import CHANGES, Protected, Use
from stanchion.readings.paths.place import PathPlace, fits, joined, matches, pattern, place_of
from stanchion.readings.word_lists import Strings, in_order

LONGEST: Final = 4_096
"""A longer text names no file."""
STATE: Final = Protected(
    "a record, a key or the state of Stanchion",
    (
        "**/stanchion/trail/**", "**/stanchion/state.db*", "**/stanchion/audit.key",
        "**/.stanchion/trail/**", "**/.local/state/stanchion/**", "**/.config/stanchion/keys/**",
        "**/.stanchion/keys/**", "**/.stanchion/sealed/**", "**/stanchion/epochs/**",
        "**/stanchion/projects/*/**", "**/stanchion/shared/**",
        "**/Library/Application Support/stanchion/**", "**/AppData/Local/stanchion/**",
        "/var/lib/stanchion/**", "/etc/stanchion/keys/**",
    ),
)  # fmt: skip
POLICY: Final = Protected(
    "a policy or a setting of Stanchion",
    in_order(
        "stanchion.yaml stanchion.yml **/.stanchion/** **/.config/stanchion/** "
        "**/.cache/stanchion/** /etc/stanchion/** **/site-packages/stanchion/** "
        "**/dist-packages/stanchion/** **/Library/Caches/stanchion/**"
    ),
    CHANGES,
)
FIRST: Final = Protected(
    "what Python runs before any program",
    in_order(
        "**/site-packages/*.pth **/dist-packages/*.pth **/site-packages/sitecustomize.py "
        "**/site-packages/usercustomize.py **/dist-packages/sitecustomize.py "
        "**/dist-packages/usercustomize.py"
    ),
    CHANGES,
)
USUAL: Final = tuple(
    [(kept, tuple([pattern(text) for text in kept.globs])) for kept in (STATE, POLICY, FIRST)]
)


class OwnPlaces(msgspec.Struct, frozen=True, dict=True):
    """Where a shield keeps what is its own, as absolute paths.

    What is `closed` may be neither read nor changed by an agent: store, trail, keys, state folder.
    `policies` may be read. Relative paths begin `here`, and `~` is `home`. Where the shield was
    told so, and this process may stand elsewhere, everything `begins` there.
    """

    closed: Strings = ()
    policies: Strings = ()
    here: str = ""
    home: str = ""
    begins: bool = False

    @cached_property
    def _kept(self) -> tuple[tuple[Protected, tuple[PathPlace, ...]], ...]:
        return (STATE, _each(self.closed)), (POLICY, _each(self.policies))

    @cached_property
    def sign(self) -> re.Pattern[str]:
        """Finds what is in every path that leads to something of ours: the last name of a place,
        the usual names, a wildcard; anything where the agent works in such a place."""
        owns = [own for _, places in self._kept for own in places]
        inside = any(_in(start, own) for own in owns for start in _each((self.here, self.home)))
        names = [re.escape(name) for name in {own.parts[-1] for own in owns}]
        signs = [r"stanchion|-packages|[*?]", *names, *[""] * inside]
        return re.compile("|".join(signs), re.IGNORECASE)

    def begun(self, folders: Strings) -> Strings:
        """The folders that a policy names, as they are from where everything begins."""
        if not self.begins:
            return folders
        here = _place(self.here)
        return tuple([joined(here, _place(folder)).text for folder in folders])

    def leads_to(self, path: str, use: Use, base: str = "") -> Protected | None:
        """What of ours a path, seen from a folder, leads to that may not be used so. Whoever
        deletes a folder, or changes all that is in it, reaches what is in it."""
        if not (self.closed or self.policies) or len(path) > LONGEST:
            return None
        place, around = _meant(self._seen(path, base), use)
        for kept, owns in self._kept if place.parts else ():
            if use in kept.uses and any(
                _in(place, own) or (around and _in(own, place)) for own in owns
            ):
                return kept
        return None

    def _seen(self, path: str, base: str) -> PathPlace:
        """Where a path leads from the top, upper and lower case being one."""
        place = _place(path)
        place = joined(_place(base), place) if base else place
        if place.root[:1] == "~":
            home = _place(self.home)
            user = (place.root[1:],) if place.root[1:] else home.parts[-1:]
            place = PathPlace(home.root, home.parts[:-1] + user + place.parts)
        return joined(_place(self.here), place).folded


NOWHERE: Final = OwnPlaces()

G = TypeVar("G")


def told_once(make: Callable[[G, OwnPlaces], G]) -> Callable[[G, OwnPlaces], G]:
    """Have a guard and the one beside it, which tells it the same, come to one guard: what that
    works out of a call serves both."""

    def told(guard: Any, own: OwnPlaces) -> Any:
        known = guard.__dict__.get("_told")
        if known is None or known[0] != own:
            known = guard.__dict__["_told"] = own, make(guard, own)
        return known[1]

    return told


def usually(path: str, use: Use, base: str = "") -> Protected | None:
    """What of ours usually is where a path leads, seen from a folder, that may not be used so."""
    place = joined(_place(base), _place(path)).folded
    for kept, patterns in USUAL:
        if use in kept.uses and any(matches(made, place) for made in patterns):
            return kept
    return None


def _meant(place: PathPlace, use: Use) -> tuple[PathPlace, bool]:
    """The place that a pattern means, and whether what lies in it counts, too. The top where it is
    nothing of ours: `cat *` reads the files of the work, and to delete everything is for others to
    refuse."""
    parts, all_of = place.parts, place.parts[-1:] == ("**",)
    if use == "read":
        named = any(char.isalnum() for char in "".join(parts[-1:]))
        return PathPlace(place.root, parts if named and "**" not in parts else ()), False
    parts = parts[:-1] if all_of else parts
    return PathPlace(place.root, () if "**" in parts else parts), all_of or use == "delete"


def _place(path: str) -> PathPlace:
    return place_of(path.replace("\\", "/"), path[1:2] == ":")


def _each(paths: Iterable[str]) -> tuple[PathPlace, ...]:
    places = dict.fromkeys([_place(path).folded for path in paths])
    return tuple([place for place in places if place.parts])


def _in(place: PathPlace, own: PathPlace) -> bool:
    """Whether a place is another one or lies in it; either may have wildcards."""
    head = place.parts[: len(own.parts)]
    return place.root == own.root and (fits(head, own.parts) or fits(own.parts, head))
