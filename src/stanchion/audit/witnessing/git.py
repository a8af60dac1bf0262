"""A witness in a Git repository: each line is a commit on a branch, whose keeper takes no other
past."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from stanchion.audit.verifying.rewritable import why_rewritable
from stanchion.audit.verifying.witness import Witness, read_witness
from stanchion.audit.witnessing.place import (
    OTHERS,
    BadPlace,
    Unreachable,
    WitnessEntry,
    WrittenLine,
    following,
    shown,
)
from stanchion.kernel.regex import regex

BRANCH: Final = "witness"
FILE: Final = "heads.jsonl"
TIMEOUT_S: Final = 60.0
WHOLE_S: Final = 900.0
"""How long it may take to bring a whole branch here."""
NOBODY: Final = {
    f"GIT_{who}_{what}": said
    for who in ("AUTHOR", "COMMITTER")
    for what, said in (("NAME", "stanchion"), ("EMAIL", "stanchion@localhost"))
}
"""Who commits: what a repository's owner needs to know is in the line itself."""

_BRANCH: Final = regex(r"[A-Za-z0-9_][A-Za-z0-9_-]*(?:[./][A-Za-z0-9_-]+)*")
_MOVED: Final = ("fetch first", "non-fast-forward", "shallow update not allowed")
"""How Git says that a branch is not where it was: it went on, was put back, or is gone."""
_INSIDE: Final = ("HEAD", "config", "packed-refs", "hooks", "objects", "refs")


class GitPlace:
    """Commits to a branch of a repository, and pushes; nothing is ever forced."""

    def __init__(self, url: str, branch: str = BRANCH) -> None:
        if not _BRANCH.fullmatch(branch):
            raise BadPlace(
                f"`{branch}` is not a branch name: write letters, digits, `-`, `_`, and `/` or `.` "
                f"inside"
            )
        self._url, self._branch = url, branch
        self.name = f"{'git:' if url.startswith('/') else 'git+'}{shown(url)}#{branch}"
        self._folder: TemporaryDirectory[str] | None = None
        self._tip = ""
        self._newest = b""

    def append(self, entry: WitnessEntry) -> WrittenLine:
        """Commit a line and push it. What others pushed meanwhile is told, and never pushed
        over."""
        first = self._folder is None
        if first:
            self._fetch("--depth=1")
        written = self._pushed(entry, self._newest)
        if written is not None:
            return written
        mine = "" if first else self._tip
        self._fetch()
        behind = bool(mine) and not self._holds(mine)
        again = following(entry, self._newest, lambda _: not behind)
        again = again._replace(note=f"a push was refused: {again.note if again.note else OTHERS}")
        retried = self._pushed(entry, self._newest, again)
        if retried is None:
            raise Unreachable(
                f"`{self.name}` refused the push twice: others push there, too; look at its log"
            )
        return retried

    def why_copy(self, uid: int | None) -> str:
        """Why a user could rewrite it: a repository on this machine is files, and of another its
        keeper has to say."""
        if not self._url.startswith("/"):
            return ""
        top = Path(self._url)
        top = top / ".git" if (top / ".git").is_dir() else top
        places = [
            top,
            *(top / name for name in _INSIDE if (top / name).exists()),
            *(top / "refs").rglob("*"),
        ]
        return next(
            (f"`{place}`: {why}" for place in places if (why := why_rewritable(place, uid))), ""
        )

    def witness(self, uid: int | None) -> Witness:
        """All lines, fetched anew."""
        self.close()
        self._fetch()
        try:
            raw = b"" if not self._tip else self._lines()
        finally:
            self.close()
        found = read_witness(self.name, raw, self.why_copy(uid))
        if found.copy or self._url.startswith("/"):
            return found
        note = (
            f"the witness `{self.name}` proves the end only as long as its host refuses forced "
            f"pushes"
        )
        return found._replace(notes=(*found.notes, note))

    def close(self) -> None:
        """Remove what was fetched."""
        if self._folder is not None:
            self._folder.cleanup()
        self._folder, self._tip, self._newest = None, "", b""

    def _fetch(self, *how: str) -> None:
        """Bring the branch here; one that is not there yet is empty."""
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="stanchion-witness-")
            self._git("init", "--quiet", "--bare", ".")
        ref = f"refs/heads/{self._branch}"
        try:
            if not self._git("ls-remote", "--", self._url, ref):
                self._tip, self._newest = "", b""
                return
            fetch = ("fetch", "--quiet", "--no-tags", *how, "--", self._url, f"+{ref}:refs/kept")
            self._git(*fetch, timeout_s=TIMEOUT_S if how else WHOLE_S)
        except Unreachable:
            self.close()
            raise
        self._tip = self._git("rev-parse", "refs/kept").decode().strip()
        try:
            self._newest = self._git("cat-file", "blob", f"{self._tip}:{FILE}").rstrip(b"\n")
        except Unreachable:
            self._newest = b""

    def _holds(self, commit: str) -> bool:
        try:
            self._git("merge-base", "--is-ancestor", commit, self._tip)
        except Unreachable:
            return False
        return True

    def _pushed(
        self, entry: WitnessEntry, newest: bytes, given: WrittenLine | None = None
    ) -> WrittenLine | None:
        """Commit and push a line; None where the branch has moved meanwhile."""
        written = following(entry, newest, lambda _: True) if given is None else given
        blob = self._git("hash-object", "-w", "--stdin", feed=written.line + b"\n").decode().strip()
        tree = self._git("mktree", feed=f"100644 blob {blob}\t{FILE}\n".encode()).decode().strip()
        parent = ("-p", self._tip) if self._tip else ()
        said = f"heads that have changed: {len(entry.heads)}"
        commit = self._git("commit-tree", tree, *parent, "-m", said).decode().strip()
        try:
            self._git(
                "push",
                "--quiet",
                "--porcelain",
                "--",
                self._url,
                f"{commit}:refs/heads/{self._branch}",
            )
        except Unreachable as error:
            if any(words in str(error) for words in _MOVED):
                return None
            raise
        self._tip, self._newest = commit, written.line
        return written

    def _lines(self) -> bytes:
        commits = self._git(
            "rev-list", "--reverse", "--first-parent", self._tip, timeout_s=WHOLE_S
        ).split()
        asked = b"".join(b"%b:%b\n" % (one, FILE.encode()) for one in commits)
        found = self._git("cat-file", "--batch", feed=asked, timeout_s=WHOLE_S)
        lines, at = [], 0
        while at < len(found):
            end = found.index(b"\n", at)
            head, at = found[at:end], end + 1
            if not head.endswith(b" missing"):
                size = int(head.rpartition(b" ")[2])
                lines.append(found[at : at + size].rstrip(b"\n"))
                at += size + 1
        return b"\n".join(lines) + b"\n"

    def _git(self, *words: str, feed: bytes = b"", timeout_s: float = TIMEOUT_S) -> bytes:
        """Run Git in the folder, with nobody to ask for a password and no settings of the
        repository's."""
        assert self._folder is not None
        settings = (
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "gc.auto=0",
            "-c",
            "commit.gpgSign=false",
        )
        kept = {name: text for name, text in os.environ.items() if name not in _ASTRAY}
        environ = (
            kept
            | NOBODY
            | {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "file:ssh:https", "LC_ALL": "C"}
        )
        try:
            done = subprocess.run(
                ["git", *settings, *words],
                cwd=self._folder.name,
                env=environ,
                input=feed,
                capture_output=True,
                timeout=timeout_s,
                check=False,
                start_new_session=True,  # Ctrl-C is for the witness, which ends a push first
            )
        except FileNotFoundError:
            raise BadPlace("a witness in a Git repository needs `git`: install it") from None
        except subprocess.TimeoutExpired:
            raise Unreachable(f"`{self.name}` did not answer within {timeout_s:g} s") from None
        if done.returncode:
            said = " ".join((done.stdout + b" " + done.stderr).decode(errors="replace").split())
            raise Unreachable(f"`{self.name}` cannot be used: {shown(said)[:500]}")
        return done.stdout


_ASTRAY: Final = {
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
}
"""What would lead Git to another repository than the one it is run in."""
