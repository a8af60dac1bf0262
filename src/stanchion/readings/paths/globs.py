"""Globs over places: `*` and `?` stay within a name, `**` stands for whole names."""

from __future__ import annotations

from typing import NamedTuple

from stanchion.kernel.names import glob, is_glob
from stanchion.readings.paths.place import Place, is_device, place_of


class Pattern(NamedTuple):
    """A glob. `anywhere` says that it may begin at any depth, `drive` that it is for every
    drive."""

    text: str
    root: str
    parts: tuple[str, ...]
    anywhere: bool = False
    drive: bool = False

    @property
    def head(self) -> tuple[str, ...]:
        """The names at its beginning that are no patterns."""
        for at, part in enumerate(self.parts):
            if is_glob(part):
                return self.parts[:at]
        return self.parts


def pattern(text: str, folded: bool = True) -> Pattern:
    """A glob as it is matched: one without a slash is for names at any depth, one that ends in a
    slash for a folder and all that is in it; `folded` where upper and lower case are one."""
    if text[:3] == "?:/":
        own = text[3:].casefold() if folded else text[3:]
        return Pattern(text, "", tuple([part for part in own.split("/") if part]), drive=True)
    place = place_of(text, lenient=text[1:2] == ":")
    place = place.folded if folded else place
    parts = (*place.parts, "**") if text.endswith("/") else place.parts
    floats = not place.root and "/" not in text.rstrip("/")
    if floats and parts != ("**",):
        return Pattern(text, "", ("**", *parts), anywhere=True)
    anywhere = not place.root and parts[:1] == ("**",)
    return Pattern(text, place.root, ("..",) * place.up + parts, anywhere)


def fault(text: str) -> str | None:
    """What is wrong with a glob; `None` where nothing is."""
    if not text.strip():
        return "a pattern is empty: name a file or a folder"
    for part in text.split("/"):
        if "**" in part and part != "**":
            return f"`**` stands for whole names and `{part}` is more: write `**/*.py` or `src/**`"
    return None


def matches(made: Pattern, place: Place, deep: bool = False) -> bool:
    """Whether a place matches; `deep` counts a folder in which something that the pattern names
    must be."""
    if made.drive:
        if not (place.root.endswith(":") or place.root == "/" or place.up):
            return False
    elif made.anywhere or (made.root == "/" and place.up):
        return fits(made.parts, place.parts)
    elif made.root != place.root:
        return False
    parts = ("..",) * place.up + place.parts if not made.drive else place.parts
    if fits(made.parts, parts):
        return True
    return deep and len(parts) < len(made.head) and made.head[: len(parts)] == parts


def grants(made: Pattern, place: Place) -> bool:
    """Whether a place surely matches, for lists that allow. A relative glob is about the folder
    that it starts in, and about one above only where it climbs to it; an absolute one is about
    absolute paths alone."""
    if made.drive:
        return (place.root.endswith(":") or place.root == "/") and fits(made.parts, place.parts)
    climbs = next((at for at, part in enumerate(made.parts) if part != ".."), len(made.parts))
    return made.root == place.root and climbs == place.up and fits(made.parts[climbs:], place.parts)


def fits(wanted: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    """Whether names match a glob's, in at most as many steps as there are pairs of them."""
    at = place = mark = 0
    star = -1
    while place < len(parts):
        if at < len(wanted) and wanted[at] == "**":
            star, mark = at, place
            at += 1
        elif at < len(wanted) and _is(wanted[at], parts[place]):
            at += 1
            place += 1
        elif star >= 0:
            mark += 1
            at, place = star + 1, mark
        else:
            return False
    return all(part == "**" for part in wanted[at:])


def _is(wanted: str, name: str) -> bool:
    return wanted == name or (is_glob(wanted) and glob(wanted, name))


def listed(globs: tuple[str, ...], folded: bool) -> tuple[Pattern, ...]:
    """Globs that are ready to be matched."""
    return tuple([pattern(text, folded) for text in globs])


def first_match(
    patterns: tuple[Pattern, ...], place: Place, within: Place, deep: bool = False
) -> Pattern | None:
    """The first glob that has a place, seen from its folder or as it is."""
    for made in patterns:
        if matches(made, within, deep) or (place is not within and matches(made, place, deep)):
            return made
    return None


def permits(patterns: tuple[Pattern, ...], place: Place, within: Place) -> bool:
    """Whether a list allows a place, which is seen from its folder, too. Devices that lose what is
    written are no files, and need not be listed."""
    return is_device(place) or any(grants(made, within) or grants(made, place) for made in patterns)
