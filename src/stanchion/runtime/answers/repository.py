"""The repository's answer: what git knows of a folder on this host, read without changing anything
in it.

Git is started with none of the caller's `GIT_` variables, and without hooks, pagers, file system
monitors and filters: what a repository's own settings name does not run. What git cannot say in
time is `None`.
"""

from __future__ import annotations

import os
import subprocess
import time
from typing import Any, Final

WAITED_S: Final = 1.5
"""How long all questions of a call may take together."""
LONGEST: Final = 4_000_000
"""How many bytes of an answer are read."""
MOST_COMMITS: Final = 2_000
"""Of how many commits it is looked whose they are."""
SAFE: Final = (
    "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.pager=cat",
    "-c", "core.untrackedCache=false", "-c", "log.showSignature=false", "--no-pager",
)  # fmt: skip
LISTED: Final = {
    "changed": ("--untracked-files=no",),
    "untracked": ("--untracked-files=normal",),
    "ignored": ("--untracked-files=normal", "--ignored=traditional"),
    "tree": ("--untracked-files=normal", "--ignored=traditional"),
}
COUNTED: Final = {"changed": "12u", "untracked": "?", "ignored": "?!", "tree": "12u?!"}
"""Which lines of a status are work that would be lost, by what is asked."""


class NoAnswer(Exception):
    """Git does not say, or not in time."""


def states(asked: Any) -> dict[str, list[dict[str, Any] | None]]:
    """What each question's repository says, in order."""
    until = time.monotonic() + WAITED_S
    return {"repositories": [_state(asked.base, one, until) for one in asked.questions]}


def _state(base: str, question: Any, until: float) -> dict[str, Any] | None:
    try:
        git = Git(_place(base, question.folder), until)
        return (
            _push(git, *question.about)
            if question.kind == "pushed"
            else _work(git, question.kind, question.about)
        )
    except (NoAnswer, OSError, subprocess.SubprocessError, ValueError):
        return None


def _place(base: str, folder: str) -> str:
    """A folder as it is seen from another; this process's own counts where neither says one, and
    may be gone otherwise."""
    there = os.path.join(os.path.expanduser(base), os.path.expanduser(folder))
    return there if there else os.curdir


class Git:
    """Git in one folder, until a time is over."""

    def __init__(self, folder: str, until: float) -> None:
        self._folder, self._until = folder, until
        self._env = {
            name: value for name, value in os.environ.items() if not name.startswith("GIT_")
        }
        self._env |= {
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "LC_ALL": "C",
        }
        self._unfiltered = self._without_filters()

    def lines(self, *words: str, parted: str = "\0", none: bool = False) -> list[str]:
        """What git prints for some words; where it has `none` to print, it may say so by
        failing."""
        found = self._run(*SAFE, *self._unfiltered, *words)
        if found.returncode and not (none and found.returncode == 1):
            raise NoAnswer(words[0])
        if len(found.stdout) > LONGEST:
            raise NoAnswer(words[0])
        return [
            line for line in found.stdout.decode("utf-8", "surrogateescape").split(parted) if line
        ]

    def _without_filters(self) -> list[str]:
        """Settings that keep the filters a repository names from running."""
        found = self._run(*SAFE, "config", "--null", "--name-only", "--get-regexp", r"^filter\.")
        if found.returncode not in (0, 1):
            raise NoAnswer("config")
        names = {
            name.rpartition(".")[0]
            for name in found.stdout.decode("utf-8", "replace").split("\0")
            if name
        }
        if any("=" in name or "\n" in name for name in names):
            raise NoAnswer("filters")
        pairs = [
            (name, key)
            for name in sorted(names)
            for key in ("clean=", "smudge=", "process=", "required=false")
        ]
        return [word for name, key in pairs for word in ("-c", f"{name}.{key}")]

    def _run(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        left = self._until - time.monotonic()
        if left <= 0:
            raise NoAnswer("time")
        return subprocess.run(
            ["git", *words],
            cwd=self._folder,
            env=self._env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=left,
            check=False,
        )


def _work(git: Git, kind: str, paths: tuple[str, ...]) -> dict[str, Any]:
    """How many files have work that is in no commit."""
    status = git.lines(
        "status",
        "--porcelain=v2",
        "--branch",
        "-z",
        "--ignore-submodules=dirty",
        *LISTED[kind],
        "--",
        *paths,
    )
    lost = 0
    renamed = False
    for line in status:
        if renamed:
            renamed = False
            continue
        renamed = line[0] == "2"
        lost += line[0] in COUNTED[kind]
    return {"lost": lost}


def _push(git: Git, remote: str, ref: str) -> dict[str, Any]:
    """The branch that is pushed to, the remote's own one, and how many of the commits it would lose
    are of others."""
    if ref == "HEAD" or not remote:
        status = git.lines("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=no")
        upstream = next(
            (
                line.removeprefix("# branch.upstream ")
                for line in status
                if "# branch.upstream " in line
            ),
            "",
        )
        named, _, branch = upstream.partition("/")
        remote = remote if remote else named
        ref = branch if ref == "HEAD" else ref
        if not branch:
            raise NoAnswer("upstream")
    whole = f"refs/remotes/{remote}/{ref}"
    default = git.lines(
        "symbolic-ref", "--quiet", "--short", f"refs/remotes/{remote}/HEAD", parted="\n", none=True
    )
    own = git.lines("config", "--null", "user.email")
    authors = git.lines(
        "log", "-z", "--format=%ae", f"--max-count={MOST_COMMITS}", whole, "--not", "HEAD", "--"
    )
    others = (
        len(authors)
        if len(authors) >= MOST_COMMITS
        else sum([author != own[0] for author in authors])
    )
    return {
        "branch": ref,
        "default": default[0].removeprefix(f"{remote}/") if default else "",
        "others": others,
    }


def checked_out(asked: Any) -> dict[str, list[dict[str, str] | None]]:
    """The branch that is checked out in each folder, and the one that it follows at its remote."""
    until = time.monotonic() + WAITED_S
    return {"branches": [_checked_out(asked.base, folder, until) for folder in asked.folders]}


def _checked_out(base: str, folder: str, until: float) -> dict[str, str] | None:
    try:
        git = Git(_place(base, folder), until)
        heads = git.lines("symbolic-ref", "--quiet", "--short", "HEAD", parted="\n", none=True)
        merge = (
            git.lines("config", "--null", f"branch.{heads[0]}.merge", none=True) if heads else []
        )
    except (NoAnswer, OSError, subprocess.SubprocessError, ValueError):
        return None
    upstream = merge[0].removeprefix("refs/heads/") if merge else ""
    return {"branch": heads[0] if heads else "", "upstream": upstream}
