"""Near-misses: cases of other sources with small differences, drawn from the case's name.

What reads loosely or strictly shows here: white space, the order of names, forms of Unicode and of
numbers, nesting, nothing at all, far too much, half of a pair, calls that are almost repeated, and
runs that take turns.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final
from zlib import crc32

import msgspec

from tools.decisions.case import Call, Case, Judge, Step, Stream

SHARE: Final = 12
"""Of how many cases one has a near-miss."""
HUGE: Final = 10_000_000
"""How long a text is that no limit lets through."""
FEW: Final = 40
"""Of how many near-misses one is huge."""
TIMES: Final = 5
"""How often a call is almost repeated."""
RUNS: Final = ("a", "b", "c")
"""The runs that take turns."""
FIELDS: Final = frozenset({"args", "result", "text", "messages", "payload", "url"})
"""Which fields of an event are varied."""
WIDE: Final = {sign: sign + 0xFEE0 for sign in range(0x21, 0x7F)}
"""Each sign of ASCII as wide as an ideograph."""

Change = Callable[[Random, Any], Any]


def name_near(case: str) -> str | None:
    """The name of a case's near-miss; `None` for most, which have none."""
    drawn = crc32(f"near {case}".encode()) >> 5
    if drawn % SHARE or case.startswith(("tables/", "near/")):
        return None
    number = drawn // SHARE
    kind = "huge" if number % FEW == 0 else KINDS[number // FEW % len(KINDS)]
    return f"near/{kind}: {case}"


def vary(case: Case, name: str) -> Case:
    """The near-miss of that name."""
    rng, kind = Random(name), name.removeprefix("near/").partition(":")[0]
    runs = case.runs
    match kind:
        case "repeated":
            steps = tuple(_repeat(rng, case.steps))
        case "turns":
            about = next(iter(runs.values()))
            runs = {each: {**about, "id": f"run-{each}"} for each in RUNS}
            steps = _take_turns(rng, case.steps)
        case _:
            steps = tuple([_varied(rng, step, CHANGES[kind]) for step in case.steps])
    return msgspec.structs.replace(case, name=name, steps=steps, runs=runs)


def _varied(rng: Random, step: Step, change: Change) -> Step:
    match step:
        case Judge(fields=fields):
            made = {key: _within(rng, change, key, value) for key, value in fields.items()}
            return msgspec.structs.replace(step, fields=made)
        case Call(args=args):
            return msgspec.structs.replace(step, args=change(rng, args))
        case Stream(pieces=pieces):
            changed = tuple([str(change(rng, piece)) for piece in pieces])
            return msgspec.structs.replace(step, pieces=changed)
        case _:
            return step


def _within(rng: Random, change: Change, key: str, value: Any) -> Any:
    """A field with its change. Arguments stay a mapping: what is none is no call at all."""
    if key not in FIELDS:
        return value
    changed = change(rng, value)
    return changed if key != "args" or isinstance(changed, dict) else {"value": changed}


def _repeat(rng: Random, steps: tuple[Step, ...]) -> Iterator[Step]:
    """Steps, of which calls come several times, each time with a little difference or with none."""
    for step in steps:
        yield step
        if isinstance(step, Judge) and step.stage == "tool_call":
            for _ in range(TIMES):
                change = CHANGES[rng.choice(("spaces", "order", "numbers"))]
                yield step if rng.random() < 0.4 else _varied(rng, step, change)


def _take_turns(rng: Random, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The same steps in several runs, each in its own order and all of them mixed."""
    left = {each: list(steps) for each in RUNS}
    mixed: list[Step] = []
    while any(left.values()):
        run = rng.choice([each for each, rest in left.items() if rest])
        mixed.append(msgspec.structs.replace(left[run].pop(0), run=run))
    return tuple(mixed)


def _in_all(change: Callable[[Random, Any], Any], kind: type[Any] = str) -> Change:
    """A change of every value of a kind, at every depth."""

    def changed(rng: Random, value: Any) -> Any:
        match value:
            case dict():
                return {key: changed(rng, each) for key, each in value.items()}
            case list() | tuple():
                return [changed(rng, each) for each in value]
            case _:
                return change(rng, value) if isinstance(value, kind) else value

    return changed


def _space(rng: Random, text: str) -> str:
    other = rng.choice(("  ", "\t", "\u00a0", " \n", "\r\n", "\u2003"))
    return rng.choice((f"{other}{text}", f"{text}{other}", text.replace(" ", other)))


def _recode(rng: Random, text: str) -> str:
    """A text in another form of Unicode."""
    form = rng.choice(("NFC", "NFD", "NFKC", "NFKD", "wide", "hidden"))
    match form:
        case "wide":
            return text.translate(WIDE)
        case "hidden":
            at = rng.randrange(len(text) + 1)
            return f"{text[:at]}\u200b{text[at:]}"
        case _:
            return unicodedata.normalize(form, text)  # type: ignore[arg-type] # one of the four


def _break(rng: Random, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    return f"{text[:at]}{rng.choice(chr(0xD800) + chr(0xDFFF))}{text[at:]}"


def _reform(rng: Random, value: Any) -> Any:
    """Numbers in another form, and texts that are numbers as such."""
    match value:
        case bool():
            return int(value)
        case int():
            return rng.choice((float(value), str(value), f"{value}e0", f" {value}", f"{value}.0"))
        case float():
            return rng.choice((repr(value), f"{value:e}", round(value)))
        case str():
            return int(value) if value.isdecimal() and len(value) < 20 else value
        case _:
            return value


def _nest(rng: Random, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _nest(rng, each) for key, each in value.items()}
    spelled = json.dumps(value, default=repr)
    return rng.choice(([value], {"value": value}, [[{"text": value}]], spelled))


def _empty(rng: Random, value: Any) -> Any:
    if isinstance(value, dict) and rng.random() < 0.7:
        return {key: _empty(rng, each) for key, each in value.items()}
    return rng.choice(("", None, [], {}, " "))


def _order(_rng: Random, value: Any) -> Any:
    """Names in the opposite order, at every depth."""
    match value:
        case dict():
            return {key: _order(_rng, value[key]) for key in reversed(value)}
        case list():
            return [_order(_rng, each) for each in value]
        case _:
            return value


def _grow(_rng: Random, text: str) -> str:
    filled = text if text else "x"
    return filled * (HUGE // len(filled) + 1)


CHANGES: Final[dict[str, Change]] = {
    "spaces": _in_all(_space),
    "order": _order,
    "unicode": _in_all(_recode),
    "numbers": _in_all(_reform, object),
    "nested": _nest,
    "empty": _empty,
    "broken": _in_all(_break),
    "huge": _in_all(_grow),
}
KINDS: Final = (*[kind for kind in CHANGES if kind != "huge"], "repeated", "turns")
