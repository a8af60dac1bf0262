"""A process for each user of a broker: the system shares processor time between them, and takes
their memory back when they end."""

from __future__ import annotations

import hmac
import logging
import os
import resource
import selectors
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Final

from stanchion.ops.broker.brokered_runs import BrokeredRuns, Passes
from stanchion.ops.broker.connection import (
    BrokerSession,
    Connection,
    Load,
    Sessions,
    TooMuchUnderWay,
)
from stanchion.ops.broker.peers import Peer, die_with_parent, peer_of
from stanchion.ops.broker.remote_tool import Gone
from stanchion.ops.broker.requests import Judging
from stanchion.ops.broker.witnesses import Witnesses
from stanchion.runtime.remote.broker_link import BadFrame, packed
from stanchion.runtime.remote.messages import BUSY, VERSION, Sorry, Welcome
from stanchion.runtime.shield import Shield

LAST_S: Final = 5.0
"""How long what is under way may take when the broker stops."""
STOPPING: Final = packed(Sorry("the broker is stopping: try again when it is back"))


class Attendants:
    """Judges for the connections that it is given, and tells `left` of each that has ended."""

    def __init__(
        self, shield: Shield, key: bytes, witnesses: Path | None, left: Callable[[Peer], None]
    ) -> None:
        self._tell_left = left
        if shield.host_secret is None:
            # Its next life goes on with the runs of this one, and knows the same key.
            shield.host_secret = hmac.digest(key, b"host", "sha256").hex()
        self._boot = os.urandom(16).hex()
        self._runs = BrokeredRuns(shield, Passes(key), self._boot)
        self._judging = Judging(shield, self._runs, Witnesses(witnesses))
        self._sessions, self._load = Sessions(), Load()
        self._lock = threading.Lock()
        self._busy: dict[threading.Thread, Connection] = {}
        self._answering: set[threading.Thread] = set()
        self._stopping = False

    def rest(self) -> None:
        """There is nothing to tidy up."""

    def attend(self, sock: socket.socket, peer: Peer) -> None:
        """Answer what comes on a connection, until it ends."""
        thread = threading.Thread(
            target=self._attend, args=(peer,), name="stanchion-client", daemon=True
        )
        connection = Connection(sock, peer.uid, self._load)
        with self._lock:
            self._busy[thread] = connection
        thread.start()

    def _attend(self, peer: Peer) -> None:
        thread = threading.current_thread()
        connection = self._busy[thread]
        began: BrokerSession | None = None
        try:
            hello = connection.hello()
            if hello.version != VERSION:
                connection.sorry(
                    f"this broker speaks version {VERSION}, and you speak {hello.version}: update "
                    f"one"
                )
                return
            session = self._sessions.joined(hello.session, peer) if hello.session else None
            if session is None and hello.session:
                connection.sorry("this session no longer exists: start a new one")
                return
            if session is None:
                session = began = self._sessions.begin(peer)
            connection.send(packed(Welcome(VERSION, self._boot, session.token)))
            while True:
                self._answered(connection, peer, session)
        except BadFrame as error:
            connection.sorry(str(error), BUSY if isinstance(error, TooMuchUnderWay) else "")
        except Gone:
            pass
        except Exception:
            LOG.exception("a connection failed")
        finally:
            self._left(thread, connection, peer, began)

    def _answered(self, connection: Connection, peer: Peer, session: BrokerSession) -> None:
        """Answer one request, once: the same one again gets the first answer."""
        request = connection.request()
        known = session.remembered.first(request.id)
        if known is not None:
            connection.send(known)
            return
        frame: bytes | None = None
        thread = threading.current_thread()
        with self._lock:
            stopping = self._stopping
            self._answering.add(thread)
        try:
            if stopping:
                frame = STOPPING
            else:
                reply = self._judging.answer(request, peer, session, connection)
                frame = _framed(reply)
        finally:
            session.remembered.answered(request.id, frame)
            with self._lock:
                self._answering.discard(thread)
        connection.send(frame)

    def _left(
        self,
        thread: threading.Thread,
        connection: Connection,
        peer: Peer,
        began: BrokerSession | None,
    ) -> None:
        connection.close()
        with self._lock:
            self._busy.pop(thread, None)
            stopping = self._stopping
        if began is not None:
            self._sessions.end(began)
            if not stopping:
                # A broker that stops leaves runs as they are: the next one goes on with them.
                self._runs.session_over(began)
        self._tell_left(peer)

    def finish(self) -> None:
        """Let what is under way end, then hang up; what has not ended by then is left as a crash
        would leave it."""
        until = monotonic() + LAST_S
        with self._lock:
            self._stopping = True
            answering = list(self._answering)
        for thread in answering:
            self._ended(thread, until)
        with self._lock:
            everybody = dict(self._busy)
        for connection in everybody.values():
            connection.hang_up()
        for thread in everybody:
            thread.join(max(0.0, until - monotonic()))

    def _ended(self, thread: threading.Thread, until: float) -> None:
        while thread in self._answering and thread.is_alive() and monotonic() < until:
            thread.join(0.02)


def _framed(reply: object) -> bytes:
    try:
        return packed(reply)  # type: ignore[arg-type]  # a reply is a struct; their union is no subclass
    except BadFrame as error:
        LOG.warning("an answer could not be sent: %s", error)
        return packed(Sorry(f"the answer cannot be sent: {error}"))


LOG: Final = logging.getLogger("stanchion.service")
IDLE_S: Final = 10.0
"""How long a process waits for the next connection of its user before it ends."""
MOST_MEMORY: Final = 2 << 30
"""How many bytes the data of one user's process may have; more is an error there, and nowhere
else."""

Left = Callable[[Peer], None]


class UserProcess:
    """One user's process, as the broker sees it: it is sent connections, and sends a byte back for
    each that has ended."""

    def __init__(self, user: Peer, pid: int, control: socket.socket) -> None:
        self.user, self._pid, self._control = user, pid, control
        self.connections = 0
        self.idle_since = monotonic()

    def attend(self, sock: socket.socket) -> None:
        """Hand a connection over."""
        socket.send_fds(self._control, [b"\0"], [sock.fileno()])
        sock.close()
        self.connections += 1

    def count_ended(self) -> int | None:
        """How many connections have ended since; `None` where the process has."""
        try:
            ended = len(self._control.recv(4_096))
        except OSError:
            ended = 0
        self.connections -= ended
        self.idle_since = monotonic()
        return ended if ended else None

    def is_idle(self) -> bool:
        """Whether nobody has used it for a while."""
        return not self.connections and monotonic() - self.idle_since >= IDLE_S

    def stop(self) -> None:
        """Have it finish what is under way."""
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)

    def end(self, until: float = 0.0) -> None:
        """Wait for its end; one that has not come by then is made."""
        try:
            self._control.settimeout(max(0.001, until - monotonic()))
            while self._control.recv(4_096):
                pass
        except OSError:
            os.kill(self._pid, signal.SIGKILL)
        self._control.close()
        os.waitpid(self._pid, 0)


class UserProcesses:
    """Has each user judged for by a process of their own: one for a uid that asks for a tenant."""

    def __init__(
        self,
        shield: Shield,
        make: Callable[[Left], Attendants],
        left: Left,
        selector: selectors.BaseSelector,
    ) -> None:
        self._shield, self._make, self._left, self._selector = shield, make, left, selector
        self._current: dict[Peer, UserProcess] = {}
        self._all: set[UserProcess] = set()

    def attend(self, sock: socket.socket, peer: Peer) -> None:
        """Hand a connection to its user's process, which begins where there is none; `OSError`
        where it cannot."""
        user = peer._replace(pid=0, gid=0)
        if user not in self._current:
            self._current[user] = self._begin(user, sock)
        self._current[user].attend(sock)

    def rest(self) -> None:
        """End those that nobody has used for a while; the next connection begins another one."""
        for user, process in list(self._current.items()):
            if process.is_idle():
                del self._current[user]
                process.stop()

    def finish(self) -> None:
        """Have all of them finish what is under way, and wait for it."""
        for process in self._all:
            process.stop()
        until = monotonic() + LAST_S + 1.0
        for process in self._all:
            process.end(until)

    def _hear(self, process: UserProcess, control: socket.socket) -> None:
        ended = process.count_ended()
        for _ in range(process.connections if ended is None else ended):
            self._left(process.user)
        if ended is None:
            self._selector.unregister(control)
            self._all.discard(process)
            if self._current.get(process.user) is process:
                LOG.warning("the process of user %s has died", process.user.uid)
                del self._current[process.user]
            process.end()

    def _begin(self, user: Peer, sock: socket.socket) -> UserProcess:
        control, its = socket.socketpair()
        pid = os.fork()
        if not pid:
            try:
                # What this process leaves open would never end for whoever is at its other end.
                for inherited in (control, sock, self._selector):
                    inherited.close()
                self._judge(user, its)
            except BaseException:
                LOG.exception("the process of user %s failed", user.uid)
            finally:
                os._exit(1)
        its.close()
        control.setblocking(False)
        process = UserProcess(user, pid, control)
        self._all.add(process)
        self._selector.register(control, selectors.EVENT_READ, lambda: self._hear(process, control))
        return process

    def _judge(self, user: Peer, control: socket.socket) -> None:
        """Judge for one user, until the broker says that it is enough."""
        die_with_parent()
        # Signals go to the broker, also those that a terminal sends to every process.
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        if soft == resource.RLIM_INFINITY or soft > MOST_MEMORY:
            resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, hard))
        attendants = self._make(lambda _: control.sendall(b"\0"))
        while (came := socket.recv_fds(control, 1, 1))[0]:
            sock = socket.socket(fileno=came[1][0])
            attendants.attend(sock, peer_of(sock)._replace(tenant=user.tenant))
        attendants.finish()
        self._shield.close()
        # At once: a run that is collected would end, and the broker's next life goes on with it.
        os._exit(0)
