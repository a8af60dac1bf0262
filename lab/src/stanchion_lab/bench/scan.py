"""Scanning: ten patterns beside a thousand, and texts that are meant to hurt."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

from stanchion.guards.secrets import Secrets
from stanchion.kernel.events import RunInfo, ToolCall, ToolResult
from stanchion.readings import read
from stanchion.readings.scan import Pattern, Scanner
from stanchion_lab.bench.measure import compare
from stanchion_lab.bench.table import Effort, Section, rows_of

SIZE: Final = 65_536
FEW: Final = 10
MANY: Final = 1_000
WORDS: Final = (
    "the report of the last quarter says that token counts and password resets went up while "
    '{"user": "ann", "path": "/srv/app/main.py", "status": 200} key points are listed below\n'
)


def scanning(effort: Effort) -> Section:
    """What 64 KB cost."""
    text = (WORDS * (SIZE // len(WORDS) + 1))[:SIZE]
    few, many = (
        [_pattern(number) for number in range(FEW)],
        [_pattern(number) for number in range(MANY)],
    )
    contenders: dict[str, Callable[[], object]] = {}
    contenders["10 patterns"] = _scanning(Scanner(few), text)
    contenders["1,000 patterns"] = _scanning(Scanner(many), text)
    costs = compare(contenders, max(2, effort.rounds // 4), max(5, effort.calls // 40))
    note = "64 KB of text; ratios are to the first row"
    return Section("scanning for patterns", note, rows_of(costs, next(iter(contenders))))


def hostile(effort: Effort) -> Section:
    """Texts of 512 KB and 1 MB beside each other: twice the text costs twice as much, whatever it
    is made of."""
    patterns = [_pattern(number) for number in range(MANY)]
    scanner = Scanner(patterns)
    contenders: dict[str, Callable[[], object]] = {}
    for name, text in _texts(1 << 20).items():
        contenders[f"{name}, 512 KB"] = _scanning(scanner, text[: 1 << 19])
        contenders[f"{name}, 1 MB"] = _scanning(scanner, text)
    costs = compare(contenders, 2, 2)
    note = "1,000 patterns; ratios are to the first row"
    return Section("scanning long texts", note, rows_of(costs, next(iter(contenders))))


def secrets(effort: Effort) -> Section:
    """What the guard costs with all that it knows: a call with three arguments, and a result of 64
    KB."""
    guard = Secrets()
    run = RunInfo("r1")
    short = ToolCall(
        id="e1",
        at=0,
        run=run,
        tool="t",
        args={"path": "src/app/main.py", "line": 3, "text": "hello there"},
    )
    long = ToolResult(
        id="e2", at=0, run=run, tool="t", result=(WORDS * (SIZE // len(WORDS) + 1))[:SIZE]
    )
    found = ToolCall(
        id="e3", at=0, run=run, tool="t", args={"body": "id AKIAQ3EGRXYZ5ABCD7WQ", "line": 3}
    )
    contenders: dict[str, Callable[[], object]] = {
        "a call, nothing in it": lambda: guard.judge(read(short)),
        "a call with a secret": lambda: guard.judge(read(found)),
        "a piece of a stream": lambda: guard.settled("and so it was, that the "),
    }
    costs = compare(contenders, effort.rounds, effort.calls)
    costs |= compare({"64 KB, nothing in them": lambda: guard.judge(read(long))}, 2, 10)
    return Section(
        "the secrets guard",
        "without the engine around it",
        rows_of(costs, "a call, nothing in it"),
    )


def _scanning(scanner: Scanner, text: str) -> Callable[[], object]:
    return lambda: scanner.scan(text)


def _pattern(number: int) -> Pattern:
    """A pattern as rules have them: a prefix of its own and random characters, or a name, an
    operator and a value."""
    word = "".join(Random(number).choices("abcdefghijklmnopqrstuvwxyz", k=6))
    if number % 2:
        return Pattern(rf"\b({word}_[0-9A-Za-z]{{32,64}})\b")
    return Pattern(
        rf"(?i:{word})[\w.-]{{0,20}}[ \t]{{0,4}}[=:]{{1,2}}[ "
        rf"\t\"']{{0,4}}([0-9a-z_-]{{32,64}})(?:[\"';,\s]|$)"
    )


def _texts(size: int) -> dict[str, Any]:
    chance = Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789=:\"' \n"
    words = [
        "".join(Random(number).choices("abcdefghijklmnopqrstuvwxyz", k=6)) for number in range(40)
    ]
    beginnings = " ".join([f"{word}_{'a' * 31} {word} = " for word in words])
    return {
        "random": "".join(chance.choices(letters, k=size)),
        "beginnings of matches": (beginnings * (size // len(beginnings) + 1))[:size],
        "one letter": "a" * size,
    }
