"""What a run stands on: the machine, the repository, the files of the game and of the law, each by
a hash or a name."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from stanchion.runtime.answers.repository import Git, NoAnswer
from stanchion.tutor.bundles.canonical import PREFIX, digest
from stanchion.tutor.manifests.manifest import Environment, ManifestError, Repository

GIT_S: Final = 10.0
MOST_FILES: Final = 10_000
MOST_BYTES: Final = 1 << 30
BLOCK: Final = 1 << 20


def environment(began: float, ended: float) -> Environment:
    """When something ran, by the clock, and on what."""
    return Environment(
        timestamp_start=_time(began),
        timestamp_end=_time(ended),
        duration_seconds=round(max(0.0, ended - began), 3),
        python_version=platform.python_version(),
        platform=f"{platform.system().lower()}-{platform.machine()}",
        hostname=platform.node(),
    )


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def repository(folder: str | Path = ".") -> Repository:
    """What git says of a folder; where it says nothing, why."""
    try:
        git = Git(str(folder), time.monotonic() + GIT_S)
        commit = git.lines("rev-parse", "--verify", "HEAD", parted="\n")[0]
        branch = git.lines("symbolic-ref", "--quiet", "--short", "HEAD", parted="\n", none=True)
        changed = git.lines(
            "status",
            "--porcelain=v2",
            "-z",
            "--untracked-files=normal",
            "--ignore-submodules=dirty",
        )
        tags = git.lines("tag", "--points-at", "HEAD", parted="\n")
    except FileNotFoundError:
        return _no_git("git is not installed, or the folder is gone")
    except (NoAnswer, OSError, subprocess.SubprocessError, ValueError, IndexError):
        return _no_git("the folder is in no git repository that has a commit, or git does not say")
    return Repository(
        git_commit=commit,
        git_dirty=bool(changed),
        git_branch=_text(branch[0]) if branch else None,
        git_tags=tuple(_text(one) for one in tags),
    )


def _no_git(why: str) -> Repository:
    return Repository(git_commit=None, git_dirty=None, git_missing=why)


def _text(name: str) -> str:
    """A name that git may have in any bytes, as text."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@cache
def tutor_hash() -> str:
    """The hash of the Tutor's source: of every file of `stanchion.tutor`, by its name, but for
    those that play it. What runs does not change while it does."""
    here = Path(__file__).parent
    law = [one for one in sorted(here.parent.rglob("*.py")) if here not in one.parents]
    return _hash_of(here.parent, law)


def game_hash(
    game: Mapping[str, Any], rules: Sequence[Any], root: str | Path, apart: Iterable[Path] = ()
) -> str:
    """The hash of what is played: the game, its rules, and every plain file in its folder, by name
    and content.

    Links are not followed, and files `apart` do not count. Raises `ManifestError` for a folder that
    has too much.
    """
    left, folder = {one.resolve() for one in apart}, Path(root)
    files = _hash_of(folder, [one for one in sorted(_plain(folder)) if one.resolve() not in left])
    return digest({"game": game, "rules": rules, "files": files})


def _plain(folder: Path) -> Iterator[Path]:
    count = size = 0
    for above, _, names in os.walk(folder):
        for name in names:
            path = Path(above, name)
            if path.is_symlink() or not path.is_file():
                continue
            count, size = count + 1, size + path.stat().st_size
            if count > MOST_FILES or size > MOST_BYTES:
                most = f"{MOST_FILES:,} files or {MOST_BYTES >> 30} GiB"
                raise ManifestError(
                    f"benchmark.benchmark_files_hash: `{folder}` has more than {most}: play in a "
                    f"copy"
                )
            yield path


def _hash_of(folder: Path, files: Iterable[Path]) -> str:
    try:
        return digest({_text(str(one.relative_to(folder))): file_hash(one) for one in files})
    except OSError as error:
        raise ManifestError(
            f"benchmark.benchmark_files_hash: `{error.filename}`: {error.strerror}"
        ) from None


def file_hash(path: Path) -> str:
    """The SHA-256 of a file."""
    made = sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            made.update(block)
    return PREFIX + made.hexdigest()
