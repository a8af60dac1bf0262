"""Disguises of internal addresses: however they are written, they are found, or the URL is refused
as unclear."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from stanchion.guards.egress.guard import EgressGuard
from stanchion.guards.egress.hosts import inside_name, written_in
from stanchion.kernel.events import Egress, RunInfo, ToolCall
from stanchion.readings import read
from stanchion.readings.addresses import address_of, inside, is_metadata

GUARD = EgressGuard(resolve=False)


def said(url: str, guard: EgressGuard = GUARD) -> str:
    """The code of what is said about a request; empty where nothing is."""
    finding = guard.judge(read(Egress(id="e", at=0, run=RunInfo("r"), url=url)))
    return "" if finding is None else finding.code


LOOPBACK = [
    "http://127.0.0.1/",
    "http://127.0.0.1:8080@127.0.0.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0X7F.1/",
    "http://017700000001/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://0/",
    "http://0.0.0.0/",
    "http://127.0.0.1./",
    "http://%31%32%37.0.0.1/",
    "http://１２７.0.0.1/",
    "http://①②⑦.⓪.⓪.①/",
    "http://127。0。0。1/",
    "http://127．0．0．1/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:5db8:d822:0:0:80ff:fffe]/",
    "http://example.com@127.0.0.1/",
    "http://127.0.0.1#@example.com/",
    "http://127.0.0.1?@example.com/",
    "http://127.0.0.1\\@example.com/",
    "http://127.0.0.1\t/",
    "http:127.0.0.1",
    "http:/127.0.0.1",
    "http:\\\\127.0.0.1\\",
    "\x00http://127.0.0.1",
    "ht\ntp://127.0.0.1",
    "htt\tp:/\t/127.0.0.1",
    "http://localhost/",
    "http://LOCALHOST/",
    "http://localhost./",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
    "http://a.b.localhost/",
    "http://ip6-localhost/",
    "http://localtest.me/",
    "http://app.lvh.me/",
    "http://127.0.0.1.nip.io/",
    "http://app-127-0-0-1.sslip.io/",
    "http://7f000001.nip.io/",
    "http://--1.sslip.io/",
    "http://7f000001.01010101.rbndr.us/",
]


@pytest.mark.parametrize("url", LOOPBACK, ids=ascii)
def test_this_machine_is_found_in_every_disguise(url: str) -> None:
    assert said(url) == "egress.internal"
    call = ToolCall(id="e", at=0, run=RunInfo("r"), tool="fetch", args={"url": url})
    finding = GUARD.judge(read(call))
    assert finding is not None
    assert finding.code == "egress.internal"


@pytest.mark.parametrize(
    "url",
    [
        "http://[fe80::1%25eth0]/",
        "http://[::1%eth0]/",
        "http://[[::1]]/",
        "http://127.0.0.1:80:81/",
        "http://256.0.0.1/",
        "http://1.2.3.4.5/",
        "http://0x100000000/",
        "http://[::1/",
        "http://ho%00st.example/",
        "http://ex ample.com/",
        "http://a..example.com/",
        "http://.example.com/",
        "http://" + "a" * 64 + ".example/",
        "http://xn--a.example/",
        "http://\ud800.example/",
        "http://",
        "//example.com/",
        "example.com",
        "",
    ],
    ids=ascii,
)
def test_what_is_no_url_is_refused(url: str) -> None:
    assert said(url) == "egress.unreadable"


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example\\@example.com/",
        "http://a.example\\.example.com/",
        "http://127.0.0.1 @example.com/",
        "http://a.example\\",
        "http://@example.com/",
        "http://a@b@example.com/",
        "http:example.com/",
        "http:/example.com/",
        "http:///example.com/",
        "http:\\\\example.com\\",
        " http://example.com/",
        "ht\ntp://example.com/",
        "http://exam\nple.com/",
        "http://example.com/\r\nX: y",
        "http://example.com\x7f/",
        "http://%65xample.com/",
        "http://ｅxample.com/",
        "http://example。com/",
        "http://exam\u00adple.com/",
        "http://exam\u200bple.com/",
        "http://faß.example/",
        "http://ශ්\u200dරී.example/",
        "http://134744072/",
        "http://010.8.8.8/",
        "http://8.8.2056/",
        "http://8.8.8.8./",
        "http://a&b.example.com/",
        "http://a;b.example.com/",
        "http://١٢٧.٠.٠.١/",
        "http://१२७.०.०.१/",
        "http://xn--9hbcp.xn--8hb.xn--8hb.xn--9hb/",
        "http://example.com:0/",
        "https://8.8.8.8:00/",
    ],
    ids=ascii,
)
def test_what_readers_disagree_about_is_refused(url: str) -> None:
    assert said(url) in ("egress.ambiguous", "egress.unreadable")


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "https://EXAMPLE.com:443/a\\b?c=\\d#e\\f",
        "https://example.com:/",
        "https://example.com./x y",
        "https://bücher.example/ü?ü",
        "https://xn--bcher-kva.example/",
        "https://例え.example/",
        "https://a_b.example.com/~me/(x)/[y]?u=http://127.0.0.1/@x",
        "https://8.8.8.8/",
        "https://[2001:4860:4860::8888]/",
        "https://[64:ff9b::8.8.8.8]/",
        "https://[2002:808:808::1]/",
        "https://1-2-3-4.example.com/",
        "https://8.8.8.8.nip.io/",
        "https://internal.example.com/localhost",
        "https://localhost.example.com/",
    ],
    ids=ascii,
)
def test_public_urls_pass(url: str) -> None:
    assert said(url) == ""


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("0.1.2.3", "unspecified"),
        ("10.255.255.255", "private"),
        ("100.64.0.0", "shared by a carrier"),
        ("127.255.255.255", "loopback"),
        ("169.254.0.1", "link-local"),
        ("172.16.0.0", "private"),
        ("192.0.0.8", "reserved for protocols"),
        ("192.0.2.1", "for documentation"),
        ("192.88.99.1", "a former relay"),
        ("192.168.255.255", "private"),
        ("198.19.255.255", "for benchmarks"),
        ("198.51.100.1", "for documentation"),
        ("203.0.113.1", "for documentation"),
        ("224.0.0.1", "multicast"),
        ("239.255.255.255", "multicast"),
        ("255.255.255.255", "broadcast"),
        ("240.0.0.1", "reserved"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("::2", "unspecified, as `0.0.0.2` in it says"),
        ("::ffff:10.0.0.1", "private"),
        ("64:ff9b:1::1", "translated locally"),
        ("100::1", "discarded"),
        ("2001:db8::1", "for documentation"),
        ("3fff:fff::1", "for documentation"),
        ("2001:10::1", "reserved"),
        ("2002:c0a8:1::1", "private, as `192.168.0.1` in it says"),
        ("fc00::1", "unique local"),
        ("fe80::1%eth0", "link-local"),
        ("fec0::1", "site-local"),
        ("ff02::1", "multicast"),
        ("4000::1", "reserved"),
        ("4000::5efe:808:808", "reserved"),
        ("2600::200:5efe:a00:1", "private, as `10.0.0.1` in it says"),
        ("9.255.255.255", ""),
        ("11.0.0.0", ""),
        ("100.63.255.255", ""),
        ("100.128.0.0", ""),
        ("172.15.255.255", ""),
        ("172.32.0.0", ""),
        ("198.17.255.255", ""),
        ("198.20.0.0", ""),
        ("223.255.255.255", ""),
        ("2600::1", ""),
        ("::ffff:8.8.8.8", ""),
        ("::8.8.8.8", ""),
        ("2001:0:808:808:0:0:f7f7:f7f7", ""),
    ],
)
def test_ranges_end_where_they_end(text: str, what: str) -> None:
    assert inside(address_of(text)) == what


def test_everything_python_calls_private_is_inside() -> None:
    edges = [
        f"{a}.{b}.{c}.{d}"
        for a in range(256)
        for b in (0, 18, 64, 88, 168, 254)
        for c in (0, 2, 99)
        for d in (1,)
    ]
    missed = [
        text for text in edges if not ip_address(text).is_global and not inside(ip_address(text))
    ]
    assert missed == []


@pytest.mark.parametrize(
    "text",
    [
        "169.254.169.254",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "fd00:ec2::254",
        "100.100.100.200",
    ],
)
def test_metadata_services_are_known_in_every_dress(text: str) -> None:
    assert is_metadata(address_of(text))
    assert said(f"http://[{text}]/" if ":" in text else f"http://{text}/") == "egress.metadata"


def test_names_are_under_their_zones_only() -> None:
    assert inside_name("notlocalhost.example") == ""
    assert inside_name("mylocal") != ""
    assert inside_name("x.mylan.example") == ""
    assert inside_name("printer.lan") != ""
    assert inside_name("box.home.arpa") != ""
    assert inside_name("localhost6.localdomain6") != ""
    assert inside_name("kubernetes.default") != ""
    assert inside_name("app.lndo.site") != ""
    assert inside_name("default.example") == ""
    assert written_in("10.0.0.1.example.com") == ()
    assert written_in("nip.io") == ()
    assert [str(one) for one in written_in("a.10.0.0.1.nip.io")] == ["10.0.0.1"]
    assert written_in("999.0.0.1.nip.io") == ()


def test_messages_show_neither_users_nor_queries() -> None:
    for url in (
        "http://me:hunter2@[x/?k=hunter2",
        "hunter2@x",
        "http://u:hunter2@127.0.0.1/?hunter2",
        "http://hunter2@@x",
    ):
        finding = GUARD.judge(read(Egress(id="e", at=0, run=RunInfo("r"), url=url)))
        assert finding is not None
        assert "hunter2" not in finding.message + finding.advice
