"""The premises of a broker: what it keeps must be out of the reach of everybody else."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
WRITERS: Final = stat.S_IWGRP | stat.S_IWOTH
READERS: Final = stat.S_IRGRP | stat.S_IROTH
PASSERS: Final = stat.S_IXGRP | stat.S_IXOTH


class Exposed(Exception):
    """Something of the broker's is within the reach of others; the text says what, and what to
    do."""


def own_folder(folder: Path) -> Path:
    """The broker's folder, made where there is none; `Exposed` where anybody else can get at it."""
    if not folder.is_absolute():
        raise Exposed(f"the state folder `{folder}` is not an absolute path: give one")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    real = folder.resolve()
    found = real.stat()
    if not stat.S_ISDIR(found.st_mode):
        raise Exposed(
            f"`{real}` is not a folder: give the folder in which the broker keeps its state"
        )
    if found.st_uid != os.geteuid():
        raise Exposed(
            f"`{real}` belongs to user {found.st_uid}: `chown` it to user {os.geteuid()}, who runs "
            f"the broker"
        )
    if found.st_mode & OTHERS:
        raise Exposed(
            f"`{real}` is open to others: `chmod 700 {real}`, and check whether anybody has "
            f"changed it"
        )
    _unmovable(real)
    return real


def own_file(file: Path) -> None:
    """Raise `Exposed` where anybody else can read, change or replace a file of the broker's."""
    real = file.resolve()
    found = real.stat()
    _belongs(real, found.st_uid)
    _unmovable(real)
    if found.st_mode & WRITERS and _is_reachable(real):
        raise Exposed(
            f"`{real}` can be changed by others: `chmod 600 {real}`, and check whether anybody has "
            f"changed it"
        )
    if found.st_mode & READERS and _is_reachable(real):
        raise Exposed(
            f"`{real}` can be read by others: `chmod 600 {real}`, or keep it in the broker's own "
            f"folder"
        )


def _unmovable(path: Path) -> None:
    """Whoever can write to a folder above can put something else in its place, unless the folder is
    sticky."""
    for folder in path.parents:
        found = folder.stat()
        _belongs(folder, found.st_uid)
        if found.st_mode & WRITERS and not found.st_mode & stat.S_ISVTX:
            raise Exposed(
                f"`{folder}` can be changed by others, and `{path}` is in it: `chmod go-w {folder}`"
            )


def _belongs(path: Path, uid: int) -> None:
    if uid not in (0, os.geteuid()):
        raise Exposed(
            f"`{path}` belongs to user {uid}: it has to be root's, or that of user {os.geteuid()}"
        )


def _is_reachable(path: Path) -> bool:
    """Whether anybody else gets as far as the file: one closed folder above is enough to keep them
    out."""
    return all(folder.stat().st_mode & PASSERS for folder in path.parents)


BACKLOG: Final = 128
LOCK_FILE: Final = "broker.lock"


class Taken(Exception):
    """The socket or the state folder is somebody else's; the text says what to do."""


def locked(folder: Path) -> Any:
    """Take a state folder for this process, until the file is closed; `Taken` where another broker
    has it."""
    import fcntl

    file = open(os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600), "wb")  # noqa: SIM115 - held until the end
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise Taken(
            f"another broker keeps its state in `{folder}`: stop it, or give `--state` another "
            f"folder"
        ) from None
    return file


def listening(path: Path) -> socket.socket:
    """Listen at a path. Everybody may connect: who is answered is decided by who it is."""
    if not path.is_absolute():
        raise Taken(f"the socket `{path}` is not an absolute path: give one")
    with _alone(path):
        _replaceable(path)
        return _put(path)


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Look who listens, and listen, while no other broker does: both would find nobody, and one
    would not be heard."""
    import fcntl

    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        lock = os.open(path.with_name(f".{path.name}.lock"), flags, 0o600)
    except OSError as error:
        raise Taken(f"cannot listen at `{path}`: {error.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _put(path: Path) -> socket.socket:
    new = path.with_name(f".{path.name}.{os.getpid()}")
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        new.unlink(missing_ok=True)
        sock.bind(str(new))
        new.chmod(0o666)
        sock.listen(BACKLOG)
        # Whoever looks finds the old socket or the new one, which already listens.
        new.rename(path)
    except OSError as error:
        sock.close()
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
        raise Taken(f"cannot listen at `{path}`: {error.strerror or error}") from None
    return sock


def removed(path: Path, sock: socket.socket, inode: int) -> None:
    """Stop listening; the socket file goes where it is still this one."""
    with contextlib.suppress(OSError):
        if path.lstat().st_ino == inode:
            path.unlink()
    sock.close()


def _replaceable(path: Path) -> None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise Taken(f"cannot listen at `{path}`: {error.strerror or error}") from None
    if not stat.S_ISSOCK(found.st_mode):
        raise Taken(
            f"`{path}` exists and is not a socket: remove it, or give `--socket` another path"
        )
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(5.0)
        try:
            probe.connect(str(path))
        except OSError as error:
            if error.errno == errno.ECONNREFUSED:
                return
            raise Taken(f"cannot tell who listens at `{path}`: {error.strerror or error}") from None
    raise Taken(f"a broker already listens at `{path}`: stop it first")
