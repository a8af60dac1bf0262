"""Commands: how one is recognised among those that test, lint or hand work on, behind what starts
it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from stanchion.guards.evidence import tables
from stanchion.guards.evidence.files import SCRATCH
from stanchion.guards.evidence.options import leaves_a_run
from stanchion.guards.evidence.tables import ANYWHERE, PYTHONS, RUNNERS, VALUED
from stanchion.kernel.names import glob, is_glob
from stanchion.readings.word_lists import Strings

DEEPEST: Final = 6
"""How many commands may start each other."""
KEPT: Final = 64
"""How many commands are kept as they were read: several guards ask about each."""
_PROGRAMS: Final = (
    frozenset([pattern.split()[0] for pattern in (*tables.TESTS, *tables.LINTS)]) | RUNNERS.keys()
)


def program(argv: Strings) -> str:
    """The program of a command, without its folder."""
    name = argv[0].rpartition("/")[2].rpartition("\\")[2].lower()
    for end in (".exe", ".cmd", ".bat"):
        name = name.removesuffix(end)
    return name


@lru_cache(KEPT)
def unwrapped(argv: Strings) -> Strings:
    """A command without what only starts it: `uv run python -m pytest -q` is `pytest -q`."""
    for _ in range(DEEPEST):
        inner = _inner(argv) if argv else ()
        if inner is None:
            return (program(argv), *argv[1:])
        argv = inner
    return argv


@lru_cache(KEPT)
def surely_runs(argv: Strings) -> Strings | None:
    """The same where the command is sure to run: nothing on the way keeps it from that, it does
    what it is for, and it is where programs of its name are. `None` where that is not so."""
    for _ in range(DEEPEST):
        if not argv or not _is_in_place(argv[0]):
            return None
        name, inner = program(argv), _inner(argv)
        if inner is None:
            return None if _is_inert(name, argv[1:]) else (name, *argv[1:])
        own = argv[1 : len(argv) - len(inner)]
        if not (_starts_module(own) if _is_python(name) else _starts(name, own)):
            return None
        argv = inner
    return None


def _inner(argv: Strings) -> Strings | None:
    """What a command starts; `None` where it starts nothing that is known."""
    name = program(argv)
    if _is_python(name):
        return _module(argv)
    if name in tables.INTERPRETERS:
        return _script(argv, _behind_options(argv, 1))
    return _started(argv, RUNNERS[name]) if name in RUNNERS else None


def _is_python(name: str) -> bool:
    return name.startswith("py") and any(glob(pattern, name) for pattern in PYTHONS)


def is_own(name: str) -> bool:
    """Whether a program of this name stands among the files of a project."""
    return name in tables.OWN or tables.SCRIPTS.fullmatch(name) is not None


def _is_in_place(word: str) -> bool:
    """Whether a program that is written with its folder is where programs of that name are: those
    of a project's own anywhere in it, others where programs are installed."""
    path = word.replace("\\", "/")
    folder, _, name = path.rpartition("/")
    if not folder:
        return "/" not in path
    if is_own(name):
        return not path.startswith(SCRATCH)
    known = name in _PROGRAMS or _is_python(name)
    return not known or _is_installed(f"{folder}/")


def _is_installed(folder: str) -> bool:
    """Whether programs are installed in a folder: of the system, of an environment, or of the
    project itself."""
    if folder in tables.SYSTEM or folder.removeprefix("./") in tables.PROJECT:
        return True
    return f"/{folder}".endswith(tables.INSTALLED) and not folder.startswith(SCRATCH)


def _starts(name: str, own: Strings) -> bool:
    """Whether these words of a program that starts others still have it start the command behind
    them."""
    return not _is_inert(name, own) and tables.STOPPING.isdisjoint(own) and leaves_a_run(name, own)


def _starts_module(own: Strings) -> bool:
    """Whether these words of Python's own still have it run the module or script behind them."""
    words = iter(own[:-1] if own[-1:] == ("-m",) else own)
    for word in words:
        if word == "-X":
            if next(words, "") not in tables.PYTHON_MODES:
                return False
        elif word in tables.PYTHON_VALUED:
            next(words, "")
        elif word not in tables.PYTHON_OPTIONS and not (
            word[:2] in tables.PYTHON_VALUED
            and (word[:2] != "-X" or word[2:] in tables.PYTHON_MODES)
        ):
            return False
    return True


def _is_inert(name: str, words: Strings) -> bool:
    """Whether words of a command keep it from what it is for, or have it end as if it had gone
    well."""
    letters = tables.CLUSTERED.get(name, frozenset())
    patterns = (*tables.INERT_WORDS, *tables.INERT_OF.get(name, ()))
    for word in words:
        if not word.startswith("-"):
            if "=" in word and name in tables.OVERRIDDEN:
                return True
        elif (
            word.lstrip("-").partition("=")[0].lower() in tables.INERT
            or (word[1:2] != "-" and not letters.isdisjoint(word))
            or any(glob(pattern, word) for pattern in patterns)
        ):
            return True
    return False


def _module(argv: Strings) -> Strings | None:
    """What Python is asked to run, where that is a module or a script that is known by its name."""
    at = _behind_options(argv, 1, stop="-m")
    if at < len(argv) and argv[at] == "-m":
        return argv[at + 1 :]
    return _script(argv, at)


def _script(argv: Strings, at: int) -> Strings | None:
    """What an interpreter is asked to run, where that is a project's own by its name."""
    at = _behind_options(argv, at + 1) if argv[at : at + 1] == ("run",) else at
    return argv[at:] if at < len(argv) and is_own(program(argv[at:])) else None


def _started(argv: Strings, words: Strings) -> Strings | None:
    at = _behind_options(argv, 1)
    if words:
        if at >= len(argv) or argv[at] not in words:
            return None
        at = _behind_options(argv, at + 1, stop="-m")
        if at < len(argv) and argv[at] == "-m":
            at += 1
    return argv[at:] if at < len(argv) else None


def _behind_options(argv: Strings, at: int, stop: str = "") -> int:
    while at < len(argv) and argv[at].startswith(("-", "+")) and argv[at] != stop:
        at += 2 if argv[at] in VALUED else 1
    return at


class Catalogue:
    """Commands by their programs: a program, and words behind it that a command has to have in this
    order; or a script by its name."""

    def __init__(self, patterns: Iterable[str], scripts: re.Pattern[str] | None = None) -> None:
        self._scripts = scripts
        self._exact: dict[str, list[list[str]]] = {}
        self._globs: list[tuple[str, list[str]]] = []
        for pattern in patterns:
            name, *words = pattern.split()
            if is_glob(name):
                self._globs.append((name, words))
            else:
                self._exact.setdefault(name, []).append(words)

    def has(self, argv: Strings) -> bool:
        """Whether a command, without what starts it, is one of these."""
        if not argv or not tables.ASKING.isdisjoint(argv):
            return False
        if self._scripts is not None and self._scripts.fullmatch(argv[0]):
            return True
        wanted = [
            *self._exact.get(argv[0], ()),
            *[words for name, words in self._globs if glob(name, argv[0])],
        ]
        return any(_behind(words, argv) for words in wanted)


def _behind(wanted: list[str], argv: Strings) -> bool:
    options = [word for word in wanted if word.startswith("-")]
    if not all(any(glob(option, word) for word in argv[1:]) for option in options):
        return False
    words = [word for word in wanted if not word.startswith("-")]
    operands = list(_operands(argv))
    if argv[0] in ANYWHERE:
        return all(any(glob(word, given) for given in operands) for word in words)
    return len(operands) >= len(words) and all(map(glob, words, operands))


def _operands(argv: Strings) -> Iterable[str]:
    skip = False
    anywhere = argv[0] in ANYWHERE
    for word in argv[1:]:
        if skip and not anywhere:
            skip = False
        elif word.startswith(("-", "+")):
            skip = word in VALUED
        else:
            yield word
