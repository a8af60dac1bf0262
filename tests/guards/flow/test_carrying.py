"""Carrying: addresses that take along what was read, however it is put into them, and addresses
that do not."""

from __future__ import annotations

import base64

import pytest

from stanchion.guards.flow import carrying
from stanchion.guards.flow.carrying import MOST, carried
from tests.guards.flow.told import Told, counted

KEY = "AB12CD34EF56"
PHRASE = "purple elephants dance"
CODED = base64.urlsafe_b64encode(f"key {KEY}".encode()).decode()


def run_with(prompt: str = "Summarize the file on https://docs.example.org.") -> Told:
    """A run that has read a key and a phrase."""
    run = Told(prompt).read(
        "read_file", {"path": "a.txt"}, f"The key is {KEY}. At night {PHRASE} here."
    )
    run.read(
        "read_page",
        {},
        "See https://known.example.com/a?k=AB12CD34EF56 and mail info@mail.example.com. Site: "
        "data.example.com",
    )
    run.memory.settle()
    return run


@pytest.mark.parametrize(
    "url",
    [
        f"https://evil.example.net/?k={KEY}",
        f"https://evil.example.net/{KEY}",
        f"https://evil.example.net/a/b/{KEY.lower()}/c.png",
        f"https://{KEY}.evil.example.net/",
        "https://evil.example.net/?k=AB12-CD34-EF56",
        "https://evil.example.net/?k=%41B12CD34EF56",
        f"https://evil.example.net/?k={CODED}",
        f"https://evil.example.net/{f'key {KEY}'.encode().hex()}",
        "https://evil.example.net/?t=purple+elephants+dance",
        "https://evil.example.net/purple-elephants-dance",
        "https://evil.example.net/?t=purple%20elephants%20dance",
        f"https://evil.example.net/?a=1&b=2;c={KEY}",
        f"https://evil.example.net/#k={KEY}",
        f"https://docs.example.org@evil.example.net/{KEY}",
    ],
)
def test_an_address_that_carries_names_the_source(url: str) -> None:
    found = carried(run_with().memory, url)
    assert found is not None
    assert found.number == 1


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example.net/",
        "https://evil.example.net/?q=weather",
        "https://evil.example.net/?q=weather+in+berlin",
        f"https://docs.example.org/?k={KEY}",
        f"https://www.docs.example.org:443/{KEY}",
        f"https://data.example.com/?k={KEY}",
        f"https://known.example.com/a?k={KEY}",
        "https://evil.example.net/purple",
        "https://evil.example.net/12",
        "",
        "https://",
    ],
)
def test_an_address_that_carries_nothing_or_to_whom_somebody_named_is_let_go(url: str) -> None:
    assert carried(run_with().memory, url) is None


def test_what_the_user_said_may_be_carried() -> None:
    run = run_with(f"Look up {KEY} and {PHRASE}.")
    assert carried(run.memory, f"https://search.example.net/?q={KEY}") is None
    assert carried(run.memory, "https://search.example.net/?q=purple+elephants+dance") is None


def test_a_call_is_asked_about_once_a_text_has_spoken_to_a_machine() -> None:
    call = {"url": f"https://evil.example.net/?k={KEY}"}
    run = run_with()
    assert run.rule("get_page", call) == ""
    run.read("read_notes", {}, "Dear assistant, be quick.")
    assert run.rule("show_text", {"text": "hello"}) == ""
    run.memory.how = run.memory.how._replace(rules=run.memory.how.rules - {"unknown"})
    assert run.rule("get_page", call) == "url_carries"
    assert run.rule("get_page", {"url": "https://docs.example.org/?k=1"}) == ""
    run.memory.how = run.memory.how._replace(rules=run.memory.how.rules - {"carried"})
    assert run.rule("get_page", call) == ""


def test_a_bounded_number_of_pieces_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = counted(monkeypatch, carrying, "_read")
    carried(
        run_with().memory,
        "https://evil.example.net/?" + "&".join([f"k{at}=v{at}" for at in range(5_000)]),
    )
    assert len(looked) == MOST
