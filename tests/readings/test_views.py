"""What looks encoded is told from what only is long, before anything is decoded."""

import base64
import gzip
import zlib
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given, strategies as st

from stanchion.readings.disguise.escapes import UnfoldedText, chained, summed, unescaped
from stanchion.readings.disguise.views import decoded, views_of
from stanchion.readings.joined import JoinedTexts
from tests.guards.steps import steps_of
from tests.properties.examples import sample

SAID = "the token is hunter2, keep it"
WRITTEN: dict[str, Callable[[bytes], bytes]] = {
    "base64": base64.b64encode,
    "of urls": base64.urlsafe_b64encode,
    "base32": base64.b32encode,
    "small base32": lambda raw: base64.b32encode(raw).lower(),
    "hex": lambda raw: raw.hex().encode(),
    "large hex": lambda raw: raw.hex().upper().encode(),
}
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda raw: raw,
    "two bytes": lambda raw: raw.decode().encode("utf-16-le"),
    "gzip": gzip.compress,
    **{f"zlib {level}": partial(zlib.compress, level=level) for level in (1, 6, 9)},
}


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("before", ["", "x=", "\u00e9", "\u4e2d"])
def test_every_way_of_writing_is_read(written: str, packed: str, before: str) -> None:
    text = before + WRITTEN[written](PACKED[packed](SAID.encode())).decode()
    assert SAID in [view.text for _, view in views_of(JoinedTexts([text]), True)]


@pytest.mark.parametrize(
    "text",
    [
        "/usr/lib/python3/dist-packages/package_of_mine/__init__",
        "src/components/navigation/HeaderOfTheWholePage",
        "3f786850e387550fdab836ed7e6dc881de23001b",
    ],
)
def test_paths_and_digests_are_passed_over(text: str) -> None:
    plain = steps_of(lambda: views_of(JoinedTexts(["some words, and no more of them"]), True))
    assert steps_of(lambda: views_of(JoinedTexts([text]), True)) <= plain


PRINTED = [*map(chr, range(32, 127)), "\t", "\n", "\r"]
LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/_-="
AROUND = st.text(st.sampled_from("aZ0/_-+=.,:;%&\\'\"[]{}| \n\x1e\x1f"), max_size=30)


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("written", WRITTEN)
def test_every_character_is_read_in_every_place(written: str, packed: str) -> None:
    for char in PRINTED:
        for place in range(16 if packed in ("plain", "two bytes") else 1):
            said = f"{SAID[:place]}{char}{SAID[place:]}"
            text = WRITTEN[written](PACKED[packed](said.encode())).decode()
            assert said in [view.text for _, view in views_of(JoinedTexts([text]), True)], said


def every_form(text: str) -> list[UnfoldedText]:
    """What a text says in other forms, looked for whatever stands in it."""
    whole = [unescaped(text), summed(text)]
    return [*decoded(text), *chained(text), *[made for made in whole if made is not None]]


@sample(150)
@given(st.text(st.sampled_from(LETTERS), max_size=40), AROUND, AROUND)
def test_no_form_of_a_text_is_passed_over(text: str, before: str, behind: str) -> None:
    given_text = JoinedTexts([f"{before}{text}{behind}"])
    if len(given_text.text) >= 24 and not views_of(given_text, True):
        assert not every_form(given_text.text)
