"""A sandbox: runs commands behind walls that stand, and refuses where one that is needed does
not."""

from __future__ import annotations

import errno
import json
import os
import selectors
import shutil
import time
from collections.abc import Iterable, Mapping
from enum import StrEnum
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar

import msgspec

from stanchion.kernel.shown import StanchionError
from stanchion.locks import Lock
from stanchion.runtime.sandbox.keepers import GRACE_S, KeeperProcess, Seen, memory_file, which
from stanchion.runtime.sandbox.limits import Limits

CHUNK: Final = 65_536


class OutputReading:
    """Reads what a command prints, each pipe up to a bound, until a deadline."""

    def __init__(self, pipes: list[int], most: tuple[int, ...], deadline: float) -> None:
        self._pipes, self._most, self._deadline = pipes, most, deadline
        self.got = [bytearray() for _ in pipes]
        self._selector = selectors.DefaultSelector()
        for place, pipe in enumerate(pipes):
            os.set_blocking(pipe, False)
            self._selector.register(pipe, selectors.EVENT_READ, place)

    def read(self) -> str:
        """Read to the end; says why it was not waited for."""
        while self._selector.get_map():
            left = self._deadline - time.monotonic()
            if left <= 0:
                return "time"
            for key, _ in self._selector.select(left):
                place: int = key.data
                came = os.read(key.fd, CHUNK)
                if not came:
                    self._selector.unregister(key.fd)
                    continue
                room = self._most[place] - len(self.got[place])
                self.got[place] += came[:room]
                if len(came) > room:
                    return "output"
        return ""

    def drain(self, until: float) -> None:
        """Wait until nobody holds the pipes any more, whatever comes out of them."""
        while self._selector.get_map() and (left := until - time.monotonic()) > 0:
            for key, _ in self._selector.select(left):
                if not os.read(key.fd, CHUNK):
                    self._selector.unregister(key.fd)

    def close(self) -> None:
        """Let go of the pipes."""
        self._selector.close()
        for pipe in self._pipes:
            os.close(pipe)


class Wall(StrEnum):
    """Something that a command cannot do."""

    FILES = "files"
    UNSEEN = "unseen"
    NETWORK = "network"
    IPC = "ipc"
    PROCESSES = "processes"
    LEFTOVERS = "leftovers"
    USER = "user"
    PRIVILEGES = "privileges"
    LIMITS = "limits"
    TMP = "tmp"
    CHILDREN = "children"
    LANDLOCK = "landlock"
    CALLS = "calls"


class WallKind(StrEnum):
    """What walls are made of; the strongest first."""

    NAMESPACES = "namespaces"
    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"


_BOTH: Final = frozenset(Wall) - {Wall.LANDLOCK}
HOLDS: Final = {
    WallKind.NAMESPACES: _BOTH,
    WallKind.BUBBLEWRAP: _BOTH,
    WallKind.LANDLOCK: frozenset(Wall) - {Wall.UNSEEN, Wall.USER, Wall.TMP},
}
"""What each kind holds wherever it stands; Landlock on kernels from 6.12. Namespaces may have
more."""
REQUIRED: Final = _BOTH
"""The walls without which nothing runs, unless whoever makes a sandbox says otherwise."""


SHOWN: Final = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/ld.so.cache",
    "/etc/alternatives",
)  # fmt: skip
"""What a command can read beside its own folder: programs and their libraries."""
ENVIRONMENT: Final = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LC_ALL": "C",
    "HOME": "/tmp",
    "TMPDIR": "/tmp",
}
NOBODY: Final = 65_534
"""Who commands of root run as, where no other user is named."""
LAST_USER: Final = (1 << 32) - 2
"""The number after it means to the kernel that nothing changes."""
WORDS_BYTES: Final = 6 << 20
"""More than this no kernel takes. Less may be too much for it, too: then it says so itself."""
Named = TypeVar("Named", Wall, WallKind)


class SandboxError(StanchionError, RuntimeError):
    """Walls that are needed cannot be built here, and what to do about it."""


class Confined(msgspec.Struct, frozen=True):
    """What came of a command. `ended` is false where it was stopped or not started, and then `why`
    says by what; `walls` are those that stood, of the `kind`."""

    ended: bool
    rc: int = -1
    stdout: bytes = b""
    stderr: bytes = b""
    why: str = ""
    walls: tuple[Wall, ...] = ()
    kind: WallKind | None = None


class Sandbox:
    """Runs commands in a folder: with nothing else to read but programs, nothing to write but what
    is granted, no network, no other processes, and within limits. Close it, or use it as a context
    manager.

    Commands never run as root. Whoever is root may name the `user` (a number) that they run as; it
    is 65534 otherwise. This user has to be able to read the folder, and to write it where a command
    may write. `required` are the walls without which nothing runs. A `kind` that is named has to
    stand with all walls that it holds, unless `required` says otherwise; without one, the strongest
    kind is taken that has what is required.
    """

    def __init__(
        self,
        root: str | Path,
        limits: Limits | None = None,
        env: Mapping[str, str] | None = None,
        shown: Iterable[str] = (),
        user: int | None = None,
        required: Iterable[str] | None = None,
        kind: str | None = None,
    ) -> None:
        self.root = Path(root).resolve()
        if not self.root.is_dir() or self.root == Path("/"):
            raise SandboxError(f"`{root}` is no folder that commands can be confined to")
        self.limits = Limits() if limits is None else limits
        self._env = {**ENVIRONMENT, **({} if env is None else env)}
        self._shown = [*SHOWN, *shown]
        self._user = _runs_as(user)
        self._kinds = list(WallKind) if kind is None else [_one_of(WallKind, kind, "kind of walls")]
        self._reasons: list[str] = []
        self._required = _required(kind, required)
        self._choosing, self._lock, self._ids = Lock(), Lock(), count(1)
        self._keeper: KeeperProcess | None = None

    def run(self, argv: Iterable[str], write: bool = False) -> Confined:
        """Run the words of a command; raises `SandboxError` where a wall cannot be built, and then
        nothing ran."""
        words = list(argv)
        if not words or not words[0] or any("\0" in word for word in words):
            raise ValueError("give the words of a command, none of them with a zero byte")
        with self._choosing:
            kind = self._chosen()
        if sum(len(os.fsencode(word)) + 1 for word in words) > WORDS_BYTES:
            return Confined(
                False, why=f"it cannot be started: {os.strerror(errno.E2BIG)}", kind=kind
            )
        try:
            return self._collected(kind, words, write)
        except SandboxError as error:
            raise SandboxError(
                f"nothing ran: {'; '.join([*self._reasons, f'{kind}: {error}'])}"
            ) from None

    def _chosen(self) -> WallKind:
        """The strongest kind that stands, tried with a command that does nothing. It is chosen
        once."""
        while len(self._kinds) > 1:
            try:
                self._collected(self._kinds[0], ["true"], False)
                self._kinds = self._kinds[:1]
            except SandboxError as error:
                self._reasons.append(f"{self._kinds.pop(0)}: {error}")
        return self._kinds[0]

    def _ground(self, kind: WallKind, base: str) -> dict[str, Any]:
        most = self.limits
        return {
            "kind": kind,
            "base": base,
            "root": str(self.root),
            "shown": self._shown,
            "env": self._env,
            "required": sorted(self._required),
            "tmp_bytes": most.tmp_mb << 20,
            "cores": most.cores,
            "children": most.children,
            "limits": {
                "RLIMIT_CPU": most.timeout_s * most.cores,
                "RLIMIT_AS": most.memory_mb << 20,
                "RLIMIT_NPROC": most.children + 2,
                "RLIMIT_FSIZE": most.file_mb << 20,
                "RLIMIT_NOFILE": 256,
                "RLIMIT_CORE": 0,
            },
            "bwrap": (shutil.which("bwrap", path=ENVIRONMENT["PATH"]) or "")
            if kind is WallKind.BUBBLEWRAP
            else "",
        }

    def _collected(self, kind: WallKind, words: list[str], write: bool) -> Confined:
        name = str(next(self._ids))
        pipes = [os.pipe() for _ in range(3)]
        given = [memory_file(b"\0".join(map(os.fsencode, words))), *(pipe[1] for pipe in pipes)]
        most = (self.limits.stdout_bytes, self.limits.stderr_bytes, CHUNK)
        reading = OutputReading(
            [pipe[0] for pipe in pipes], most, time.monotonic() + self.limits.timeout_s
        )
        why, keeper = "interrupt", None
        try:
            try:
                keeper = self._sent(kind, "write" if write else "read", name, given)
            finally:
                for one in given:
                    os.close(one)
            why = reading.read()
        finally:
            if why and keeper is not None:
                with self._lock:
                    keeper.end(name)
                reading.drain(time.monotonic() + GRACE_S)
            reading.close()
            if keeper is not None:
                self._done(keeper)
        return _told(reading, why, self.limits, kind)

    def _sent(self, kind: WallKind, verb: str, name: str, files: list[int]) -> KeeperProcess:
        """Hand a command to the keeper, or to a new one if that has died or was started for what is
        not there any more."""
        with self._lock:
            for _ in range(2):
                seen = (kind, *which([str(self.root), *self._shown]))
                if self._keeper is None or self._keeper.seen != seen or not self._keeper.alive:
                    self._retire()
                    self._keeper = self._kept(kind, seen)
                if self._keeper.ask(verb, name, files):
                    return self._keeper
        raise SandboxError("its keeper cannot be started")

    def _kept(self, kind: WallKind, seen: Seen) -> KeeperProcess:
        try:
            return KeeperProcess(seen, self._user, lambda base: self._ground(kind, base))
        except OSError as error:
            who = "" if self._user is None else f" as user {self._user}"
            raise SandboxError(f"its keeper cannot be started{who}: {error.strerror}") from None

    def _retire(self) -> None:
        """Let go of the keeper; one that still runs commands for others ends with the last of
        them."""
        if self._keeper is not None and not (self._keeper.running and self._keeper.alive):
            self._keeper.drop()
        self._keeper = None

    def _done(self, keeper: KeeperProcess) -> None:
        with self._lock:
            keeper.running -= 1
            if keeper is not self._keeper and not keeper.running:
                keeper.drop()

    def close(self) -> None:
        """End whatever runs, and the keeper."""
        with self._lock:
            if self._keeper is not None:
                self._keeper.drop()
            self._keeper = None

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _runs_as(user: int | None) -> int | None:
    """Who commands run as: never root. None is whoever this process is."""
    if os.getuid() != 0:
        if user is not None:
            raise SandboxError(
                "only root can have commands run as somebody else: leave `user` away"
            )
        return None
    if user is None:
        return NOBODY
    if not 1 <= user <= LAST_USER:
        raise SandboxError(
            f"commands do not run as user `{user}`: give a number from 1, or leave `user` away for "
            f"{NOBODY}"
        )
    return user


def _one_of(named: type[Named], value: str, what: str) -> Named:
    try:
        return named(value)
    except ValueError:
        raise ValueError(f"`{value}` is no {what}: there are {', '.join(sorted(named))}") from None


def _required(kind: str | None, required: Iterable[str] | None) -> frozenset[Wall]:
    if required is not None:
        return frozenset(_one_of(Wall, wall, "wall") for wall in required)
    return REQUIRED if kind is None else HOLDS[WallKind(kind)]


def _told(reading: OutputReading, why: str, limits: Limits, kind: WallKind) -> Confined:
    stdout, stderr, status = (bytes(one) for one in reading.got)
    if why == "time":
        return Confined(
            False, stdout=stdout, stderr=stderr, why=f"it took longer than {limits.timeout_s} s"
        )
    if why == "output":
        return Confined(False, stdout=stdout, stderr=stderr, why="it printed more than it may")
    try:
        told = json.loads(status)
    except ValueError:
        return Confined(False, stdout=stdout, stderr=stderr, why="it was killed, or the keeper was")
    if told.get("error") == "wall":
        own = stderr.decode("utf-8", "replace").strip().splitlines()
        raise SandboxError(f"{told['why']}{f' ({own[-1]})' if own else ''}")
    if told.get("error") == "program":
        return Confined(False, why=f"it cannot be started: {told['why']}", kind=kind)
    walls = tuple(sorted(Wall(wall) for wall in told["walls"]))
    return Confined(True, told["rc"], stdout, stderr, walls=walls, kind=kind)


class WallStanding(msgspec.Struct, frozen=True):
    """A kind of walls here: what holds and what does not, or why nothing of it stands."""

    kind: WallKind
    walls: tuple[Wall, ...] = ()
    missing: tuple[Wall, ...] = ()
    why: str = ""


def standing(user: int | None = None) -> tuple[WallStanding, ...]:
    """Every kind of walls, the strongest first, as it stands for this user or for another one."""
    with TemporaryDirectory(prefix="stanchion-walls-") as folder:
        os.chmod(folder, 0o755)  # the other user has to get in
        return tuple(_tried(kind, folder, user) for kind in WallKind)


def _tried(kind: WallKind, folder: str, user: int | None) -> WallStanding:
    with Sandbox(folder, user=user, kind=kind, required=()) as sandbox:
        try:
            came = sandbox.run(["true"])
        except SandboxError as error:
            return WallStanding(kind, missing=tuple(Wall), why=str(error).partition(f"{kind}: ")[2])
    if not came.ended:
        return WallStanding(kind, missing=tuple(Wall), why=came.why)
    return WallStanding(kind, came.walls, tuple(wall for wall in Wall if wall not in came.walls))
