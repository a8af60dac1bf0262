"""Answers the hooks of coding agents, over a unix socket and over loopback HTTP."""

from __future__ import annotations

import logging
import os
import selectors
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from time import monotonic, sleep
from typing import Final

import msgspec

from stanchion import __version__
from stanchion.hosts.coding.agent import BadHook, CodingAgent, HostAnswer
from stanchion.hosts.coding.carrier import PROTOCOL
from stanchion.hosts.coding.speaker import Speaker, Speakers
from stanchion.ops.broker.peers import Unsupported, peer_of
from stanchion.ops.daemon.wire import (
    MOST_BODY,
    HookRequest,
    HookWire,
    HungUp,
    TurnedDown,
    whole,
)

LOG: Final = logging.getLogger("stanchion.service")
Hear = Callable[[CodingAgent, bytes, Speaker], HostAnswer]

MOST_CONNECTIONS: Final = 256
"""How many connections are open by each of both ways."""
MOST_FORGED: Final = 64 << 10
"""How many bytes are read of what is no host's: enough for the alarm."""
FIRST_S: Final = 10.0
"""How long a connection may stay silent before its first request; a host's then stays open."""
LAST_S: Final = 20.0
"""How long what is under way may take when the daemon stops."""
IDLE_S: Final = 1_800.0
"""How long it stays with nothing to do, where no host that it knows lives."""
LOOK_S: Final = 15.0
JSON: Final = "application/json"
SAYS_JSON: Final = f"Content-Type: {JSON}"
AGAIN: Final = "Stanchion-Again: 1"
STOPPING: Final = TurnedDown(503, "the daemon is stopping: try again", again=True)


class DaemonStatus(msgspec.Struct, frozen=True):
    """What a daemon says of itself."""

    version: str
    protocol: int
    pid: int
    port: int
    trouble: str
    """Why it does not listen on its port; empty where it does."""
    hosts: int
    """How many hosts it knows that live."""
    answered: int
    """How many hooks it has answered."""


class HookServer:
    """Hears hooks and answers them, each connection in a thread of its own."""

    def __init__(
        self,
        agents: Mapping[str, CodingAgent],
        speakers: Speakers,
        hear: Hear,
        port: int = 0,
        trouble: str = "",
        refuses: str = "",
        is_hosts: Callable[[Speaker], bool] = lambda speaker: speaker.begun_s is None,
        rest: Callable[[], None] = lambda: None,
    ) -> None:
        self._agents, self._speakers, self._hear = agents, speakers, hear
        self._port, self._trouble, self._refuses = port, trouble, refuses
        self._is_hosts, self._rest = is_hosts, rest
        self._lock = threading.Lock()
        self._open: dict[HookWire, threading.Thread] = {}
        self._stopping = False
        self._answered, self._heard_at = 0, monotonic()
        self._wake, self._woken = socket.socketpair()
        self._woken.setblocking(False)

    @property
    def wakes_by(self) -> int:
        """The descriptor that wakes `serve` when something is written to it."""
        return self._woken.fileno()

    def stop(self) -> None:
        """Have `serve` come to its end; may be called from a signal's handler."""
        self._stopping = True
        try:
            self._woken.send(b"\0")
        except OSError:
            return

    def serve(self, *listeners: socket.socket, idle_s: float = IDLE_S) -> None:
        """Serve until `stop`, or until nothing is to be expected any more. Then what is under way
        ends, and who comes meanwhile is told to come again."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake, selectors.EVENT_READ)
            for listener in listeners:
                listener.setblocking(False)
                selector.register(listener, selectors.EVENT_READ)
            while not self._stopping:
                for ready, _ in selector.select(min(LOOK_S, idle_s)):
                    if ready.fileobj in listeners:
                        self._accept(ready.fileobj)
                if monotonic() - self._heard_at >= idle_s and not self._speakers.alive():
                    self._stopping = True

    def finish(self, *listeners: socket.socket) -> None:
        """Let what is under way end, and hang up. Who has connected and was not heard is told to
        come again, so the sockets have to be out of reach by now."""
        until = monotonic() + LAST_S
        for listener in listeners:
            while self._accept(listener):
                pass
            listener.close()
        left = dict(self._open)
        while any(wire.is_busy for wire in left) and monotonic() < until:
            sleep(0.01)
        for wire in left:
            wire.hang_up()
        for thread in left.values():
            thread.join(max(0.0, until - monotonic()))
        self._wake.close()
        self._woken.close()

    def _accept(self, listener: socket.socket) -> bool:
        try:
            sock, _ = listener.accept()
        except BlockingIOError:
            return False
        except OSError as error:
            LOG.warning("a connection could not be accepted: %s", error)
            sleep(0.1)
            return False
        if sock.family == socket.AF_INET:
            if not self._speakers.is_own(sock):
                sock.close()
                return True
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        wire = HookWire(sock)
        thread = threading.Thread(target=self._attend, args=(wire,), name="hook", daemon=True)
        with self._lock:
            alike = [each for each in self._open if each.is_local == wire.is_local]
            full = len(alike) >= MOST_CONNECTIONS
            if not full:
                self._open[wire] = thread
        if full:
            sock.close()
            LOG.warning("%s connections are open: another one was turned away", MOST_CONNECTIONS)
            return True
        thread.start()
        return True

    def _attend(self, wire: HookWire) -> None:
        known: dict[str, Speaker] = {}
        try:
            while True:
                request = wire.head(None if known else FIRST_S)
                wire.is_busy = True
                self._answer(wire, request, known)
                wire.is_busy = False
                if request.headers.get("connection", "").lower() == "close":
                    return
        except TurnedDown as turned_down:
            _tell(wire, turned_down)
        except HungUp:
            return
        except Exception:
            LOG.exception("a connection failed")
            _tell(wire, TurnedDown(503, "Stanchion could not answer: its log says why"))
        finally:
            wire.is_busy = False
            wire.close()
            with self._lock:
                del self._open[wire]

    def _answer(self, wire: HookWire, request: HookRequest, known: dict[str, Speaker]) -> None:
        """Answer one request: whether it may be heard at all, who speaks, what is said."""
        self._heard_at = monotonic()
        self._check(request, wire.is_local)
        name = request.path.removeprefix("/")
        if name in ("status", "rest", "stop") and wire.is_local:
            wire.body(request.length)
            self._serve_operator(wire, name)
            return
        agent = self._agents.get(name)
        if agent is None or request.method != "POST":
            raise TurnedDown(404, f"there is no `{request.method} {request.path[:64]}` here")
        stdin = wire.passed() if request.headers.get("stanchion-stdin") == "passed" else None
        with nullcontext() if stdin is None else stdin:
            speaker = known.get(name)
            if speaker is None or not self._speakers.still(speaker):
                speaker = self._speakers.at(agent, wire.sock, _pid(wire), stdin)
            self._check_version(request, speaker, wire.is_local)
            most = MOST_FORGED if speaker.forged else MOST_BODY
            body = wire.body(request.length, most) if stdin is None else whole(stdin, most)
            answer = self._heard(agent, body, speaker)
        if speaker.forged:
            raise TurnedDown(403, f"this is heard from a host alone: {speaker.why}")
        known[name] = speaker
        self._answered += 1
        data = msgspec.json.encode(answer) if wire.is_local else answer.stdout.encode()
        wire.send(200, data if data else b"{}", SAYS_JSON)

    def _heard(self, agent: CodingAgent, body: bytes, speaker: Speaker) -> HostAnswer:
        if not self._refuses or speaker.forged:
            return self._hear(agent, body, speaker)
        try:
            return agent.refusal(agent.read(body).event, self._refuses)
        except BadHook as bad:
            return agent.refusal(bad.event, self._refuses)

    def _check(self, request: HookRequest, is_local: bool) -> None:
        """Turn away what no hook sends: web pages send these headers, or cannot send those."""
        headers = request.headers
        hosts = ("localhost",) if is_local else _names(self._port)
        if "origin" in headers or headers.get("host") not in hosts:
            raise TurnedDown(403, "only hooks on this machine are heard, and no web page")
        if "stanchion-hook" not in headers:
            raise TurnedDown(
                403, f"only hooks are heard: send the header `Stanchion-Hook: {PROTOCOL}`"
            )
        if request.method == "POST" and headers.get("content-type", "").split(";")[0] != JSON:
            raise TurnedDown(415, f"only `{JSON}` is heard")

    def _check_version(self, request: HookRequest, speaker: Speaker, is_local: bool) -> None:
        """Refuse another version, and all when it stops. To a newer hook that can be no agent's
        command it makes room."""
        version = request.headers["stanchion-hook"]
        if self._stopping:
            raise STOPPING
        if version == f"{PROTOCOL}":
            return
        is_newer = version.isascii() and version.isdecimal() and int(version[:9]) > PROTOCOL
        if is_newer and is_local and not speaker.forged and self._is_hosts(speaker):
            LOG.info("a hook speaks version %s: this daemon makes room for a newer one", version)
            self.stop()
            raise STOPPING
        raise TurnedDown(
            426,
            f"this daemon speaks version {PROTOCOL}, and the hook `{version[:9]}`: install the "
            f"hooks again with `stanchion install`, and run `stanchion hook stop`",
        )

    def _serve_operator(self, wire: HookWire, name: str) -> None:
        if name == "stop":
            if self._speakers.is_below_host(_pid(wire)):
                raise TurnedDown(
                    403, "an agent does not stop the daemon: do it from another terminal"
                )
            self.stop()
        elif name == "rest":
            self._rest()
        known = self._port, self._trouble, self._speakers.alive(), self._answered
        said = DaemonStatus(__version__, PROTOCOL, os.getpid(), *known)
        wire.send(200, msgspec.json.encode(said), SAYS_JSON)


def _pid(wire: HookWire) -> int:
    """The process at the other end; 0 where the system does not say."""
    try:
        return peer_of(wire.sock).pid if wire.is_local else 0
    except Unsupported:
        return 0


def _names(port: int) -> tuple[str, str]:
    return f"127.0.0.1:{port}", f"localhost:{port}"


def _tell(wire: HookWire, turned_down: TurnedDown) -> None:
    try:
        more = (AGAIN,) if turned_down.again else ()
        wire.send(turned_down.status, f"{turned_down}".encode(), "Connection: close", *more)
    except HungUp:
        return
