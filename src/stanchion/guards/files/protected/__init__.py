"""The files that are protected unless a policy says otherwise, found without trying every rule."""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from stanchion.guards.files.globs import Pattern, fits, matches, pattern
from stanchion.guards.files.protected import agents, credentials, environment, keys, system
from stanchion.guards.files.protected.rule import Protected, Use
from stanchion.kernel.names import glob, is_glob
from stanchion.readings.paths.place import Place, place_of

FAMILIES: Final = (environment, keys, credentials, system, agents)
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
    """Rules by a name that a path must have for one of their globs to match, or by how its last name begins or ends."""

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

    def find(self, place: Place, use: Use) -> Protected | None:
        """The rule by which a place may not be used so; the place is one to which upper and lower case are one."""
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
    rule = guarded.rule
    if use not in rule.uses or not matches(guarded.pattern, place):
        return False
    return not any(glob(fine.casefold(), place.parts[-1]) for fine in rule.fine)


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
            rule = shipped().find(place, use)
            if rule is not None:
                made.append(Example(place, use, rule.what))
    return tuple(made)


def filled_in(place: Place, use: Use) -> str:
    """What a place may become that has wildcards in it, if that is protected; only where enough of its last name is
    known to mean that file."""
    last = place.parts[-1] if place.parts else ""
    known = [char for char in last if char.isalnum()]
    if len(known) < 2 or is_glob(last[:1]) or not any(is_glob(part) for part in place.parts):
        return ""
    for example in examples():
        if example.use == use and example.place.root == place.root and fits(place.parts, example.place.parts):
            return example.what
    return ""
