"""Hosts on a network of their own: namespaces joined by a bridge to that of the servers, gone when
the test is."""

import ctypes
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Final

SERVERS: Final = "10.77.0.1"
"""Where servers are. Nobody else has this address: it is in no namespace but those that are made
here."""

LOOPBACK: Final = "127.0.0.1"


class Hosts:
    """Some hosts that share one machine and its network, where the system gives them none of their
    own."""

    def __init__(self, note: str) -> None:
        self.note = note
        """What people should know of the hosts; empty where nothing is missing."""
        self.address = LOOPBACK
        """Where the hosts find what was started among the servers."""

    def command(self, host: int, words: Sequence[str]) -> list[str]:
        """How a command is started on a host."""
        return [*words]

    @contextmanager
    def among_servers(self) -> Iterator[None]:
        """What this thread starts meanwhile can be reached by every host."""
        yield


class Namespaces(Hosts):
    """Hosts with a network namespace each, on one bridge with that of the servers."""

    def __init__(self, servers: int, hosts: Sequence[int]) -> None:
        super().__init__("")
        self.address = SERVERS
        self._servers = servers
        self._hosts = hosts

    def command(self, host: int, words: Sequence[str]) -> list[str]:
        """How a command is started on a host; it keeps the id of its process."""
        return ["nsenter", f"--net={_network_of(self._hosts[host])}", *words]

    @contextmanager
    def among_servers(self) -> Iterator[None]:
        """What this thread starts meanwhile is in the namespace of the servers."""
        with open("/proc/thread-self/ns/net") as own, open(_network_of(self._servers)) as servers:
            _enter(servers.fileno())
            try:
                yield
            finally:
                _enter(own.fileno())


@contextmanager
def hosts(count: int) -> Iterator[Hosts]:
    """So many hosts, for as long as they are needed.

    A namespace lives as long as a process that waits in it, and the process until it hears no more
    of this one: it goes away however the test ends, and what is on it with it. There are no names
    for others to run into.
    """
    with ExitStack() as stack:
        try:
            servers, *others = [stack.enter_context(_namespace()) for _ in range(count + 1)]
            _join(servers, others)
            made: Hosts = Namespaces(servers, others)
        except OSError as error:
            made = Hosts(
                f"the {count} hosts share one network, for there are no namespaces here: {error}"
            )
        yield made


@contextmanager
def _namespace() -> Iterator[int]:
    """A network namespace: gives the id of the process that waits in it."""
    with subprocess.Popen(
        ["unshare", "--net", "cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as waiting:
        assert waiting.stdin is not None
        assert waiting.stdout is not None
        try:
            with suppress(BrokenPipeError):
                waiting.stdin.write(b"there\n")
                waiting.stdin.flush()
            if waiting.stdout.readline() != b"there\n":
                raise PermissionError("`unshare --net` is not allowed")
            yield waiting.pid
        finally:
            waiting.kill()


def _join(servers: int, others: Sequence[int]) -> None:
    """Join namespaces by a bridge in that of the servers."""
    bridge = ["link set lo up", "link add bridge type bridge", f"addr add {SERVERS}/24 dev bridge"]
    bridge.append("link set bridge up")
    for number, other in enumerate(others):
        bridge.append(f"link add host{number} type veth peer name eth0 netns {other}")
        bridge.append(f"link set host{number} master bridge up")
    _ip(servers, bridge)
    for number, other in enumerate(others):
        _ip(
            other,
            ["link set lo up", f"addr add 10.77.0.{number + 11}/24 dev eth0", "link set eth0 up"],
        )


def _ip(namespace: int, commands: Sequence[str]) -> None:
    done = subprocess.run(
        ["nsenter", f"--net={_network_of(namespace)}", "ip", "-batch", "-"],
        input="\n".join(commands),
        text=True,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise OSError(f"`ip` says {done.stderr.strip()}")


def _network_of(process: int) -> str:
    return f"/proc/{process}/ns/net"


def _enter(namespace: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace, 0):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
