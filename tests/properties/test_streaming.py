"""Streaming: however a text is cut, what comes out is the redaction of the whole, and nothing shows
a part of a secret.

Held for two small guards of the tests, whose secrets are known, and for every shipped guard that
redacts streams, on what its own rules say they find and on corpora where there are any.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import tomllib
from collections.abc import AsyncIterator, Iterable, Sequence
from functools import cache
from importlib import import_module
from itertools import combinations, pairwise
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, Final

import pytest
from hypothesis import given, strategies as st

from stanchion import Piece, Refused, Shield
from stanchion.guards import SHIPPED
from stanchion.guards.secrets import finder
from stanchion_lab.measuring.rows import VARIABLE
from tests.properties.examples import SOAK, sample
from tests.runtime.finders import BLOCK, CARD, KEY, PIN, Cards, Keys
from tests.sampling import some

SECRETS: Final = (KEY, f"pin {PIN}", CARD, BLOCK)
STREAMING: Final = tuple(name for name, guard in SHIPPED.items() if hasattr(guard, "settled"))
LETTERS: Final = 20
"""Of so many things that shipped guards find, one is streamed letter by letter."""
NEAR: Final = Path(__file__).resolve().parents[3] / "shared" / "corpora"
CORPORA: Final = Path(os.environ.get(VARIABLE, NEAR))


@cache
def small() -> Shield:
    """The guards of the tests."""
    return Shield.load(
        {"name": "small"}, guards=[Keys(), Cards()], store="memory:", journal="memory:"
    )


@cache
def shipped() -> Shield:
    """All shipped guards that redact streams, as a policy has them that says no more of them."""
    entries = [{"use": name} for name in STREAMING]
    return Shield.load({"name": "shipped", "guards": entries}, store="memory:", journal="memory:")


REFUSED: Final = ["refused"]
"""What comes out where a redaction makes something new to redact: content that one round does not
clean is refused."""


def whole(shield: Shield, text: str) -> str:
    """The redaction of a whole text."""
    with shield.run() as run:
        try:
            return str(run.model(lambda _messages: text, []))
        except Refused:
            return REFUSED[0]


def streamed(shield: Shield, chunks: Iterable[Any]) -> list[Any]:
    """What comes out of a stream."""
    with shield.run() as run:
        try:
            return list(run.stream(chunks))
        except Refused:
            return REFUSED


async def astreamed(shield: Shield, chunks: Iterable[Any]) -> list[Any]:
    """The same on an event loop."""

    async def source() -> AsyncIterator[Any]:
        for chunk in chunks:
            yield chunk

    async with shield.run() as run:
        try:
            return [piece async for piece in run.astream(source())]
        except Refused:
            return REFUSED


def cut(text: Any, places: Iterable[int]) -> list[Any]:
    """A text in pieces."""
    edges = [0, *sorted(place for place in set(places) if 0 < place < len(text)), len(text)]
    return [text[a:b] for a, b in pairwise(edges)]


def parts(secret: str, size: int = 6) -> set[str]:
    """Every part of a secret that is long enough to be one."""
    return {secret[at : at + size] for at in range(len(secret) - size + 1)}


ATOMS: Final = (
    *SECRETS, *[secret[: len(secret) // 2] for secret in SECRETS],
    *[secret[4:] for secret in SECRETS], " ", "  ", "\n", ", ", "-", "x", "pin ", "sk-", "1234",
    "4000 ", "<<", "<<key ", "key>>", "hello", "é", "😀", "a" * 30, "1" * 30, "[redacted:key]",
    "\udcff",
)  # fmt: skip
texts = st.lists(st.sampled_from(ATOMS), max_size=10).map("".join)
places = st.lists(st.integers(0, 120), max_size=14)


@pytest.mark.parametrize("text", ["sk-01234567", "pin 9080 x", "a <<keykey>>"])
def test_every_way_of_cutting_a_short_text_gives_the_same(text: str) -> None:
    """One after the other; in a soak all of them."""
    expected = whole(small(), text)
    assert "[redacted:" in expected
    inner = range(1, len(text))
    ways = [chosen for count in range(len(text)) for chosen in combinations(inner, count)]
    assert len(ways) == 2 ** (len(text) - 1)
    wrong = [
        chosen
        for chosen in some(ways, 10, text)
        if "".join(streamed(small(), cut(text, chosen))) != expected
    ]
    assert wrong == []


@pytest.mark.parametrize("secret", SECRETS, ids=["key", "pin", "card", "block"])
def test_every_two_cuts_through_a_secret_give_the_same(secret: str) -> None:
    """And letter by letter; at each moment nothing that came out holds a part of it."""
    text = f"so {secret}, done"
    expected = whole(small(), text)
    assert secret not in expected
    leaked = parts(secret) - parts("pin [redacted:key]")
    for places in [*combinations(range(1, len(text)), 2), tuple(range(1, len(text)))]:
        out = streamed(small(), cut(text, places))
        assert "".join(out) == expected
        assert not any(part in "".join(out) for part in leaked)


@sample(60, share=0.2)
@given(texts, places)
def test_every_text_cut_anywhere_gives_the_redaction_of_the_whole(
    text: str, places: list[int]
) -> None:
    """On both drivers; what is redacted is in no prefix of what comes out."""
    expected = whole(small(), text)
    out = streamed(small(), cut(text, places))
    assert "".join(out) == expected
    assert asyncio.run(astreamed(small(), cut(text, places))) == out


@sample(80, share=0.1)
@given(
    st.lists(st.tuples(st.sampled_from("tra"), texts, places), max_size=4),
    st.randoms(use_true_random=False),
)
def test_channels_do_not_disturb_each_other(
    drawn: list[tuple[str, str, list[int]]], chance: Any
) -> None:
    """However their pieces are shuffled into each other, each channel is as if it were alone."""
    waiting = [[Piece(name, chunk) for chunk in cut(text, where)] for name, text, where in drawn]
    mixed: list[Piece] = []
    while waiting:
        one = chance.choice(waiting)
        mixed.append(one.pop(0))
        waiting = [pieces for pieces in waiting if pieces]
    said = {name: "".join(text for channel, text in mixed if channel == name) for name, _ in mixed}
    out = streamed(small(), mixed)
    expected = {name: whole(small(), text) for name, text in said.items()}
    if REFUSED[0] in expected.values():
        assert out is REFUSED
    else:
        assert {
            name: "".join(text for channel, text in out if channel == name) for name in said
        } == expected


@sample(80, share=0.1)
@given(
    st.lists(st.sampled_from(ATOMS[:-1]).map(str.encode) | st.binary(max_size=6), max_size=8),
    places,
)
def test_bytes_give_the_redaction_of_the_whole_however_broken(
    atoms: list[bytes], places: list[int]
) -> None:
    """What is no UTF-8 comes out as it went in."""
    data = b"".join(atoms)
    expected = whole(small(), data.decode("utf-8", "surrogateescape")).encode(
        "utf-8", "surrogateescape"
    )
    out = streamed(small(), cut(data, places))
    assert expected == (b"".join(out) if out is not REFUSED else b"refused")


@cache
def findings() -> tuple[str, ...]:
    """Texts in which the shipped guards find something, by what stands beside their rules."""
    found: list[str] = []
    for name in STREAMING:
        package = import_module(f"stanchion.guards.{name}")
        if not hasattr(package, "__path__"):
            found += [hit if isinstance(hit, str) else hit[0] for hit in _hits(package)]
            continue
        folder = Path(str(package.__file__)).parent
        for file in sorted(folder.rglob("*.toml")):
            found += tomllib.loads(file.read_text("utf-8")).get("hits", [])
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            found += [
                hit if isinstance(hit, str) else hit[0] for hit in _hits(import_module(module.name))
            ]
    return tuple(
        dict.fromkeys(
            [*found, *_corpus("secrets.jsonl", 150), *_corpus("pii.jsonl", 150), "nothing here"]
        )
    )


def _hits(module: Any) -> Sequence[Any]:
    hits = getattr(module, "HITS", ())
    return [hit for each in hits.values() for hit in each] if isinstance(hits, dict) else hits


def _corpus(name: str, most: int) -> list[str]:
    """Some rows of a corpus, all the same ones each time."""
    file = CORPORA / name
    rows = (
        [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        if file.is_file()
        else []
    )
    step = 1 if SOAK else max(1, len(rows) // most)
    return [_payload(row) for row in rows[::step]]


def _payload(row: dict[str, Any]) -> str:
    if "payload_b64" in row:
        return base64.b64decode(row["payload_b64"]).decode("utf-8", "surrogateescape")
    return str(row["payload"])


def test_what_shipped_guards_find_is_found_in_streams() -> None:
    """Each thing that a rule finds, between words, cut in its middle; some of them letter by
    letter."""
    wrong = []
    for number, text in enumerate(some(findings(), 80, "cut")):
        said = f"look: {text} and so on"
        expected = whole(shipped(), said)
        ways: list[Iterable[int]] = [(6 + len(text) // 2,)]
        if SOAK or (number % LETTERS == 0 and len(said) < 400):
            ways.append(range(1, len(said)))
        wrong += [
            (said, way) for way in ways if "".join(streamed(shipped(), cut(said, way))) != expected
        ]
    assert wrong == []


@sample(80, share=0.2)
@given(st.data(), st.lists(st.integers(0, 2_000), max_size=20))
def test_shipped_guards_give_the_redaction_of_the_whole(
    data: st.DataObject, places: list[int]
) -> None:
    """What their rules find, one behind the other, with anything between. Copies that no rule finds
    are hidden in whole texts alone: they are left out on both sides."""
    atom = st.sampled_from(findings()) | st.sampled_from(ATOMS)
    text = "".join(data.draw(st.lists(atom, max_size=6)))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(finder, "copied", lambda _texts, found: found)
        assert "".join(streamed(shipped(), cut(text, places))) == whole(shipped(), text)
