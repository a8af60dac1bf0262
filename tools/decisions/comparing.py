"""Comparing: what is not as it was, on two levels, and which ways of playing a case do not come to
the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from tools.decisions.kept import Kept, Line
from tools.decisions.ways import WAYS


class Difference(msgspec.Struct, frozen=True):
    """A name under which something else stands now: what it was and what it is, `None` where there
    is nothing."""

    id: str
    was: dict[str, Any] | None
    now: dict[str, Any] | None

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields in which both differ."""
        was, now = (
            self.was if self.was is not None else {},
            self.now if self.now is not None else {},
        )
        return tuple([name for name in sorted({*was, *now}) if was.get(name) != now.get(name)])


class Compared(msgspec.Struct, frozen=True):
    """What came of a comparison: how many lines were looked at, what callers get otherwise
    (`seen`), what is written down otherwise (`written`), which ways came to something else than the
    plain one (`apart`), and cases that are not the same case."""

    lines: int
    seen: tuple[Difference, ...]
    written: tuple[Difference, ...]
    apart: tuple[Difference, ...]
    others: tuple[str, ...]

    def status(self, level: int) -> int:
        """The exit status: 1 where callers get something else, 3 where only what is written down
        differs and that `level` is asked for."""
        if self.seen or self.apart or self.others:
            return 1
        return 3 if self.written and level > 1 else 0


def compare(was: Kept, now: Kept, whole: bool) -> Compared:
    """Hold what was kept against what is decided now; all of it where the `whole` was played,
    otherwise what was."""
    known = now.lines
    played = {_case(name) for name in known}
    before = {name: line for name, line in was.lines.items() if whole or _case(name) in played}
    names = [*before, *[name for name in known if name not in before]]
    first = {_case(name): line.case for name, line in before.items()}
    others = {
        case
        for name, line in known.items()
        if first.get(case := _case(name), line.case) != line.case
    }
    found: dict[int, list[Difference]] = {1: [], 2: []}
    for name in names:
        old, new = before.get(name), known.get(name)
        if _case(name) in others or (old is not None and new is not None and old.is_ == new.is_):
            continue
        level = next(line.level for line in (old, new) if line is not None)
        found[level].append(Difference(name, _told(was, old), _told(now, new)))
    apart = tuple(find_apart(now))
    return Compared(len(names), tuple(found[1]), tuple(found[2]), apart, tuple(sorted(others)))


def find_apart(kept: Kept) -> Iterator[Difference]:
    """What callers get in one way and not in the plain one, although they must get the same in
    both."""
    same = [way for way in WAYS if way.same]
    seen = {name: line for name, line in kept.lines.items() if line.level == 1}
    cases = {_case(name) for name in seen}
    for case in sorted(cases):
        for way in same:
            if (named := way.names(case)) in cases:
                yield from _apart(kept, seen, case, named)


def _apart(kept: Kept, seen: dict[str, Line], case: str, named: str) -> Iterator[Difference]:
    number = 1
    while f"{case} #{number}" in seen or f"{named} #{number}" in seen:
        plain, other = seen.get(f"{case} #{number}"), seen.get(f"{named} #{number}")
        if plain is None or other is None or plain.is_ != other.is_:
            yield Difference(f"{named} #{number}", _told(kept, plain), _told(kept, other))
        number += 1


def _case(name: str) -> str:
    return name.rpartition(" #")[0]


def _told(kept: Kept, line: Line | None) -> dict[str, Any] | None:
    return None if line is None else json.loads(kept.told[line.is_])
