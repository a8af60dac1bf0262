"""A door whose sockets belong to a namespace: what is inside has no other way out, and none at all
once the door is gone."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from stanchion.runtime.door.door import Door
from stanchion.runtime.door.listeners import DoorError, Listeners
from tests.hosts.http.policies import decided, shield
from tests.hosts.http.servers import Server, serving
from tests.runtime.door.opened import shield_of

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

    def gets(self, url: str, port: int = 3128) -> str:
        """What the proxy inside, or a local door, answers to a request."""
        host = url.split("/")[2] if port == 3128 else "localhost"
        lines = [f"GET {url} HTTP/1.1", f"Host: {host}", "Connection: close", "", ""]
        made = f"socket.create_connection(('127.0.0.1', {port}))"
        head = "\r\n".join(lines).encode()
        return self.does(f"(s := {made}, s.sendall({head!r}), s.makefile('rb').read().decode())[2]")

    def memory(self) -> bytes:
        """All that is in its memory and its environment, and the names of what it has open."""
        home = Path("/proc") / str(self._process.pid)
        found = [(home / name).read_bytes() for name in ("environ", "cmdline")]
        found += [os.readlink(one).encode() for one in (home / "fd").iterdir()]
        with (home / "mem").open("rb", 0) as memory:
            for line in (home / "maps").read_text().splitlines():
                first, last = (int(part, 16) for part in line.split()[0].split("-"))
                if line.split()[1].startswith("rw"):
                    with suppress(OSError):
                        memory.seek(first)
                        found.append(memory.read(last - first))
        return b"".join(found)

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
        here = shield(
            {"public.test": ["127.0.0.1"]},
            allowed_hosts=[f"public.test:{server.port}"],
            internal_hosts=[f"public.test:{server.port}"],
        )
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


DOOR = """
import socket, sys
from stanchion.runtime.door.door import Door
from stanchion.runtime.door.listeners import Listeners
from tests.hosts.http.policies import shield
place = sys.argv[2]
here = shield({"public.test": ["127.0.0.1"]}, allowed_hosts=[place], internal_hosts=[place])
door = Door(here.run(), Listeners.received(socket.socket(fileno=int(sys.argv[1]))))
door.start()
print("open", flush=True)
sys.stdin.read()
"""


def test_a_door_that_is_stopped_or_killed_leaves_no_way_out() -> None:
    """While it is stopped everybody waits; once it is dead nobody is heard any more, and a new one
    needs sockets of its own."""
    with serving() as server, inside() as within:
        place = f"public.test:{server.port}"
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-c", DOOR, str(theirs.fileno()), place]
        door = subprocess.Popen(
            command,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
        )
        theirs.close()
        with ours, door:
            within.listeners.send(ours)
            assert door.stdout is not None
            assert door.stdout.readline() == b"open\n"
            assert "200 OK" in within.gets(f"http://{place}/")
            door.send_signal(signal.SIGSTOP)
            within.does("socket.setdefaulttimeout(0.2)")
            assert within.gets(f"http://{place}/") == "'TimeoutError'"
            within.does("socket.setdefaulttimeout(None)")
            door.send_signal(signal.SIGCONT)
            assert "200 OK" in within.gets(f"http://{place}/")
            door.kill()
            door.wait()
            assert within.gets(f"http://{place}/") == "'ConnectionRefusedError'"


def test_the_secret_is_in_no_byte_of_the_inside(
    service: Server,
    trusting: ssl.SSLContext,
    monkeypatch: pytest.MonkeyPatch,
    open_again: None,
) -> None:
    """Not in its memory, its environment, its descriptors, or what it can read of others, while the
    service receives it and says it back."""
    secret = "".join(["se", "cret-", "value-", "of-the-", "service"])
    place = f"secure.test:{service.port}"
    entry = {"hub": {"url": f"https://{place}", "env": "HUB_TOKEN"}}
    here = shield_of({"secure.test": ["127.0.0.1"]}, credentials=entry, internal_hosts=[place])
    with inside(1) as within:
        monkeypatch.setenv("HUB_TOKEN", secret)
        door = Door(here.run(), within.listeners, trusting)
        door.start()
        try:
            answer = within.gets("/echo", 3130)
            assert "200 OK" in answer
            assert "Bearer *****" in answer
            assert f"Bearer {secret}" in service.heard[0]
            seen = within.memory()
            assert b"Bearer *****" in seen
            assert secret.encode() not in seen
            assert b64encode(secret.encode()) not in seen
        finally:
            door.close()


OWN = """
import fcntl, socket, struct
from tests.hosts.http.servers import serving
from tests.runtime.door.opened import opened, said
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
    fcntl.ioctl(sock, 0x8914, struct.pack("16sH14x", b"lo", 1))
    place = struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton("93.184.216.34"))
    fcntl.ioctl(sock, 0x8916, struct.pack("16s16s8x", b"lo:1", place))
with serving() as server, opened({"public.test": ["93.184.216.34"]}) as at:
    place = f"public.test:{server.port}"
    head = f"GET http://{place}/ HTTP/1.1\\r\\nHost: {place}\\r\\n\\r\\n"
    said(at.http, head.encode(), ends=True)
    print(at.decided, len(server.got))
"""


def test_a_public_address_of_this_machine_is_not_reached() -> None:
    """What listens here for others is not for the inside, whatever address it is found at."""
    done = subprocess.run(
        [*UNSHARE, sys.executable, "-c", OWN], cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout.strip() == "['ALLOW', 'door.own'] 0", done.stderr
