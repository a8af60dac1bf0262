"""The daemon as a process: its folder, its one lock, its sockets, its log; and what others ask of
it."""

from __future__ import annotations

import errno
import logging
import logging.handlers
import os
import signal
import socket
import stat
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from stanchion import Shield, typed
from stanchion.audit.layout import write_private
from stanchion.hosts.coding import AGENTS, carrier
from stanchion.hosts.coding.sessions import CodingSessions
from stanchion.hosts.coding.settings import AgentsConfig, read_config
from stanchion.hosts.coding.speaker import Speakers, connections
from stanchion.locks.files import attempt, attempt_within
from stanchion.ops.daemon.server import LOG, DaemonStatus, HookServer

LOCK: Final = "daemon.lock"
SECRET: Final = "secret"
BACKLOG: Final = 128
MOST_LOG: Final = 1 << 20
STOP_S: Final = 30.0
"""How long whoever stops a daemon waits for it."""
OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class NoDaemon(Exception):
    """The daemon cannot be started or asked; the text says why, and what to do."""


def own_place(state: Path) -> Path:
    """The daemon's folder in a state folder, out of the reach of others."""
    folder = state / carrier.FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & OTHERS:
        raise NoDaemon(f"`{folder}` is within the reach of others: remove it, and try again")
    return folder


def run_daemon(state: Path) -> bool:
    """Serve until told to stop, or until there is nothing to do; `False` where another daemon
    already does."""
    folder = own_place(state)
    lock = attempt(folder / LOCK, create=True)
    if lock is None:
        return False
    before = os.umask(0o077)
    try:
        _log_to(folder / carrier.LOG)
        found = read_config(state)
        _serve(folder, AgentsConfig() if found is None else found)
    finally:
        os.umask(before)
        os.close(lock)
    return True


def _serve(folder: Path, config: AgentsConfig) -> None:
    port, trouble = _loopback(config.port)
    refuses = ""
    if port is None:
        LOG.error("%s", trouble)
        if _is_own(config.port):
            refuses = f"Stanchion refuses everything: {trouble}"
    speakers = Speakers(AGENTS.values())
    path = Path(carrier.folder_in(str(folder.parent))) / carrier.SOCKET
    path.unlink(missing_ok=True)  # whoever listened there has ended: the lock is this process's
    local = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    secret = _secret(folder)
    sessions = CodingSessions(
        lambda root: Shield.load(config.policy, project=root, folder=root, host_secret=secret)
    )
    try:
        knows = sessions.hear, config.port, trouble, refuses, sessions.is_hosts, sessions.rest
        server = HookServer(AGENTS, speakers, *knows)
        signal.set_wakeup_fd(server.wakes_by, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: server.stop())
        local.bind(str(path))
        local.listen(BACKLOG)
        listeners = (local,) if port is None else (local, port)
        LOG.info("process %s listens at %s and port %s", os.getpid(), path, config.port)
        try:
            server.serve(*listeners)
        finally:
            path.unlink(missing_ok=True)
            server.finish(*listeners)
            signal.set_wakeup_fd(-1)
    finally:
        sessions.close()
        LOG.info("process %s has ended", os.getpid())


def _secret(folder: Path) -> str:
    """What the runs of this user's hosts are known again by, made where there is none."""
    file = folder / SECRET
    with suppress(FileExistsError):
        write_private(file, os.urandom(32).hex().encode(), new=True)
    found = file.read_text("ascii").strip()
    if len(found) != 64:
        raise NoDaemon(f"`{file}` is cut off: remove it, which ends the trust of open sessions")
    return found


def _loopback(port: int) -> tuple[socket.socket | None, str]:
    """A socket that listens on a port of loopback; otherwise why there is none."""
    sock = socket.socket()
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(("127.0.0.1", port))
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        said = "is taken" if error.errno == errno.EADDRINUSE else f"is not to be had: {error}"
        return None, (
            f"port {port} {said}: end the program that has it, or write another `port` into "
            f"`{carrier.CONFIG}` in the state folder, and install the hooks again"
        )
    return sock, ""


def _is_own(port: int) -> bool:
    """Whether a program of this user listens on a port, or it cannot be told whose it is: hooks
    that go there by HTTP would be answered by it."""
    rows = [row for row in connections() if row[3] == "0A" and row[1].endswith(f":{port:04X}")]
    return not rows or str(os.geteuid()) in [row[7] for row in rows]


def _log_to(file: Path) -> None:
    handler = logging.handlers.RotatingFileHandler(file, maxBytes=MOST_LOG, backupCount=1)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger("stanchion")
    root.addHandler(handler)
    root.setLevel(logging.INFO)


def ask(state: Path, what: str) -> DaemonStatus | None:
    """What a daemon says to `status`, `rest` or `stop`; `None` where none listens."""
    try:
        sock = carrier.connected(str(state))
        if sock is None:
            return None
        with closing(sock), suppress(carrier.Again):
            sock.settimeout(STOP_S)
            return typed.decode(carrier.exchanged(sock, what, b""), DaemonStatus)
    except (carrier.Refuse, OSError, ValueError) as error:
        raise NoDaemon(f"{error}") from None
    return None


def stop_daemon(state: Path) -> DaemonStatus | None:
    """Stop a daemon, and wait until it has ended; `None` where none listens."""
    found = ask(state, "stop")
    if found is not None:
        free = attempt_within(own_place(state) / LOCK, STOP_S)
        if free is None:
            raise NoDaemon(f"process {found.pid} does not end: end it with `kill -9 {found.pid}`")
        os.close(free)
    return found
