"""Calls that are alike: the same tool and the same questions, with arguments that are the same or
fit one pattern."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from stanchion.approvals.scope import matches
from stanchion.approvals.standing import AskedCall
from stanchion.audit.record import canonical
from stanchion.kernel.tuples import NamedTuple
from stanchion.ops.views.proposed.gathered import Case

VARY: Final = 2
"""How many words of a text may differ from call to call for it to be the same kind of call."""
DISTINCT: Final = 3
"""How many different texts a pattern is drawn from at least: two have something in common by
chance."""
SHARED: Final = 2
"""How many letters or digits the words have in common that differ. A pattern never stands for any
word whatever."""


class Kind(NamedTuple):
    """A kind of call that was approved: what is the same, what fits a pattern, and the
    approvals."""

    tool: str
    guards: tuple[str, ...]
    task: str
    args: dict[str, Any]
    patterns: dict[str, str]
    cases: tuple[Case, ...]


def kinds(cases: Sequence[Case], least: int) -> Iterator[Kind]:
    """The kinds of calls that were approved at least so often.

    The narrow ones first: a call that was approved often enough as it is needs no pattern. Patterns
    are sought among the others.
    """
    for alike in _grouped(cases, _shape):
        rare: list[Case] = []
        for same in _grouped(alike, lambda call: canonical(call.args)):
            if len(same) >= least:
                yield _kind(same, _call(same[0]).args, {})
            else:
                rare += same
        if len(rare) >= least:
            found = _varying([_call(case).args for case in rare])
            if found is not None:
                yield _kind(rare, *found)


def _shape(call: AskedCall) -> Any:
    return call.tool, call.guards, call.task, tuple(sorted(call.args))


def _grouped(cases: Sequence[Case], by: Any) -> list[list[Case]]:
    groups: dict[Any, list[Case]] = {}
    for case in cases:
        groups.setdefault(by(_call(case)), []).append(case)
    return list(groups.values())


def _call(case: Case) -> AskedCall:
    assert case.call is not None
    return case.call


def _kind(cases: Sequence[Case], args: dict[str, Any], patterns: dict[str, str]) -> Kind:
    call = _call(cases[0])
    return Kind(call.tool, call.guards, call.task, args, patterns, tuple(cases))


def _varying(every: list[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, str]] | None:
    """What is the same in all arguments, and the patterns of those that differ; `None` where there
    are none."""
    args: dict[str, Any] = {}
    patterns: dict[str, str] = {}
    for name in every[0]:
        values = [one[name] for one in every]
        if len({canonical(value) for value in values}) == 1:
            args[name] = values[0]
            continue
        pattern = pattern_of(values)
        if pattern is None:
            return None
        patterns[name] = pattern
    return args, patterns


def pattern_of(values: list[Any]) -> str | None:
    """A pattern that texts fit, which differ in few words and begin alike; `None` where they do
    not."""
    if (
        not all(isinstance(value, str) and "*" not in value for value in values)
        or len(set(values)) < DISTINCT
    ):
        return None
    rows = [value.split(" ") for value in values]
    if len({len(row) for row in rows}) != 1:
        return None
    words = [_word(column) for column in zip(*rows, strict=True)]
    begins, pattern = words[0].partition("*")[0], " ".join(words)
    differing = [word for word in words if "*" in word]
    if not any(map(str.isalnum, begins)) or len(differing) > VARY:
        return None
    if any(sum(map(str.isalnum, word)) < SHARED for word in differing):
        return None
    return pattern if all(matches(pattern, value) for value in values) else None


def _word(column: tuple[str, ...]) -> str:
    """One word as all have it: the same, or what it begins and ends with."""
    first = _beginning(column)
    if all(word == first for word in column):
        return first
    rest = [word[len(first) :][::-1] for word in column]
    return f"{first}*{_beginning(rest)[::-1]}"


def _beginning(words: Sequence[str]) -> str:
    """What all words begin with."""
    least, most = min(words), max(words)
    differs = (at for at, pair in enumerate(zip(least, most, strict=False)) if pair[0] != pair[1])
    return least[: next(differs, len(least))]
