"""Stanchion's own places: where a shield keeps its state, records, keys and policy, and whether a
path leads there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Final, Literal

import msgspec

from stanchion.kernel.regex import regex

Use = Literal["read", "write", "delete"]
Parts = tuple[str, ...]

LONGEST: Final = 4_096
"""A longer text names no file."""
STATE: Final = "what Stanchion keeps for itself"
TEMPORARY: Final = (("tmp",), ("var", "tmp"), ("dev", "shm"))
POLICY: Final = "the policy by which calls are judged"

_VARIABLE: Final = regex(r"\$(?:\{(\w+)\}|(\w+))|%(\w+)%")
_PWD: Final = regex(r"\$\(pwd…?\)|`pwd`")
_FILE_URL: Final = regex(r"file:(?://(?:localhost)?(?=/))?", re.IGNORECASE)
_OPEN: Final = regex(r"[*?\[$%`]")
_LIVE: Final = frozenset("*?[")
_PROCESS: Final = regex(r"/proc/[^/]+(?:/task/[^/]+)?/(root|cwd)(?=/|\Z)")


class OwnPlaces(msgspec.Struct, frozen=True, dict=True):
    """Where a shield keeps what is its own, as absolute paths.

    What is `closed` may be neither read nor changed by an agent: store, trail, keys, state folder.
    `policies` may be read. Relative paths begin `here`, `~` is `home`, and `variables` are those of
    the environment that lead there.
    """

    closed: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()
    here: str = ""
    home: str = ""
    variables: tuple[tuple[str, str], ...] = ()

    @cached_property
    def _closed(self) -> tuple[Parts, ...]:
        return _each(self.closed)

    @cached_property
    def _policies(self) -> tuple[Parts, ...]:
        return _each(self.policies)

    @cached_property
    def _here(self) -> Parts:
        return split(self.here)

    @cached_property
    def _known(self) -> dict[str, str]:
        return {
            **dict(self.variables),
            "HOME": self.home,
            "USERPROFILE": self.home,
            "PWD": self.here,
            "CD": self.here,
        }

    def __bool__(self) -> bool:
        """Whether any place is known."""
        return bool(self.closed or self.policies)

    def leads_to(self, path: str, use: Use, base: str = "") -> str:
        """What a path leads to, seen from a folder, that may not be used so; empty where that is
        nothing of ours."""
        if not (self.closed or self.policies) or not path or len(path) > LONGEST:
            return ""
        if use != "delete" and not self.may_lead(path, base):
            return ""
        parts = self.parts(path, base)
        if not parts:  # to delete everything is for others to refuse
            return ""
        if any(self._hit(parts, own, use) for own in self._closed):
            return STATE
        if use != "read" and any(self._hit(parts, own, use) for own in self._policies):
            return POLICY
        return ""

    @cached_property
    def spelled(self) -> re.Pattern[str]:
        """Finds, in a text in lower case, how one of the places is called without the folders it is
        in."""
        return _one_of([path.rpartition("/")[2].lower() for path in (*self.closed, *self.policies)])

    @cached_property
    def _named(self) -> re.Pattern[str]:
        """Finds one of the names; everything where there is none though a place is known."""
        return _one_of(self._names) if self._names or not self else re.compile("")

    def is_named(self, low: str) -> bool:
        """Whether a text in lower case, which has nothing in it that may stand for a name, may lead
        into a place."""
        return self._named.search(low) is not None

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """The last names of own places, one of which is in every path that leads into one; none
        where the agent works in an own place, or its home is one."""
        owns = (*self._closed, *self._policies)
        inside = any(
            own == start[: len(own)] for own in owns for start in (self._here, split(self.home))
        )
        return () if inside else tuple(dict.fromkeys([own[-1] for own in owns]))

    def may_lead(self, path: str, base: str) -> bool:
        """Whether a path can lead into an own place at all: told without working it out."""
        text = f"{base}/{path}".casefold() if base else path.casefold()
        return (
            not self._names
            or _OPEN.search(text) is not None
            or self._named.search(text) is not None
        )

    def holds(self, path: str, base: str = "") -> bool:
        """Whether something of ours is in a folder, apart from the folders in which everything
        is."""
        parts = self.parts(path, base) if self.closed and len(path) <= LONGEST else None
        if (
            not parts
            or self._here[: len(parts)] == parts
            or split(self.home)[: len(parts)] == parts
        ):
            return False
        return any(_covers(parts, own) for own in self._closed)

    def is_around(self, path: str, base: str = "") -> bool:
        """Whether a folder is the one in which something of ours stands, apart from the folders in
        which everything is and those for what is temporary."""
        if not self.holds(path, base):
            return False
        parts = self.parts(path, base)
        return parts not in TEMPORARY and any(own[:-1] == parts for own in self._closed)

    def parts(self, path: str, base: str = "") -> Parts | None:
        """The names of a path from the top; `None` where nobody knows where it begins."""
        text = self._absolute(path, base)
        if text is None:
            return None
        found = _PROCESS.match(text)
        if found is not None:
            text = (self.here if found[1] == "cwd" else "") + text[found.end() :]
        return split(text)

    def _absolute(self, path: str, base: str) -> str | None:
        text = path
        if text[:5].lower() == "file:":
            text = text[_FILE_URL.match(text).end() :]  # type: ignore[union-attr]  # it begins so
        if "$" in text or "%" in text or "`" in text:
            text = _VARIABLE.sub(self._value, _PWD.sub(lambda _: self.here, text))
        text = text.replace("\\", "/")
        if text[:1] == "~":
            head, slash, rest = text.partition("/")
            user = head[1:]
            home = (
                self.home
                if user in ("", self.home.rpartition("/")[2])
                else f"{self.home.rpartition('/')[0]}/{user}"
            )
            return f"{home}{slash}{rest}" if self.home else None
        if text[:1] == "/" or text[1:2] == ":":
            return text
        if text[:1] == "$":
            return None
        if base:
            start = self._absolute(base, "")
            return None if start is None else f"{start}/{text}"
        return f"{self.here}/{text}" if self.here else None

    def _value(self, found: re.Match[str]) -> str:
        name = found[1] or found[2] or found[3]
        value = self._known.get(name)
        return found[0] if not value else value.replace("\\", "/")

    def _hit(self, parts: Parts, own: Parts, use: Use) -> bool:
        """Whether a path is an own place or in one, or, where it is deleted, has one in it.

        A wildcard that stands for a whole name, in the folder where the agent works, means its
        files and not ours, as long as they are only read.
        """
        if len(parts) >= len(own) and "**" not in parts:
            if not _fits(parts[: len(own)], own):
                return False
            bare = use == "read" and len(parts) == len(own) and parts[-1] in ("*", "?*", "*.*")
            return not (bare and parts[:-1] == self._here)
        if use == "delete":
            return _covers(parts, own)
        return "**" in parts and use == "write" and _covers(parts, own)


NOWHERE: Final = OwnPlaces()


def split(path: str) -> Parts:
    """The names of an absolute path, `.` and `..` carried out, upper and lower case being one."""
    kept: list[str] = []
    for name in path.casefold().split("/"):
        if name in ("", "."):
            continue
        if name == "..":
            if kept:
                kept.pop()
        else:
            kept.append(name)
    if len(kept) > 1 and kept[0] == "private" and kept[1] in ("etc", "var", "tmp"):
        del kept[0]
    return tuple(kept)


def _one_of(names: Sequence[str]) -> re.Pattern[str]:
    """Finds any of the names; nothing where there is none."""
    return re.compile(
        "|".join([re.escape(name) for name in dict.fromkeys(names)]) if names else r"(?!)"
    )


def _each(paths: Iterable[str]) -> tuple[Parts, ...]:
    return tuple([parts for parts in dict.fromkeys([split(path) for path in paths]) if parts])


def _fits(parts: Parts, own: Parts) -> bool:
    return len(parts) == len(own) and all(
        _is(part, name) for part, name in zip(parts, own, strict=True)
    )


def _covers(parts: Parts, own: Parts) -> bool:
    """Whether an own place is what a path names, or lies in it; `**` stands for any names."""
    if "**" in parts:
        at = parts.index("**")
        rest = parts[at + 1 :]
        if not _fits(parts[:at], own[:at]):
            return False
        return not rest or any(_covers(rest, own[begin:]) for begin in range(at, len(own)))
    return len(parts) <= len(own) and _fits(parts, own[: len(parts)])


def _is(part: str, name: str) -> bool:
    return part == name or (
        not _LIVE.isdisjoint(part) and fnmatchcase(name, part.replace("[^", "[!"))
    )
