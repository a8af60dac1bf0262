"""The index of the shipped rules: what the guard needs of them, made when they are written and not
when it starts."""

from __future__ import annotations

from functools import cache
from pkgutil import get_data
from typing import Final

import msgspec

from stanchion import typed
from stanchion.guards.secrets.rule import Rule
from stanchion.readings.scan import Facts, Head, Pattern, Window

FILE: Final = "index.jsonl"
"""The file of the index, one line a rule."""


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """One rule without its examples, and what is known of its pattern."""

    rule: Rule
    shortest: int
    reach: int
    literals: tuple[str, ...] = ()
    width: int = 0
    letters: str = ""
    narrow: bool = False
    windows: tuple[tuple[str, str], ...] = ()

    @property
    def facts(self) -> Facts:
        """What is known of the pattern."""
        windows = tuple(
            [Window(literal.encode("latin-1"), follow) for literal, follow in self.windows]
        )
        if not self.literals:
            return Facts(self.shortest, self.reach, None, windows)
        literals = frozenset([literal.encode("latin-1") for literal in self.literals])
        return Facts(
            self.shortest,
            self.reach,
            Head(literals, self.width, int(self.letters, 16), self.narrow),
            windows,
        )


READER: Final = typed.reader(Line)
"""Reads a line."""


@cache
def indexed() -> tuple[tuple[Rule, Pattern], ...]:
    """Every shipped rule and what it looks for."""
    body = get_data(__package__, FILE)
    assert body is not None
    lines = [READER.decode(line) for line in body.splitlines()]
    return tuple([(line.rule, _pattern(line)) for line in lines])


def _pattern(line: Line) -> Pattern:
    rule = line.rule
    return Pattern(rule.pattern, rule.keywords, rule.multiline, line.facts)
