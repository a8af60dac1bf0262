"""Tunnels: TLS for the host that was asked for, or HTTP, each request of which is judged; nothing
else, and nothing from anywhere but the address that was judged."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from stanchion.runtime.door.judging import is_own
from tests.hosts.http.servers import serving
from tests.runtime.door.opened import PATIENCE_S, Opened, hello, opened, said

OK = b"HTTP/1.1 200 Connection established\r\n\r\n"
DONE = b"\5\0\5\0\0\1\0\0\0\0\0\0"
ALERT = b"\x15\x03\x03\x00\x02\x02\x31"


class Echo:
    """A server that sends back what it is sent, and counts who connects."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.got: list[bytes] = []
        self.connections = 0

    def serve(self) -> None:
        """Serve one connection after the other until the listener is closed."""
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            with sock:
                while came := sock.recv(65_536):
                    self.got.append(came)
                    sock.sendall(came)


@contextmanager
def echoing() -> Iterator[Echo]:
    """An echo that works while the block runs."""
    echo = Echo()
    thread = threading.Thread(target=echo.serve, daemon=True)
    thread.start()
    try:
        yield echo
    finally:
        echo.listener.shutdown(socket.SHUT_RDWR)
        echo.listener.close()
        thread.join(PATIENCE_S)


def _connect(at: Opened, host: str, port: int, *said_in_it: bytes) -> bytes:
    head = f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()
    return said(at.http, head, *said_in_it, ends=True)


def _socks(at: Opened, host: str, port: int, *said_in_it: bytes) -> bytes:
    raw = host.encode()
    asked = b"\5\1\0\5\1\0\3" + bytes([len(raw)]) + raw + port.to_bytes(2, "big")
    return said(at.socks, asked, *said_in_it, ends=True)


WAYS: dict[str, tuple[Callable[..., bytes], bytes]] = {
    "connect": (_connect, OK),
    "socks": (_socks, DONE),
}

NAMED = hello("public.test")
SAID: dict[str, tuple[list[bytes], dict[str, Any], str]] = {
    "the name that was asked for": ([NAMED], {}, ""),
    "the name in capitals": ([hello("PUBLIC.test")], {}, ""),
    "a hello in pieces": ([hello("public.test", pieces=9)], {}, ""),
    "another name": ([hello("other.test")], {}, "door.name"),
    "another name in pieces": ([hello("other.test", pieces=9)], {}, "door.name"),
    "another name where hidden ones may pass": (
        [hello("other.test")],
        {"hidden_names": "allow"},
        "door.name",
    ),
    "no name": ([hello()], {}, "door.hidden"),
    "no name where that may pass": ([hello()], {"hidden_names": "allow"}, ""),
    "a name that may be hidden": ([hello("public.test", True)], {}, "door.hidden"),
    "one where that may pass": (
        [hello("public.test", True)],
        {"hidden_names": "allow"},
        "",
    ),
    "a record that is none": ([b"\x16\3\1\0\4\2\0\0\0"], {}, "door.hidden"),
    "a hello without an end": ([NAMED[:40]], {}, "door.hidden"),
    "two records of different kinds": (
        [hello("public.test", pieces=9)[:30] + b"\x17\3\1\0\1\0"],
        {},
        "door.hidden",
    ),
    "ssh": ([b"SSH-2.0-client\r\n"], {}, "door.opaque"),
    "bytes": ([b"\0\1\2\3"], {}, "door.opaque"),
    "an older TLS": ([b"\x80\x2e\1\3\1"], {}, "door.opaque"),
    "mail": ([b"EHLO public.test\r\n\r\n"], {}, "door.head"),
    "a tunnel in it": ([b"CONNECT / HTTP/1.1\r\nHost: public.test\r\n\r\n"], {}, "door.head"),
    "HTTP/2 without TLS": ([b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"], {}, "door.head"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("what", SAID)
def test_only_what_can_be_judged_is_said_in_a_tunnel(what: str, way: str) -> None:
    pieces, terms, code = SAID[what]
    ask, agreed = WAYS[way]
    with echoing() as echo:
        place = f"public.test:{echo.port}"
        with opened(
            {"public.test": ["127.0.0.1"]},
            terms,
            allowed_hosts=[place],
            internal_hosts=[place],
        ) as at:
            answer = ask(at, "public.test", echo.port, *pieces)
            assert at.decided == (["ALLOW", code] if code else ["ALLOW"])
    assert answer.startswith(agreed)
    behind = answer.removeprefix(agreed)
    if code:
        assert echo.got == []
        assert behind == (ALERT if pieces[0][:1] == b"\x16" else behind)
    else:
        assert behind == b"".join(pieces)


@pytest.mark.parametrize("way", WAYS)
def test_what_the_policy_names_may_be_anything(way: str) -> None:
    ask, agreed = WAYS[way]
    with echoing() as echo:
        place = f"public.test:{echo.port}"
        terms = {"opaque": [place]}
        with opened(
            {"public.test": ["127.0.0.1"]}, terms, allowed_hosts=[place], internal_hosts=[place]
        ) as at:
            assert ask(at, "public.test", echo.port, b"\0anything") == agreed + b"\0anything"


@pytest.mark.parametrize("way", WAYS)
def test_http_in_a_tunnel_is_judged_request_by_request(way: str) -> None:
    ask, agreed = WAYS[way]
    with serving() as server:
        place = f"public.test:{server.port}"
        with opened(
            {"public.test": ["127.0.0.1"]}, allowed_hosts=[place], internal_hosts=[place]
        ) as at:
            one = f"GET /a HTTP/1.1\r\nHost: {place}\r\n\r\n".encode()
            two = b"GET /b HTTP/1.1\r\nHost: other.test\r\n\r\n"
            answer = ask(at, "public.test", server.port, one + two)
            assert at.decided == ["ALLOW", "ALLOW", "http.host"]
        assert [got.path for got in server.got] == ["/a"]
    assert answer.startswith(agreed + b"HTTP/1.1 200 OK\r\n")
    assert b"HTTP/1.1 403 Forbidden\r\n" in answer


def test_a_name_that_moves_between_two_looks_is_asked_for_once() -> None:
    """What was judged is what is connected to, wherever the name leads a moment later."""
    asked: list[str] = []

    def moving(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.2"]

    with echoing() as echo:
        place = f"127.0.0.1:{echo.port}"
        with opened(
            moving,
            allowed_hosts=[f"public.test:{echo.port}"],
            internal_hosts=[place, f"public.test:{echo.port}"],
        ) as at:
            assert _connect(at, "public.test", echo.port, NAMED) == OK + NAMED
        assert asked == ["public.test"]
        with opened(lambda *_: ["127.0.0.1"], internal_hosts=["127.0.0.2"]) as at:
            assert b"403 Forbidden" in _connect(at, "public.test", echo.port, NAMED)
            assert at.decided == ["egress.internal"]
        assert echo.connections == 1


HERE: dict[str, tuple[str, dict[str, Any], bool]] = {
    "a name that may be inside": ("localhost", {"internal_hosts": ["localhost"]}, False),
    "an address that may be inside": ("127.0.0.1", {"internal_hosts": ["127.0.0.1"]}, False),
    "another address of it": ("127.9.8.7", {"internal_hosts": ["127.0.0.0/8"]}, False),
    "every host": ("localhost", {"internal_hosts": ["*"]}, False),
    "a range": ("127.0.0.1", {"allowed_hosts": ["127.0.0.0/8"]}, False),
    "another port": ("localhost", {"allowed_hosts": ["localhost:1"]}, False),
    "a name that is named": ("localhost", {"allowed_hosts": ["localhost"]}, True),
    "its port too": ("localhost", {"allowed_hosts": ["localhost:PORT"]}, True),
    "an address that is named": ("127.0.0.1", {"allowed_hosts": ["127.0.0.1"]}, True),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("what", HERE)
def test_this_machine_is_reached_where_the_policy_names_it_among_what_may_be(
    what: str, way: str
) -> None:
    """And our own servers are not, whatever it names."""
    host, egress, reached = HERE[what]
    ask, agreed = WAYS[way]
    heard = hello(host if host == "localhost" else "")
    with echoing() as echo:
        egress = {k: [one.replace("PORT", str(echo.port)) for one in v] for k, v in egress.items()}
        for closed in ((), (echo.port,)):
            with opened({"localhost": ["127.0.0.1"]}, closed=closed, **egress) as at:
                answer = ask(at, host, echo.port, heard)
                assert answer.startswith(agreed) is (reached and not closed)
                assert at.decided[-1] in {"ALLOW", "door.own", "egress.internal"}
        assert echo.connections == int(reached)


@pytest.mark.parametrize(
    ("address", "own"),
    [
        ("127.0.0.1", True),
        ("127.200.1.2", True),
        ("0.0.0.0", True),
        ("::ffff:127.0.0.1", True),
        ("203.0.113.9", False),
        ("2001:db8::9", False),
    ],
)
def test_an_address_of_this_machine_is_known(address: str, own: bool) -> None:
    assert is_own(address) is own


def test_a_redirect_is_a_request_of_its_own() -> None:
    with serving() as server:
        place = f"public.test:{server.port}"
        with opened(
            {"public.test": ["127.0.0.1"]}, allowed_hosts=[place, "*"], internal_hosts=[place]
        ) as at:
            inside = "http://169.254.169.254/latest"
            one = f"GET http://{place}/to/{inside} HTTP/1.1\r\nHost: {place}\r\n\r\n"
            two = f"GET {inside} HTTP/1.1\r\nHost: 169.254.169.254\r\n\r\n"
            answer = said(at.http, one.encode() + two.encode(), ends=True)
            assert b"302 Found" in answer
            assert at.decided == ["ALLOW", "egress.metadata"]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (b"\4\1\0\x50\1\1\1\1\0", b""),
        (b"\5\1\2", b""),
        (b"\5\1\0\5\2\0\1\1\1\1\1\0\x50", b"\5\0\5\7"),
        (b"\5\1\0\5\3\0\1\1\1\1\1\0\x50", b"\5\0\5\7"),
        (b"\5\1\0\5\1\0\5\1\1\1\1\0\x50", b"\5\0\5\x08"),
        (b"\5\1\0\5\1\0\1\x7f\0\0\1\0\x50", b"\5\0\5\2"),
        (b"\5\1\0\5\1\0\4" + bytes(15) + b"\1\0\x50", b"\5\0\5\2"),
        (b"\5\1\0\5\1\0\3\x0a169.254.1.\0\x50", b"\5\0\5\2"),
        (b"\5\1\0\5\1\0\3\2\xff\xff\0\x50", b"\5\0\5\1"),
        (b"\5\1\0\5\1\0\3\4a/@b\0\x50", b"\5\0\5\2"),
    ],
)
def test_socks_reaches_what_may_be_reached_alone(asked: bytes, answer: bytes) -> None:
    with opened() as at:
        assert said(at.socks, asked, ends=True)[:4] == answer


def test_a_door_whose_policy_judges_no_hosts_lets_nothing_through() -> None:
    with serving() as server:
        with opened({"public.test": ["127.0.0.1"]}, resolve=False) as at:
            ask = (
                f"GET http://public.test:{server.port}/ HTTP/1.1\r\nHost: public.test:{server.port}"
            )
            assert b"403 Forbidden" in said(at.http, ask.encode() + b"\r\n\r\n")
            assert at.decided == ["ALLOW", "door.unguarded"]
        assert server.connections == 0


UNAWARE: dict[str, tuple[bytes, list[str], bytes]] = {
    "its host": (b"GET / HTTP/1.1\r\nHost: public.test\r\n\r\n", ["ALLOW"], b"HTTP/1.1 502"),
    "its port": (b"GET / HTTP/1.1\r\nHost: public.test:80\r\n\r\n", ["ALLOW"], b"HTTP/1.1 502"),
    "another host": (
        b"GET / HTTP/1.1\r\nHost: other.test\r\n\r\n",
        ["egress.not_allowed"],
        b"HTTP/1.1 403",
    ),
    "another port": (
        b"GET / HTTP/1.1\r\nHost: public.test:81\r\n\r\n",
        ["door.head"],
        b"HTTP/1.1 403",
    ),
    "a whole URL": (
        b"GET http://public.test/ HTTP/1.1\r\nHost: public.test\r\n\r\n",
        ["door.head"],
        b"HTTP/1.1 403",
    ),
    "a tunnel": (
        b"CONNECT public.test:80 HTTP/1.1\r\nHost: public.test\r\n\r\n",
        ["door.head"],
        b"HTTP/1.1 403",
    ),
    "a tunnel to a path": (
        b"CONNECT / HTTP/1.1\r\nHost: public.test\r\n\r\n",
        ["door.head"],
        b"HTTP/1.1 403",
    ),
    "no host": (b"GET / HTTP/1.0\r\n\r\n", ["door.head"], b"HTTP/1.1 403"),
}


@pytest.mark.parametrize("what", UNAWARE)
def test_plain_http_of_a_program_that_knows_no_proxy_is_judged(what: str) -> None:
    """Nothing listens at the usual ports here: what is let through finds nobody."""
    wire, decided, answer = UNAWARE[what]
    allowed = ["public.test"]
    with opened(
        {"public.test": ["127.1.2.3"]}, allowed_hosts=allowed, internal_hosts=allowed, unaware=True
    ) as at:
        assert said(at.plain, wire, ends=True).startswith(answer)
        assert at.decided == decided


@pytest.mark.parametrize(
    ("wire", "decided", "answer"),
    [
        (hello("public.test"), ["ALLOW"], ALERT),
        (hello("other.test"), ["egress.not_allowed"], ALERT),
        (hello("public.test", True), ["ALLOW"], ALERT),
        (hello(), ["door.hidden"], ALERT),
        (b"\x16\3\1\0\4\2\0\0\0", ["door.hidden"], ALERT),
        (b"GET / HTTP/1.1\r\nHost: public.test\r\n\r\n", ["door.hidden"], ALERT),
        (b"", [], b""),
    ],
)
def test_tls_of_a_program_that_knows_no_proxy_is_judged(
    wire: bytes, decided: list[str], answer: bytes
) -> None:
    allowed = ["public.test"]
    with opened(
        {"public.test": ["127.1.2.3"]}, allowed_hosts=allowed, internal_hosts=allowed, unaware=True
    ) as at:
        assert said(at.tls, wire, ends=True) == answer
        assert at.decided == decided
