"""Windows: every match of a pattern has one, and they are rarer than the literals that honest texts
are full of."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given

from stanchion.guards import secrets
from stanchion.guards.secrets.index import indexed
from stanchion.readings.joined import flat
from stanchion.readings.scan import Pattern, Scanner
from stanchion.readings.scan.window_sieve import WALKED, WindowSieve
from tests.guards.scan.drawn_patterns import meant, patterns, texts
from tests.guards.scan.test_scanner import made
from tests.guards.steps import steps_of
from tests.properties.examples import sample

HONEST: Final = (
    "The path of the patch is in the pattern. An app has an account, a service and a session; its "
    "api is an apiary.\n"
    "    def re_read(self, tokens: list[Token]) -> None:\n        self.paths = [path for path in "
    "tokens if path]\n"
)


@sample(50)
@given(patterns(), texts())
def test_every_match_has_a_window(pattern: str, text: str) -> None:
    windows = made(pattern).windows
    expressions = [re.compile(window.expression.encode("latin-1")) for window in windows]
    lowered = flat(text).lower()
    for _, _, first, last in meant(pattern, text) if windows else ():
        # It may go on behind the end of the part that counts: what follows has to be there for the
        # match, too.
        assert any(one.search(lowered, first, last) for one in expressions), (pattern, windows)


@pytest.mark.parametrize(
    ("pattern", "miss", "hit"),
    [
        (r"(pat[0-9A-Za-z]{14}\.[0-9a-f]{64})", "a path, a patch", "patA1b2C3d4E5f6G7."),
        (
            r"(?i:(?:api|app|aes)[_. -]?key)[ =:]{1,3}([0-9a-f]{16})",
            "an app with an api",
            "APP key: 0123456789abcdef",
        ),
        (
            r"[MNO][\w-]{23}\.[\w-]{6}\.[\w-]{27}",
            "a.b.c and so on. No more",
            "x.abcdef.abcdefghijklmnop",
        ),
    ],
    ids=["behind a literal", "in a choice", "behind one character"],
)
def test_what_follows_a_literal_has_to_follow(pattern: str, miss: str, hit: str) -> None:
    sieve = WindowSieve([Pattern(pattern)])
    assert sieve.regions(flat(miss.ljust(100))) == {}
    assert list(sieve.regions(flat(hit.ljust(100)))) == [0]


def test_a_pattern_of_common_characters_alone_may_match_anywhere() -> None:
    assert Pattern("[0-9a-z]{20}").windows == ()
    assert WindowSieve([Pattern("[0-9a-z]{20}")]).regions(b"x" * 30) == {0: [(0, 30)]}


def test_all_shipped_rules_have_windows() -> None:
    assert [rule.kind for rule, pattern in indexed() if not pattern.windows] == []


def test_an_honest_text_is_hardly_stopped_at() -> None:
    """Words that stand in honest texts again and again do not make each of them costly."""
    scanner = Scanner([pattern for _, pattern in indexed()])
    scanner.prepare()
    text = HONEST * 16
    scanner.scan(text)
    assert steps_of(lambda: scanner.scan(text)) < 4_200


RULES: Final = Path(secrets.__file__).parent / "rules"


def both_ways(sieve: WindowSieve, walked: WindowSieve, text: str) -> None:
    """Hold what a sieve says of a text that has compiled its windows, and one that has not."""
    walked._left = len(flat(text))
    assert walked.regions(flat(text)) == sieve.regions(flat(text)), text
    assert "_any" not in vars(walked)


@sample(50)
@given(patterns(), patterns(), texts())
def test_what_is_walked_and_what_is_compiled_find_the_same(one: str, other: str, text: str) -> None:
    sieve = WindowSieve([made(one), made(other)])
    sieve.compile()
    both_ways(sieve, WindowSieve([made(one), made(other)]), text)


def test_so_they_do_for_every_hit_and_miss_of_the_shipped_rules() -> None:
    shipped = [pattern for _, pattern in indexed()]
    sieve, walked = WindowSieve(shipped), WindowSieve(shipped)
    sieve.compile()
    rows = [tomllib.loads(file.read_text("utf-8")) for file in sorted(RULES.glob("*.toml"))]
    assert len(rows) == len(shipped)
    for row in rows:
        for text in (*row["hits"], *row["misses"]):
            both_ways(sieve, walked, text)


def test_long_texts_are_left_to_what_is_compiled() -> None:
    sieve = WindowSieve([Pattern("abc[0-9]{8}")])
    text = b"abc12345678 " * (WALKED // 24)
    expected = sieve.regions(text)
    assert "_any" not in vars(sieve)
    assert sieve.regions(text) == expected
    assert sieve.regions(text) == expected
    assert "_any" in vars(sieve)
