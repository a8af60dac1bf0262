"""Similarity: calls that worked, compared with another call argument by argument."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any, Final, Literal

import msgspec

from stanchion.experience.bounded import CUT, one_line
from stanchion.experience.incident import Practice
from stanchion.kernel.regex import regex

How = Literal["missing", "type", "value", "extra"]
"""What is wrong with an argument, beside the call that worked: it is not there, of another kind,
another value, or there was none."""

ORDER: Final[dict[How, int]] = {"missing": 0, "type": 1, "value": 2, "extra": 3}
WORTH: Final[dict[How, float]] = {"missing": 0.0, "type": 0.25, "value": 0.5, "extra": 0.0}
"""How much of an argument that is not the same counts as the same."""
MOST: Final = 20
"""How many differences are told."""

ABSENT: Final = object()
PARTS: Final = regex(r"[.\[]")
"""What stands between the name of an argument and those inside of it."""

KINDS: Final[dict[type, str]] = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


class Difference(msgspec.Struct, frozen=True):
    """One argument that differs: its name with those above it, how, and what it was and is, as JSON
    or as a kind."""

    name: str
    how: How
    worked: str = ""
    given: str = ""


class Similar(msgspec.Struct, frozen=True):
    """A call that worked, how alike another call is (1 is the same), and what differs. `args` is
    `None` where nobody may see the values."""

    tool_name: str
    fingerprint: str
    success_count: int
    failure_count: int
    likeness: float
    differences: tuple[Difference, ...]
    args: dict[str, Any] | None = None

    def without_values(self) -> Similar:
        """The same for whoever may not see another run's values: names and kinds alone."""
        return msgspec.structs.replace(
            self, args=None, differences=tuple([_kinds(one) for one in self.differences])
        )


def similar_to(args: dict[str, Any], practices: Iterable[Practice]) -> tuple[Similar, ...]:
    """Calls that worked, the most alike first, then the most used; the order is always the same.
    `args` are bounded, as those of the practices are."""
    found = [
        compared(
            args, one.args, one.tool_name, one.fingerprint, one.success_count, one.failure_count
        )
        for one in practices
    ]
    return tuple(
        sorted(found, key=lambda one: (-one.likeness, -one.success_count, one.fingerprint))
    )


def compared(
    given: dict[str, Any],
    worked: dict[str, Any],
    tool: str,
    fingerprint: str,
    successes: int,
    failures: int,
) -> Similar:
    """A call that worked, beside the arguments of another; both are bounded."""
    every = list(_each("", worked, given))
    found = [one for one in every if one is not None]
    alike = sum([1.0 if one is None else WORTH[one.how] for one in every])
    likeness = round(alike / len(every), 4) if every else 1.0
    found.sort(key=lambda one: (ORDER[one.how], one.name))
    return Similar(tool, fingerprint, successes, failures, likeness, tuple(found[:MOST]), worked)


def _each(name: str, worked: Any, given: Any) -> Iterator[Difference | None]:
    """Every value of two calls that holds no other, compared by its name with those above it;
    `None` where both have the same."""
    if isinstance(worked, dict) and isinstance(given, dict):
        for part in sorted(worked.keys() | given.keys()):
            inner = f"{name}.{part}" if name else part
            yield from _pair(inner, worked.get(part, ABSENT), given.get(part, ABSENT))
    elif isinstance(worked, list) and isinstance(given, list):
        for at, (before, now) in enumerate(zip_longest(worked, given, fillvalue=ABSENT)):
            yield from _pair(f"{name}[{at}]", before, now)
    elif kind_of(worked) != kind_of(given):
        yield Difference(name, "type", one_line(worked), one_line(given))
    else:
        yield (
            None
            if worked == given
            else Difference(name, "value", one_line(worked), one_line(given))
        )


def _pair(name: str, worked: Any, given: Any) -> Iterator[Difference | None]:
    if given is ABSENT:
        yield Difference(name, "missing", worked=one_line(worked))
    elif worked is ABSENT:
        yield Difference(name, "extra", given=one_line(given))
    else:
        yield from _each(name, worked, given)


def kind_of(value: Any) -> str:
    """What kind of value something is, in words."""
    return KINDS.get(type(value), "something else")


def _kinds(one: Difference) -> Difference:
    """A difference without values. Names inside of an argument can be values, too: those that the
    given call does not have are left out."""
    top = PARTS.split(one.name, 1)[0]
    inner = one.how == "missing" and top != one.name
    name = f"{top}.{CUT}" if inner else one.name
    return Difference(name, one.how, _kind(one.worked), _kind(one.given))


def _kind(said: str) -> str:
    return kind_of(msgspec.json.decode(said)) if said else ""
