"""Commands: how one is recognised among those that test, lint or hand work on, behind what starts it."""

from __future__ import annotations

from collections.abc import Iterable

from stanchion.guards.evidence.tables import ANYWHERE, INERT, PYTHONS, RUNNERS, VALUED
from stanchion.kernel.names import glob, is_glob


def program(argv: tuple[str, ...]) -> str:
    """The program of a command, without its folder."""
    name = argv[0].rpartition("/")[2].rpartition("\\")[2].lower()
    for end in (".exe", ".cmd", ".bat"):
        name = name.removesuffix(end)
    return name


def unwrapped(argv: tuple[str, ...]) -> tuple[str, ...]:
    """A command without what only starts it: `uv run python -m pytest -q` is `pytest -q`."""
    for _ in range(6):
        if not argv:
            break
        name = program(argv)
        if name.startswith("py") and any(glob(pattern, name) for pattern in PYTHONS):
            inner = _module(argv)
        elif name in RUNNERS:
            inner = _started(argv, RUNNERS[name])
        else:
            return (name, *argv[1:])
        if inner is None:
            return (name, *argv[1:])
        argv = inner
    return argv


def _module(argv: tuple[str, ...]) -> tuple[str, ...] | None:
    """What Python is asked to run, where that is a module or a script that is known by its name."""
    at = _behind_options(argv, 1, stop="-m")
    if at < len(argv) and argv[at] == "-m":
        return argv[at + 1 :]
    if at < len(argv) and program(argv[at:]) in ("manage.py", "setup.py"):
        return argv[at:]
    return None


def _started(argv: tuple[str, ...], words: tuple[str, ...]) -> tuple[str, ...] | None:
    at = _behind_options(argv, 1)
    if words:
        if at >= len(argv) or argv[at] not in words:
            return None
        at = _behind_options(argv, at + 1, stop="-m")
        if at < len(argv) and argv[at] == "-m":
            at += 1
    return argv[at:] if at < len(argv) else None


def _behind_options(argv: tuple[str, ...], at: int, stop: str = "") -> int:
    while at < len(argv) and argv[at].startswith(("-", "+")) and argv[at] != stop:
        at += 2 if argv[at] in VALUED else 1
    return at


class Catalogue:
    """Commands by their programs: a program, and words behind it that a command has to have in this order."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._exact: dict[str, list[list[str]]] = {}
        self._globs: list[tuple[str, list[str]]] = []
        for pattern in patterns:
            name, *words = pattern.split()
            if is_glob(name):
                self._globs.append((name, words))
            else:
                self._exact.setdefault(name, []).append(words)

    def has(self, argv: tuple[str, ...]) -> bool:
        """Whether a command, without what starts it, is one of these."""
        if not argv or not INERT.isdisjoint(argv):
            return False
        wanted = [*self._exact.get(argv[0], ()), *[words for name, words in self._globs if glob(name, argv[0])]]
        return any(_behind(words, argv) for words in wanted)


def _behind(wanted: list[str], argv: tuple[str, ...]) -> bool:
    options = [word for word in wanted if word.startswith("-")]
    if not all(any(glob(option, word) for word in argv[1:]) for option in options):
        return False
    words = [word for word in wanted if not word.startswith("-")]
    operands = list(_operands(argv))
    if argv[0] in ANYWHERE:
        return all(any(glob(word, given) for given in operands) for word in words)
    return len(operands) >= len(words) and all(map(glob, words, operands))


def _operands(argv: tuple[str, ...]) -> Iterable[str]:
    skip = False
    anywhere = argv[0] in ANYWHERE
    for word in argv[1:]:
        if skip and not anywhere:
            skip = False
        elif word.startswith(("-", "+")):
            skip = word in VALUED
        else:
            yield word
