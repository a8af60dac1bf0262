"""Patterns and texts that are drawn at random, small enough that a slow, obvious reader can say
what is right."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import strategies as st

LETTERS = "abAB12-_ .\n\"'=é中\udc80\x00"


def atoms() -> st.SearchStrategy[str]:
    """The smallest parts of patterns."""
    return st.sampled_from(
        [
            "a",
            "b",
            "1",
            "-",
            "_",
            " ",
            r"\.",
            r"\d",
            r"\w",
            r"\s",
            "[ab]",
            "[^ab]",
            "[a-b1]",
            "=",
            r"[\w-]",
            '"',
            r"\n",
            ".",
        ]
    )


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    bounds = st.tuples(st.integers(0, 3), st.integers(0, 4)).map(
        lambda pair: f"{{{pair[0]},{pair[0] + pair[1]}}}"
    )
    times = st.one_of(st.just("?"), st.just("??"), bounds, bounds.map(lambda text: f"{text}?"))
    return st.one_of(
        st.lists(inner, min_size=2, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda items: f"(?:{'|'.join(items)})"),
        st.tuples(inner, times).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
        inner.map(lambda text: rf"\b{text}"),
        inner.map(lambda text: rf"{text}\b"),
        inner.map(lambda text: f"(?i:{text})"),
        inner.map(lambda text: f"(?:^|{text})"),
    )


def patterns() -> st.SearchStrategy[str]:
    """Patterns, most with a literal and some with a group."""
    bare = st.recursive(atoms(), _grown, max_leaves=6)
    literal = st.sampled_from(["ab", "a1-", "A-b", "key", ""])
    return st.tuples(literal, bare, st.booleans(), bare).map(
        lambda parts: parts[0] + (f"({parts[1]})" if parts[2] else parts[1]) + parts[3]
    )


def texts() -> st.SearchStrategy[str]:
    """Texts in which such patterns may be found."""
    pieces = st.one_of(
        st.text(LETTERS, max_size=4), st.sampled_from(["ab", "a1-", "A-b", "key", "ab1", " "])
    )
    return st.lists(pieces, max_size=10).map("".join)


def meant(pattern: str, text: str) -> set[tuple[int, int, int, int]]:
    """What a pattern finds, by trying every place with Python's own engine."""
    expression = re.compile(pattern, re.ASCII)
    found = set()
    for at in range(len(text)):
        match = expression.match(text, at)
        if match is not None and match.end() > at:
            group: Any = (
                match.span(1) if expression.groups and match.span(1)[0] >= 0 else match.span()
            )
            if group[0] < group[1]:
                found.add((*group, *match.span()))
    return found
