"""What programs outside run of the files of a project, which names are held free of it, and which
ways to a folder could be led elsewhere from inside."""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from stanchion.kernel.shown import StanchionError

GIT: Final = ".git"
RUNS_OUTSIDE: Final = (
    GIT, ".husky", ".claude", ".codex", ".mcp.json", ".vscode", ".envrc",
)  # fmt: skip
"""What programs outside run without being asked, when they work in the project: inside it is only
read, and where nothing is, nothing comes."""
MOST_FOLDERS: Final = 100_000
"""How many folders are looked through for repositories, at most."""
MOST_STEPS: Final = 4_096
HELD: Final = 0o555
"""The mode of a folder that holds a name. Nobody else makes an empty folder so."""
_REPOSITORY: Final = frozenset({"HEAD", "objects", "refs"})
"""What git takes for a repository, whatever it is called."""

SUBMODULE: Final = b"\0\0\xe0\0"
"""What is in an index of git that names a submodule: the mode of one."""
LISTED: Final = (
    "git", "-c", "safe.directory=*", "-c", "core.fsmonitor=false", "ls-files", "--stage", "-z",
)  # fmt: skip


class UnfitFolder(StanchionError):
    """A folder cannot stand inside, and why."""


def is_below(path: str, folder: str) -> bool:
    """Whether a path is a folder, or in it."""
    return f"{path}/".startswith(f"{folder.rstrip('/')}/")


def repositories(root: str, most: int = MOST_FOLDERS) -> Iterator[str]:
    """What git outside takes its settings from, anywhere in a folder: each `.git`, and each
    repository without one; raises `UnfitFolder` where there is too much to look through."""
    left = [root]
    while left:
        folder = left.pop()
        most -= 1
        if most < 0:
            raise UnfitFolder(
                f"`{root}` holds too many folders to find every repository in it: go to a smaller "
                "one, or name smaller ones as `root`"
            )
        with suppress(FileNotFoundError), _open(folder) as entries:
            found = {entry.name: entry for entry in entries}
            if found.keys() >= _REPOSITORY and folder != root:
                yield folder
                continue
            if GIT in found:
                yield found.pop(GIT).path
            left += [one.path for one in found.values() if one.is_dir(follow_symlinks=False)]


def unfilled(git: str) -> Iterator[str]:
    """Where git goes by what it has at a `.git`, and nothing is there yet: the places of submodules
    that are not checked out. A repository that is put there tells git outside what to run."""
    found = ""
    with suppress(OSError):
        if os.path.isfile(git) or SUBMODULE in Path(git, "index").read_bytes():
            found = subprocess.run(
                [*LISTED], cwd=os.path.dirname(git), capture_output=True, env={"PATH": os.defpath}
            ).stdout.decode(errors="surrogateescape")
    for line in found.split("\0"):
        mode, _, name = line.partition(" ")[0], *line.partition("\t")[1:]
        if mode == "160000":
            missing = os.path.join(os.path.dirname(git), name, GIT)
            while not os.path.lexists(os.path.dirname(missing)):
                missing = os.path.dirname(missing)
            if not os.path.lexists(missing) or _is_held(missing):
                yield missing


def _open(folder: str) -> os._ScandirIterator[str]:
    try:
        return os.scandir(folder)
    except PermissionError:
        if os.lstat(folder).st_uid == os.getuid():  # who is inside can open it again
            raise UnfitFolder(f"`{folder}` cannot be read: let its owner read it") from None
        raise FileNotFoundError(folder) from None


def link_on_way(path: str | Path, writable: Iterable[str]) -> str:
    """The link on the way to a path that lies in a folder which is written inside: whoever has been
    inside could have made it. Empty where there is none."""
    folders, here = list(writable), "/"
    left = [*reversed((Path.cwd() / path).parts)]
    for _ in range(MOST_STEPS):
        if not left:
            return ""
        step = os.path.normpath(os.path.join(here, left.pop()))
        if not os.path.islink(step):
            here = step
        elif any(is_below(step, one) for one in folders):
            return step
        else:
            left += reversed(Path(os.readlink(step)).parts)
    return str(path)


class HeldNames:
    """Names at which nothing may be put: an empty folder stands at each from `hold` to `let_go`.
    Runs side by side share it, and the last one takes it away."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = [path for path in paths if not os.path.lexists(path) or _is_held(path)]
        self._open: list[tuple[int, str]] = []

    def hold(self) -> None:
        """Have nothing but empty folders there; raises `UnfitFolder` where that cannot be."""
        for path in [] if self._open else self.paths:
            try:
                with suppress(FileExistsError):
                    os.mkdir(path)
                    os.chmod(path, HELD)
                file = os.open(path, os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
                self._open.append((file, path))
                fcntl.flock(file, fcntl.LOCK_SH)
            except OSError as error:
                if os.access(os.path.dirname(path), os.W_OK):
                    why = f"`{path}` cannot be held empty: {error.strerror}"
                    raise UnfitFolder(f"{why}: see what is there") from None

    def let_go(self) -> None:
        """Have nothing there again, unless another run needs it."""
        while self._open:
            file, path = self._open.pop()
            with suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_held(path):
                    os.rmdir(path)
            os.close(file)


def _is_held(path: str) -> bool:
    try:
        return os.lstat(path).st_mode & 0o777 == HELD and not os.listdir(path)
    except OSError:
        return False
