"""Files that `git` changes: which of a checkout's files a command replaces or removes, and folders
that it makes.

What moves a whole checkout to another state and can be undone (`switch`, `checkout BRANCH`,
`merge`, `pull`, `stash`) names no files, and none are told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.act import Use
from stanchion.readings.shell.command import Command
from stanchion.readings.word_lists import listed

ABOVE: Final = listed(
    "-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix"
)
"""Options before the command's name that take a value."""
VALUED: Final = listed(
    "-s --source -b -B --orphan --conflict --pathspec-from-file -o --output --output-directory "
    "--branch --depth --reference --origin --template --separate-git-dir --prefix --format "
    "--reason --directory -p -e"
)
NEW: Final = listed("-b -B --orphan --detach -d -t --track")
"""With these, `checkout` goes to a branch."""
_FILE: Final = regex(r"\.{1,2}|:/?.*|.*/|\.{1,2}/.*|.*\.[A-Za-z][A-Za-z0-9]{0,7}|.*[*?].*")
"""What is a file's name rather than a branch's."""
_REPOSITORY: Final = regex(r".*?([^/:]+?)(?:\.git)?/*")

Told = Iterator[tuple[str, Use]]


def changed_by_git(command: Command) -> Told:
    """What a `git` command writes and deletes in its checkout, and where it makes another one."""
    words = list(command.argv[1:])
    folder = ""
    while words and words[0][:1] == "-":
        option, equals, value = words.pop(0).partition("=")
        if option in ABOVE:
            value = value if equals else words.pop(0) if words else ""
            folder = _within(folder, value) if option in ("-C", "--work-tree") else folder
    told = TOLD.get(words[0]) if words else None
    if told is not None:
        yield from [(_within(folder, path), use) for path, use in told(words[1:])]


def _within(folder: str, path: str) -> str:
    return (
        path
        if not folder or path[:1] in ("/", "~", "$") or not path
        else f"{folder.rstrip('/')}/{path}"
    )


def _sorted(words: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Options, operands before `--`, and operands behind it."""
    cut = words.index("--") if "--" in words else len(words)
    options: list[str] = []
    operands: list[str] = []
    before = ""
    for word in words[:cut]:
        if word[:1] == "-":
            options.append(word.partition("=")[0])
        elif before not in VALUED:
            operands.append(word)
        before = word
    return options, operands, words[cut + 1 :]


def _checkout(words: list[str]) -> Told:
    options, operands, paths = _sorted(words)
    if paths or "--" in words:
        yield from [(path, "write") for path in paths]
    elif NEW.isdisjoint(options):
        # `git checkout TREE file …`, or one word that is a branch or a file.
        named = (
            operands[1:]
            if len(operands) > 1
            else [word for word in operands if _FILE.fullmatch(word)]
        )
        yield from [(path, "write") for path in named]
        if len(operands) > 1 and _FILE.fullmatch(operands[0]):
            yield operands[0], "write"


def _restore(words: list[str]) -> Told:
    options, operands, paths = _sorted(words)
    if not ("--staged" in options or "-S" in options) or "--worktree" in options or "-W" in options:
        yield from [(path, "write") for path in (*operands, *paths)]


def _remove(words: list[str]) -> Told:
    options, operands, paths = _sorted(words)
    if "--cached" not in options and "-n" not in options and "--dry-run" not in options:
        yield from [(path, "delete") for path in (*operands, *paths)]


def _move(words: list[str]) -> Told:
    _, operands, paths = _sorted(words)
    both = [*operands, *paths]
    yield from [(path, "delete") for path in both[:-1]]
    yield from [(path, "write") for path in both[-1:]]


def _clean(words: list[str]) -> Told:
    options, operands, paths = _sorted(words)
    short = "".join([option[1:] for option in options if option[:2] != "--"])
    if ("f" in short or "--force" in options) and "n" not in short and "--dry-run" not in options:
        yield from [(path, "delete") for path in ([*operands, *paths] or ["."])]


def _reset(words: list[str]) -> Told:
    if not {"--hard", "--merge", "--keep"}.isdisjoint(words):
        yield ".", "write"


def _clone(words: list[str]) -> Told:
    _, operands, paths = _sorted(words)
    both = [*operands, *paths]
    named = _REPOSITORY.fullmatch(both[0]) if both else None
    if len(both) > 1:
        yield both[1], "write"
    elif named is not None:
        yield named[1], "write"


def _worktree(words: list[str]) -> Told:
    if words[:1] in (["add"], ["remove"], ["move"]):
        _, operands, paths = _sorted(words[1:])
        both = [*operands, *paths]
        yield from [(path, "write" if words[0] == "add" else "delete") for path in both[:1]]
        yield from [(path, "write") for path in (both[1:2] if words[0] == "move" else [])]


def _init(words: list[str]) -> Told:
    _, operands, paths = _sorted(words)
    yield from [(path, "write") for path in [*operands, *paths][:1]]


def _submodule(words: list[str]) -> Told:
    if words[:1] == ["add"]:
        yield from _clone(words[1:])


def _into(words: list[str]) -> Told:
    """Commands that write what `-o` or `--output` names."""
    for word, after in pairwise((*words, "")):
        option, equals, value = word.partition("=")
        if option in ("-o", "--output", "--output-directory"):
            yield value if equals else after, "write"


def _apply(words: list[str]) -> Told:
    """A patch in a file says in that file what it changes."""
    options, operands, paths = _sorted(words)
    if (operands or paths) and {
        "--check",
        "--stat",
        "--numstat",
        "--summary",
        "--cached",
    }.isdisjoint(options):
        yield "", "write"


TOLD: Final[dict[str, Callable[[list[str]], Told]]] = {
    "checkout": _checkout, "restore": _restore, "rm": _remove, "mv": _move, "clean": _clean,
    "reset": _reset, "clone": _clone, "worktree": _worktree, "init": _init, "submodule": _submodule,
    "archive": _into, "format-patch": _into, "diff": _into, "apply": _apply, "am": _apply,
}  # fmt: skip
"""What each command of `git` changes."""
