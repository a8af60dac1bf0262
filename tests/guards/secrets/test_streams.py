"""However a text is cut, what comes out is the redaction of the whole."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import pytest
from hypothesis import given, settings, strategies as st

from stanchion import Refused, Shield
from stanchion.guards.secrets import Secrets
from tests.guards.secrets.streaming import streamed, whole
from tests.guards.steps import steps_of
from tests.sampling import some
from tools.secret_rules import files, read_rule

SOAK: Final = 3_000 if os.environ.get("STANCHION_SOAK") else 0
GUARD: Final = Secrets()
KEY: Final = "AKIAQ3EGRXYZ5ABCD7WQ"
PEM: Final = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    + "MIIEpAIBAAKCAQEA7Gk2xZ9Qw3vT5yHn8bLrUcD1sFe4\n" * 4
    + "-----END RSA PRIVATE KEY-----"
)
HITS: Final = [hit for text in files().values() for hit in read_rule(text).hits[:2]]
GLUE: Final = [
    "", " ", "\n", " the quick brown fox ", "AKI", "token", "password = ", "=", '"', "'", ":", ",",
    "中文", "é", "\\n", "--", "-----BEGIN", "[redacted:", "]", "%41", "https://u:p@h/", "eyJ", "sk-",  # noqa: E501
    "x" * 30, "\udc80", "\x00", "[jwt:0a1b2c]",
]  # fmt: skip


def texts() -> st.SearchStrategy[str]:
    """Texts with secrets at random places, whole and in halves, among ordinary and odd
    neighbours."""
    hits = st.sampled_from(
        [*HITS, KEY, PEM, b64encode(f"key {KEY} ".encode()).decode(), KEY.replace("A", "%41")]
    )
    halves = st.tuples(hits, st.integers(0, 80), st.integers(1, 80)).map(
        lambda t: t[0][t[1] : t[1] + t[2]]
    )
    return st.lists(st.one_of(hits, halves, st.sampled_from(GLUE)), min_size=1, max_size=6).map(
        "".join
    )


def cut(text: str, places: list[int]) -> list[str]:
    """A text in pieces."""
    edges = [0, *sorted({place % (len(text) + 1) for place in places}), len(text)]
    return [text[a:b] for a, b in pairwise(edges)]


@settings(max_examples=max(50, SOAK), deadline=None)
@given(texts(), st.lists(st.integers(0, 10_000), max_size=12))
def test_every_way_of_cutting_a_text_gives_the_redaction_of_the_whole(
    text: str, places: list[int]
) -> None:
    assert "".join(streamed(GUARD, cut(text, places))) == whole(GUARD, text)


@pytest.mark.parametrize(
    "text",
    [
        f"my key is {KEY}.",
        f'{{"aws": "{KEY}", "n": 1}}',
        f"a {KEY}{KEY} b",
        f"x\n{PEM}\ny",
        f"see {b64encode(f'aws_key={KEY}'.encode()).decode()} ok",
        f"url?k={KEY.replace('K', '%4B')}&x=1",
        f"password = [redacted:generic] and {KEY}",
        f"no-{KEY}-yes",
    ],
    ids=["plain", "json", "two in one", "block", "base64", "percent", "redacted before", "hyphens"],
)
def test_character_by_character_and_in_two(text: str) -> None:
    wanted = whole(GUARD, text)
    assert "".join(streamed(GUARD, text)) == wanted
    for at in some(range(len(text)), 3, text):
        assert "".join(streamed(GUARD, [text[:at], text[at:]])) == wanted, at


@pytest.mark.parametrize("size", [1, 7, 64])
def test_no_piece_shows_a_part_of_a_secret(size: int) -> None:
    text = f"first {KEY} then\n{PEM}\nand password = 'Zt9!kQ2mVx7Lp' done"
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    raw = [secret[at : at + 6] for secret in (KEY, PEM[40:-40]) for at in range(len(secret) - 5)]
    out = ""
    for piece in streamed(GUARD, pieces):
        out += piece
        assert not [part for part in raw if part in out]
    assert out == whole(GUARD, text)


def test_ordinary_text_is_delayed_by_no_more_than_a_word() -> None:
    text = (
        "It was a cold day in April, and the clocks were striking thirteen. Was it? Yes: it was.\n"
    )
    for at in some(range(len(text)), 3, "a word"):
        assert len(text[:at][GUARD.settled(text[:at]) :].split()) <= 2


def test_words_that_announce_a_secret_are_held_until_none_comes() -> None:
    text = "The token of our esteem is a key, and the secret of a good password is its length. " * 3
    for at in some(range(len(text)), 7, "none comes"):
        assert at - GUARD.settled(text[:at]) <= 120


@pytest.mark.parametrize(
    "text",
    [f"0{'123456789abcdef' * 8}" * 165, f"key{'-' * 97}" * 200, f"key={'-' * 96}" * 200],
    ids=["hex", "key", "key="],
)
def test_matches_without_an_end_are_refused_in_a_stream(text: str) -> None:
    """In one long run of matches that overlap each other there is no place to cut: nothing of it
    comes out."""
    own = [
        {"kind": "own-hex", "pattern": "0[0-9a-f]{400}"},
        {"kind": "own-keys", "pattern": "key=?-{90,97}key[=k-]{3}[key=-]{400}"},
    ]
    policy: Any = {"name": "p", "guards": [{"use": "secrets", "patterns": own, "kinds": ["own-*"]}]}
    shield = Shield.load(policy, store="memory:", journal="memory:")
    out: list[str] = []
    with pytest.raises(Refused) as refused:
        out.extend(shield.run(agent="a").stream(_in(f"a {text} b", 700)))
    assert refused.value.decision.findings[0].args == ("secrets", "HeldTooLong")
    assert "".join(out) in {"", "a "}


def test_a_long_encoded_run_is_read_alike_in_pieces_and_as_a_whole() -> None:
    for count in (40, 60, 100, 400):
        text = "x " + b64encode((f"line {KEY} of many\n" * count).encode()).decode() + " y"
        wanted = whole(GUARD, text)
        assert ("redacted" in wanted) == (len(text) <= 4_004)
        for size in (100, 1_000, 5_000):
            assert "".join(streamed(GUARD, _in(text, size))) == wanted


def _in(text: str, size: int) -> Iterator[str]:
    for at in range(0, len(text), size):
        yield text[at : at + size]


def test_a_stream_of_twice_as_many_pieces_costs_twice_as_much() -> None:
    pieces = [
        f"word {number} of a long answer, with a path/to/file_{number}.py and a token\n"
        for number in range(128)
    ]
    # What scans is shared by guards that look for the same, and may be replaced beside by what is
    # faster: not here.
    guard = Secrets(without=("jwt", "private-key"))
    streamed(guard, pieces)

    def steps(count: int) -> int:
        return steps_of(lambda: streamed(guard, pieces[:count]))

    # What stands before a piece is read with it, up to a limit: from there on each piece costs the
    # same.
    assert steps(128) - steps(96) <= 1.2 * (steps(96) - steps(64)) + 400
