"""The spool: deliveries on disk until they are made, so that they outlive the process that was to
make them.

Each process has a folder of its own, which it holds locked: the system lets go of the lock however
the process ends, and the next process takes over what it finds in a folder that nobody holds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from stanchion import typed
from stanchion.locks import Lock
from stanchion.locks.files import attempt, is_held
from stanchion.locks.forks import tell_of_forks

LOCK: Final = "lock"
OWN: Final = "own-"
NEW: Final = "new-"
ENDING: Final = ".json"
LARGEST: Final = 256 * 1024
"""How many bytes of a delivery are read; none that was written is nearly as large."""


class Delivery(msgspec.Struct, frozen=True):
    """A message on its way: its id and text, when it was made and is due (milliseconds since 1970),
    how often it was tried, and what came of it last."""

    id: str
    body: str
    at: int
    due: int
    attempts: int = 0
    said: str = ""


class Spool:
    """The deliveries of this process to one destination. What cannot be written raises `OSError`.
    Safe between threads: one that closes a process leaves here what the one that sends has not
    looked at."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._own: Path | None = None
        self._lock = -1
        self._busy = Lock()
        tell_of_forks(self)

    def keep(self, one: Delivery) -> None:
        """Have a delivery on the disk, as it is now."""
        with self._busy:
            own = self._home()
            new = own / f".{one.id}"
            with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(msgspec.json.encode(one))
                file.flush()
                os.fsync(file.fileno())
            os.replace(new, own / f"{one.id}{ENDING}")
            _sync(own)

    def drop(self, delivery_id: str) -> None:
        """Forget a delivery."""
        with self._busy:
            if self._own is not None:
                (self._own / f"{delivery_id}{ENDING}").unlink(missing_ok=True)

    def adopt(self) -> list[Delivery]:
        """Take over what processes have left that are gone, oldest first."""
        found = []
        with self._busy:
            for left in _folders(self.folder):
                if left != self._own:
                    found += self._taken(left)
        return sorted(found, key=lambda one: one.at)

    def close(self) -> None:
        """Let go of the folder: what is left in it is for the next process."""
        with self._busy:
            own, self._own = self._own, None
            if own is not None:
                _remove(own)
            self.forget()

    __del__ = close

    def forked(self) -> None:
        """In the child of a fork: the folder is the parent's, whose threads may have been at it."""
        self._busy = Lock()
        self.forget()

    def forget(self) -> None:
        """Let go of the lock alone, which in the child of a fork is the parent's."""
        self._own = None
        lock, self._lock = self._lock, -1
        if lock >= 0:
            os.close(lock)

    def _home(self) -> Path:
        """This process's own folder. It is locked before it bears the name by which others find
        it."""
        if self._own is not None and self._own.is_dir():
            return self._own
        self.forget()
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = os.urandom(8).hex()
        made = self.folder / f"{NEW}{name}"
        made.mkdir(mode=0o700)
        lock = attempt(made / LOCK, create=True)
        if lock is None:
            raise OSError(f"`{made}` cannot be locked")
        own = self.folder / f"{OWN}{name}"
        os.rename(made, own)
        self._own, self._lock = own, lock
        return own

    def _taken(self, left: Path) -> list[Delivery]:
        """What is in a folder that nobody holds, moved to our own."""
        try:
            lock = attempt(left / LOCK)
        except OSError:
            return []
        if lock is None:
            return []
        try:
            if not _is(left / LOCK, lock):
                return []
            found, own = [], None
            for file in _files(left):
                one = read(file)
                if one is None:
                    file.unlink(missing_ok=True)
                    continue
                own = self._home() if own is None else own
                os.replace(file, own / file.name)
                found.append(one)
            _remove(left)
            return found
        finally:
            os.close(lock)


class WaitingDelivery(msgspec.Struct, frozen=True):
    """A delivery that waits, for which destination, and whether the process is there still that
    will make it."""

    destination: str
    delivery: Delivery
    is_held: bool


def waiting(root: Path) -> Iterator[WaitingDelivery]:
    """Everything that waits below a folder, destination by destination, oldest first."""
    for folder in sorted(_below(root)):
        found = []
        for own in _folders(folder):
            held = is_held(own / LOCK)
            found += [(one, held) for file in _files(own) if (one := read(file)) is not None]
        for one, held in sorted(found, key=lambda pair: pair[0].at):
            yield WaitingDelivery(folder.name, one, held)


def read(file: Path) -> Delivery | None:
    """A delivery from its file; `None` where it is none."""
    try:
        with file.open("rb") as reading:
            return typed.decode(reading.read(LARGEST), Delivery)
    except (OSError, msgspec.MsgspecError):
        return None


def _below(root: Path) -> list[Path]:
    try:
        return [each for each in root.iterdir() if each.is_dir() and not each.is_symlink()]
    except OSError:
        return []


def _folders(folder: Path) -> list[Path]:
    return sorted(each for each in _below(folder) if each.name.startswith(OWN))


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(each for each in folder.iterdir() if each.name.endswith(ENDING))
    except OSError:
        return []


def _is(path: Path, file: int) -> bool:
    """Whether a path still leads to an open file: somebody else may have taken the folder over just
    before."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(file))
    except OSError:
        return False


def _remove(own: Path) -> None:
    """Remove a folder in which nothing waits any more; whoever calls holds its lock."""
    with suppress(OSError):
        if not _files(own):
            for rest in own.iterdir():
                rest.unlink()
            own.rmdir()


def _sync(folder: Path) -> None:
    if os.name != "nt":
        file = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)
