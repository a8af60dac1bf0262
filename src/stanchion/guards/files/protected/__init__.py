"""The files that are protected unless a policy says otherwise, found without trying every rule."""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from stanchion.guards._protected import Held, Protected, Use
from stanchion.guards.files.protected import agents, credentials, environment, keys, startup, system
from stanchion.guards.files.protected.credentials import PERSONAL, keeps_for_its_user
from stanchion.guards.files.protected.names import is_sample, words_of
from stanchion.guards.files.protected.seat import seat_of
from stanchion.kernel.names import is_glob
from stanchion.kernel.regex import regex
from stanchion.readings.paths.globs import Pattern, fits, matches, pattern
from stanchion.readings.paths.place import Place, place_of

_SET: Final = regex(r"\[[^\]/]*\]")
"""A set of characters, one of which stands there."""
ABSOLUTE: Final = frozenset({"/", *[f"{letter}:" for letter in "cdefgh"]})
_SHORT: Final = regex(r"([a-z0-9_$-]{1,6})~[0-9]{1,3}(?:\.[a-z0-9]{1,3})?")
"""The short name that a file with a long one also has on Windows."""
WHOLE: Final = Held("the whole system")
HUNTED: Final = Held("somebody's own papers, searched for credentials", asks=True)
KEPT: Final = Held("all that another program keeps for its user", asks=True)
HOME: Final = Held("all that somebody keeps", asks=True)

FAMILIES: Final = (environment, keys, credentials, startup, system, agents)
SHOWN_FREELY: Final = (startup, system, agents)
"""The families for what is made to be seen: fixtures, examples and templates hold nobody's
secrets."""
RULES: Final[tuple[Protected, ...]] = tuple([rule for family in FAMILIES for rule in family.RULES])


class Guarded(NamedTuple):
    """One glob of a rule."""

    pattern: Pattern
    rule: Protected


class Example(NamedTuple):
    """A path that a rule is about, and how it may not be used."""

    place: Place
    use: Use
    what: str


class Index:
    """Rules by a name that a path must have for one of their globs to match, or by how its last
    name begins or ends."""

    def __init__(self, rules: tuple[Protected, ...]) -> None:
        self._named: dict[str, list[Guarded]] = {}
        self._starts: dict[str, list[Guarded]] = {}
        self._ends: dict[str, list[Guarded]] = {}
        self._heads: list[Guarded] = []
        for rule in rules:
            for text in rule.globs:
                self._add(Guarded(pattern(text), rule))
        self._prefixes, self._suffixes = tuple(self._starts), tuple(self._ends)

    def _add(self, guarded: Guarded) -> None:
        parts = guarded.pattern.parts
        literal = [part for part in parts if not is_glob(part)]
        if guarded.pattern.root and "delete" in guarded.rule.uses:
            self._heads.append(guarded)
        if literal:
            self._named.setdefault(literal[-1], []).append(guarded)
            return
        last = parts[-1]
        start, end = last.partition("*")[0], last.rpartition("*")[2]
        table, key = (self._ends, end) if len(end) >= len(start) else (self._starts, start)
        table.setdefault(key, []).append(guarded)

    def find(self, place: Place, use: Use) -> Held | None:
        """Why a place may not be used so: by its class, or by a rule; the strictest where there are
        several."""
        if use != "read" and place.root in ABSOLUTE and not place.parts:
            return WHOLE
        rule = self._ruled(place, use)
        if rule is not None and not rule.asks:
            return Held(rule.what)
        seat = seat_of(place)
        loose = not seat.sure or seat.area in ("near", "plain", "temporary")
        families = (
            SHOWN_FREELY
            if loose and is_sample(seat.rest if seat.sure and seat.rest else seat.all)
            else FAMILIES
        )
        said = [one for one in [family.held(seat, use) for family in families] if one is not None]
        said += [Held(rule.what, rule.asks)] if rule is not None else []
        return min(said, key=lambda one: one.asks) if said else None

    def _ruled(self, place: Place, use: Use) -> Protected | None:
        """The rule by which a place may not be used so; the place is one to which upper and lower
        case are one."""
        parts = place.parts
        for part in parts:
            for guarded in self._named.get(part, ()):
                if _holds(guarded, place, use):
                    return guarded.rule
        name = parts[-1] if parts else ""
        if name.startswith(self._prefixes) or name.endswith(self._suffixes):
            for table in (self._starts, self._ends):
                for key, found in table.items():
                    if key in name:
                        for guarded in found:
                            if _holds(guarded, place, use):
                                return guarded.rule
        if use == "delete" and place.root:
            for guarded in self._heads:
                if matches(guarded.pattern, place, deep=True):
                    return guarded.rule
        return None


def _holds(guarded: Guarded, place: Place, use: Use) -> bool:
    return use in guarded.rule.uses and matches(guarded.pattern, place)


@cache
def shipped() -> Index:
    """The rules that come with Stanchion, ready to be asked."""
    return Index(RULES)


@cache
def examples() -> tuple[Example, ...]:
    """The paths by which the rules show what they are about."""
    made: list[Example] = []
    for family in FAMILIES:
        for path, use in family.HITS:
            place = place_of(path, lenient=True).folded
            why = shipped().find(place, use)
            if why is not None:
                made.append(Example(place, use, why.what))
    return tuple(made)


def all_of(place: Place) -> Held | None:
    """Why everything in a place may not be read at once: it is somebody's home, or holds homes."""
    if place.root in ABSOLUTE and (
        not place.parts or (len(place.parts) == 1 and place.parts[0] in ("home", "users"))
    ):
        return HOME
    seat = seat_of(place)
    whole = seat.sure and (
        (seat.area == "plain" and not seat.inner)
        or (seat.is_home and not seat.tool and not seat.inner)
    )
    if (
        seat.sure
        and seat.area == "data"
        and seat.tool
        and len(seat.inner) <= 1
        and keeps_for_its_user(seat)
    ):
        return KEPT
    return HOME if whole and seat.area not in ("cache", "programs", "libraries") else None


def searched(place: Place) -> Held | None:
    """Why a place may not be searched for credentials: it is somebody's home, or their own papers
    are in it."""
    seat = seat_of(place)
    personal = seat.area == "plain" and not PERSONAL.isdisjoint(
        words_of(seat.inner[0]) if seat.inner else ()
    )
    own = seat.area in ("settings", "data") and keeps_for_its_user(seat)
    return HUNTED if seat.sure and (personal or own) else all_of(place)


def filled_in(place: Place, use: Use) -> Held | None:
    """What a place may become that has wildcards or short names in it, if that is protected; only
    where enough of its last name is known to mean that file."""
    last = place.parts[-1] if place.parts else ""
    known = [char for char in last if char.isalnum()]
    parts = tuple([_opened(part) for part in place.parts])
    if len(known) < 2 or last[:1] in ("*", "?", "[") or not any(is_glob(part) for part in parts):
        return None
    below = len(seat_of(place).rest)
    for example in examples():
        own = example.place.root == place.root
        wanted = parts if own else parts[-below:] if below and example.place.root == "~" else None
        if example.use == use and wanted is not None and fits(wanted, example.place.parts):
            return Held(example.what)
    return None


def _opened(part: str) -> str:
    """A name with its sets of characters, and what the short name of a long one leaves out, as
    wildcards."""
    short = _SHORT.fullmatch(part)
    return f"*{short[1]}*" if short is not None else _SET.sub("?", part)
