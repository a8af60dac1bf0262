"""Where paths lead, whatever they are written like."""

from __future__ import annotations

import pytest

from stanchion.readings.paths.place import PathPlace, inside, is_url, joined, place_of
from stanchion.readings.paths.spelling import LONGEST, LONGEST_NAME, spelling


def readings(text: str) -> list[str]:
    """Every place that a text may lead to, as one writes it."""
    spelled = spelling(text)
    found = [place_of(spelled.text), *[place_of(each, lenient=True) for each in spelled.lenient]]
    return list(dict.fromkeys(place.text for place in found))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("src/a.py", PathPlace("", ("src", "a.py"))),
        ("./src//a.py/", PathPlace("", ("src", "a.py"))),
        ("src/../../x", PathPlace("", ("x",), 1)),
        ("", PathPlace("", ())),
        (".", PathPlace("", ())),
        ("..", PathPlace("", (), 1)),
        ("/a/./b/../c", PathPlace("/", ("a", "c"))),
        ("/../../etc", PathPlace("/", ("etc",))),
        ("//etc//passwd", PathPlace("/", ("etc", "passwd"))),
        ("~/x", PathPlace("~", ("x",))),
        ("~ada/x", PathPlace("~ada", ("x",))),
        ("$HOME/x", PathPlace("~", ("x",))),
        ("${HOME}/x", PathPlace("~", ("x",))),
        ("%USERPROFILE%/x", PathPlace("~", ("x",))),
        ("$PWD/x", PathPlace("", ("x",))),
        ("$(pwd)/x", PathPlace("", ("x",))),
        ("$HOMER/x", PathPlace("$", ("x",))),
        ("file:///etc/x", PathPlace("/", ("etc", "x"))),
        ("FILE:/etc/x", PathPlace("/", ("etc", "x"))),
        ("file://localhost/etc/x", PathPlace("/", ("etc", "x"))),
        ("file:///C:/x", PathPlace("c:", ("x",))),
        ("/proc/self/root/etc/x", PathPlace("/", ("etc", "x"))),
        ("/proc/self/root/../etc/x", PathPlace("/", ("etc", "x"))),
        ("/proc/1/root/proc/self/root/etc", PathPlace("/", ("etc",))),
        ("/proc/self/task/7/root/etc", PathPlace("/", ("etc",))),
        ("/proc/self/cwd/x", PathPlace("", ("x",))),
        ("/proc/self/cwd/../x", PathPlace("", ("x",), 1)),
        ("/proc/self/maps", PathPlace("/", ("proc", "self", "maps"))),
        ("/private/etc/hosts", PathPlace("/", ("etc", "hosts"))),
        ("/private/x", PathPlace("/", ("private", "x"))),
        ("C:/x", PathPlace("", ("C:", "x"))),
    ],
)
def test_a_path_leads_to_its_place(text: str, place: PathPlace) -> None:
    assert place_of(text) == place


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("C:/x", PathPlace("c:", ("x",))),
        ("c:x", PathPlace("c:", ("x",))),
        ("//?/C:/x", PathPlace("c:", ("x",))),
        ("//./c:/x", PathPlace("c:", ("x",))),
        (".../x", PathPlace("", ("x",), 1)),
        ("..;/x", PathPlace("", ("x",), 1)),
        ("..;a=b/x", PathPlace("", ("x",), 1)),
        (".. /x", PathPlace("", ("x",), 1)),
        (".?/x", PathPlace("", ("x",), 1)),
        ("....//x", PathPlace("", ("x",), 1)),
        ("a/...", PathPlace("", ("a",))),
        ("id_rsa. . ", PathPlace("", ("id_rsa",))),
        (".env::$DATA", PathPlace("", (".env",))),
        ("/../x", PathPlace("", ("x",), 1)),
        ("~/../x", PathPlace("", ("x",), 1)),
        ("/a/../b", PathPlace("/", ("b",))),
        ("..hidden/x", PathPlace("", ("..hidden", "x"))),
    ],
)
def test_lenient_systems_take_it_elsewhere(text: str, place: PathPlace) -> None:
    assert place_of(text, lenient=True) == place


@pytest.mark.parametrize(
    ("text", "leads_to"),
    [
        ("..%2fx", "../x"),
        ("%2e%2e/x", "../x"),
        ("%252e%252e%252fx", "../x"),
        ("%25252e%25252e/x", "../x"),
        ("..%c0%afx", "../x"),
        ("%c0%ae%c0%ae/x", "../x"),
        ("%e0%80%ae%e0%80%ae/x", "../x"),
        ("%fc%80%80%80%80%ae%fc%80%80%80%80%ae/x", "../x"),
        ("..%c1%9cx", "../x"),
        ("..%u2215x", "../x"),
        ("%uff0e%uff0e%uff0fx", "../x"),
        ("\uff0e\uff0e\uff0fx", "../x"),
        ("\u2025/x", "../x"),
        ("..\u2215x", "../x"),
        ("..\u2216x", "../x"),
        (".\u200b./x", "../x"),
        (".\u2060.\ufeff/x", "../x"),
        ("..\\x", "../x"),
        ("\\.\\./x", "../x"),
        ("..\\/x", "../x"),
        ("0x2e0x2e0x2fx", "../x"),
        ("..2fx", "../x"),
        ("..\x00/x", "../x"),
        (".%00./x", "../x"),
        ("C:\\x\\y", "c:/x/y"),
        ("\\\\?\\C:\\x", "c:/x"),
        ("\\\\host\\share\\x", "/host/share/x"),
        ("file:///%65tc/x", "/etc/x"),
        ("caf\u0065\u0301", "caf\u00e9"),
        ("caf%E9", "caf\u00e9"),
        ("a\\b/../..", ".."),
    ],
)
def test_one_of_the_readings_leads_there(text: str, leads_to: str) -> None:
    assert leads_to in readings(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a\x00b", "control characters"),
        ("a%00b", "control characters"),
        ("a\nb", "control characters"),
        ("a%0ab", "control characters"),
        ("a%c0%afb", "more bytes than it needs"),
        ("a%c0b", "not a character"),
        ("a%uF025b", "stand for nothing"),
        ("a%%32%65b", "escape inside an escape"),
        ("..%bg%qfx", "dots beside an escape"),
        ("%25252525252e", "encoded more than"),
        ("a" * (LONGEST_NAME + 1), "longer than 255"),
        ("a/" * (LONGEST // 2 + 1), "longer than 4,096"),
    ],
)
def test_what_cannot_be_read_is_said(text: str, why: str) -> None:
    assert why in spelling(text).unclear


@pytest.mark.parametrize(
    "text",
    [
        "100%.txt", "100%25.txt", "a%20b.txt", "50%off/x", "M%FCnchen.txt", "caf\u00e9.txt",
        "\u65e5\u672c.txt", "a b/c.d", "x..y", "v1..v2.diff", "a;b", "a:b", "[id]/page.tsx",
        "(group)/page.tsx", "@scope/name", "...", "\U0001f600.md", "a" * LONGEST_NAME,
        "dump_0x2f00.bin",
    ],
)  # fmt: skip
def test_honest_names_are_clear_and_lead_nowhere_else(text: str) -> None:
    assert spelling(text).unclear == ""
    assert not any(place.startswith(("/", "..")) and place != "..." for place in readings(text))


def test_places_are_seen_from_others() -> None:
    base = place_of("/w/app")
    assert joined(base, place_of("../x")).text == "/w/x"
    assert joined(base, place_of("../../../x")).text == "/x"
    assert joined(base, place_of("/x")).text == "/x"
    assert joined(place_of("a"), place_of("../../x")).text == "../x"
    assert joined(place_of("../a"), place_of("b")).text == "../a/b"


def test_inside_goes_by_whole_names() -> None:
    assert inside(place_of("/w/a"), place_of("/w"))
    assert inside(place_of("/w"), place_of("/w"))
    assert not inside(place_of("/work"), place_of("/w"))
    assert not inside(place_of("w/a"), place_of("/w"))
    assert not inside(place_of("../a"), place_of("."))
    assert inside(place_of("../a/b"), place_of("../a"))


def test_urls_are_no_files() -> None:
    assert is_url("https://example.org/x")
    assert is_url("s3://bucket/x")
    assert not is_url("file:///x")
    assert not is_url("C://x")
    assert not is_url("a/b")
