"""The endpoint hears hooks on this machine and nothing else, each connection for itself."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from stanchion.hosts.coding import CodingAgent, HostAnswer, carrier
from stanchion.hosts.coding.speaker import Speaker
from stanchion.ops.daemon import server, wire
from tests.hosts.coding.stand_ins import Place, body, place


@pytest.fixture
def here() -> Iterator[Place]:
    """A server that says yes to whoever is heard."""
    with place() as made:
        yield made


def sent(here: Place, data: bytes) -> bytes:
    """What the endpoint answers to bytes of this process, which is no host."""
    with socket.create_connection(("127.0.0.1", here.port), timeout=20) as sock:
        sock.sendall(data)
        parts = b""
        while part := sock.recv(65_536):
            parts += part
        return parts


def request(here: Place, **headers: str | None) -> bytes:
    """A request of a hook, with other headers."""
    given: dict[str, str | None] = {
        "Host": f"127.0.0.1:{here.port}",
        "Stanchion-Hook": "1",
        "Content-Type": "application/json",
        "Content-Length": "2",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    lines = [f"{name}: {value}\r\n" for name, value in given.items() if value is not None]
    return f"POST /claude HTTP/1.1\r\n{''.join(lines)}\r\n{{}}".encode()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),  # what it lacks is a host
        ({"Origin": "http://127.0.0.1"}, 403),
        ({"Host": "evil.example"}, 403),
        ({"Host": "evil.example:7523"}, 403),
        ({"Host": None}, 403),
        ({"Stanchion_Hook": None}, 403),
        ({"Stanchion_Hook": "0"}, 426),
        ({"Stanchion_Hook": "99"}, 426),
        ({"Stanchion_Hook": "1, 1"}, 426),
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content_Length": None}, 411),
        ({"Transfer_Encoding": "chunked"}, 411),
        ({"Content_Length": "-1"}, 411),
        ({"Content_Length": "16777217"}, 413),
        ({"Content_Length": "65537"}, 413),
        ({"Content_Length": "9" * 400}, 413),
        ({"Content_Length ": "2"}, 400),
        ({"host": "127.0.0.1"}, 400),
    ],
)
def test_what_is_no_hook_is_turned_away(
    here: Place, headers: dict[str, str | None], status: int
) -> None:
    got = sent(here, request(here, **headers))
    assert got.startswith(f"HTTP/1.1 {status} ".encode()), got
    assert got.partition(b"\r\n\r\n")[2].strip()
    assert all(speaker.forged for _, speaker in here.heard)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", 403),
        (b"a\r\n\r\n", 400),
        (b"rubbish\r\n\r\n", 400),
        (b"\xff\xfe\x00\r\n\r\n", 400),
        (b"POST /claude HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"POST /claude HTTP/1.1\r\n" + b"a: b\r\n" * 9_000, 413),
    ],
)
def test_what_is_no_request_is_turned_away(here: Place, data: bytes, status: int) -> None:
    assert sent(here, data).startswith(f"HTTP/1.1 {status} ".encode())


def test_only_agents_have_an_endpoint(here: Place) -> None:
    for path in ("/", "/other", "/status", "/stop", "/claude/x", "//claude"):
        data = request(here).replace(b"/claude", path.encode(), 1)
        assert sent(here, data).startswith(b"HTTP/1.1 404 "), path
    assert here.host("claude").does("http", here.port, body())["status"] == 200


def test_an_answer_is_never_empty() -> None:
    with place(lambda *_: HostAnswer("")) as here:
        got = here.host("claude").does("http", here.port, body())
        assert (got["status"], got["text"]) == (200, "{}")


def test_whoever_is_slow_or_hangs_up_ends_alone(
    here: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "SENDING_S", 0.2)
    monkeypatch.setattr(server, "FIRST_S", 0.2)
    whole = request(here)
    assert sent(here, b"").startswith(b"HTTP/1.1 408 ")
    assert sent(here, whole[:50]).startswith(b"HTTP/1.1 408 ")
    for cut in (0, 1, 50, len(whole) - 1):
        with socket.create_connection(("127.0.0.1", here.port)) as sock:
            sock.sendall(whole[:cut])
    host = here.host("claude")
    assert host.does("http", here.port, body())["status"] == 200
    time.sleep(0.5)  # a host's connection stays open for as long as the host likes
    assert host.does("http", here.port, body())["status"] == 200


def test_only_so_many_connections_are_open(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 3)
    monkeypatch.setattr(server, "FIRST_S", 0.5)
    waiting = [socket.create_connection(("127.0.0.1", here.port)) for _ in range(8)]
    waiting[-1].settimeout(10)
    assert waiting[-1].recv(1) == b""
    host = here.host("codex")
    assert host.does("hook", here.client("codex"), body())["status"] == 0  # another way is open
    for sock in waiting:
        sock.close()
    until = time.monotonic() + 10
    host = here.host("claude")
    while host.does("http", here.port, body()).get("status") != 200:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_connections_of_other_users_are_closed_at_once(
    here: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(here.speakers, "is_own", lambda _: False)
    assert sent(here, b"") == b""


def test_twenty_hooks_at_once_are_each_answered_for_itself() -> None:
    def same(_agent: CodingAgent, said: bytes, _speaker: Speaker) -> HostAnswer:
        time.sleep(0.01)
        return HostAnswer(json.dumps({"said": json.loads(said)["n"]}))

    with place(same) as here:
        hosts = [here.host(("claude", "codex")[n % 2]) for n in range(20)]
        found: dict[int, list[object]] = {}

        def hooks(n: int) -> None:
            host = hosts[n]
            done = host.does("hook", here.client(host.name), body(n=n))
            over = host.does("http", here.port, body(n=n + 100))
            found[n] = [json.loads(done["stdout"]), json.loads(over["text"])]

        threads = [threading.Thread(target=hooks, args=(n,)) for n in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == {n: [{"said": n}, {"said": n + 100}] for n in range(20)}
        speakers = {json.loads(said)["n"] % 100: speaker for said, speaker in here.heard}
        for n, host in enumerate(hosts):
            owner = speakers[n].host
            assert owner is not None
            assert owner.pid == host.pid


def test_what_is_under_way_ends_first_when_it_stops() -> None:
    began, release = threading.Event(), threading.Event()

    def slow(*_: object) -> HostAnswer:
        began.set()
        release.wait(10)
        return HostAnswer('{"continue": true, "late": true}')

    with place(slow) as here:
        host, found = here.host("claude"), list[object]()
        thread = threading.Thread(
            target=lambda: found.append(host.does("hook", here.client("claude"), body()))
        )
        thread.start()
        began.wait(10)
        here.server.stop()
        while here.socket.exists():
            time.sleep(0.01)
        release.set()
        thread.join()
        assert isinstance(found[0], dict)
        assert json.loads(found[0]["stdout"]) == {"continue": True, "late": True}
        assert carrier.connected(str(here.state)) is None


def test_a_failure_of_the_server_itself_is_no_yes(caplog: pytest.LogCaptureFixture) -> None:
    def broken(*_: object) -> HostAnswer:
        raise RuntimeError("boom")

    with place(broken) as here:
        assert here.host("claude").does("http", here.port, body())["status"] == 503
        done = here.host("claude").does("hook", here.client("claude"), body())
        assert done["status"] == 2
        assert "its log says why" in done["stderr"]
    assert "boom" in caplog.text


def test_where_another_program_has_the_port_everything_is_refused() -> None:
    """A hook that goes there by HTTP would be answered by it."""
    with place() as here:
        here.server._refuses = "port 7523 is taken"
        for name in ("claude", "codex"):
            done = here.host(name).does("hook", here.client(name), body())
            assert "port 7523 is taken" in done["stdout"]
            assert "deny" in done["stdout"]
        assert here.heard == []
