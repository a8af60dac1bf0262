"""Keys without a form of their own are known by their makers' names, and what stands beside such a
name and is no key is left alone."""

from __future__ import annotations

import random
import string
from collections.abc import Callable

import pytest

from stanchion.guards.secrets.finder import Sought, finder
from stanchion.guards.secrets.index import indexed
from stanchion.guards.secrets.weights import ALONE, MAKERS

LETTERS = string.ascii_letters + string.digits
Drawn = random.Random


def _hexadecimal(drawn: Drawn) -> str:
    return f"{drawn.getrandbits(160):040x}"


def _letters(drawn: Drawn) -> str:
    return "".join(drawn.choices(LETTERS, k=30)) + "x7Qz2K"


def _uuid(drawn: Drawn) -> str:
    h = f"{drawn.getrandbits(128):032x}"
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:]}"


FORMS = (_hexadecimal, _letters, _uuid)
ALONE_IN = (
    'const client = new {title}("{key}");',
    "client = {name}.Client('{key}')",
    "https://api.{name}.com/v1/data?q=Graz&appid={key}",
)
NAMED_IN = (
    "{upper}_API_KEY={key}",
    'export {upper}_KEY="{key}"',
    "{name}:\n  key: {key}\n",
    'curl -H "X-{title}-Token: {key}" https://api.{name}.com/v1/me',
    '{{"{name}": {{"apiKey": "{key}"}}}}',
)
NO_KEYS = (
    "{name} commit {key}",
    "Bump {name} to sha {key}",
    "acme/{name}-sdk@sha256:{key}",
    '{name}_request_id = "{key}"',
    "{name} project id: {key}",
    "https://cdn.{name}.com/assets/{key}/logo.png",
)


def _missed(
    makers: list[str], places: tuple[str, ...], forms: tuple[Callable[[Drawn], str], ...]
) -> list[str]:
    """The texts, one for each maker, place and form, in which the key is not found."""
    drawn = random.Random(7)
    told = []
    for at, name in enumerate(makers):
        place, form = places[at % len(places)], forms[(at // len(places)) % len(forms)]
        key = form(drawn)
        text = place.format(name=name, upper=name.upper(), title=name.capitalize(), key=key)
        told.append((text, key))
    look = finder(Sought())
    return [
        text
        for text, key in told
        if not any(text[at.start : at.end] == key for at in look.find([text], decode=False)[0])
    ]


def test_the_name_of_a_maker_says_whose_key_it_is() -> None:
    missed = _missed(sorted(ALONE), ALONE_IN, FORMS)
    assert len(missed) * 50 <= len(ALONE), missed


def test_the_name_of_a_maker_adds_to_a_name_that_promises_a_key() -> None:
    missed = _missed(sorted(MAKERS), NAMED_IN, FORMS)
    assert len(missed) * 50 <= len(MAKERS), missed


@pytest.mark.parametrize("place", NO_KEYS)
def test_what_is_no_key_is_left_alone_beside_a_maker_s_name(place: str) -> None:
    own = " ".join([" ".join((rule.kind, *rule.keywords)) for rule, _ in indexed()])
    makers = [name for name in sorted(MAKERS) if name[:5] not in own][::4]
    assert len(_missed(makers, (place,), (_hexadecimal,))) == len(makers)


def test_a_placeholder_is_no_key() -> None:
    for key in (
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "your-api-key-goes-here",
        "<your-deepgram-key>",
    ):
        assert finder(Sought()).find([f'new Deepgram("{key}")'], decode=False) == [[]]
