"""Patterns: what fits one is no second command, no way out of a folder, and no end of a quoted
text."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from stanchion.approvals.errors import TicketError
from stanchion.approvals.grant_reach import STAR, Scope, checked_pattern, matches, reach, said

PATTERNS = {
    "git push * *": "git push origin main",
    "*.txt": "notes.txt",
    "docs/*": "docs/index.md",
    "SELECT name FROM t WHERE id = *": "SELECT name FROM t WHERE id = 7",
    "curl https://api.example/*": "curl https://api.example/v1",
    "cp a/* b/*": "cp a/x b/x",
    "../docs/*": "../docs/x",
}

HARMFUL = [
    *" ;&|<>$`\\\"'(){}[]*?!#~^%\n\r\0\t\x1b",
    "\u2028",
    "\u00a0",
    "\uff1b",
    "\u202e",
    "\u200b",
    "..",
    "--",
    "=/",
    ":/",
    ",/",
    "@/",
]
"""What ends a word, a path, a quote or a command, or only looks like what does not."""

plain = st.from_regex(r"[A-Za-z0-9_]([-./:@=+,]?[A-Za-z0-9_]){0,6}", fullmatch=True).filter(
    lambda text: "=/" not in text
)


@given(st.sampled_from(sorted(PATTERNS)), st.data())
def test_nothing_that_does_harm_fits_a_star(pattern: str, data: st.DataObject) -> None:
    harm = data.draw(st.sampled_from(HARMFUL))
    parts = pattern.split("*")
    fills = [data.draw(plain) for _ in parts[1:]]
    at = data.draw(st.integers(0, len(fills) - 1))
    cut = data.draw(st.integers(0, len(fills[at])))
    bad = [*fills]
    bad[at] = fills[at][:cut] + harm + fills[at][cut:]
    assert not matches(pattern, woven(parts, bad))


@given(st.sampled_from(sorted(PATTERNS)), st.data())
def test_what_is_plain_fits(pattern: str, data: st.DataObject) -> None:
    parts = pattern.split("*")
    text = woven(parts, [data.draw(plain) for _ in parts[1:]])
    assert matches(pattern, text)


@given(st.sampled_from(sorted(PATTERNS)), st.text(max_size=40))
@example("git push * *", "git push origin; rm -rf ~")
@example("docs/*", "docs/../../etc/passwd")
@example("SELECT name FROM t WHERE id = *", "SELECT name FROM t WHERE id = 7; DROP TABLE t")
@example("SELECT name FROM t WHERE id = *", "SELECT name FROM t WHERE id = '' OR ''=''")
@example("SELECT name FROM t WHERE id = *", "SELECT name FROM t WHERE id = 7 OR 1=1")
@example("cp a/* b/*", "cp a/x b/$(id)")
@example("cp a/* b/*", "cp a/x /etc/passwd b/y")
@example("git push * *", "git push --receive-pack=x y")
@example("*.txt", "/etc/x.txt")
@example("../docs/*", "../docs/../etc/passwd")
def test_what_fits_is_one_command_without_quotes_and_ways_out(pattern: str, text: str) -> None:
    for candidate in (text, pattern.replace("*", text)):
        if not matches(pattern, candidate):
            continue
        assert candidate.count(" ") == pattern.count(" "), "no word more than the pattern has"
        assert candidate.count("..") == pattern.count("..")
        assert not set(candidate) & (set("".join(HARMFUL)) - set(pattern) - set(STAR))
        words = zip(candidate.split(" "), pattern.split(" "), strict=True)
        assert not [
            word for word, own in words if own.startswith("*") and word.startswith(tuple("-/@=+,:"))
        ]
        lexer = shlex.shlex(candidate, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        assert not {word for word in lexer if set(word) <= set("();<>|&")}


@pytest.mark.parametrize("pattern", sorted(PATTERNS))
def test_a_pattern_fits_what_it_is_given_for(pattern: str) -> None:
    assert checked_pattern({"x": pattern}, {"x": PATTERNS[pattern]}) == {"x": pattern}


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("a*a", "a", False),
        ("a*a", "aa", True),
        ("*ab*ab", "abab", True),
        ("*ab*ab", "xab", False),
        ("ab*b*", "abb", True),
        ("a**b", "axb", True),
        ("../*", "../x", True),
        ("../*", "../../x", False),
        (".*", "../x", False),
        ("*.txt", "/x.txt", False),
        ("x=*", "x=/etc", False),
        ("id = * AND mine", "id = 7--x AND mine", False),
        ("git push *", "git push -f", False),
        ("git push *", "git push a-f", True),
        ("git push *", "git push a b", False),
        ("git push", "git push", True),
        ("git push", "git push ", False),
        ("", "", True),
    ],
)
def test_matching(pattern: str, text: str, fits: bool) -> None:
    assert matches(pattern, text) is fits


@pytest.mark.parametrize("value", [None, 7, True, ["git push x"], {"x": 1}, b"git push x"])
def test_only_text_fits(value: Any) -> None:
    assert not matches("git push *", value)


@pytest.mark.parametrize(
    ("pattern", "args", "says"),
    [
        ({"x": "*"}, {"x": "a"}, "would let any `x` through"),
        ({"x": " * * "}, {"x": " a b "}, "would let any `x` through"),
        ({"x": ".*"}, {"x": ".a"}, "would let any `x` through"),
        ({"x": "/*"}, {"x": "/etc"}, "would let any `x` through"),
        ({"x": "b*"}, {"x": "a"}, "does not match"),
        ({"y": "b*"}, {"x": "a"}, "give one or more of `x`"),
        ({}, {"x": "a"}, "give one or more of `x`"),
        ({"x": "b*"}, "text", "give one or more of none"),
        ({"x": "rm *"}, {"x": "rm a; b"}, "does not match"),
        ({"x": "1*"}, {"x": 12}, "is not text"),
    ],
)
def test_a_pattern_that_makes_no_sense_is_refused(
    pattern: dict[str, str], args: Any, says: str
) -> None:
    with pytest.raises(TicketError, match=says):
        checked_pattern(pattern, args)


@given(st.sampled_from(list(Scope)), st.text(), st.dictionaries(st.text(), st.text(), min_size=1))
def test_a_scope_is_read_as_it_was_signed(scope: Scope, run: str, pattern: dict[str, str]) -> None:
    read = reach(said(scope, run, pattern))
    assert read == (scope, pattern if scope is Scope.PATTERN else {})


def woven(parts: list[str], fills: list[str]) -> str:
    """The parts of a pattern with something in each gap."""
    return "".join(part + fill for part, fill in zip(parts, [*fills, ""], strict=True))
