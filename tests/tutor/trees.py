"""Random trees of files, commands that look at them, claims about them, and whether a claim is
true."""

from __future__ import annotations

import os
import shlex
import subprocess
from hashlib import sha256
from pathlib import Path
from random import Random

from stanchion.readings.claims.claim import Claim, Predicate
from stanchion.tutor.law.v2 import Outcome

FILES = ("a", "b.txt", "c d", "-e", "é", "sub/a", "sub/b.txt", "x'y")
NAMES = (
    *FILES,
    "sub",
    "./a",
    "sub//a",
    "sub/./a",
    "nope",
    "a/",
    "link",
    "sub/",
    "sub/.",
    "sub/../a",
)
TEXTS = (
    "",
    "a\n",
    "one\ntwo\n",
    "two",
    "x" * 50,
    "a b\nc",
    "über\n",
    "\n\n",
    "a.b\n",
    "--\n",
    "caf\u00e9",
)
WORDS = ("a", "one", "two", "x", "a.b", "b", "--", "ü", "one\ntwo", "-e", " ", "zzz")
ENVIRONMENT = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C"}


def grow(root: Path, rng: Random) -> None:
    """A few files, folders and links."""
    (root / "sub").mkdir()
    for name in FILES:
        if rng.random() < 0.7:
            (root / name).write_bytes(
                rng.choice(TEXTS).encode() if rng.random() < 0.9 else b"\xff\x00a\n"
            )
    if rng.random() < 0.5:
        (root / "link").symlink_to(rng.choice(("a", "sub", "nowhere", "../a")))


def command(rng: Random) -> tuple[str, ...]:
    """A command that looks at something, in one of many ways; some look at nothing."""
    path, word = rng.choice(NAMES), rng.choice(WORDS)
    flag = rng.choice(("-e", "-f", "-d", "-s", "-r", "-w", "-x", "-z", "-L"))
    ways: tuple[tuple[str, ...], ...] = (
        ("test", flag, path),
        ("test", "!", flag, path),
        ("[", flag, path, "]"),
        ("test", flag, path, "-o", "-e", "a"),
        ("wc", rng.choice(("-l", "-c", "-w", "-lc")), path),
        ("wc", "-l", "--", path),
        ("wc", "-l", path, rng.choice(NAMES)),
        (
            "grep",
            rng.choice(("-F", "-Fq", "-q", "-n", "-c", "-v", "-i", "-Fx", "-w", "-L")),
            word,
            path,
        ),
        ("grep", "-F", "--", word, path),
        ("grep", "-F", "-e", word, path),
        ("grep", word, path, rng.choice(NAMES)),
        ("cat", path),
        ("cat", "--", path),
        ("cat", "-n", path),
        ("head", "-n", rng.choice(("1", "2")), path),
        ("tail", "-c", "3", path),
        ("sha256sum", path),
        ("echo", f"test -f {path}"),
        ("echo", "7", path),
        ("true",),
        ("false",),
        ("sh", "-c", f"test -f {shlex.quote(path)} || true"),
    )
    return rng.choice(ways)


def claim(rng: Random, ran: list[tuple[str, ...]]) -> Claim:
    """A claim about something."""
    kind = rng.choice([one for one in Predicate if one is not Predicate.VERSION])
    polarity = rng.random() < 0.6
    path = rng.choice(NAMES)
    match kind:
        case Predicate.LINES | Predicate.BYTES:
            return Claim(kind, path, rng.choice((0, 1, 2, 3, 4, 7, 8, 50)), polarity)
        case Predicate.CONTAINS:
            return Claim(kind, path, rng.choice(WORDS), polarity)
        case Predicate.DIGEST:
            return Claim(kind, path, sha256(rng.choice(TEXTS).encode()).hexdigest(), polarity)
        case Predicate.SUCCEEDED:
            return Claim(kind, shlex.join(rng.choice(ran)), polarity=polarity)
        case _:
            return Claim(kind, path, polarity=polarity)


def holds(root: Path, one: Claim, ended: dict[str, int]) -> bool:
    """Whether what a claim names is so, as the file system has it."""
    path = os.path.join(root, one.subject)
    match one.predicate:
        case Predicate.EXISTS:
            return os.path.exists(path)
        case Predicate.FILE:
            return os.path.isfile(path)
        case Predicate.DIRECTORY:
            return os.path.isdir(path)
        case Predicate.NONEMPTY:
            return os.path.exists(path) and os.stat(path).st_size > 0
        case Predicate.READABLE:
            return os.access(path, os.R_OK)
        case Predicate.WRITABLE:
            return os.access(path, os.W_OK)
        case Predicate.EXECUTABLE:
            return os.access(path, os.X_OK)
        case Predicate.SUCCEEDED:
            return ended[one.subject] == 0
        case _:
            return os.path.isfile(path) and _read(Path(path).read_bytes(), one)


def _read(data: bytes, one: Claim) -> bool:
    match one.predicate:
        case Predicate.LINES:
            return data.count(b"\n") == one.value
        case Predicate.BYTES:
            return len(data) == one.value
        case Predicate.CONTAINS:
            return str(one.value).encode() in data
        case _:
            return sha256(data).hexdigest() == one.value


class Looks:
    """Runs commands in a folder, for real; none of those that are drawn changes anything."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.ended: dict[str, int] = {}

    def refused(self, argv: tuple[str, ...], write: bool) -> str:
        """Nothing is."""
        return ""

    def run(self, argv: tuple[str, ...], write: bool) -> Outcome:
        """Run it."""
        done = subprocess.run(
            argv, cwd=self._root, env=ENVIRONMENT, capture_output=True, check=False
        )
        self.ended[shlex.join(argv)] = done.returncode
        return Outcome(
            True,
            done.returncode,
            done.stdout.decode("utf-8", "replace"),
            done.stderr.decode("utf-8", "replace"),
        )
