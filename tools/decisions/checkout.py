"""Another checkout of the same repository, for as long as something is played by its code."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tools.decisions.kept import NotKept
from tools.decisions.place import ROOT
from tools.decisions.policies import ELSEWHERE, FOLDER


@contextmanager
def check_out(revision: str) -> Iterator[Path]:
    """The files of a revision, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="stanchion-checkout-") as folder:
        tree = Path(folder) / "tree"
        _git(
            "worktree",
            "add",
            "--detach",
            "--quiet",
            str(tree),
            f"{revision}^{{commit}}",
            about=revision,
        )
        try:
            yield tree
        finally:
            _git("worktree", "remove", "--force", str(tree), about=revision)


def played_at(revision: str, file: Path, options: Sequence[str]) -> None:
    """Have the decisions of a revision written to a file: its code under this tool and this
    environment, with its own copies of the packs where it has them, for it may not know the words
    of ours."""
    with check_out(revision) as tree:
        environ = {**os.environ, "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{ROOT}"}
        own = tree / FOLDER.relative_to(ROOT)
        environ |= {ELSEWHERE: str(own)} if own.is_dir() else {}
        command = [sys.executable, "-m", "tools.decisions", "write", str(file.absolute()), *options]
        subprocess.run(command, cwd=ROOT, env=environ, check=False)
    if not file.is_file():
        raise NotKept(
            f"the code of `{revision}` could not be played: see above; a later revision may be"
        )


def _git(*words: str, about: str) -> None:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotKept(f"`{about}` cannot be checked out: {done.stderr.strip()}")
