"""Changed files: what programs write and delete by words of their own, and by code that they are
given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import islice, pairwise
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.kernel.sizes import ReadLimits
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.act import Use
from stanchion.readings.paths.place import is_known
from stanchion.readings.shell.analysis import analysed
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.known import WORDS, by_name, kinds_of
from stanchion.readings.shell.options import LANGUAGES, NO_FILES, codes_in
from stanchion.readings.shell.partly_known import OpenText
from stanchion.readings.word_lists import Strings, listed

ABOVE: Final = WORDS["git options above a command that have a value"]
"""Options before the command's name that take a value."""
VALUED: Final = WORDS["git options with a value"]
NEW: Final = listed("-b -B --orphan --detach -d -t --track")
"""With these, `checkout` goes to a branch."""
RESETS: Final = listed("--hard --merge --keep")
SHOWN_ONLY: Final = listed("--check --stat --numstat --summary --cached")
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


def _sorted(words: list[str]) -> tuple[list[str], list[str]]:
    """Options and operands."""
    options, operands, paths = _parted(words)
    return options, [*operands, *paths]


def _parted(words: list[str]) -> tuple[list[str], list[str], list[str]]:
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
    options, operands, paths = _parted(words)
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


def _every(use: Use, unless: str, but: str = "") -> Callable[[list[str]], Told]:
    """All that a command names, unless one of these options says otherwise."""
    bars, lifts = listed(unless), listed(but)

    def told(words: list[str]) -> Told:
        options, operands = _sorted(words)
        if bars.isdisjoint(options) or not lifts.isdisjoint(options):
            yield from [(path, use) for path in operands]

    return told


def _reset(words: list[str]) -> Told:
    return iter([] if RESETS.isdisjoint(words) else [(".", "write")])


def _move(words: list[str]) -> Told:
    _, operands = _sorted(words)
    yield from [(path, "delete") for path in operands[:-1]]
    yield from [(path, "write") for path in operands[-1:]]


def _clean(words: list[str]) -> Told:
    options, operands = _sorted(words)
    short = "".join([option[1:] for option in options if option[:2] != "--"])
    if ("f" in short or "--force" in options) and "n" not in short and "--dry-run" not in options:
        yield from [(path, "delete") for path in (operands or ["."])]


def _clone(words: list[str]) -> Told:
    _, operands = _sorted(words)
    named = _REPOSITORY.fullmatch(operands[0]) if operands else None
    if len(operands) > 1:
        yield operands[1], "write"
    elif named is not None:
        yield named[1], "write"


def _worktree(words: list[str]) -> Told:
    if words[:1] in (["add"], ["remove"], ["move"]):
        _, operands = _sorted(words[1:])
        yield from [(path, "write" if words[0] == "add" else "delete") for path in operands[:1]]
        yield from [(path, "write") for path in operands[1:2] if words[0] == "move"]


def _into(words: list[str]) -> Told:
    """Commands that write what `-o` or `--output` names."""
    for word, after in pairwise((*words, "")):
        option, equals, value = word.partition("=")
        if option in ("-o", "--output", "--output-directory"):
            yield value if equals else after, "write"


def _apply(words: list[str]) -> Told:
    """A patch in a file says in that file what it changes."""
    options, operands = _sorted(words)
    if operands and SHOWN_ONLY.isdisjoint(options):
        yield "", "write"


TOLD: Final[dict[str, Callable[[list[str]], Told]]] = {
    "checkout": _checkout, "restore": _every("write", "--staged -S", "--worktree -W"),
    "rm": _every("delete", "--cached -n --dry-run"), "mv": _move, "clean": _clean,
    "reset": _reset, "clone": _clone, "worktree": _worktree,
    "init": lambda words: islice(_every("write", "")(words), 1),
    "submodule": lambda words: _clone(words[1:]) if words[:1] == ["add"] else iter(()),
    "archive": _into, "format-patch": _into, "diff": _into, "apply": _apply, "am": _apply,
}  # fmt: skip
"""What each command of `git` changes."""


KEPT: Final = 128
"""How many texts are remembered with what they change."""
MOST: Final = 64
"""How many files of one command are told."""

INTO: Final = by_name("into", listed)
"""Options of a program by which it is told where to write."""
ANYWHERE: Final = WORDS["options that say where to write"]
"""Options by which any program may be told so, with a value that is a file's name."""
SAME: Final = by_name("rewrites", listed)
"""Programs that change the files that they are given: always, or where one of these words says
so."""
SHOWS: Final = WORDS["options that only show what would be"]
"""Words with which such a program changes nothing."""
STARTS: Final = frozenset({"run", "exec"})
"""How programs are told to start another one in a place of its own."""
HERE: Final = listed("localhost ::1 ip6-localhost 0 0.0.0.0")
"""How this machine is called by itself."""
INLINE: Final = listed("-e -E --eval --execute -eval -p")
"""How programs are given code of a language that nobody here reads."""
OTHERS: Final = listed("format check lint fix eslint")
GLUED: Final = listed("7z sort gcc cc")
"""Programs whose short options have their value in the same word."""
BEFORE_VALUES: Final = listed("-c --cmd -p -d -i -o -B -F -r -b -n -l -a")
NONE: Final[frozenset[str]] = frozenset()

_SED: Final = regex(r"(?:^|[;{}\n])\s*(?:\d+|\$|/[^/\n]*/)?\s*w\s+([^\s;}]+)")
_SWAP: Final = regex(r"[gpiIMme\d]*w\s+(\S+)")
"""A file that a script of `sed` writes: by a command, and behind a swap."""
_NAMED: Final = regex(r"[^\s:=,]*(?:/[^\s:=,]*|[^\s:=,/]\.[A-Za-z]\w{0,9})")


class ChangedFile(NamedTuple):
    """A file that a text changes, and the folder that it is seen from; without a path, what would
    change some file that nobody can tell."""

    path: str
    use: Use
    base: str
    by: str = ""


@lru_cache(KEPT)
def changed_in(text: str | Strings, limits: ReadLimits) -> tuple[ChangedFile, ...]:
    """What the commands of a text change, beside what their redirections and their plain effects
    say."""
    read = analysed(text, limits)
    files = {path: held for path, held in read.wrote if not isinstance(held, OpenText)}
    return tuple([one for command in read.commands for one in changed_by(command, files)])


def is_far(command: Command) -> bool:
    """Whether a command runs on another machine, so that its paths are not those of this one."""
    if not command.via:
        return False
    hosts = [each[4:].rpartition("@")[2] for each in command.via if each.startswith("ssh ")]
    return bool(hosts) and not any(host in HERE or host[:4] == "127." for host in hosts)


def is_elsewhere(command: Command) -> bool:
    """Whether it runs on another machine, or in a container that it is sent into."""
    return command.cwd == "container:" or is_far(command)


def changed_by(command: Command, files: Mapping[str, str] = NO_FILES) -> Iterator[ChangedFile]:
    """What one command changes so, `files` being those that the text has written before."""
    if is_elsewhere(command):
        return
    unknown = ChangedFile("", "write", command.cwd, command.words)
    yield from [unknown for path in (*command.writes, *command.deletes) if is_open(path)]
    if _is_unread(command):
        yield unknown
    if "starts" in command.kinds and not STARTS.isdisjoint(command.argv[1:3]):
        yield from _started(command, files)
    told = changed_by_git(command) if command.name == "git" else _by_words(command)
    for path, use in islice(told, MOST):
        known = path and (path[:1] != "$" or is_known(path))
        yield ChangedFile(path, use, command.cwd) if known else unknown._replace(use=use)
    if command.name in LANGUAGES and not (command.name == "vim" and len(command.argv) < 3):
        yield from _by_code(command, files)


def is_open(path: str) -> bool:
    """Whether nobody can tell which file a path leads to; a temporary one matters to nobody."""
    return path[:1] == "$" and path[:8] != "$(mktemp" and not is_known(path)


def _is_unread(command: Command) -> bool:
    """Whether a command applies a patch, or runs code, that nobody here reads."""
    if command.name == "git":
        return isinstance(command.given, OpenText) and command.operands[:1] in (("apply",), ("am",))
    return "unread" in command.kinds and not INLINE.isdisjoint(command.argv[1:])


def _started(command: Command, files: Mapping[str, str]) -> Iterator[ChangedFile]:
    """What a program changes that another one starts: `uv run python -c …`."""
    at = next(at for at, word in enumerate(command.argv) if word in STARTS) + 1
    while at < len(command.argv) and command.argv[at][:1] == "-":
        at += 1
    rest = command.argv[at:]
    if rest and "starts" not in kinds_of(rest[0]):
        yield from changed_by(Command(rest, cwd=command.cwd, given=command.given), files)


def _by_code(command: Command, files: Mapping[str, str]) -> Iterator[ChangedFile]:
    """What code on a command line, from its input or in a file that the text has written, writes
    and deletes."""
    language = LANGUAGES[command.name]
    for code in codes_in(command.argv, command.given, language, files):
        if isinstance(code, OpenText):
            yield ChangedFile("", "write", command.cwd, command.words)
            continue
        from stanchion.readings.programs.written import written_by  # few commands have code in them

        found = written_by(command.name, code)
        yield from [ChangedFile(path, "write", command.cwd) for path in found.writes[:MOST]]
        yield from [ChangedFile(path, "delete", command.cwd) for path in found.deletes[:MOST]]
        yield from [
            ChangedFile("", "write", command.cwd, f"{command.name}: {name}")
            for name in found.unknown[:1]
        ]


def _by_words(command: Command) -> Iterator[tuple[str, Use]]:
    """What a program is told to write by its words."""
    name, argv = command.name, command.argv
    yield from [(path, "write") for path in _by_options(name, argv)]
    operands = [word for word in command.operands if word != "-"]
    shows = not SHOWS.isdisjoint(argv[1:])
    wanted = SAME.get(name, NONE)
    if not shows and ("always" in wanted or not wanted.isdisjoint(argv)):
        written = _rewritten(command, operands)
    elif "replaces" in command.kinds and not shows and "-c" not in command.flags:
        yield from [(word, "delete") for word in operands]
        return
    elif "makes-last" in command.kinds:
        written = operands[1:][-1:]
    else:
        written = WAYS[name](argv, operands) if name in WAYS else []
    yield from [(path, "write") for path in written]


def _by_options(name: str, argv: Strings) -> Iterator[str]:
    """The files behind options that say where to write."""
    into = INTO.get(name, NONE)
    for word, after in pairwise((*argv[1:], "")):
        option, equals, value = word.partition("=")
        low = word.lower()
        if after and (low if word[:2] == "--" else word) in into:
            yield after
        elif equals and (
            option in into or (option.lower() in ANYWHERE and _NAMED.fullmatch(value))
        ):
            yield value
        elif low in ANYWHERE and _NAMED.fullmatch(after):
            yield after
        elif name in GLUED and word[1:2] != "-" and len(word) > 2 and word[:2] in into:
            yield word[2:]


def _rewritten(command: Command, operands: list[str]) -> list[str]:
    """The operands that a program changes which changes what it is given."""
    name = command.name
    values = _values(command.argv) if name in ("vim", "patch") else NONE
    first = 1 if name == "yq" else 0
    files = [word for word in operands[first:] if word not in OTHERS and word not in values]
    if name != "patch":
        return files
    return files[:1] if files or command.given is not None else [""]


def _split(argv: Strings, operands: list[str]) -> list[str]:
    values = _values(argv)
    return ([word for word in operands if word not in values][1:] or ["x"])[:1]


def _opened(argv: Strings, operands: list[str]) -> list[str]:
    values = _values(argv)
    return [word for word in operands if word not in values] if len(operands) > 1 else []


def _by_scripts(argv: Strings, _operands: list[str]) -> list[str]:
    return [path for word in argv[1:] for path in _by_sed(word)]


def _made(_argv: Strings, operands: list[str]) -> list[str]:
    return operands[1:2] if operands[:1] in (["new"], ["init"]) else []


WAYS: Final = {
    "vim": _opened, "split": _split, "sed": _by_scripts, "gsed": _by_scripts, "cargo": _made,
}  # fmt: skip
"""What programs write that have a way of their own."""


def _by_sed(script: str) -> Iterator[str]:
    """The files that a script of `sed` writes, beside those that it reads."""
    sign = script[1:2]
    if script[:1] == "s" and sign and not sign.isalnum() and not sign.isspace():
        behind = _SWAP.match(sign.join(script.split(sign)[3:]))
        yield from [] if behind is None else [behind[1]]
    else:
        yield from [found[1] for found in _SED.finditer(script)]


def _values(argv: Strings) -> frozenset[str]:
    """Words that belong to the option before them."""
    return frozenset([after for word, after in pairwise(argv[1:]) if word in BEFORE_VALUES])
