"""The words of a comparison: what callers get otherwise in full, what is written down by kind."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, Final

from tools.decisions.comparing import Compared, Difference

FULL: Final = 20
"""Of how many differences both sides are shown in full."""
EXAMPLES: Final = 2
"""How many examples a kind of difference has."""
WIDTH: Final = 60
"""How much of a value an example shows."""
NOTHING: Final = "nothing"
HASH: Final = re.compile("[0-9a-f]{16}|[0-9a-f]{64}")


def word(compared: Compared) -> Iterator[str]:
    """What is to be printed of a comparison, line by line."""
    if not (compared.seen or compared.written or compared.apart or compared.others):
        yield f"{compared.lines:,} lines are as they were"
        return
    counts = f"{len(compared.seen):,} of {compared.lines:,}"
    yield f"{counts} lines that callers get are not as they were"
    yield from _in_full(compared.seen, "was", "is")
    if compared.written:
        yield from _word_written(compared.written)
    yield from word_apart(compared.apart)
    if compared.others:
        changed = "are not the same cases any more: their events or policies were changed"
        yield f"\n{len(compared.others):,} cases {changed}"
        yield from [f"  {name}" for name in compared.others]


def word_apart(apart: tuple[Difference, ...]) -> Iterator[str]:
    """What is to be printed of ways that do not come to the same."""
    if apart:
        yield f"\n{len(apart):,} lines differ between two ways of playing the same case"
        yield from _in_full(apart, "plain", "this way")


def _in_full(found: tuple[Difference, ...], was: str, now: str) -> Iterator[str]:
    for one in found[:FULL]:
        yield f"\n{one.id}: {_turn(one)}; differs in {', '.join(one.fields)}"
        yield from _side(was, one.was, one.fields)
        yield from _side(now, one.now, one.fields)
    if len(found) > FULL:
        yield ""
    for one in found[FULL:]:
        yield f"{one.id}: {_turn(one)}; differs in {', '.join(one.fields)}"
    if found:
        yield from _counts("by code", Counter([_turn(one) for one in found]))
        fields = Counter([name for one in found for name in one.fields])
        yield from _counts("by what differs", fields)


def _side(when: str, told: dict[str, Any] | None, differ: tuple[str, ...]) -> Iterator[str]:
    """A decision field by field; a star marks those that differ."""
    yield f"  {when}:{' ' + NOTHING if told is None else ''}"
    for name, value in (told if told is not None else {}).items():
        yield f"  {'*' if name in differ else ' '} {name}: {json.dumps(value)}"


def _counts(title: str, counts: Counter[str]) -> Iterator[str]:
    yield f"\n{title}:"
    for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"  {count:>7,}  {name}"


def _turn(one: Difference) -> str:
    """From what to what it went, by code."""
    return f"{_short(one.was)} -> {_short(one.now)}"


def _short(told: dict[str, Any] | None) -> str:
    if told is None:
        return NOTHING
    if "action" not in told:
        return next(iter(sorted(told)), NOTHING)
    codes = [finding["code"] for finding in told.get("findings", ())]
    return " ".join([told["action"], *dict.fromkeys(codes)])


def _word_written(found: tuple[Difference, ...]) -> Iterator[str]:
    """What is written down otherwise: which field went from what to what, how often, and where."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for one in found:
        about = one.id.rpartition("#")[2].partition(".")[2].partition("~")[0]
        for path, was, now in _leaves("", one.was, one.now):
            where = f"{about}{': ' if path else ''}{path.removeprefix('.')}"
            example = f"{one.id}: {_cut(was)} -> {_cut(now)}"
            kinds[f"{where}: {_shape(was)} -> {_shape(now)}"].append(example)
    yield f"\n{len(found):,} lines are written down otherwise, in {len(kinds):,} kinds"
    for kind, examples in sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0])):
        yield f"  {len(examples):>7,}  {kind}"
        yield from [f"           {example}" for example in examples[:EXAMPLES]]


def _leaves(path: str, was: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:
    """The innermost places at which two values differ."""
    if isinstance(was, dict) and isinstance(now, dict):
        for name in [*was, *[each for each in now if each not in was]]:
            if was.get(name) != now.get(name):
                yield from _leaves(f"{path}.{name}", was.get(name), now.get(name))
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for old, new in zip(was, now, strict=True):
            if old != new:
                yield from _leaves(f"{path}[]", old, new)
    else:
        yield path, was, now


def _shape(value: Any) -> str:
    match value:
        case None:
            return NOTHING
        case str():
            return "a hash" if HASH.fullmatch(value) else "a text"
        case bool():
            return str(value).lower()
        case int() | float():
            return "a number"
        case list():
            return f"a list of {len(value)}"
        case _:
            return f"{{{', '.join(sorted(value))}}}"


def _cut(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"
