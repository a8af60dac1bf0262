"""Heads of requests: what two readers could understand differently is never passed on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.hosts.http.servers import Server, serving
from tests.runtime.door.opened import opened, said

TABLE: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_name("heads.yaml").read_text(encoding="utf-8")
)


def _answer(head: str, server: Server) -> tuple[bytes, list[str]]:
    port = server.port
    known = {"public.test": ["127.0.0.1"]}
    with opened(known, allowed_hosts=[f"public.test:{port}"], internal_hosts=["public.test"]) as at:
        wire = head.replace("HOST", f"public.test:{port}").replace("|", "\r\n")
        return said(at.http, wire.encode(), ends=True), at.decided


@pytest.mark.parametrize("head", TABLE["passed on"])
def test_what_is_clear_is_passed_on(head: str) -> None:
    with serving() as server:
        answer, decided = _answer(head, server)
        assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
        assert decided == ["ALLOW"]
        (got,) = server.got
    assert got.headers["host"] == f"public.test:{server.port}"
    assert got.body == (b"ok" if got.method == "PUT" else b"")


@pytest.mark.parametrize("name", TABLE["refused"])
def test_what_is_ambiguous_reaches_nobody(name: str) -> None:
    with serving() as server:
        answer, decided = _answer(TABLE["refused"][name], server)
        assert server.connections == 0
    assert answer.startswith(b"HTTP/1.1 403 Forbidden\r\n")
    assert decided == ["door.head"]


@pytest.mark.parametrize("name", TABLE["judged"])
def test_what_is_clear_is_judged(name: str) -> None:
    code, head = TABLE["judged"][name]
    with serving() as server:
        answer, decided = _answer(head, server)
        assert server.connections == 0
    assert answer.startswith(b"HTTP/1.1 403 Forbidden\r\n")
    assert decided == [code]


def test_what_stands_behind_a_request_is_the_next_request() -> None:
    """It is judged as one of its own, and not smuggled along with the first."""
    with serving() as server:
        inner = "GET http://127.0.0.1/ HTTP/1.1|Host: 127.0.0.1||"
        first = "PUT http://HOST/ HTTP/1.1|Host: HOST|Content-Length: 2||ok"
        answer, decided = _answer(first + inner, server)
        assert len(server.got) == 1
    assert answer.count(b"HTTP/1.1 ") == 2
    assert decided == ["ALLOW", "egress.internal"]
