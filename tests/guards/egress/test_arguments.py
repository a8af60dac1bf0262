"""URLs in arguments: found in whatever frame a tool takes off, and not where a text leads
nowhere."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from stanchion.guards.egress.guard import EgressGuard
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.readings import read

GUARD = EgressGuard(resolve=False)


def said(args: dict[str, Any], guard: EgressGuard = GUARD) -> str:
    """The code of what is said about a call; empty where nothing is."""
    finding = guard.judge(read(ToolCall(id="e", at=0, run=RunInfo("r"), tool="fetch", args=args)))
    return "" if finding is None else finding.code


@pytest.mark.parametrize("name", ["url", "uri", "target"])
@pytest.mark.parametrize(
    "text",
    [
        "<http://127.0.0.1/>",
        "<URL:http://127.0.0.1/>",
        "URL:http://127.0.0.1/",
        "'http://127.0.0.1/'",
        '"http://127.0.0.1/"',
        "(http://127.0.0.1/)",
        "\ufeffhttp://127.0.0.1/",
        "\u200bhttp://127.0.0.1/",
        "\u00a0http://127.0.0.1/",
        "\u2028http://127.0.0.1/",
    ],
    ids=ascii,
)
def test_a_url_is_found_in_what_tools_take_off(name: str, text: str) -> None:
    assert said({name: text}) == "egress.internal"


@pytest.mark.parametrize(
    "text",
    [
        "user@127.0.0.1",
        "user:pw@127.0.0.1/x",
        "@127.0.0.1",
        "//user@127.0.0.1/x",
        "///127.0.0.1/",
        "/\\127.0.0.1/",
        "\\\\127.0.0.1\\share",
        "127.0.0.1\\x",
        "see http://127.0.0.1/x",
        "http://example.com/ http://127.0.0.1/x",
        "[this](http://127.0.0.1/)",
        "javascript:fetch('http://127.0.0.1/')",
        "jdbc:mysql://127.0.0.1/x",
        "0",
        "2130706433",
    ],
    ids=ascii,
)
def test_a_place_is_found_in_an_argument_that_is_named_for_one(text: str) -> None:
    assert said({"url": text}) != ""
    assert said({"uri": text}) != ""


@pytest.mark.parametrize(
    "text",
    [
        "5",
        "1234567",
        "home",
        "default",
        "/10.0.0.1/x",
        "a b",
        "me@example.com",
        "see https://example.com/",
        "{}",
    ],
)
def test_what_leads_nowhere_inside_goes_ahead(text: str) -> None:
    assert said({"url": text, "link": text, "uri": text}) == ""


def test_a_framed_url_has_to_be_among_the_allowed_ones() -> None:
    guard = EgressGuard(resolve=False, allowed_hosts=("example.com",))
    assert said({"url": "<https://example.com/>"}, guard) == ""
    assert said({"url": "<https://example.org/>"}, guard) == "egress.not_allowed"


def test_bytes_and_names_are_looked_into() -> None:
    """As the runtime shows bytes to guards; and what stands before a value."""
    assert said({"url": {"$bytes": b64encode(b"http://127.0.0.1/").decode()}}) == "egress.internal"
    assert said({"url": {"$bytes": "no base64"}, "x": {"$bytes": 5}}) == ""
    assert said({"pages": {"http://127.0.0.1/": 1}}) == "egress.internal"
    assert said({"headers": {"content-type": "x", "a very long name": "y"}}) == ""
