"""A canary is found under encodings that lie on each other, and honest texts cost a bounded amount
of work."""

from __future__ import annotations

import gzip
import zlib
from base64 import b32encode, b64encode, urlsafe_b64encode
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

import pytest
from hypothesis import given, settings, strategies as st

from stanchion import Shield
from stanchion.readings.disguise.views import DEEP, layers
from tests.properties.examples import SOAK

Encoder = Callable[[str], str]

ENCODERS: Final[dict[str, Encoder]] = {
    "base64": lambda text: b64encode(text.encode()).decode(),
    "base64 for URLs": lambda text: urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "base64 in a URL": lambda text: quote(b64encode(text.encode()).decode(), safe=""),
    "base32": lambda text: b32encode(text.encode()).decode(),
    "small base32": lambda text: b32encode(text.encode()).decode().lower().rstrip("="),
    "hexadecimal": lambda text: text.encode().hex(),
    "percent": lambda text: "".join([f"%{ord(c):02X}" for c in text]),
    "gzip": lambda text: b64encode(gzip.compress(text.encode(), mtime=0)).decode(),
    "zlib in hexadecimal": lambda text: zlib.compress(text.encode()).hex(),
    "backwards": lambda text: text[::-1],
}
DRESSED: Final[dict[str, Encoder]] = {
    "as it is": str,
    "letters apart": " ".join,
    "groups of four": lambda text: " ".join([text[at : at + 4] for at in range(0, len(text), 4)]),
    "lines": lambda text: "\n".join([text[at : at + 60] for at in range(0, len(text), 60)]),
    "zero-width": "\u200b".join,
}
KEPT: Final = Shield.load({"name": "p", "guards": [{"use": "canary"}]}, safe_mode=False)


def leaks(encoders: list[str], dressed: str) -> bool:
    """Whether a canary is found that is encoded by one after the other."""
    run = KEPT.run("a", id="layers")
    text = run.canary()
    for name in encoders:
        text = ENCODERS[name](text)
    return run.check("send", {"to": "x", "body": DRESSED[dressed](text)}).code == "canary.leaked"


@settings(max_examples=max(60, SOAK), deadline=None)
@given(st.lists(st.sampled_from(sorted(ENCODERS)), min_size=1, max_size=3))
def test_encodings_on_each_other_are_seen_through(encoders: list[str]) -> None:
    assert leaks(encoders, "as it is")


@settings(max_examples=max(40, SOAK), deadline=None)
@given(
    st.lists(
        st.sampled_from(sorted(set(ENCODERS) - {"percent", "base64 in a URL"})),
        min_size=1,
        max_size=2,
    ),
    st.sampled_from(sorted(DRESSED)),
)
def test_so_they_are_with_signs_between_their_letters(encoders: list[str], dressed: str) -> None:
    assert leaks(encoders, dressed)


def test_secrets_are_found_by_the_same_readers() -> None:
    run = Shield.load(
        {"name": "p", "guards": [{"use": "secrets", "action": "block"}]}, safe_mode=False
    ).run("a")
    token = "ghp_" + "x7Kq2mZp9Rt4Vw8Yb3Nc6Df1Gh5Jk0LsQe2W"
    for name in ("small base32", "zlib in hexadecimal"):
        assert not run.check("send", {"body": ENCODERS[name](f"token: {token}")}).proceeds, name


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox jumps over the lazy dog. " * 200,
        "aGVsbG8gd29ybGQ" * 4_000,
        "deadbeef" * 8_000,
        "%41%42%43" * 5_000,
        b64encode(b"a" * 60_000).decode(),
        b64encode(zlib.compress(b"\0" * 5_000_000)).decode(),
        "a b c d e f g h i j " * 500,
    ],
    ids=["prose", "base64", "hex", "percent", "long base64", "packed", "letters"],
)
def test_honest_texts_are_read_a_bounded_number_of_times(text: str) -> None:
    assert sum([len(said) for said in layers(text)]) <= 3 * DEEP + 8 * len(text)
    assert KEPT.run("a", id="layers").check("send", {"body": text}).proceeds
