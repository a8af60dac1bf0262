"""Whatever is sent to a broker, it stays up, and nothing is let through that nobody asked for in
the right way."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from stanchion import Shield, ToolFailed
from stanchion.ops.broker.connection import Connection, Load
from stanchion.ops.broker.remote_tool import Gone
from stanchion.ops.broker.server import ConnectionPlaces
from stanchion.runtime.remote import messages as m
from stanchion.runtime.remote.broker_link import MAX_FRAME, BadFrame, packed, size_in, unpacked
from tests.ops.broker.brokers import serving

REPLIES: Any = msgspec.msgpack.Decoder(m.Reply)
HELLO = packed(m.Hello(m.VERSION))
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=5)
    | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=10,
)
NAMES = [
    kind.__name__
    for kind in (
        m.Begin,
        m.Resume,
        m.StageReport,
        m.CallRequest,
        m.End,
        m.Notices,
        m.Tighten,
        m.Answer,
    )
]
FIELDS = [
    "id",
    "run",
    "token",
    "stage",
    "fields",
    "tool",
    "args",
    "parent",
    "passed",
    "fault",
    "what",
    "risk",
]


@pytest.fixture(scope="module")
def broker() -> Iterator[Path]:
    with Shield.load({"name": "bare"}) as shield, serving(shield) as path:
        yield path


@contextlib.contextmanager
def connected(path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(str(path))
        yield sock


def answers(sock: socket.socket) -> list[Any]:
    """Every message that comes until the other side has said everything."""
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_WR)
    came, data = list[Any](), b""
    with contextlib.suppress(ConnectionResetError):
        while part := sock.recv(1 << 16):
            data += part
    while data:
        size = size_in(data[:4])
        came.append(unpacked(data[4 : 4 + size], REPLIES))
        data = data[4 + size :]
    return came


def through(path: Path) -> Any:
    return Shield.load(f"broker:{path}")


def still_works(path: Path) -> None:
    with through(path) as far, far.run() as run:
        assert run.call(len, "abc") == 3


def lets_nothing_through(replies: list[Any]) -> None:
    for reply in replies:
        assert not isinstance(reply, m.Go)
        assert not (isinstance(reply, m.Decided) and reply.decision.proceeds)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=64), greeted=st.booleans())
def test_bytes_that_mean_nothing(broker: Path, data: bytes, greeted: bool) -> None:
    with connected(broker) as sock:
        with contextlib.suppress(BrokenPipeError):
            sock.sendall((HELLO if greeted else b"") + data)
        lets_nothing_through(answers(sock))
    still_works(broker)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(NAMES),
    fields=st.dictionaries(st.sampled_from(FIELDS), ANYTHING),
    run=st.booleans(),
)
def test_messages_that_are_nearly_right(
    broker: Path, name: str, fields: dict[str, Any], run: bool
) -> None:
    """Also about a run that is there, without its token."""
    with through(broker) as far, far.run() as mine, connected(broker) as sock:
        message = {
            "id": "1",
            **fields,
            "type": name,
            **({"run": mine.id, "parent": mine.id} if run else {}),
        }
        body = msgspec.msgpack.encode(message)
        sock.sendall(HELLO + len(body).to_bytes(4, "big") + body)
        lets_nothing_through(answers(sock))
        assert mine.check("x", {}).proceeds or name == "Tighten"


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_token_of_another_run_speaks_for_no_run(broker: Path, data: st.DataObject) -> None:
    with through(broker) as far, far.run() as mine, far.run() as other, connected(broker) as sock:
        right = other._began.token
        token = data.draw(
            st.sampled_from([right, "", "0" * 64, right[:-1], right.upper()]) | st.text(max_size=64)
        )
        report = m.StageReport("1", mine.id, token, "tool_call", m.Value({"tool": "x", "args": {}}))
        call = m.CallRequest("2", mine.id, token, "x", m.Value({}))
        sock.sendall(HELLO + packed(report) + packed(call))
        _, *replies = answers(sock)
        assert [getattr(reply, "code", None) for reply in replies] == [m.ENDED, m.ENDED]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ((MAX_FRAME + 1).to_bytes(4, "big"), "16,777,217 bytes"),
        (b"\0\0\0\0", "0 bytes"),
        (b"\0\0\0\1\xc1", "not a message"),
        (packed(m.Hello(m.VERSION)), "not a message"),
        (packed(m.Value([[[]]])), "not a message"),
        ((40_000).to_bytes(4, "big") + b"\x91" * 39_999 + b"\xc0", "not a message"),
    ],
)
def test_a_broken_frame_ends_its_connection_and_says_why(
    broker: Path, data: bytes, says: str
) -> None:
    with connected(broker) as sock:
        sock.sendall(HELLO + data)
        _, sorry = answers(sock)
        assert says in sorry.text
    still_works(broker)


def test_another_version_is_turned_away(broker: Path) -> None:
    with connected(broker) as sock:
        sock.sendall(packed(m.Hello(m.VERSION + 1)))
        (sorry,) = answers(sock)
        assert f"version {m.VERSION}" in sorry.text


def test_a_large_first_frame_is_not_read(broker: Path) -> None:
    with connected(broker) as sock:
        sock.sendall((100_000).to_bytes(4, "big"))
        (sorry,) = answers(sock)
        assert "4,096" in sorry.text


def test_a_session_of_nobody_is_turned_away(broker: Path) -> None:
    with connected(broker) as sock:
        sock.sendall(packed(m.Hello(m.VERSION, b"x" * 32)))
        (sorry,) = answers(sock)
        assert "session" in sorry.text


def test_the_same_request_gets_its_first_answer(broker: Path) -> None:
    with through(broker) as far, far.run() as run, connected(broker) as sock:
        report = m.StageReport(
            "1", run.id, run._began.token, "tool_call", m.Value({"tool": "x", "args": {}})
        )
        sock.sendall(HELLO + packed(report) * 3)
        _, *replies = answers(sock)
        assert len({reply.decision.id for reply in replies}) == 1 == len(set(map(packed, replies)))


def test_a_slow_frame_ends_and_a_half_one_too() -> None:
    for given_s, part in ((0.0, packed(m.Hello(m.VERSION))[:-1]), (30.0, b"\0\0")):
        mine, its = socket.socketpair()
        with mine, its:
            mine.sendall(part)
            if given_s:
                mine.close()
            with pytest.raises((BadFrame, Gone)):
                Connection(its, 0, Load(), frame_s=given_s).hello()


def test_only_so_much_of_a_user_is_under_way() -> None:
    load = Load(most=150)
    mine, its = socket.socketpair()
    with mine, its:
        mine.sendall(packed(m.Notices("1", "r" * 80, "")) * 2)
        connection, other = Connection(its, 7, load), Connection(its, 7, load)
        assert connection.request().run == "r" * 80
        with pytest.raises(BadFrame, match="in transit"):
            other.request()
        connection.answered()
        assert load.take(7, 150)
        assert load.take(8, 150)


def test_only_so_many_connections_of_a_user() -> None:
    with contextlib.ExitStack() as open_now:
        shield = open_now.enter_context(Shield.load({"name": "bare"}))
        path = open_now.enter_context(serving(shield, ConnectionPlaces(of_user=3)))
        first, _, _, one_more = [open_now.enter_context(connected(path)) for _ in range(4)]
        (sorry,) = answers(one_more)
        assert f"user {os.getuid()} has 3 connections" in sorry.text
        first.sendall(HELLO)
        assert first.recv(1)


def test_only_so_many_runs_of_a_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stanchion.ops.broker.brokered_runs.MOST_RUNS", 2)
    with Shield.load({"name": "bare"}) as shield, serving(shield) as path, through(path) as far:
        with far.run() as run, run.spawn("bob"), pytest.raises(ValueError, match="close some"):
            far.run()
        assert far.run().check("x", {}).proceeds


def test_what_is_too_large_to_send_is_refused_here(broker: Path) -> None:
    large = ["é" * 1_000_000] * 9
    with through(broker) as far, far.run() as run:
        assert not run.check("x", {"large": large}).proceeds
        with pytest.raises(ToolFailed, match="too large"):
            run.call(lambda: large)
        assert run.call(len, "abc") == 3
