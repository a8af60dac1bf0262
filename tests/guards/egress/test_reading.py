"""Any text is refused, or its host is the one that the standard and the readers of Python agree
on."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import can_ada
from hypothesis import example, given, strategies as st

from stanchion.guards.egress.guard import EgressGuard, Resolved
from stanchion.guards.egress.hosts import Hosts
from stanchion.kernel.events import Egress, RunInfo, ToolCall
from stanchion.readings import read
from stanchion.readings.urls import UnreadableUrl, UrlTarget, url_of

GUARD = EgressGuard(resolve=False)
HOSTS = [
    "example.com",
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "[::1]",
    "bücher.de",
    "faß.de",
    "localhost",
    "１.1.1.1",
    "a_b.c",
]
PIECES = [*HOSTS, "http", "https:", "ftp", "://", "//", ":/", "/", "\\", "@", ":", ":80", ":0080", "%41", "%", "?", "#",  # noqa: E501
          "\t", "\n", " ", ".", "。", "\u00ad", "[", "]", "::", "user", "x"]  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=40),
    st.lists(st.sampled_from(PIECES), max_size=8).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=8).map(lambda parts: "http://" + "".join(parts)),
)


@given(TEXTS)
@example("http://a.example\\@example.com")
@example("http://example.com:80:81")
@example("http://[::1]x/")
def test_a_url_is_refused_or_read_alike(text: str) -> None:
    finding = GUARD.judge(read(Egress(id="e", at=0, run=RunInfo("r"), url=text)))
    target = url_of(text)
    if finding is not None:
        assert finding.code.startswith("egress.")
        return
    assert isinstance(target, UrlTarget)
    standard, other = can_ada.parse(text), urlsplit(text)
    host = str(standard.hostname)
    assert target.host == host.strip("[]").removesuffix(".")
    assert other.hostname is not None
    spelled = (
        other.hostname if ":" in other.hostname else other.hostname.encode("idna").decode("ascii")
    )
    same = str(
        can_ada.parse(f"http://[{spelled}]/" if ":" in spelled else f"http://{spelled}/").hostname
    )
    assert same == host
    usual = {"http": 80, "https": 443, "ws": 80, "wss": 443}[target.scheme]
    assert target.port == (other.port if other.port is not None else usual)


@given(
    st.dictionaries(
        st.sampled_from(["url", "uri", "host", "link", "x", "body", "endpoint"]), TEXTS, max_size=3
    )
)
def test_no_argument_breaks_the_guard(args: dict[str, Any]) -> None:
    finding = GUARD.judge(read(ToolCall(id="e", at=0, run=RunInfo("r"), tool="t", args=args)))
    assert finding is None or finding.code.startswith("egress.")


@given(TEXTS)
def test_what_is_asked_is_a_plain_name(text: str) -> None:
    lookup = Resolved(EgressGuard()).ask(read(Egress(id="e", at=0, run=RunInfo("r"), url=text)))
    if lookup is not None:
        host = lookup.payload.host
        assert host == host.lower()
        assert host.isascii()
        assert set(host) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-")
        assert "." in host


def test_schemes_that_the_standard_leaves_as_they_are_have_plain_hosts_too() -> None:
    target = url_of("redis://127.1:6379/0")
    assert isinstance(target, UrlTarget)
    assert (target.scheme, target.host, target.port) == ("redis", "127.0.0.1", 6379)
    assert isinstance(url_of("no url"), UnreadableUrl)
    nowhere = url_of("mailto:me@example.com")
    assert isinstance(nowhere, UrlTarget)
    assert nowhere.host == ""


def test_a_long_list_takes_as_many_steps_as_a_short_one() -> None:
    import sys

    def steps(count: int) -> int:
        hosts = Hosts(
            [
                *[f"h{at}.example.com" for at in range(count)],
                *[f"*.z{at}.example.org" for at in range(count)],
            ]
        )
        seen = 0

        def watch(_frame: Any, kind: str, _arg: Any) -> None:
            nonlocal seen
            seen += kind in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(watch)
        try:
            found = [
                hosts.has("h3.example.com", 443),
                hosts.has("a.b.c.z4.example.org", 443),
                hosts.has("not.there", 1),
            ]
        finally:
            sys.setprofile(before)
        assert found == [True, True, False]
        return seen

    assert steps(10_000) == steps(10)
