"""Names: questions are answered inside, and carry nothing out."""

from __future__ import annotations

import pytest

from tests.hosts.http.servers import serving
from tests.runtime.door.opened import asked, opened, said

KNOWN = {"public.test": ["93.184.216.34"], "inner.test": ["10.0.0.1"]}
OK, NO_NAME, REFUSED = 0, 3, 5


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("name", "kind", "code", "has"),
    [
        ("public.test", 1, OK, True),
        ("PUBLIC.test", 1, OK, True),
        ("public.test", 28, OK, False),
        ("public.test", 65, OK, False),
        ("inner.test", 1, NO_NAME, False),
        ("nowhere.test", 1, NO_NAME, False),
        ("metadata.google.internal", 1, NO_NAME, False),
        ("public.test", 16, REFUSED, False),
        ("public.test", 10, REFUSED, False),
        ("public.test", 255, REFUSED, False),
        ("public.test", 252, REFUSED, False),
        (f"{'a' * 60}.public.test", 1, REFUSED, False),
        (".".join(["a" * 40] * 4) + ".public.test", 1, REFUSED, False),
        ("a\\b.test", 1, REFUSED, False),
    ],
)
def test_a_question_is_answered_inside(
    name: str, kind: int, code: int, has: bool, stream: bool
) -> None:
    with opened(KNOWN) as at:
        came, address = asked(at.dns_tcp if stream else at.dns, name, kind, stream)
    assert (came, bool(address)) == (code, has)
    assert not has or address[:2] == bytes([198, 18])


@pytest.mark.parametrize("entry", ["public.test:8080", "*.test:8080", "public.test"])
def test_a_name_is_judged_at_a_port_that_it_is_listed_with(entry: str) -> None:
    with opened(KNOWN, allowed_hosts=["other.test:1", entry]) as at:
        assert asked(at.dns, "public.test")[0] == OK
        assert asked(at.dns, "public.other")[0] == NO_NAME


def test_nothing_is_asked_outside_for_what_may_not_be_reached() -> None:
    looked_up: list[str] = []

    def looking(host: str, port: int) -> list[str]:
        looked_up.append(host)
        return ["93.184.216.34"]

    with opened(looking, allowed_hosts=["public.test"]) as at:
        assert asked(at.dns, "secret.attacker.test")[0] == NO_NAME
        assert asked(at.dns, "secret.public.test")[0] == NO_NAME
        assert asked(at.dns, "public.test")[0] == OK
        assert asked(at.dns, "public.test")[0] == OK
        assert at.decided == ["egress.not_allowed", "egress.not_allowed", "ALLOW"]
    assert looked_up == ["public.test"]


def test_only_so_many_names_are_asked_for() -> None:
    """Also where all of a zone may be reached: names are a way to write to its servers."""
    looked_up: list[str] = []

    def looking(host: str, port: int) -> list[str]:
        looked_up.append(host)
        return ["93.184.216.34"]

    with opened(looking, {"most_names": 3}, allowed_hosts=["*.public.test"]) as at:
        codes = [asked(at.dns, f"piece{number}.public.test")[0] for number in range(5)]
        assert codes == [OK, OK, OK, NO_NAME, NO_NAME]
        assert asked(at.dns, "piece1.public.test")[0] == OK
        ask = b"CONNECT piece9.public.test:443 HTTP/1.1\r\nHost: piece9.public.test\r\n\r\n"
        assert b"403 Forbidden" in said(at.http, ask)
        assert at.decided[3:] == ["door.names"] * 3
    assert len(looked_up) == 3


def test_an_address_that_stands_for_a_name_leads_to_it() -> None:
    """A program that looks a name up first, and then asks for the address, asks for the name."""
    with serving() as server:
        place = f"public.test:{server.port}"
        allowed = ["public.test"]
        with opened(
            {"public.test": ["127.0.0.1"]}, allowed_hosts=allowed, internal_hosts=allowed
        ) as at:
            _, address = asked(at.dns, "public.test")
            ask = b"\5\1\0\5\1\0\1" + address + server.port.to_bytes(2, "big")
            head = f"GET / HTTP/1.1\r\nHost: {place}\r\n\r\n".encode()
            assert b"HTTP/1.1 200 OK" in said(at.socks, ask, head, ends=True)
            other = b"\5\1\0\5\1\0\1\xc6\x12\x09\x09\0\x50"
            assert said(at.socks, other, ends=True)[:4] == b"\5\0\5\2"


@pytest.mark.parametrize(
    "packet",
    [
        b"",
        b"\0" * 11,
        b"\x12\x34\x81\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1",
        b"\x12\x34\1\0\0\2\0\0\0\0\0\0\1a\0\0\1\0\1",
        b"\x12\x34\1\0\0\1\0\0\0\0\0\0\xc0\x0c\0\1\0\1",
        b"\x12\x34\1\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\3",
        b"\x12\x34\1\0\0\1\0\0\0\0\0\0\1\xff\0\0\1\0\1",
    ],
)
def test_what_is_no_question_gets_no_answer(packet: bytes) -> None:
    with opened(KNOWN) as at:
        assert said(at.dns_tcp, len(packet).to_bytes(2, "big") + packet, ends=True) == b""
        assert asked(at.dns, "public.test")[0] == OK


def test_programs_that_know_no_proxy_are_led_to_the_door() -> None:
    with opened(KNOWN, unaware=True) as at:
        assert asked(at.dns, "public.test") == (OK, bytes([127, 0, 0, 1]))
        assert asked(at.dns, "inner.test") == (NO_NAME, b"")
