"""A contained run, as the keeper's script has it: walls that stand as long as one command, with the
terminal that it was started at.

stander       is told of the walls, and ends as the command does
  └ process 1 builds them, makes the sockets that the door outside listens to, starts the command,
              and ends with it, or with whoever is at the other end of the line
      └ the command
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import resource
import select
import shlex
import signal
import socket
import stat
from collections.abc import Callable
from typing import Any, NamedTuple

from stanchion.runtime.sandbox.keeping.become import started
from stanchion.runtime.sandbox.keeping.bubblewrap import APART, CANNOT, filter_words, words_of
from stanchion.runtime.sandbox.keeping.calls import (
    EVERY,
    HOLDS_FILES_SINCE,
    PR_SET_DUMPABLE,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    READS,
    SCOPES_SINCE,
    checked,
    drop_capabilities,
    fence,
    leave_keys,
    libc,
    prctl,
    raise_loopback,
    written,
)
from stanchion.runtime.sandbox.keeping.ground import NO_PROGRAM, NO_WALL
from stanchion.runtime.sandbox.keeping.keep import become
from stanchion.runtime.sandbox.keeping.namespaces import (
    CLONE_NEWNET,
    CLONE_NEWUSER,
    DEVICE,
    FRESH,
    OF_OTHERS,
    READ,
    TEXT,
    WRITE,
    Placed,
    enter,
    forked_apart,
    lay,
    mapped,
    own_processes,
)
from stanchion.runtime.sandbox.keeping.seccomp import filtered, of_contained

HELD = ["files", "unseen", "network", "ipc", "processes", "leftovers", "privileges", "tmp"]
NS_GET_USERNS = 0xB701
GONE, NOT_STARTED = 125, 127
"""How it ends when nobody is there to tell the outcome, and when there is no such program."""
READY_FD, SCRIPT_FD = 8, 9
WAITING = f"echo >&{READY_FD}; exec {READY_FD}>&-; . /proc/self/fd/{SCRIPT_FD}"
"""What runs behind walls of `bwrap` until the command is known: an end of the file ends it."""


class ContainedGround(NamedTuple):
    """What the stander is told: the kind of walls, what stands inside where, the folder in which
    the command begins, and the sockets to make: ports, and whether they are for streams."""

    kind: str
    base: str
    folder: str
    places: list[Placed]
    hello: str
    ports: list[tuple[int, bool]]
    bwrap: str


def start(line: int, user: str) -> None:
    """Be the stander of whoever holds the other end of a line; ends as the command does."""
    for each in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)  # what is typed is for the command
    outside = socket.socket(fileno=line)
    outside.set_inheritable(False)
    try:
        if user:
            become(int(user))
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        leave_keys()
        ground = ContainedGround(**_received(outside))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        status = KINDS[ground.kind](ground, outside)
        os._exit(status)
    except OSError as error:
        _refuse(outside, str(error))


def _received(outside: socket.socket) -> dict[str, Any]:
    _, fds, _, _ = socket.recv_fds(outside, 16, 1, socket.MSG_CMSG_CLOEXEC)
    if not fds:
        os._exit(GONE)
    with os.fdopen(fds[0], "rb") as file:
        file.seek(0)
        told: dict[str, Any] = json.loads(file.read())
    return told


def _refuse(outside: socket.socket, why: str, error: str = NO_WALL) -> None:
    with contextlib.suppress(OSError):
        outside.send(json.dumps({"error": error, "why": why}).encode())
    os._exit(NOT_STARTED if error == NO_PROGRAM else GONE)


def _told(
    outside: socket.socket, walls: list[str], hello: str, sockets: list[socket.socket]
) -> None:
    """Tell which walls stand, and hand out the sockets: nobody inside has them any more."""
    outside.send(json.dumps({"walls": walls}).encode())
    socket.send_fds(outside, [hello.encode()], [one.fileno() for one in sockets])
    for one in sockets:
        one.close()


def _listening(ports: list[tuple[int, bool]]) -> list[socket.socket]:
    made = []
    for port, stream in ports:
        one = socket.socket(socket.AF_INET, socket.SOCK_STREAM if stream else socket.SOCK_DGRAM)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(("127.0.0.1", port))
        if stream:
            one.listen(socket.SOMAXCONN)
        made.append(one)
    return made


# Namespaces, by the kernel's own calls.


def _namespaces(ground: ContainedGround, outside: socket.socket) -> int:
    user, group = os.getuid(), os.getgid()
    first = forked_apart()
    if not first:
        try:
            mapped(user, group)
            _enclosed(ground, outside)
        except OSError as error:
            _refuse(outside, str(error))
        os._exit(GONE)
    outside.close()
    return _ended(os.waitpid(first, 0)[1])


def _enclosed(ground: ContainedGround, outside: socket.socket) -> None:
    """Be process 1: build the walls round oneself, and run the command."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    with contextlib.suppress(OSError):
        written("/proc/sys/user/max_user_namespaces", "0")
    raise_loopback()
    sockets = _listening(ground.ports)
    libc.sethostname(b"stanchion", 9)
    lay(ground.base, ground.places)
    enter(ground.base)
    own_processes()
    os.chdir(ground.folder)
    drop_capabilities()
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    writable = [inside for how, _, inside in ground.places if how in (WRITE, FRESH)]
    abi = fence([("/", READS), ("/dev", EVERY), *((path, EVERY) for path in writable)], tcp=0)
    walls = [*HELD, *(["landlock"] if abi else []), *_filtered()]
    prctl(PR_SET_DUMPABLE, 0)
    _run(outside, ground, walls, sockets)


def _filtered() -> list[str]:
    steps = of_contained()
    if steps:
        filtered(steps)
    return ["calls"] if steps else []


# Landlock alone: files are held, and what needs namespaces is not.


def _landlock(ground: ContainedGround, outside: socket.socket) -> int:
    first = os.fork()
    if first:
        outside.close()
        return _ended(os.waitpid(first, 0)[1])
    try:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        sockets = _listening([(0, stream) for _, stream in ground.ports])
        os.chdir(ground.folder)
        drop_capabilities()
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        rights = {what: READS for how, what, _ in ground.places if how == READ}
        rights |= {what: EVERY for how, what, _ in ground.places if how in (WRITE, DEVICE)}
        rights |= {inside: READS for how, _, inside in ground.places if how == TEXT}
        abi = fence([(path, how) for path, how in rights.items() if os.path.exists(path)], tcp=0)
        files = ["files", "landlock"] if abi >= HOLDS_FILES_SINCE else []
        scopes = ["processes"] if abi >= SCOPES_SINCE else []
        _run(outside, ground, [*files, *scopes, "privileges", *_filtered()], sockets)
    except OSError as error:
        _refuse(outside, str(error))
    return GONE


# The command, and its end.


def _run(
    outside: socket.socket, ground: ContainedGround, walls: list[str], sockets: list[socket.socket]
) -> None:
    """Start the command once it is known, and end as it does."""
    for each in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(each, signal.SIG_DFL)  # of process 1 the kernel keeps them off
    _told(outside, walls, ground.hello, sockets)
    command = _received(outside)
    child, why = started([os.fsencode(word) for word in command["argv"]], command["env"])
    if not child:
        _refuse(outside, why, NO_PROGRAM)
    outside.send(b"{}")
    os._exit(_awaited(child, outside, child))


def _awaited(child: int, outside: socket.socket, hears: int) -> int:
    """How the command ends; meanwhile what it leaves is reaped, and signals are passed on to who
    `hears` them. If nobody is outside any more, that is the end."""
    waited: list[Any] = [outside]
    reaped, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG)) != (0, 0):
                if found[0] == child:
                    return _ended(found[1])
        ready, _, _ = select.select([*waited, reaped], [], [])
        if reaped in ready:
            os.read(reaped, 4096)
        if outside in ready:
            said = outside.recv(16)
            if not said:
                return GONE
            with contextlib.suppress(ProcessLookupError):
                os.kill(hears, int(said))


def _ended(status: int) -> int:
    """A status as shells tell it: 128 and the number of the signal that ended a process."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


# Namespaces that `bwrap` makes, where a system lets only chosen programs make them.


def _bubblewrap(ground: ContainedGround, outside: socket.socket) -> int:
    if not ground.bwrap:
        raise OSError("there is no `bwrap`: install the package `bubblewrap`")
    while os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC) < SCRIPT_FD:
        pass  # what is opened from now on is in nobody's way
    (told, say), (ready, stand), (script, write) = (os.pipe() for _ in range(3))
    steps = of_contained()
    places = [one for one in ground.places if not f"{one[2]}/".startswith("/dev/")]
    words = [ground.bwrap, *APART, *words_of(places), "--dev", "/dev", "--remount-ro", "/dev"]
    words += ["--tmpfs", "/dev/shm", "--proc", "/proc"]
    for path in filter(os.path.exists, OF_OTHERS):
        words += ["--ro-bind", "/dev/null", path]
    words += [
        "--remount-ro",
        "/proc",
        "--remount-ro",
        "/",
        "--chdir",
        ground.folder,
        *filter_words(steps),
        "--json-status-fd",
        str(say),
    ]
    _relay()
    child = os.fork()
    if not child:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        for one in (told, ready, write):
            os.close(one)
        os.set_inheritable(say, True)
        for given, wanted in ((stand, READY_FD), (script, SCRIPT_FD)):
            os.dup2(given, wanted)
        with contextlib.suppress(OSError):
            os.execve(ground.bwrap, [*words, "--", "/bin/sh", "-c", WAITING], {"PATH": "/usr/bin"})
        os._exit(GONE)
    for one in (say, stand, script):
        os.close(one)
    if not os.read(ready, 1):
        raise OSError(CANNOT)
    first = json.loads(os.read(told, 4096).splitlines()[0])["child-pid"]
    with open(f"/proc/{first}/task/{first}/children", encoding="ascii") as file:
        inner = int(file.read().split()[0])
    maker = os.fork()
    if not maker:
        try:
            _enter_network(first)
            raise_loopback()
            walls = [*HELD, *(["calls"] if steps else [])]
            _told(outside, walls, ground.hello, _listening(ground.ports))
        except OSError as error:
            _refuse(outside, str(error))
        os._exit(0)
    if os.waitpid(maker, 0)[1]:
        return GONE
    command = _received(outside)
    lines = [f"export {name}={shlex.quote(value)}" for name, value in command["env"].items()]
    lines += [f"exec {SCRIPT_FD}<&-", "set -- " + shlex.join(command["argv"]), HEARING]
    with os.fdopen(write, "w", errors="surrogateescape") as file:
        file.write("\n".join(lines) + "\n")
    outside.send(b"{}")
    return _awaited(child, outside, inner)


def _relay() -> None:
    """Have a pipe as standard input, where that is a file: nothing else keeps a command from
    opening the file again, to write to it."""
    if not stat.S_ISREG(os.fstat(0).st_mode):
        return
    given, relayed = os.pipe()
    if not os.fork():
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        os.close(given)
        with contextlib.suppress(OSError):
            while came := os.read(0, 65_536):
                os.write(relayed, came)
        os._exit(0)
    os.dup2(given, 0)
    os.close(given)
    os.close(relayed)


HEARING = """\
if env --default-signal=INT true 2>/dev/null
then exec env --default-signal=INT,QUIT,HUP sh -c 'exec "$@"' sh "$@"
else exec "$@"
fi"""
"""A shell keeps ignoring what its starter ignores; `bwrap` itself must not end at Ctrl-C."""


def _enter_network(process: int) -> None:
    """Be in the network of a process, with the rights of whoever made it."""
    network = os.open(f"/proc/{process}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    owner = fcntl.ioctl(network, NS_GET_USERNS)
    for one, kind in ((owner, CLONE_NEWUSER), (network, CLONE_NEWNET)):
        checked(libc.setns(one, kind), "setns")


KINDS: dict[str, Callable[[ContainedGround, socket.socket], int]] = {
    "namespaces": _namespaces,
    "bubblewrap": _bubblewrap,
    "landlock": _landlock,
}
