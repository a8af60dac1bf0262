"""Wrappers: commands whose words end in another command."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from shlex import shlex
from typing import TYPE_CHECKING, Final

from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.shell.command import EXECS, find_roots, found_names
from stanchion.readings.shell.known import WORDS, OwnWords, by_name
from stanchion.readings.shell.partly_known import OpenText, joined, like, origin_of
from stanchion.readings.shell.unfold import EMBEDDED, unfolds
from stanchion.readings.word_lists import Pairs, Strings, listed

if TYPE_CHECKING:
    from stanchion.readings.shell.kept import PendingCommand
    from stanchion.readings.shell.script import Walker


class Prefix(NamedTuple):
    """How a wrapper's own words are told from the command's: options with a value, leading
    operands, and options that stand alone where that is asked; which of them names a folder."""

    valued: frozenset[str] = frozenset()
    skip: int = 0
    settings: bool = False
    privileged: bool = False
    alone: frozenset[str] = frozenset()
    folder: frozenset[str] = frozenset()


def prefix_of(own: OwnWords) -> Prefix:
    """What the table says of it."""
    values, alone, folder = map(listed, (own.values, own.alone, own.folder))
    return Prefix(values, own.skip, own.settings, own.privileged, alone, folder)


PREFIXES: Final = by_name("passes", prefix_of)


def inner_of(prefix: Prefix, args: Strings) -> tuple[Strings, Pairs]:
    """The command that a wrapper starts, and the variables it sets for it."""
    at, skip = 0, prefix.skip
    settings: list[tuple[str, str]] = []
    while at < len(args):
        word = args[at]
        if word == "--":
            at += 1
            if not skip:
                break
        elif word[:1] == "-" and len(word) > 1:
            at += 2 if word in prefix.valued else 1
        elif prefix.settings and "=" in word and word.partition("=")[0].isidentifier():
            name, _, value = word.partition("=")
            settings.append((name, value))
            at += 1
        elif skip:
            skip -= 1
            at += 1
        else:
            break
    return args[at:], tuple(settings)


RUNNERS: Final = by_name("runs", lambda own: (own.by, prefix_of(own)))
"""Programs that start others from a project: by which words, if they need one, and which of their
options have a value."""


def started_by(name: str, args: Strings) -> Strings:
    """The words of the program, script or module that another program starts; empty where there is
    none."""
    verbs, prefix = RUNNERS.get(name, ("-", Prefix()))
    inner, _ = inner_of(prefix, args)
    if inner and verbs and inner[0] in verbs.split():
        return _unversioned(inner_of(prefix, inner[1:])[0])
    return _unversioned(inner) if not verbs or "*" in verbs else ()


def _unversioned(words: Strings) -> Strings:
    """The words of a program without the version in which it is started: `rimraf@5`."""
    at = words[0].find("@", 1) if words else -1
    return words if at < 0 else (like(words[0][:at], words[0]), *words[1:])


@unfolds(" ".join(PREFIXES))
def _prefixed(walker: Walker, call: PendingCommand) -> str | None:
    name = call.argv[0].rpartition("/")[2].lower()
    prefix = PREFIXES[name]
    args = call.argv[1:]
    if name == "command" and args and args[0] in ("-v", "-V"):
        return None
    if name == "env" and (split := _split_string(args)) is not None:
        walker.emit(call)
        return walker.under("env", lambda: walker.text(split, call.given))
    inner, settings = inner_of(prefix, args)
    walker.emit(call)
    if not inner:
        return None if name in ("env", "time") else walker.unknown(call)
    if name == "sudo" and set(args[: len(args) - len(inner)]) & {"-e", "--edit", "-l", "-v", "-k"}:
        return walker.unknown(call)
    settings = (*call.settings, *settings)
    cwd = walker.cwd
    for option, value in options_in(args[: len(args) - len(inner)]):
        if option in prefix.folder:
            walker.go(value)
    ended = walker.start(name, call, inner, prefix.privileged, settings=settings)
    walker.cwd = cwd
    return ended


def options_in(words: Strings) -> list[tuple[str, str]]:
    """The options among some words with the values behind `=`, and all with what stands beside
    them."""
    return [
        *[(word.partition("=")[0], word.partition("=")[2]) for word in words if "=" in word],
        *pairwise(words),
    ]


def _split_string(args: Strings) -> str | None:
    for at, word in enumerate(args):
        if word in ("-S", "--split-string"):
            return joined([each for word in args[at + 1 :] for each in (word, " ")])
        if word.startswith("--split-string="):
            return word.partition("=")[2]
        if not word.startswith("-"):
            return None
    return None


XARGS: Final = WORDS["options of xargs that have a value"]


@unfolds("xargs gxargs")
def _xargs(walker: Walker, call: PendingCommand) -> str:
    args = call.argv[1:]
    inner, _ = inner_of(Prefix(XARGS), args)
    own = args[: len(args) - len(inner)]
    walker.emit(call)
    given = call.given
    words: list[str] = []
    if given is not None:
        words = [_unknown(given)] if isinstance(given, OpenText) else _unquoted(given)
    mark = next((after for word, after in pairwise(own) if word in ("-I", "--replace")), "")
    mark = mark or next((word[2:] for word in own if word.startswith("-I") and len(word) > 2), "")
    if not inner:
        inner = ("echo",)
    if not mark:
        return walker.start("xargs", call, (*inner, *words), given=None, opens=())
    printed: list[str] = []
    lines = words if call.known is None else call.known.splitlines()
    for line in lines[:256]:
        argv = tuple([_put(word, mark, line) for word in inner])
        printed.append(walker.start("xargs", call, argv, given=None, opens=()))
    return joined(printed) if printed else ""


def _unknown(given: str | None) -> OpenText:
    """A word that is not known, taken from what a command reads."""
    return OpenText("$(…)", origin_of(given))


def _put(word: str, mark: str, value: str) -> str:
    if mark not in word:
        return word
    made = word.replace(mark, value)
    return OpenText(made, origin_of(value)) if isinstance(value, OpenText) else made


def _unquoted(text: str) -> list[str]:
    """Words as `xargs` reads them: blanks part, quotes and backslashes keep together."""
    reader = shlex(text.replace("\0", "\n"), posix=True)
    reader.whitespace_split, reader.commenters, reader.escapedquotes = True, "", ""
    words: list[str] = []
    try:
        for word in reader:
            words.append(word)
    except ValueError:  # a quote is not closed
        words.append(reader.token)
    return words


@unfolds("parallel")
def _parallel(walker: Walker, call: PendingCommand) -> str:
    inner, _ = inner_of(
        Prefix(listed("-j --jobs -a --arg-file --colsep -n -N --timeout --joblog -S")),
        call.argv[1:],
    )
    walker.emit(call)
    at = inner.index(":::") if ":::" in inner else len(inner)
    command, values = inner[:at], inner[at + 1 :]
    if not command:
        lines = values if values else [call.given] if call.given is not None else []
        for line in lines[:64]:
            walker.under("parallel", partial(walker.text, line))
        return walker.unknown(call)
    for value in values[:64] or [_unknown(call.given)]:
        text = " ".join(command)
        made = text.replace("{}", value) if "{}" in text else f"{text} {value}"
        follow = like(made, value)
        walker.under("parallel", partial(walker.text, follow))
    return walker.unknown(call)


@unfolds("find gfind fd fdfind bfs")
def _find(walker: Walker, call: PendingCommand) -> str:
    argv = call.argv
    walker.emit(call)
    roots = find_roots(argv)
    at = 0
    while at < len(argv):
        if argv[at] in EXECS or (argv[at] in ("-x", "-X", "--exec") and argv[0].startswith("fd")):
            end = at + 1
            while end < len(argv) and argv[end] not in (";", "+"):
                end += 1
            inner = argv[at + 1 : end]
            for root in roots[:8]:
                names = tuple([f"<{root.rstrip('/')}/{name}" for name in found_names(argv)])
                made = OpenText(f"{root.rstrip('/')}/**" if root != "/" else "/**", names)
                filled = tuple([_put(word, "{}", made) for word in inner])
                if filled and filled[0] != made:
                    before, walker.embedded = walker.embedded, EMBEDDED
                    walker.start("find -exec", call, filled, opens=())
                    walker.embedded = before
            at = end
        at += 1
    return walker.unknown(call)
