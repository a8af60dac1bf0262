"""The door under load and at its end: it stays bounded, serves who comes next, and where it is gone
nothing goes out."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from stanchion.runtime.door import door as doors, exchanges, tunnels, wires
from stanchion.testing import shield_for
from tests.hosts.http.servers import serving
from tests.new_threads import NewThreads
from tests.runtime.door.opened import PATIENCE_S, Opened, exactly, hello, opened, rest, said
from tests.runtime.door.test_tunnels import OK, echoing

NAMES = {"public.test": ["127.0.0.1"]}


def _get(at: Opened, port: int) -> bytes:
    place = f"public.test:{port}"
    head = f"GET http://{place}/ HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n"
    return said(at.http, head.encode())


def test_who_waits_for_nothing_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """A head that comes a byte at a time, and one that never does, hold nobody up for long."""
    monkeypatch.setattr(exchanges, "SPEAK_S", 0.05)
    monkeypatch.setattr(exchanges, "KEPT_S", 0.05)
    monkeypatch.setattr(tunnels, "SPEAK_S", 0.05)
    monkeypatch.setattr(doors, "SPEAK_S", 0.05)
    with (
        serving() as server,
        opened(
            NAMES,
            allowed_hosts=[f"public.test:{server.port}"],
            internal_hosts=[f"public.test:{server.port}"],
        ) as at,
    ):
        for place in (at.http, at.socks, at.dns_tcp):
            for piece in (b"", b"G", b"GET http://public.test/ HTTP/1.1\r\nHost: "):
                assert said(place, piece) == b""
        monkeypatch.undo()
        monkeypatch.setattr(tunnels, "SPEAK_S", 0.05)
        ask = f"CONNECT public.test:{server.port} HTTP/1.1\r\nHost: public.test\r\n\r\n".encode()
        assert said(at.http, ask) == OK
        assert _get(at, server.port).startswith(b"HTTP/1.1 200 OK")


def test_a_flood_waits_outside_and_is_served_in_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "MOST_CONNECTIONS", 8)
    monkeypatch.setattr(exchanges, "KEPT_S", 0.1)
    with (
        serving() as server,
        opened(
            NAMES,
            allowed_hosts=[f"public.test:{server.port}"],
            internal_hosts=[f"public.test:{server.port}"],
        ) as at,
    ):
        idle = [socket.create_connection(at.http, PATIENCE_S) for _ in range(40)]
        assert _get(at, server.port).startswith(b"HTTP/1.1 200 OK")
        assert [rest(one) for one in idle] == [b""] * 40
        for one in idle:
            one.close()
        monkeypatch.undo()
        assert _get(at, server.port).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize(
    ("head", "size"),
    [
        ("GET http://HOST/{} HTTP/1.1|Host: HOST||", 70_000),
        ("GET http://HOST/ HTTP/1.1|Host: HOST|X-A: {}||", 70_000),
        ("PUT http://HOST/ HTTP/1.1|Host: HOST|Content-Length: SIZE||{}", (1 << 20) + 1),
        ("PUT http://HOST/ HTTP/1.1|Host: HOST|Transfer-Encoding: chunked||fffffff|{}", 1 << 21),
    ],
)
def test_what_is_too_long_is_not_collected(head: str, size: int) -> None:
    with (
        serving() as server,
        opened(
            NAMES,
            allowed_hosts=[f"public.test:{server.port}"],
            internal_hosts=[f"public.test:{server.port}"],
        ) as at,
    ):
        wire = head.replace("HOST", f"public.test:{server.port}").replace("SIZE", str(size))
        try:
            answer = said(at.http, wire.replace("|", "\r\n").format("a" * size).encode())
        except OSError:
            answer = b""
        assert not answer.startswith(b"HTTP/1.1 200")
        assert server.got == []
        assert _get(at, server.port).startswith(b"HTTP/1.1 200 OK")


def test_who_says_too_much_hears_why() -> None:
    with (
        serving() as server,
        opened(
            NAMES,
            allowed_hosts=[f"public.test:{server.port}"],
            internal_hosts=[f"public.test:{server.port}"],
        ) as at,
    ):
        place = f"public.test:{server.port}"
        head = f"PUT http://{place}/ HTTP/1.1\r\nHost: {place}\r\nContent-Length: 4194304\r\n\r\n"
        answer = said(at.http, head.encode(), b"a" * (4 << 20), ends=True)
        assert answer.startswith(b"HTTP/1.1 403 Forbidden")
        assert at.decided == ["http.too_long"]
        assert server.got == []


def test_only_so_many_bytes_go_through() -> None:
    with echoing() as echo:
        place = f"public.test:{echo.port}"
        door = {"sent_bytes": 1_000, "opaque": [place]}
        with opened(NAMES, door, allowed_hosts=[place], internal_hosts=[place]) as at:
            ask = f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode()
            assert said(at.http, ask, b"a" * 600, ends=True) == OK + b"a" * 600
            assert len(said(at.http, ask, b"b" * 600, ends=True)) <= len(OK)
            assert at.decided == ["ALLOW", "ALLOW", "door.bytes"]
        assert b"".join(echo.got) == b"a" * 600


def test_much_goes_through_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where no pipes are left to move it without copies."""
    data = bytes(range(256)) * 16_384
    for pipes in (64, 0):
        monkeypatch.setattr(wires, "MOST_PIPES", pipes)
        with echoing() as echo:
            place = f"public.test:{echo.port}"
            with (
                opened(
                    NAMES, {"opaque": [place]}, allowed_hosts=[place], internal_hosts=[place]
                ) as at,
                socket.create_connection(at.http, PATIENCE_S) as sock,
            ):
                ask = f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode()
                sock.sendall(ask)
                assert exactly(sock, len(OK)) == OK
                for at_byte in range(0, len(data), 1 << 18):
                    piece = data[at_byte : at_byte + (1 << 18)]
                    sock.sendall(piece)
                    assert exactly(sock, len(piece)) == piece


def test_a_door_that_is_closed_lets_nothing_go_on() -> None:
    threads = NewThreads()
    with echoing() as echo:
        place = f"public.test:{echo.port}"
        with opened(NAMES, allowed_hosts=[place], internal_hosts=[place]) as at:
            sock = socket.create_connection(at.http, PATIENCE_S)
            ask = f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode()
            sock.sendall(ask + hello("public.test"))
            assert exactly(sock, len(OK)) == OK
            at.door.close()
            assert len(rest(sock)) in (0, len(hello("public.test")))
            sock.close()
            for listener in (at.http, at.socks, at.dns_tcp):
                with pytest.raises(ConnectionRefusedError):
                    socket.create_connection(listener, PATIENCE_S)
    assert threads.named("stanchion-door") == []


def test_a_run_that_is_over_has_no_network() -> None:
    with serving() as server:
        place = f"public.test:{server.port}"
        with opened(NAMES, allowed_hosts=[place], internal_hosts=[place]) as at:
            assert b"200 OK" in _get(at, server.port)
            at.run.cancel()
            assert b"403 Forbidden" in _get(at, server.port)
            assert len(server.got) == 1


def test_a_tunnel_ends_with_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "LOOK_S", 0.02)
    with echoing() as echo:
        place = f"public.test:{echo.port}"
        with (
            opened(NAMES, {"opaque": [place]}, allowed_hosts=[place], internal_hosts=[place]) as at,
            socket.create_connection(at.http, PATIENCE_S) as sock,
        ):
            sock.sendall(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\na".encode())
            assert exactly(sock, len(OK) + 1) == OK + b"a"
            at.run.cancel()
            assert rest(sock) == b""


def test_requests_count_against_the_budget_of_the_run() -> None:
    with serving() as server:
        place = f"public.test:{server.port}"
        guards: list[dict[str, Any]] = [
            {"use": "egress", "allowed_hosts": [place], "internal_hosts": [place]},
            {"use": "budget", "api_calls": 2},
        ]
        here = shield_for({"name": "door", "guards": guards}, resolver=lambda *_: ["127.0.0.1"])
        with opened(here=here) as at:
            answers = [_get(at, server.port)[:12] for _ in range(3)]
    assert answers == [b"HTTP/1.1 200", b"HTTP/1.1 200", b"HTTP/1.1 403"]


def test_a_policy_that_only_tells_lets_everything_through() -> None:
    """And writes down what it would have refused."""
    with serving() as server:
        guards = [{"use": "egress", "allowed_hosts": ["other.test"]}]
        policy = {"name": "door", "mode": "shadow", "guards": guards}
        here = shield_for(policy, resolver=lambda *_: ["127.0.0.1"])
        with opened(here=here) as at:
            assert b"200 OK" in _get(at, server.port)
            journal: Any = here.journal
            (record,) = [one.read() for one in journal.kept() if one.read().stage == "egress"]
    assert [finding.code for finding in record.shadow] == ["egress.not_allowed"]
