"""What a hook costs its host over loopback HTTP with a warm daemon, beside an endpoint of Python's
own `http.server` that says yes, in rounds that interleave."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from stanchion_lab.bench.hooks import host
from stanchion_lab.bench.measure import cost_of
from stanchion_lab.bench.table import Effort, Row, Section, rows_of

NO_OP: Final = "http.server, no-op"
DAEMON: Final = "the daemon"
YES: Final = b'{"continue":true}'


def hooks(effort: Effort) -> Section:
    """Latency of events on one connection that is kept, as Claude Code keeps it."""
    rounds, calls = max(10, effort.rounds), max(5, effort.calls // 16)
    took: dict[tuple[str, str], list[int]] = {}
    with tempfile.TemporaryDirectory() as folder, _ports(Path(folder)) as ports:
        project = Path(folder, "project")
        (project / "src").mkdir(parents=True)
        (project / ".git").mkdir()
        (project / "a.py").write_text("x = 1\n", encoding="utf-8")
        with _host(Path(folder)) as speaks:
            for turn in range(rounds + 1):
                for name, port in ports.items():
                    found, odd = speaks(port, f"s{turn}", str(project), calls)
                    if odd:
                        raise RuntimeError(f"{name} has said {odd[0]}")
                    for event, times in found.items() if turn else ():
                        took.setdefault((event, name), []).extend(times)
    rows: list[Row] = []
    for event in dict.fromkeys(event for event, _ in took):
        costs = {f"{event}, {name}": cost_of(took[event, name]) for name in ports}
        rows += rows_of(costs, f"{event}, {NO_OP}")
    note = (
        "pack coding-agent, store and trail on disk; a connection that is kept, in a third process"
    )
    return Section("hooks over http", note, rows)


@contextmanager
def _ports(folder: Path) -> Iterator[dict[str, int]]:
    """The ports of both endpoints, each a process."""
    free = socket.create_server(("127.0.0.1", 0))
    port = int(free.getsockname()[1])
    free.close()
    state = folder / "state"
    (state / "agents").mkdir(mode=0o700, parents=True)
    (state / "agents.json").write_text(json.dumps({"port": port}), encoding="utf-8")
    surroundings = {**os.environ, "STANCHION_STATE_DIR": str(state)}
    with ExitStack() as ends:
        made = _started([sys.executable, "-m", __name__], ends, stdout=subprocess.PIPE)
        _started([sys.executable, "-m", "stanchion", "hook", "daemon"], ends, env=surroundings)
        _wait(port)
        yield {NO_OP: int(made.stdout.readline()), DAEMON: port}


def _started(words: list[str], ends: ExitStack, **more: Any) -> Any:
    process = subprocess.Popen(words, **more)
    ends.callback(process.wait)
    ends.callback(process.terminate)
    return process


def _wait(port: int) -> None:
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError("the daemon does not listen")


@contextmanager
def _host(folder: Path) -> Iterator[Any]:
    """A process that has a host's name, and what it says when asked."""
    program = folder / "claude"
    program.symlink_to(os.path.realpath(sys.executable))
    process = subprocess.Popen(
        [str(program), "-I", "-S", str(host.__file__)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    into, out = process.stdin, process.stdout
    assert into is not None
    assert out is not None

    def speaks(*asked: Any) -> Any:
        into.write(json.dumps(asked) + "\n")
        into.flush()
        return json.loads(out.readline())

    try:
        yield speaks
    finally:
        process.kill()
        process.wait()


class _NoOp(BaseHTTPRequestHandler):
    """Reads a request and says yes."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(YES)))
        self.end_headers()
        self.wfile.write(YES)

    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), _NoOp)
    print(server.server_port, flush=True)
    server.serve_forever()
