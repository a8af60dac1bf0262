"""A door whose sockets belong to a namespace: what is inside has no other way out, and none at all
once the door is gone."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stanchion.runtime.door.door import Door
from stanchion.runtime.door.listeners import DoorError, Listeners
from tests.hosts.http.policies import decided, shield
from tests.hosts.http.servers import serving

ROOT = Path(__file__).resolve().parents[3]
UNSHARE = ["unshare", "--net", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"])]


def _stands() -> bool:
    try:
        return subprocess.run([*UNSHARE, "true"], capture_output=True).returncode == 0
    except OSError:
        return False


pytestmark = pytest.mark.skipif(not _stands(), reason="no network namespaces can be made here")


class Inside:
    """A process that does what it is told in a namespace of its own."""

    def __init__(self, local: int = 0) -> None:
        ours, theirs = socket.socketpair()
        module = "tests.runtime.door.inside"
        self._process = subprocess.Popen(
            [*UNSHARE, sys.executable, "-m", module, str(theirs.fileno()), str(local)],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        theirs.close()
        with ours:
            self.listeners = Listeners.received(ours)
        assert self._line() == "ready"

    def does(self, said: str) -> str:
        """What an expression gives inside, as it is shown, or the name of what it raises."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{said}\n")
        self._process.stdin.flush()
        return self._line()

    def gets(self, url: str) -> str:
        """What the proxy inside answers to a request."""
        head = (
            f"GET {url} HTTP/1.1\\r\\nHost: {url.split('/')[2]}\\r\\nConnection: close\\r\\n\\r\\n"
        )
        made = "socket.create_connection(('127.0.0.1', 3128))"
        return self.does(
            f"(s := {made}, s.sendall('{head}'.encode()), s.makefile('rb').read().decode())[2]"
        )

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()


@contextmanager
def inside(local: int = 0) -> Iterator[Inside]:
    """A process inside while the block runs."""
    made = Inside(local)
    try:
        yield made
    finally:
        made.listeners.close()
        made.close()


def test_the_door_is_the_only_way_out() -> None:
    with serving() as server, inside() as within:
        here = shield({"public.test": ["127.0.0.1"]}, internal_hosts=[f"public.test:{server.port}"])
        door = Door(here.run(), within.listeners)
        door.start()
        try:
            assert door.environment()["HTTPS_PROXY"] == "http://127.0.0.1:3128"
            assert "200 OK" in within.gets(f"http://public.test:{server.port}/")
            assert "403 Forbidden" in within.gets(f"http://127.0.0.1:{server.port}/")
            for host in ("127.0.0.1", "127.0.0.2"):
                reach = f"socket.create_connection(('{host}', {server.port}), 5)"
                assert within.does(reach) == "'ConnectionRefusedError'"
            for host in ("93.184.216.34", "169.254.169.254", "198.18.0.1", "10.0.0.1"):
                reach = f"socket.create_connection(('{host}', 80), 5)"
                assert within.does(reach) == "'OSError'"
            udp = "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('8.8.8.8', 53))"
            assert within.does(udp) == "'OSError'"
            assert within.does("socket.create_connection(('2606:2800::1', 80), 5)") == "'OSError'"
            assert decided(here) == ["ALLOW", "egress.internal"]
            assert len(server.got) == 1
        finally:
            door.close()
        assert within.gets(f"http://public.test:{server.port}/") == "'ConnectionRefusedError'"
        assert len(server.got) == 1


def test_sockets_of_another_version_are_not_taken() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, socket.socket() as other:
        for said, numbers in ((b"door9", 4), (b"door1", 3), (b"", 0)):
            if said:
                socket.send_fds(theirs, [said], [other.fileno()] * numbers)
            else:
                theirs.shutdown(socket.SHUT_WR)
            with pytest.raises(DoorError, match="start the command again"):
                Listeners.received(ours)
