"""Comparing: which decisions are not as they were, in words for whoever changed the code."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from tools.decisions.kept import Kept, Line

FULL: Final = 20
"""Of how many differences both decisions are shown in full."""

NOTHING: Final = "nothing"


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

    @property
    def turn(self) -> str:
        """From what to what it went, by code."""
        return f"{_short(self.was)} -> {_short(self.now)}"


def _short(told: dict[str, Any] | None) -> str:
    """What is told of a decision, in two words."""
    if told is None:
        return NOTHING
    if "action" not in told:
        return next(iter(sorted(told)), NOTHING)
    codes = [finding["code"] for finding in told.get("findings", ())]
    return " ".join([told["action"], *dict.fromkeys(codes)])


class Compared(msgspec.Struct, frozen=True):
    """What came of a comparison: how many lines were looked at, what differs, and cases that are
    not the same case."""

    lines: int
    differences: tuple[Difference, ...]
    others: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not self.differences and not self.others


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
    found = []
    for name in names:
        old, new = before.get(name), known.get(name)
        if _case(name) not in others and (old is None or new is None or old.is_ != new.is_):
            found.append(Difference(name, _told(was, old), _told(now, new)))
    return Compared(len(names), tuple(found), tuple(sorted(others)))


def _case(name: str) -> str:
    return name.rpartition(" #")[0]


def _told(kept: Kept, line: Line | None) -> dict[str, Any] | None:
    return None if line is None else json.loads(kept.told[line.is_])


def worded(compared: Compared) -> Iterator[str]:
    """What is to be printed of a comparison, line by line."""
    found = compared.differences
    if compared.same:
        yield f"{compared.lines:,} lines are as they were"
        return
    yield f"{len(found):,} of {compared.lines:,} lines are not as they were"
    for one in found[:FULL]:
        yield f"\n{one.id}: {one.turn}; differs in {', '.join(one.fields)}"
        yield from _full("was", one.was, one.fields)
        yield from _full("is", one.now, one.fields)
    if len(found) > FULL:
        yield ""
    for one in found[FULL:]:
        yield f"{one.id}: {one.turn}; differs in {', '.join(one.fields)}"
    if found:
        yield from _counts("by code", Counter([one.turn for one in found]))
        yield from _counts(
            "by what differs", Counter([name for one in found for name in one.fields])
        )
    if compared.others:
        yield (
            f"\n{len(compared.others):,} cases are not the same cases any more: their events or "
            f"policies were changed"
        )
        yield from [f"  {name}" for name in compared.others]


def _full(when: str, told: dict[str, Any] | None, differ: tuple[str, ...]) -> Iterator[str]:
    """A decision field by field; a star marks those that differ."""
    yield f"  {when}:{' ' + NOTHING if told is None else ''}"
    for name, value in (told if told is not None else {}).items():
        yield f"  {'*' if name in differ else ' '} {name}: {json.dumps(value)}"


def _counts(title: str, counts: Counter[str]) -> Iterator[str]:
    yield f"\n{title}:"
    for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"  {count:>7,}  {name}"
