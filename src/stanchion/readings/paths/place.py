"""Places: where a path leads, worked out from its text alone."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from stanchion.kernel.regex import regex
from stanchion.readings.paths.variables import filled

_DRIVE: Final = regex(r"/*(?:[?.]/+)?([A-Za-z]):")
_FILE_URL: Final = regex(
    r"(?:[a-z][a-z0-9+.-]*:)?file:(?://(?:localhost)?(?=/|\Z)|(?=/))|(?:concat|cache|async|"
    r"subfile[^:/]*|glob|phar|zip|netdoc"
    r"|local_file|compress\.\w+|ephemeral):(?://)?(?=/)|php://filter/\S*?resource=(?=[/.~])",
    re.IGNORECASE,
)
"""What stands before a path where a library opens it: `file://`, and what is put around it."""
_URL: Final = regex(r"[A-Za-z][A-Za-z0-9+.-]+://", re.IGNORECASE)
_CLIMBS: Final = regex(r"[.?]{2,} *")
"""What a lenient system, or one that fills in wildcards, may take for the folder above."""


class Place(NamedTuple):
    """Where a path leads: what it starts from (`/`, `~`, a drive such as `c:`, `$` where that is
    not known, nothing where it is relative), the names after it, and how many folders above its
    start a relative one begins."""

    root: str
    parts: tuple[str, ...]
    up: int = 0

    @property
    def folded(self) -> Place:
        """The same for systems to which upper and lower case are one."""
        return Place(self.root.lower(), tuple([part.casefold() for part in self.parts]), self.up)

    @property
    def text(self) -> str:
        """The place as one writes it."""
        rest = "/".join([*[".."] * self.up, *self.parts])
        if not self.root:
            return rest if rest else "."
        return f"/{rest}" if self.root == "/" else f"{self.root}/{rest}" if rest else self.root


def is_url(text: str) -> bool:
    """Whether a text names something that is no file."""
    return _URL.match(text) is not None and _FILE_URL.match(text) is None


def is_file_url(text: str) -> bool:
    """Whether a text is a path with something before it that says so."""
    return ":" in text[:24] and _FILE_URL.match(text) is not None


PRIVATE: Final = (["private", "etc"], ["private", "var"], ["private", "tmp"])
"""Where a Mac keeps what is at the top elsewhere."""


def place_of(text: str, lenient: bool = False) -> Place:
    """Where a path leads; `lenient` reads it as systems do that have drives and forgive what stands
    behind a name."""
    root, rest = _rooted(text, lenient)
    parts: list[str] = []
    up = 0
    names = rest.split("/")
    for at, name in enumerate(names, 1):
        if lenient:
            name = _forgiven(name, at < len(names))
        if name in ("", "."):
            continue
        if name != "..":
            parts.append(name)
        elif parts:
            parts.pop()
        elif lenient or not root:
            up += 1
        if root == "/" and name in ("root", "cwd") and _is_process(parts):
            parts.clear()
            root, up = "/" if name == "root" else "", 0
    if root == "/" and parts[:2] in PRIVATE:
        del parts[0]
    # What climbs above the top was meant to begin elsewhere: below a folder that is put before it.
    return Place("" if up else root, tuple(parts), up)


def _rooted(text: str, lenient: bool) -> tuple[str, str]:
    url = _FILE_URL.match(text) if ":" in text else None
    if url is not None:
        text = text[url.end() :]
    first = text[:1]
    if lenient or url is not None:
        drive = _DRIVE.match(text)
        if drive is not None:
            return f"{drive[1].lower()}:", text[drive.end() :]
    if first == "/":
        return "/", text
    if first == "~":
        head, _, rest = text.partition("/")
        return head, rest
    if first in ("$", "%"):
        known = filled(text)
        if known is not None:
            return _rooted(known, lenient or known[1:2] == ":")
        if first == "$" and len(text) > 1:
            return "$", text.partition("/")[2]
    return "", text


def _forgiven(name: str, goes_on: bool) -> str:
    """A name without what some systems leave out: dots and blanks at its end, parameters, the name
    of a stream."""
    if name[:2] in ("..", ".?", "?.", "??"):
        bare = name.partition(";")[0]
        if bare.rstrip(" ") == ".." or (goes_on and _CLIMBS.fullmatch(bare)):
            return ".."
    if "::$" in name:
        name = name.partition("::$")[0]
    return name.rstrip(". ") if name not in (".", "..") else name


def _is_process(parts: list[str]) -> bool:
    """Whether the names lead to what a process takes for its root or its working directory."""
    if parts[:1] != ["proc"] or len(parts) not in (3, 5):
        return False
    return len(parts) == 3 or parts[2] == "task"


def joined(base: Place, place: Place) -> Place:
    """A place seen from another, where it is a relative one."""
    if place.root:
        return place
    kept = len(base.parts) - place.up
    if kept >= 0:
        return Place(base.root, base.parts[:kept] + place.parts, base.up)
    return Place(base.root, place.parts, base.up if base.root else base.up - kept)


def inside(place: Place, folder: Place) -> bool:
    """Whether a place is a folder or lies in it."""
    return (
        place.root == folder.root
        and place.up == folder.up
        and place.parts[: len(folder.parts)] == folder.parts
    )


HARMLESS: Final = frozenset(
    Place("/", ("dev", name))
    for name in ("null", "stdin", "stdout", "stderr", "tty", "zero", "random", "urandom", "full")
)


def is_device(place: Place) -> bool:
    """Whether a place is such a device, or a file that the program has open. What is below a folder
    that it has open is none: that may be anywhere."""
    return place in HARMLESS or (
        place.root == "/" and place.parts[:2] == ("dev", "fd") and len(place.parts) <= 3
    )
