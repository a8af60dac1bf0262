"""Pipes between the proxy, its client and its servers: long lines, slow readers, processes that do
not end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from stanchion.hosts.mcp import pipes, streams
from stanchion.hosts.mcp.upstream import command
from stanchion.testing import shield_for
from tests.hosts.mcp.servers import client_of, said

BARE: dict[str, Any] = {"name": "bare"}
ENDLESS = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(os.getpid(), file=sys.stderr, flush=True)
time.sleep(600)
"""
SERVER = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        about = {"name": "s", "version": "1"}
        told = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": about}
    elif asked["method"] == "tools/list":
        told = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("flood", "repeat")]}
    elif asked["method"] == "tools/call" and asked["params"]["name"] == "flood":
        while True:
            os.write(1, b"x" * 65536)
    elif asked["method"] == "tools/call":
        told = {"content": [{"type": "text", "text": asked["params"]["arguments"]["text"]}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": told}), flush=True)
"""  # noqa: E501


def server(folder: Path, program: str = SERVER) -> list[str]:
    """What starts a server."""
    (folder / "server.py").write_text(program)
    return [sys.executable, str(folder / "server.py")]


DEEP = "[" * 5_000 + "]" * 5_000


@pytest.mark.parametrize(
    "line",
    [
        f'{{"jsonrpc":"2.0","id":7,"result":{DEEP}}}',
        f'{{"id":7,"result":{DEEP}}}',
        f'{{"result":{DEEP}, "id": 7, "jsonrpc": "2.0"}}',
    ],
)
def test_what_is_nested_too_deeply_to_be_read_is_answered_all_the_same(line: str) -> None:
    """On the side of a server whoever asked it gets an error, on that of a client the client."""

    class Sent(list[Any]):
        async def send(self, item: Any) -> None:
            self.append(item)

    async def played(answers: Sent | None) -> Any:
        incoming = pipes.Incoming()
        incoming.answers = answers  # type: ignore[assignment]  # it sends
        incoming.data_received(line.encode() + b"\n")
        incoming.end()
        return await incoming.receive()

    told, sent = anyio.run(played, None).message, Sent()
    assert (told.id, told.error.code) == (7, -32700)
    assert "nested too deeply" in told.error.message
    assert isinstance(anyio.run(played, sent), ValueError)
    assert sent[0].message == told


def test_a_server_that_sends_a_line_without_end_is_ended_and_started_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    upstream = command("shop", server(tmp_path))

    async def played() -> tuple[Any, Any]:
        async with client_of(shield_for(BARE), upstream) as client:
            with anyio.fail_after(60):
                return await client.call_tool("flood", {}), await client.call_tool(
                    "repeat", {"text": "tea"}
                )

    flooded, after = anyio.run(played)
    assert flooded.is_error
    assert "it sent a message of more than 16 MiB" in said(flooded)
    assert (
        "the connection to the server `shop` ended: it sent a message of more than 16 MiB"
        in caplog.text
    )
    assert said(after) == "tea"


def test_a_long_message_comes_whole_in_both_directions(tmp_path: Path) -> None:
    text = "".join(f"{number} tea, ä, \U0001f375\n" for number in range(60_000))

    async def played() -> Any:
        async with client_of(shield_for(BARE), command("shop", server(tmp_path))) as client:
            return await client.call_tool("repeat", {"text": text})

    assert said(anyio.run(played)) == text


def test_a_client_that_sends_a_line_without_end_is_told_and_the_session_ends(
    tmp_path: Path,
) -> None:
    words = [
        sys.executable,
        "-m",
        "stanchion",
        "mcp",
        "--policy",
        "default",
        "--",
        *server(tmp_path),
    ]
    env = {**os.environ, "STANCHION_STATE_DIR": str(tmp_path / "state")}
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    }
    first = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
    sent = (
        first.encode() + b"\n" + b'{"jsonrpc": "2.0", "id": 2, "x": "' + b"x" * (pipes.LONGEST + 1)
    )
    done = subprocess.run(words, input=sent, capture_output=True, env=env, timeout=60, check=False)
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["id"] is None
    assert "more than 16 MiB" in last["error"]["message"]
    assert (
        "the session with the client ends: it sent a message of more than 16 MiB"
        in done.stderr.decode()
    )
    assert done.returncode == 0


def test_a_server_that_will_not_end_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "END_S", 0.3)
    log = tmp_path / "log"

    async def played() -> None:
        with log.open("w") as to:
            async with streams.started(server(tmp_path, ENDLESS), dict(os.environ), to):
                with anyio.fail_after(20):
                    while not log.read_text().strip():
                        await anyio.sleep(0.01)

    begun = time.monotonic()
    anyio.run(played)
    assert time.monotonic() - begun < 30
    with pytest.raises(ProcessLookupError):
        os.kill(int(log.read_text()), 0)


def test_a_server_that_reads_no_more_is_over() -> None:
    """Or else its client would wait for an answer that never comes."""

    async def played() -> None:
        (theirs, ours_out), (ours_in, other) = os.pipe(), os.pipe()
        incoming = await pipes.reading(ours_in)
        outgoing = await pipes.writing(ours_out, incoming)
        os.close(theirs)
        with anyio.fail_after(10), pytest.raises(anyio.EndOfStream):
            await incoming.receive()
        with pytest.raises(anyio.BrokenResourceError):
            await outgoing.write(b"{}")
        os.close(other)
        incoming.shut()
        await outgoing.shut(1)

    anyio.run(played)


def test_whoever_writes_faster_than_is_read_waits() -> None:
    async def played() -> bytes:
        theirs, ours = os.pipe()
        outgoing = await pipes.writing(ours)
        with anyio.move_on_after(0.05) as waiting:
            await outgoing.write(b"x" * 1_000_000)
        assert waiting.cancelled_caught, "a pipe takes 64 KiB"
        got = b""
        with open(theirs, "rb", buffering=0) as reader:
            while not got.endswith(b"\n"):
                got += await anyio.to_thread.run_sync(reader.read, 65_536)
        await outgoing.shut(1)
        return got

    assert anyio.run(played) == b"x" * 1_000_000 + b"\n", (
        "it goes out as a whole, though nobody waits any more"
    )
