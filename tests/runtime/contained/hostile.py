"""A hostile program: runs inside a contained run, tries to get out in every way that it knows, and
prints for each try whether it got what it wanted. It needs nothing but Python.

What it is after is told as JSON in its first argument: see `outside.py`.
"""

from __future__ import annotations

import ctypes
import fcntl
import glob
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from typing import Any

Aim = dict[str, Any]
Try = Callable[[Aim], object]

libc = ctypes.CDLL(None, use_errno=True)
NEW_USER, NEW_NET, NEW_NS = 0x10000000, 0x40000000, 0x20000
ARM = os.uname().machine == "aarch64"


def called(x86: int, arm: int, *args: object) -> int:
    """What a call of the kernel gives; raises `OSError` where it fails."""
    done: int = libc.syscall(arm if ARM else x86, *args)
    return done if done >= 0 else failed()


def failed() -> int:
    """Raise what the kernel has said last."""
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def done(value: int) -> bool:
    """Whether a function of the C library did it."""
    return value >= 0 or bool(failed())


def tcp(aim: Aim, host: str, port: int | None = None) -> bool:
    """Whether somebody outside takes a connection."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as one:
        one.settimeout(2)
        one.connect((host, aim["port"] if port is None else port))
        one.send(b"out")
        return one.recv(3) == b"out"


def udp(aim: Aim, host: str, port: int) -> bool:
    """Whether somebody outside answers a datagram."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as one:
        one.settimeout(0.5)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        one.sendto(b"out", (host, port))
        return one.recv(3) == b"out"


def sctp(aim: Aim) -> bool:
    """Whether somebody outside takes another kind of connection."""
    socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132).connect((aim["host"], aim["port"]))
    return True


def unix(name: str, kind: int = socket.SOCK_STREAM) -> bool:
    """Whether a socket with a name is reached."""
    with socket.socket(socket.AF_UNIX, kind) as one:
        one.settimeout(2)
        one.connect(name)
        return True


def reads(path: str, aim: Aim) -> bool:
    """Whether a file tells the secret."""
    with open(path, "rb") as file:
        return aim["secret"].encode() in file.read(1 << 20)


def readable(pattern: str, aim: Aim) -> bool:
    """Whether one of some files tells the secret."""
    for path in glob.glob(pattern):
        try:
            if int(path.split("/")[2]) != os.getpid() and reads(path, aim):
                return True
        except (OSError, ValueError):
            continue
    return False


def writes(path: str, text: str) -> bool:
    """Whether a file takes another text."""
    with open(path, "w", encoding="utf-8") as file:
        return file.write(text) > 0


def made(path: str) -> bool:
    """Whether a file is made, with the folder that it is in."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return writes(path, "out")


def told(path: str) -> bool:
    """Whether a file of the kernel says anything."""
    try:
        with open(path, "rb") as file:
            return bool(file.read(1))
    except OSError:
        return False


def led_past(path: str) -> bool:
    """Whether the folder that a file is in can be moved away, and another put in its place."""
    folder = os.path.dirname(path)
    os.rename(folder, f"{folder}.old")
    os.makedirs(folder)
    return writes(path, "out")


def setns(aim: Aim, path: str, kind: int) -> bool:
    file = os.open(path, os.O_RDONLY)
    return done(libc.setns(file, kind)) and tcp(aim, aim["host"])


def parents(_: Aim) -> bool:
    """The namespace above that of users, by way of a file that stands for ours."""
    file = os.open("/proc/self/ns/user", os.O_RDONLY)
    return fcntl.ioctl(file, 0xB702) >= 0


def cloned(_: Aim) -> bool:
    pid = called(56, 220, NEW_USER | NEW_NET | signal.SIGCHLD, 0, 0, 0, 0)
    if not pid:
        os._exit(0)
    return True


def joins_back(aim: Aim) -> bool:
    """A user namespace of one's own, in it a network, and the device of the one outside."""
    done(libc.unshare(NEW_USER | NEW_NET | NEW_NS))
    return by_netlink(aim)


def mounted(kind: bytes, where: bytes, flags: int = 0) -> bool:
    return done(libc.mount(kind, where, kind, flags, None))


def escapes_root(aim: Aim) -> bool:
    os.mkdir("chrooted")
    os.chroot("chrooted")
    os.chdir("../" * 30)
    return reads(aim["secret_file"][1:], aim)


def handle(aim: Aim) -> bool:
    """A file by its number in the file system, from any mount of that."""
    wanted = struct.pack("Ii", 8, 1) + struct.pack("II", 2, 0)
    held = ctypes.create_string_buffer(wanted, 128)
    mount = os.open(".", os.O_RDONLY)
    return done(libc.open_by_handle_at(mount, held, os.O_RDONLY))


def reopened(_: Aim) -> bool:
    """Standard input, opened again to write to what was given to read."""
    file = os.open("/proc/self/fd/0", os.O_WRONLY)
    return os.write(file, b"out") > 0 and os.readlink("/proc/self/fd/0").startswith("/tmp/")


def beside(_: Aim) -> bool:
    """What is open beside standard input, output and error."""
    return bool(OPEN)


def opened() -> list[int]:
    """Which descriptors are open, but for the usual three."""
    found = []
    for one in range(3, 256):
        try:
            found.append(fcntl.fcntl(one, fcntl.F_GETFD))
        except OSError:
            continue
    return found


OPEN = opened()


def signalled(aim: Aim) -> bool:
    os.kill(aim["victim"], signal.SIGKILL)
    return True


def everybody(aim: Aim) -> bool:
    """All that can be signalled; this group of processes lives on, for the other tries."""
    os.kill(aim["parent"], signal.SIGSTOP)
    return True


def traced(aim: Aim) -> bool:
    return done(libc.ptrace(16, aim["victim"], 0, 0))


def memory_of(aim: Aim) -> bool:
    place = ctypes.create_string_buffer(64)
    local = struct.pack("QQ", ctypes.addressof(place), 64)
    far = struct.pack("QQ", aim["address"], 64)
    called(310, 270, aim["parent"], local, 1, far, 1, 0)
    return aim["secret"].encode() in place.raw


def pidfd(aim: Aim) -> bool:
    file = os.pidfd_open(aim["parent"])
    return called(438, 438, file, 0, 0) >= 0


def first_of(aim: Aim) -> bool:
    with open("/proc/1/mem", "r+b", buffering=0) as file:
        return file.fileno() > 0


def stopped_first(_: Aim) -> bool:
    """Process 1 killed: it would take the walls with it."""
    os.kill(1, signal.SIGKILL)
    return subprocess.run(["true"], check=False).returncode != 0


def device(_: Aim) -> bool:
    os.mknod("disk", 0o600 | 0o060000, os.makedev(254, 0))
    return bool(os.open("disk", os.O_RDONLY))


def disks(_: Aim) -> bool:
    for one in (
        "/dev/mem",
        "/dev/kmsg",
        "/dev/vda",
        "/dev/sda",
        "/dev/kvm",
        "/dev/net/tun",
        "/dev/fuse",
    ):
        try:
            return bool(os.open(one, os.O_RDWR))
        except OSError:
            continue
    return False


def set_user(_: Aim) -> bool:
    with open("own", "wb") as file:
        file.write(b"#!/bin/sh\n")
    os.chmod("own", 0o4755)
    return bool(os.stat("own").st_mode & 0o4000)


def typed(_: Aim) -> bool:
    """A line for whoever reads from the terminal next."""
    for where in ("/dev/tty", "/proc/self/fd/0", "/proc/self/fd/1", "/proc/self/fd/2"):
        try:
            file = os.open(where, os.O_RDWR)
            for one in b"touch typed\n":
                fcntl.ioctl(file, 0x5412, bytes([one]))
            return True
        except OSError:
            continue
    return False


def shared(aim: Aim) -> bool:
    libc.shmat.restype = ctypes.c_long
    return done(libc.shmat(aim["shared"], 0, 0))


def queue(aim: Aim) -> bool:
    return done(
        ctypes.CDLL("librt.so.1", use_errno=True).mq_open(aim["queue"].encode(), os.O_RDONLY)
    )


def set_kernel(_: Aim) -> bool:
    with open("/proc/sys/kernel/core_pattern", "r+", encoding="utf-8") as file:
        now = file.read()
        file.seek(0)
        return file.write(now) > 0


def by_netlink(_: Aim) -> bool:
    words = ["ip", "address", "add", "203.0.113.1/24", "dev", "lo"]
    return subprocess.run(words, stderr=-3, check=False).returncode == 0


def preloaded(aim: Aim) -> bool:
    """A child without any variable but one that loads a library of its choice."""
    code = f"import socket; socket.create_connection(({aim['host']!r}, {aim['port']}), 2)"
    given = {"LD_PRELOAD": "libpthread.so.0"}
    return (
        subprocess.run([sys.executable, "-c", code], env=given, stderr=-3, check=False).returncode
        == 0
    )


def served(aim: Aim) -> bool:
    """A port that somebody outside may come to, while this waits."""
    with socket.create_server(("0.0.0.0", aim["serves"])) as server:
        server.settimeout(2)
        print("serving", flush=True)
        return bool(server.accept())


def hooked(aim: Aim) -> bool:
    return writes(f"{aim['project']}/.git/hooks/pre-commit", "out")


TRIES: dict[str, dict[str, Try]] = {
    "network": {
        "a connection to the host's loopback": lambda aim: tcp(aim, "127.0.0.1"),
        "a connection to an address of the network": lambda aim: tcp(aim, aim["host"]),
        "the same over IPv6": lambda aim: tcp(aim, aim["host6"]),
        "a connection to a cloud's metadata": lambda aim: tcp(aim, "169.254.169.254", 80),
        "a datagram to a name server outside": lambda aim: udp(aim, aim["host"], 53),
        "a datagram to port 443, as QUIC sends it": lambda aim: udp(aim, aim["host"], 443),
        "a datagram over IPv6": lambda aim: udp(aim, aim["host6"], 53),
        "a datagram to everybody": lambda aim: udp(aim, "255.255.255.255", 53),
        "a raw socket": lambda _: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1),
        "a raw socket for frames": lambda _: socket.socket(17, socket.SOCK_RAW, 0x300),
        "an echo request": lambda aim: socket.socket(2, 2, 1).sendto(
            b"\x08" + bytes(7), (aim["host"], 0)
        ),
        "SCTP": sctp,
        "the socket of a virtual machine's host": lambda _: socket.socket(40, socket.SOCK_STREAM),
        "the kernel's ciphers, by a socket": lambda _: socket.socket(38, socket.SOCK_SEQPACKET),
        "a socket for the kernel's own protocols": lambda _: socket.socket(16, socket.SOCK_RAW, 16),
        "another address of the network": by_netlink,
        "no variable of a proxy, and a library loaded first": preloaded,
        "a port that is reached from outside": served,
    },
    "namespaces": {
        "the network of process 1, by its file": lambda aim: setns(aim, "/proc/1/ns/net", NEW_NET),
        "the network of the parent, by its file": lambda aim: setns(
            aim, f"/proc/{aim['parent']}/ns/net", NEW_NET
        ),
        "the namespace of users above": parents,
        "namespaces of one's own": joins_back,
        "namespaces of one's own, by `clone`": cloned,
        "a file system mounted": lambda _: mounted(b"tmpfs", b"/tmp"),
        "the system mounted to be written": lambda _: done(
            libc.mount(None, b"/usr", None, 32 | 4096, None)
        ),
        "what lies over something taken away": lambda _: done(libc.umount2(b"/proc", 2)),
        "another root": escapes_root,
        "a file by its number": handle,
    },
    "sockets": {
        "a socket in a folder outside": lambda aim: unix(aim["socket"]),
        "a socket that a program outside has in the project": lambda aim: unix(
            aim["socket_inside"]
        ),
        "an abstract socket outside": lambda aim: unix(f"\0{aim['abstract']}"),
        "the socket of Docker, or of the system's bus": lambda _: any(
            map(
                os.path.exists,
                ("/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket"),
            )
        ),
        "shared memory of others": shared,
        "a queue of others": queue,
        "a file in the shared memory of others": lambda aim: reads(aim["shm_file"], aim),
    },
    "files": {
        "a file outside": lambda aim: reads(aim["secret_file"], aim),
        "a file outside, by steps up": lambda aim: reads(
            f"../../../../../../..{aim['secret_file']}", aim
        ),
        "a file outside, by the root of process 1": lambda aim: reads(
            f"/proc/1/root{aim['secret_file']}", aim
        ),
        "a file outside, by the root of any process": lambda aim: any(
            os.path.exists(one + aim["secret_file"]) for one in glob.glob("/proc/[0-9]*/root")
        ),
        "a file outside, by the folder of any process": lambda aim: any(
            reads(one, aim)
            for one in glob.glob(f"/proc/[0-9]*/cwd/../{os.path.basename(aim['secret_file'])}")
        ),
        "that there is a file outside": lambda aim: os.path.exists(aim["secret_file"]),
        "the home of the user": lambda aim: os.listdir(aim["home"]),
        "keys of the system": lambda _: (
            os.listdir("/etc/ssl/private") or reads("/etc/shadow", {"secret": ":"})
        ),
        "a file of the system, to be written": lambda _: (
            writes("/usr/out", "out") or writes("/etc/out", "out")
        ),
        "the policy, to be written": lambda aim: writes(aim["policy"], "name: out\n"),
        "the policy, led past by another folder": lambda aim: led_past(aim["policy"]),
        "a hook of git, to be run outside": hooked,
        "another place for git's settings (`commondir`)": lambda aim: writes(
            f"{aim['project']}/.git/commondir", "out"
        ),
        "settings of git for one tree (`config.worktree`)": lambda aim: writes(
            f"{aim['project']}/.git/config.worktree", "out"
        ),
        "a hook of git where there was no folder for any": lambda aim: made(
            f"{aim['project']}/lib/.git/hooks/pre-commit"
        ),
        "settings of git in a repository below": lambda aim: writes(
            f"{aim['project']}/lib/.git/config", "out"
        ),
        "tasks of an editor where there were none": lambda aim: made(
            f"{aim['project']}/.vscode/tasks.json"
        ),
        "the trail": lambda aim: os.listdir(aim["state"]),
        "what was given to read, to be written": reopened,
        "a descriptor that the parent has open": beside,
        "a disk, by a device of one's own": device,
        "a disk, the memory or the log of the machine": disks,
        "a program that runs as its owner": set_user,
    },
    "processes": {
        "a variable of the parent": lambda aim: aim["secret"] in str(os.environ),
        "a variable of any process": lambda aim: readable("/proc/*/environ", aim),
        "a descriptor of any process": lambda aim: readable("/proc/[0-9]*/fd/*", aim),
        "the memory of process 1": first_of,
        "the memory of the parent": memory_of,
        "a descriptor of the parent, copied": pidfd,
        "the parent, stopped": everybody,
        "another process of the user, ended": signalled,
        "another process of the user, traced": traced,
        "process 1, ended": stopped_first,
        "keys and locks of others, by their list": lambda _: any(
            map(told, ("/proc/keys", "/proc/locks"))
        ),
        "that there are other processes": lambda aim: os.path.exists(f"/proc/{aim['victim']}"),
    },
    "the kernel": {
        "a key of the user": lambda aim: (
            called(250, 219, 10, b"user", aim["key"].encode(), 0) >= 0
            or called(250, 219, 11, -4, 0, 0) >= 0
        ),
        "a key of one's own": lambda _: called(248, 217, b"user", b"out", b"out", 3, -3),
        "a setting of the kernel": set_kernel,
        "work without calls (`io_uring`)": lambda _: called(425, 425, 1, bytes(120)) >= 0,
        "a program in the kernel (`bpf`)": lambda _: called(321, 280, 0, bytes(72), 72) >= 0,
        "measuring others": lambda _: called(298, 241, bytes([1]) + bytes(127), 0, -1, -1, 0) >= 0,
        "faults answered by oneself": lambda _: called(323, 282, 0) >= 0,
        "the kernel's log": lambda _: called(103, 116, 3, ctypes.create_string_buffer(64), 64) >= 0,
        "a module": lambda _: called(175, 105, b"", 0, b"") >= 0,
        "the name of the machine": lambda _: done(libc.sethostname(b"out", 3)),
        "a line typed for whoever reads from the terminal next": typed,
        "rights gained": lambda _: libc.prctl(39, 0, 0, 0, 0) == 0,
    },
}


def tried(one: Try, aim: Aim) -> bool:
    """Whether a try gets what it wants, in a process of its own that ends after a while."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        signal.alarm(5)
        try:
            os.write(write, b"y" if one(aim) else b"n")
        except (OSError, ValueError, AttributeError, subprocess.SubprocessError):
            os.write(write, b"n")
        os._exit(0)
    os.close(write)
    said = os.read(read, 1)
    os.close(read)
    os.waitpid(child, 0)
    return said == b"y"


def main() -> None:
    """Try everything, and print what came of it."""
    aim = json.loads(sys.argv[1])
    for group, tries in TRIES.items():
        for name, one in tries.items():
            print(json.dumps([group, name, tried(one, aim)]), flush=True)


if __name__ == "__main__":
    main()
