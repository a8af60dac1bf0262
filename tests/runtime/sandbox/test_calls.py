"""Calls of the kernel that a command is refused, tried for real in every kind of walls."""

from __future__ import annotations

import errno
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from stanchion.runtime.sandbox.keeping import seccomp
from stanchion.runtime.sandbox.keeping.seccomp import EVERYWHERE, _here
from stanchion.runtime.sandbox.sandbox import Sandbox, WallKind
from tests.runtime.sandbox.test_escapes import py, sh

ASK = """
import ctypes, os, socket
c = ctypes.CDLL(None, use_errno=True)
def ask(number, *given):
    ctypes.set_errno(0)
    return c.syscall(number, *given), ctypes.get_errno()
"""


def asked(sandbox: Sandbox, code: str, write: bool = False) -> str:
    """What Python prints that can call the kernel."""
    came = py(sandbox, ASK + code, write)
    assert came.rc == 0, came
    return came.stdout.decode().strip()


def test_a_call_is_refused_before_the_kernel_looks_at_it(sandbox: Sandbox) -> None:
    """Nothing is where the arguments point to: a kernel that looked would say so."""
    asks = [
        f"print({name!r}, *ask({_here(call)}, -1, -1, -1, -1, -1))"
        for name, call in EVERYWHERE.items()
    ]
    assert asked(sandbox, "\n".join(asks)).splitlines() == [
        f"{name} -1 {errno.EPERM}" for name in EVERYWHERE
    ]


@pytest.mark.parametrize("write", [False, True])
def test_no_socket_of_any_family_is_made(sandbox: Sandbox, write: bool) -> None:
    code = """
for family in range(64):
    for kind in range(1, 7):
        try: print(family, kind, socket.socket(family, kind, 0))
        except PermissionError: pass
"""
    assert asked(sandbox, code, write) == ""


@pytest.mark.parametrize("kind_of", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_a_socket_in_the_folder_is_not_reached(sandbox: Sandbox, root: Path, kind_of: int) -> None:
    """From one end of a pair that sends datagrams, any other socket could be reached, too."""
    code = f"""
for make in (lambda: [socket.socket(1, {int(kind_of)})], lambda: socket.socketpair(1, {int(kind_of)})):
    for use in (lambda one: one.connect('named'), lambda one: one.sendto(b'x', 'named')):
        try: use(make()[0])
        except OSError: pass
"""  # noqa: E501
    with socket.socket(socket.AF_UNIX, kind_of) as host:
        host.bind(str(root / "named"))
        os.chmod(root / "named", 0o777)
        host.setblocking(False)
        if kind_of == socket.SOCK_STREAM:
            host.listen()
        asked(sandbox, code, write=True)
        with pytest.raises(BlockingIOError):
            host.accept() if kind_of == socket.SOCK_STREAM else host.recv(10)


def test_programs_can_talk_to_what_they_start(sandbox: Sandbox) -> None:
    code = (
        "a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1)); import asyncio; "
        "asyncio.run(asyncio.sleep(0))"
    )
    assert asked(sandbox, code) == "b'x'"


def test_memory_is_not_held_in_files_without_a_place(sandbox: Sandbox) -> None:
    code = "try: os.memfd_create('m')\nexcept PermissionError: print('refused')"
    assert asked(sandbox, code) == "refused"


WAYS = {
    "chmod": "os.chmod('made', 0o{0}755)",
    "fchmod": "os.fchmod(os.open('made', os.O_RDWR), 0o{0}755)",
    "fchmodat": "os.chmod('made', 0o{0}755, dir_fd=os.open('.', os.O_RDONLY))",
    "fchmodat2": "ask(452, -100, b'made', 0o{0}755, 0)",
    "open": "os.open('new', os.O_CREAT | os.O_WRONLY, 0o{0}755)",
    "creat": "c.creat(b'new', 0o{0}755)",
    "mknod": "os.mknod('new', 0o100755 | 0o{0}000)",
    "tmpfile": "f = os.open('.', os.O_TMPFILE | os.O_WRONLY, 0o{0}755); "
    "os.link(f'/proc/self/fd/{{f}}', 'new', follow_symlinks=True)",
    "openat2": (
        "how = (ctypes.c_uint64 * 3)(os.O_CREAT | os.O_WRONLY, 0o{0}755, 0); ask(437, -100, "
        "b'new', how, 24)"
    ),
}


def test_no_set_user_id_file_is_left_on_the_host(sandbox: Sandbox, root: Path) -> None:
    """Each way has a folder of its own: what one leaves is not in the way of the next."""
    folders = [(f"{way}-{bit}", WAYS[way].format(bit)) for way in WAYS for bit in (4, 2, 6)]
    tries = [
        f"os.mkdir({name!r}); os.chdir({name!r}); open('made', 'w').close()\n"
        f"try: {code}\nexcept OSError: pass\nos.chdir('..')"
        for name, code in folders
    ]
    asked(sandbox, "\n".join(["os.umask(0)", *tries]), write=True)
    assert all((root / name / "made").exists() for name, _ in folders)
    left = [
        str(one) for one in root.rglob("*") if one.stat().st_mode & (stat.S_ISUID | stat.S_ISGID)
    ]
    assert left == []


def test_files_are_made_and_changed_as_ever(sandbox: Sandbox, root: Path, kind: WallKind) -> None:
    assert (
        sh(
            sandbox,
            "umask 022; cp /bin/true new && mkdir -m 1777 d && touch d/x && ./new",
            write=True,
        ).rc
        == 0
    )
    assert (root / "new").stat().st_mode & 0o7777 == 0o755
    changed = py(sandbox, "import os; os.fchmod(os.open('new', os.O_RDWR), 0o1700)", write=True)
    assert (changed.rc, (root / "new").stat().st_mode & 0o7777) == (0, 0o1700), kind


def test_where_the_numbers_of_calls_are_not_known_there_is_no_filter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(seccomp, "MACHINE", "riscv64")
    assert seccomp.among_walls.__wrapped__() == b""
    with pytest.raises(OSError, match="no filter for calls of the kernel on `riscv64`"):
        seccomp.filter_alone.__wrapped__(write=False)


KEYS = """
from stanchion.runtime.sandbox.keeping.calls import MACHINE, SYS_KEYCTL, leave_keys, libc
from stanchion.runtime.sandbox.keeping.seccomp import EVERYWHERE, _here
keyctl = SYS_KEYCTL[MACHINE]
libc.syscall(keyctl, 1, None)
libc.syscall(_here(EVERYWHERE["add_key"]), b"user", b"stanchion-test", b"secret", 6, -3)
def found(): return libc.syscall(keyctl, 10, -3, b"user", b"stanchion-test", 0) > 0
before = found()
leave_keys()
print(before, found())
"""


def test_the_keeper_leaves_the_keys_of_its_owner() -> None:
    """The second lock: behind the filter nobody can ask."""
    came = subprocess.run([sys.executable, "-c", KEYS], capture_output=True, text=True, check=True)
    if came.stdout.startswith("False"):
        pytest.skip("the kernel has no keys")
    assert came.stdout == "True False\n"
