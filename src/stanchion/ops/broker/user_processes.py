"""A process for each user of a broker: the system shares processor time between them, and takes
their memory back when they end."""

from __future__ import annotations

import logging
import os
import resource
import selectors
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Final

from stanchion.ops.broker.attendants import LAST_S, Attendants
from stanchion.ops.broker.c_library import die_with_parent
from stanchion.ops.broker.peers import Peer, peer_of
from stanchion.runtime.shield import Shield

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
