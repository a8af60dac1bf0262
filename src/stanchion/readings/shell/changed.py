"""Changed files: what programs write and delete by words of their own, and by code that they are
given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.kernel.sizes import Limits
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.act import Use
from stanchion.readings.paths.variables import is_known
from stanchion.readings.shell.analysis import analysed
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.git_files import changed_by_git
from stanchion.readings.shell.inline import LANGUAGES, NO_FILES, codes_in
from stanchion.readings.shell.known import named, words_by_name
from stanchion.readings.shell.partly_known import Open
from stanchion.readings.word_lists import in_order, listed

KEPT: Final = 128
"""How many texts are remembered with what they change."""
MOST: Final = 64
"""How many files of one command are told."""

INTO: Final = words_by_name("into")
"""Options of a program by which it is told where to write."""
ANYWHERE: Final = listed(
    """
    --output --output-file --outfile --out-file --out --output-dir --output-directory --outdir
    --out-dir --dest --destination --dest-dir --target-dir --log-file --logfile --report-file
    --junitxml --save-to --export-to
    """
)
"""Options by which any program may be told so, with a value that is a file's name."""
SAME: Final = words_by_name("rewrites")
"""Programs that change the files that they are given: always, or where one of these words says
so."""
SHOWS: Final = listed(
    "--check --diff --dry-run -n --list-different -c --stdout --to-stdout -t --test -l --list "
    "--help"
)
"""Words with which such a program changes nothing."""
PACKS: Final = named("replaces")
"""Programs that put another file in the place of the one that they are given."""
LAST: Final = named("makes-last")
"""Programs whose last operand is the file that they make."""
RUNNERS: Final = named("starts")
STARTS: Final = frozenset({"run", "exec"})
"""Programs that start another one in a place of its own, and how they are told to."""
UNREAD: Final = named("unread")
INLINE: Final = listed("-e -E --eval --execute -eval -p")
"""Programs that run code of a language that nobody here reads, and how they are given it."""
OTHERS: Final = listed("format check lint fix eslint")

_SED: Final = regex(r"(?:^|[;{}\n])\s*(?:\d+|\$|/[^/\n]*/)?\s*w\s+([^\s;}]+)")
_SWAP: Final = regex(r"[gpiIMme\d]*w\s+(\S+)")
"""A file that a script of `sed` writes: by a command, and behind a swap."""
_NAMED: Final = regex(r"[^\s:=,]*(?:/[^\s:=,]*|[^\s:=,/]\.[A-Za-z]\w{0,9})")


class Changed(NamedTuple):
    """A file that a text changes, and the folder that it is seen from; without a path, what would
    change some file that nobody can tell."""

    path: str
    use: Use
    base: str
    by: str = ""


@lru_cache(KEPT)
def changed_in(text: str | tuple[str, ...], limits: Limits) -> tuple[Changed, ...]:
    """What the commands of a text change, beside what their redirections and their plain effects
    say."""
    read = analysed(text, limits)
    files = {path: held for path, held in read.wrote if not isinstance(held, Open)}
    return tuple([one for command in read.commands for one in changed_by(command, files)])


def changed_by(command: Command, files: Mapping[str, str] = NO_FILES) -> Iterator[Changed]:
    """What one command changes so, `files` being those that the text has written before."""
    if command.cwd == "container:":
        return
    for path in (*command.writes, *command.deletes):
        if path[:1] == "$" and path[:8] != "$(mktemp" and not is_known(path):
            yield Changed("", "write", command.cwd, command.words)
    if not command.argv:
        return
    if (
        command.name == "git"
        and isinstance(command.given, Open)
        and command.operands[:1] in (("apply",), ("am",))
    ):
        yield Changed("", "write", command.cwd, command.words)
    if command.name in UNREAD and not INLINE.isdisjoint(command.argv[1:]):
        yield Changed("", "write", command.cwd, command.words)
    if command.name in RUNNERS and not STARTS.isdisjoint(command.argv[1:3]):
        yield from _started(command, files)
    told: Callable[[Command], Iterator[tuple[str, Use]]] = (
        changed_by_git if command.name == "git" else _by_words
    )
    for count, (path, use) in enumerate(told(command)):
        if count >= MOST:
            break
        known = path[:1] != "$" or is_known(path)
        yield (
            Changed(path, use, command.cwd)
            if known and path
            else Changed("", use, command.cwd, command.words)
        )
    if command.name in LANGUAGES and not (command.name == "vim" and len(command.argv) < 3):
        yield from _by_code(command, files)


def _started(command: Command, files: Mapping[str, str]) -> Iterator[Changed]:
    """What a program changes that another one starts: `uv run python -c …`."""
    at = next(at for at, word in enumerate(command.argv) if word in STARTS) + 1
    while at < len(command.argv) and command.argv[at][:1] == "-":
        at += 1
    rest = command.argv[at:]
    if rest and rest[0] not in RUNNERS:
        yield from changed_by(Command(rest, cwd=command.cwd, given=command.given), files)


def _by_code(command: Command, files: Mapping[str, str]) -> Iterator[Changed]:
    """What code on a command line, from its input or in a file that the text has written, writes
    and deletes."""
    language = LANGUAGES[command.name]
    for code in codes_in(command.argv, command.given, language, files):
        if isinstance(code, Open):
            yield Changed("", "write", command.cwd, command.words)
            continue
        from stanchion.readings.programs.written import written_by  # few commands have code in them

        found = written_by(command.name, code)
        yield from [Changed(path, "write", command.cwd) for path in found.writes[:MOST]]
        yield from [Changed(path, "delete", command.cwd) for path in found.deletes[:MOST]]
        yield from [
            Changed("", "write", command.cwd, f"{command.name}: {name}")
            for name in found.unknown[:1]
        ]


def _by_words(command: Command) -> Iterator[tuple[str, Use]]:
    """What a program is told to write by its words."""
    name, argv = command.name, command.argv
    into = INTO.get(name, frozenset())
    for word, after in pairwise((*argv[1:], "")):
        option, equals, value = word.partition("=")
        if (word in into or (word[:2] == "--" and word.lower() in into)) and after:
            yield after, "write"
        elif (option in into and equals) or (
            option.lower() in ANYWHERE and equals and _NAMED.fullmatch(value)
        ):
            yield value, "write"
        elif word.lower() in ANYWHERE and _NAMED.fullmatch(after):
            yield after, "write"
        elif (
            word[:2] in into
            and len(word) > 2
            and word[1:2] != "-"
            and name in ("7z", "sort", "gcc", "cc")
        ):
            yield word[2:], "write"
    operands = [word for word in command.operands if word != "-"]
    if (
        name in SAME
        and ("always" in SAME[name] or not SAME[name].isdisjoint(argv))
        and SHOWS.isdisjoint(argv[1:])
    ):
        skipped = 1 if name == "yq" else 0
        values = set(_values(argv)) if name in ("vim", "patch") else set()
        files = [word for word in operands[skipped:] if word not in OTHERS and word not in values]
        yield from [(word, "write") for word in (files[:1] if name == "patch" else files)]
        if name == "patch" and not files and command.given is None:
            yield "", "write"
    elif name == "vim" and len(operands) > 1:
        values = set(_values(argv))
        yield from [(word, "write") for word in operands if word not in values]
    elif name in PACKS and SHOWS.isdisjoint(argv[1:]) and "-c" not in command.flags:
        yield from [(word, "delete") for word in operands]
    elif name in LAST and len(operands) > 1:
        yield operands[-1], "write"
    elif name in ("sed", "gsed"):
        yield from [(path, "write") for word in argv[1:] for path in _by_sed(word)]
    elif name == "cargo" and operands[:1] in (["new"], ["init"]):
        yield from [(word, "write") for word in operands[1:2]]
    elif name == "split":
        values = set(_values(argv))
        files = [word for word in operands if word not in values]
        yield files[1] if len(files) > 1 else "x", "write"


def _by_sed(script: str) -> Iterator[str]:
    """The files that a script of `sed` writes, beside those that it reads."""
    sign = script[1:2]
    if script[:1] == "s" and sign and not sign.isalnum() and not sign.isspace():
        behind = _SWAP.match(sign.join(script.split(sign)[3:]))
        yield from [] if behind is None else [behind[1]]
    else:
        yield from [found[1] for found in _SED.finditer(script)]


def _values(argv: tuple[str, ...]) -> Iterator[str]:
    """Words that belong to the option before them."""
    for word, after in pairwise(argv[1:]):
        if word in in_order("-c --cmd -p -d -i -o -B -F -r -b -n -l -a"):
            yield after
