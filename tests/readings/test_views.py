"""What looks encoded is told from what only is long, before anything is decoded."""

import base64
import gzip
import zlib
from collections.abc import Callable
from functools import partial

import pytest

from stanchion.readings.disguise.views import views_of
from stanchion.readings.joined import Joined
from tests.guards.steps import steps_of

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
    assert SAID in [view.text for _, view in views_of(Joined([text]), True)]


@pytest.mark.parametrize(
    "text",
    [
        "/usr/lib/python3/dist-packages/package_of_mine/__init__",
        "src/components/navigation/HeaderOfTheWholePage",
        "3f786850e387550fdab836ed7e6dc881de23001b",
    ],
)
def test_paths_and_digests_are_passed_over(text: str) -> None:
    plain = steps_of(lambda: views_of(Joined(["some words, and no more of them"]), True))
    assert steps_of(lambda: views_of(Joined([text]), True)) <= plain
