"""What is round a hostile program: a network with hosts that answer, files, sockets, processes and
keys of a user, and walls of one kind. Run as root in a network namespace of its own:

    unshare --net --uts --ipc python -m tests.runtime.contained.outside KIND UID

It prints what the program prints, and at last which walls stood and what is not as it was.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from stanchion.runtime.sandbox.contained import Contained
from stanchion.runtime.sandbox.inside import Inside
from stanchion.runtime.sandbox.sandbox import WallKind

HOSTILE = Path(__file__).with_name("hostile.py")
SYSTEMS_PYTHON = "/usr/bin/python3"
HOST, HOST6, METADATA = "198.51.100.1", "2001:db8::1", "169.254.169.254"
PORT, SERVES = 4567, 4568
SECRET = "the-secret-of-the-user-0b7f"
POLICY, HOOK, GIVEN = "name: here\n", "#!/bin/sh\n", "given\n"
STREAMS = [("0.0.0.0", PORT), ("::", PORT), ("0.0.0.0", 80)]
DATAGRAMS = [("0.0.0.0", 53), ("0.0.0.0", 443), ("::", 53)]
ADD_KEY, KEYCTL = (217, 219) if os.uname().machine == "aarch64" else (248, 250)
USERS_KEYRING = -4

libc = ctypes.CDLL(None, use_errno=True)


def raise_hosts() -> None:
    """Give this network the addresses of hosts that a program would like to reach."""
    for line in (
        "link set lo up",
        f"address add {HOST}/24 dev lo",
        f"address add {METADATA}/16 dev lo",
        f"address add {HOST6}/64 dev lo nodad",
        "route add default dev lo",
    ):
        subprocess.run(["ip", *line.split()], check=True)


def answer(one: socket.socket) -> None:
    """Answer whoever comes: that is out."""
    while True:
        if one.type == socket.SOCK_STREAM:
            with suppress(OSError), one.accept()[0] as came:
                came.sendall(b"out")
        else:
            _, whence = one.recvfrom(16)
            one.sendto(b"out", whence)


def listen() -> None:
    """Have every host answer."""
    for kind, places in ((socket.SOCK_STREAM, STREAMS), (socket.SOCK_DGRAM, DATAGRAMS)):
        for host, port in places:
            one = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, kind)
            if ":" in host:
                one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind((host, port))
            if kind == socket.SOCK_STREAM:
                one.listen()
            threading.Thread(target=answer, args=[one], daemon=True).start()


def come_in() -> None:
    """Keep trying to reach a port that is served inside."""
    while True:
        for host in ("127.0.0.1", HOST):
            with suppress(OSError), socket.socket() as one:
                one.settimeout(0.2)
                one.connect((host, SERVES))
        time.sleep(0.05)


def named_socket(path: str) -> socket.socket:
    """A socket with a name that listens."""
    one = socket.socket(socket.AF_UNIX)
    one.bind(path)
    one.listen()
    if not path.startswith("\0"):
        os.chmod(path, 0o777)
    return one


def idle() -> int:
    """A process like this one, with its variables, memory and descriptors, that does nothing."""
    child = os.fork()
    if not child:
        signal.pause()
        os._exit(0)
    return child


def at(base: Path, user: int) -> dict[str, Any]:
    """Put everything there that a program might be after, and tell it where."""
    project = base / "project"
    for folder in (
        project / ".git/hooks",
        project / "lib/.git",
        project / "policies",
        project / "state",
        base / "home",
    ):
        folder.mkdir(parents=True)
    for path, text in {
        base / "secret.txt": SECRET,
        base / "given.txt": GIVEN,
        base / "home/.netrc": SECRET,
        project / "policies/policy.yaml": POLICY,
        project / ".git/hooks/pre-commit": HOOK,
        project / "lib/.git/config": GIVEN,
        project / "state/trail": SECRET,
        Path(f"/dev/shm/{base.name}"): SECRET,
    }.items():
        path.write_text(text)
    for path in (base, *base.rglob("*"), Path(f"/dev/shm/{base.name}")):
        os.chown(path, user, user)
        path.chmod(0o755)
    queue = ctypes.CDLL("librt.so.1", use_errno=True)
    queue.mq_open(f"/{base.name}".encode(), os.O_CREAT | os.O_RDWR, 0o666, None)
    name = base.name.encode()
    key = libc.syscall(ADD_KEY, b"user", name, SECRET.encode(), len(SECRET), USERS_KEYRING)
    return {
        "secret": SECRET,
        "secret_file": str(base / "secret.txt"),
        "home": str(base / "home"),
        "project": str(project),
        "policy": str(project / "policies/policy.yaml"),
        "state": str(project / "state"),
        "socket": str(base / "outside.sock"),
        "socket_inside": str(project / "inside.sock"),
        "abstract": base.name,
        "queue": f"/{base.name}",
        "key": base.name,
        "key_number": key,
        "shm_file": f"/dev/shm/{base.name}",
        "shared": libc.shmget(os.getpid(), 4096, 0o1666),
        "host": HOST,
        "host6": HOST6,
        "port": PORT,
        "serves": SERVES,
    }


def changed(aim: dict[str, Any], base: Path, victim: subprocess.Popen[bytes]) -> list[str]:
    """What is not as it was."""
    project = Path(aim["project"])
    found = {
        "the policy": Path(aim["policy"]).read_text() != POLICY,
        "the hook": (project / ".git/hooks/pre-commit").read_text() != HOOK,
        "settings of git": sorted(os.listdir(project / ".git")) != ["hooks"],
        "the repository below": (project / "lib/.git/config").read_text() != GIVEN,
        "what was not there": (project / ".vscode").exists(),
        "what was given to read": (base / "given.txt").read_text() != GIVEN,
        "the trail": (project / "state/trail").read_text() != SECRET,
        "the victim": victim.poll() is not None,
        "the machine": socket.gethostname() == "out",
    }
    return [what for what, is_so in found.items() if is_so]


def main(kind: str, user: int) -> None:
    """Put a hostile program behind walls of a kind, as a user."""
    raise_hosts()
    listen()
    base = Path(tempfile.mkdtemp(prefix="stanchion-outside-"))
    aim = at(base, user)
    with ExitStack() as open_now:
        open_now.callback(shutil.rmtree, base, ignore_errors=True)
        open_now.callback(os.unlink, aim["shm_file"])
        open_now.callback(libc.syscall, KEYCTL, 9, aim["key_number"], USERS_KEYRING)
        held = ctypes.create_string_buffer(SECRET.encode(), 64)
        os.environ["SECRET_OF_THE_PARENT"] = SECRET
        os.dup2(os.open(base / "secret.txt", os.O_RDONLY), 50, inheritable=True)
        os.dup2(os.open(base / "given.txt", os.O_RDONLY), 0)
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        libc.prctl(4, 1, 0, 0, 0)
        for name in ("socket", "socket_inside"):
            open_now.enter_context(named_socket(aim[name]))
        open_now.enter_context(named_socket(f"\0{aim['abstract']}"))
        victim = subprocess.Popen(["sleep", "600"])
        open_now.callback(victim.kill)
        parent = idle()
        open_now.callback(os.kill, parent, signal.SIGKILL)
        aim |= {"victim": victim.pid, "parent": parent, "address": ctypes.addressof(held)}
        threading.Thread(target=come_in, daemon=True).start()
        os.chdir(aim["project"])
        sys.executable = SYSTEMS_PYTHON  # which any user may run
        own: dict[str, Any] = {"closed": [aim["state"]], "kept": [aim["policy"]]}
        # Landlock alone refuses to begin where these lie in the project.
        given = {} if kind == WallKind.LANDLOCK else own
        inside = Inside(Path.cwd(), shown=[HOSTILE], **given)
        contained = open_now.enter_context(Contained())
        walls = contained.build(inside, Path.cwd(), [(3128, True)], "hello", [WallKind(kind)])
        contained.line.recv(16)
        contained.go(
            [SYSTEMS_PYTHON, "-I", str(HOSTILE), json.dumps(aim)], inside.environment(os.environ)
        )
        status = contained.wait()
        found = changed(aim, base, victim)
    print(json.dumps({"walls": walls.walls, "status": status, "changed": found}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
