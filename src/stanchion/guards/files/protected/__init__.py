"""The files that are protected unless a policy says otherwise, found without trying every rule."""

from __future__ import annotations

from functools import cache
from pkgutil import get_data
from typing import Final, Literal, NamedTuple

from stanchion.guards._protected import EVERY, FileProtection, Protected, Use
from stanchion.guards.files.protected.classes import (
    FAMILIES,
    PERSONAL,
    RULES,
    SHOWN_FREELY,
    keeps_for_its_user,
)
from stanchion.guards.files.protected.seat import seat_of, words_of
from stanchion.kernel.names import is_glob
from stanchion.kernel.regex import regex
from stanchion.readings.paths.place import PathGlob, PathPlace, fits, matches, pattern, place_of

_SET: Final = regex(r"\[[^\]/]*\]")
"""A set of characters, one of which stands there."""
_LACKING: Final = regex(r"[*?\[~]")
"""What a name has that does not say all of itself."""
ABSOLUTE: Final = frozenset({"/", *[f"{letter}:" for letter in "cdefgh"]})
_SHORT: Final = regex(r"([a-z0-9_$-]{1,6})~[0-9]{1,3}(?:\.[a-z0-9]{1,3})?")
"""The short name that a file with a long one also has on Windows."""
WHOLE: Final = FileProtection("the whole system")
FOLDER: Final = FileProtection("a folder of the system")
HUNTED: Final = FileProtection("somebody's own papers, searched for credentials", asks=True)
KEPT: Final = FileProtection("all that another program keeps for its user", asks=True)
HOME: Final = FileProtection("all that somebody keeps", asks=True)


class ProtectedGlob(NamedTuple):
    """One glob of a rule, how it may not be used, and why."""

    pattern: PathGlob
    uses: tuple[Use, ...]
    why: FileProtection


class ProtectionIndex:
    """Rules by a name that a path must have for one of their globs to match; those of folders at
    the top once more, because whoever deletes a folder deletes what is in it."""

    def __init__(self, rules: tuple[Protected, ...]) -> None:
        self._named: dict[str, list[ProtectedGlob]] = {}
        self._heads: list[ProtectedGlob] = []
        for rule in rules:
            why = FileProtection(rule.what, rule.asks)
            for guarded in [ProtectedGlob(pattern(text), rule.uses, why) for text in rule.globs]:
                names = [part for part in guarded.pattern.parts if not is_glob(part)]
                self._named.setdefault(names[-1], []).append(guarded)
                if guarded.pattern.root and "delete" in rule.uses:
                    self._heads.append(guarded)

    def find(self, place: PathPlace, use: Use) -> FileProtection | None:
        """Why a place may not be used so: by its class, or by a rule; the strictest where there are
        several."""
        if use != "read" and place.root in ABSOLUTE and not place.parts:
            return WHOLE
        if use == "delete" and all_of(_whole(place)) is HOME:
            return HOME
        ruled = self._ruled(place, use)
        if ruled is not None and not ruled.asks:
            return ruled
        seat = seat_of(place)
        families = SHOWN_FREELY if seat.is_sample else FAMILIES
        said = [family(seat, use) for family in families]
        found = [one for one in (*said, ruled) if one is not None]
        if not found and use == "read" and place.up and not place.root:
            return self.find(PathPlace("~", place.parts), use)  # above the folder may be a home
        return min(found, key=lambda one: one[1:], default=None)

    def _ruled(self, place: PathPlace, use: Use) -> FileProtection | None:
        """Why a rule says that a place may not be used so; the place is one to which upper and
        lower case are one."""
        for part in place.parts:
            for guarded in self._named.get(part, ()):
                if use in guarded.uses and matches(guarded.pattern, place):
                    return guarded.why
        for guarded in self._heads if use == "delete" and place.root else ():
            if matches(guarded.pattern, place, deep=True):
                return FOLDER
        return None


@cache
def shipped() -> ProtectionIndex:
    """The rules that come with Stanchion, ready to be asked."""
    return ProtectionIndex(RULES)


@cache
def shown_by(kind: Literal["hit", "told", "miss"]) -> tuple[tuple[str, str, Use], ...]:
    """The paths and uses that show what each family protects, of what agents are told, or what it
    leaves alone."""
    body = get_data(__name__, "examples.txt")
    rows = [line.split(" ", 3) for line in ("" if body is None else body.decode()).splitlines()]
    uses = {str(use): use for use in EVERY}
    return tuple([(row[1], row[3], uses[row[2]]) for row in rows if row[0] == kind])


@cache
def examples() -> tuple[tuple[PathPlace, Use, FileProtection], ...]:
    """The paths by which the rules show what they are about, how they may not be used, and why."""
    shown = [(place_of(path, True).folded, use) for _, path, use in shown_by("hit")]
    found = [(place, use, shipped().find(place, use)) for place, use in shown]
    return tuple([(place, use, why) for place, use, why in found if why is not None])


def _whole(place: PathPlace) -> PathPlace:
    """The folder of which a place is all that is in it: `~` of `~/*`."""
    parts = place.parts
    while parts and parts[-1] in ("*", "**", ".*"):
        parts = parts[:-1]
    return PathPlace(place.root, parts, place.up)


def all_of(place: PathPlace) -> FileProtection | None:
    """Why everything in a place may not be read at once: it is somebody's home, or holds homes."""
    if place.root in ABSOLUTE and place.parts in ((), ("home",), ("users",)):
        return HOME
    seat = seat_of(place)
    if not seat.sure:
        return None
    if seat.area == "data" and seat.tool and len(seat.inner) <= 1 and keeps_for_its_user(seat):
        return KEPT
    whole = seat.area in ("plain", "settings", "data") and not seat.tool and not seat.inner
    return HOME if whole else None


def searched(place: PathPlace) -> FileProtection | None:
    """Why a place may not be searched for credentials: it is somebody's home, or their own papers
    are in it."""
    seat = seat_of(place)
    personal = seat.area == "plain" and not PERSONAL.isdisjoint(
        words_of(seat.inner[0]) if seat.inner else ()
    )
    own = seat.area in ("settings", "data") and keeps_for_its_user(seat)
    return HUNTED if seat.sure and (personal or own) else all_of(place)


def filled_in(place: PathPlace, use: Use) -> FileProtection | None:
    """What a place may become that has wildcards or short names in it, if that is protected; only
    where enough of its last name is known to mean that file."""
    if _LACKING.search("/".join(place.parts)) is None:
        return None
    last = place.parts[-1]
    known = [char for char in last if char.isalnum()]
    parts = tuple([_opened(part) for part in place.parts])
    if len(known) < 2 or last[:1] in ("*", "?", "[") or not any(is_glob(part) for part in parts):
        return None
    below = len(seat_of(place).rest)
    for shown, for_use, why in examples():
        wanted = parts if shown.root == place.root else parts[-below:] if below else ()
        alike = shown.root in (place.root, "~") and for_use == use
        if alike and wanted and fits(wanted, shown.parts):
            return FileProtection(why.what)
    return None


def _opened(part: str) -> str:
    """A name with its sets of characters, and what the short name of a long one leaves out, as
    wildcards."""
    short = _SHORT.fullmatch(part)
    return f"*{short[1]}*" if short is not None else _SET.sub("?", part)
