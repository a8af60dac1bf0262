"""Passed texts: what a program is given to run, unless it is known to treat it as data.

Which programs run what they are given nobody can list. So the words of a command, the values of its
options and variables and what it reads are followed as if they ran, wherever they look like
commands; what is found so stands apart, because it only may run.

1. Words that are a text: those with blanks, behind `=` too. First as a shell's text, then by its
   fragments, because a program may have a language of its own around it (`:!rm x`, `exec=rm x`,
   `COPY … TO PROGRAM 'rm x'`).
2. Words behind the name of a program: `unknown-runner -v rm -rf x`.
3. What it reads, where that is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final

import msgspec

from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.known import WORDS, kinds_of, named
from stanchion.readings.shell.options import (
    DATA,
    NONE,
    SHELLS,
    VALUED,
    is_run,
    is_told,
    is_told_in,
    names_command,
)
from stanchion.readings.shell.outputs import unescape
from stanchion.readings.shell.partly_known import OpenText, like
from stanchion.readings.shell.tree import Meter, TooMuch
from stanchion.readings.shell.unfold import EMBEDDED, PASSED_BY, SETTINGS_PASSED_BY
from stanchion.readings.shell.windows import is_windows, keep_powershell, slashed
from stanchion.readings.shell.wrappers import started_by
from stanchion.readings.word_lists import in_order

if TYPE_CHECKING:
    from stanchion.readings.shell.kept import PendingCommand
    from stanchion.readings.shell.script import Walker


DEEPEST: Final = 3
"""How deep passed texts are followed in each other."""
MANY: Final = 48
"""How many passed texts of one text are followed."""
MANY_WORDS: Final = 128
UNNAMED: Final = {
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "just": ("justfile", "Justfile", ".justfile"),
}
"""Files that a program runs without being told which."""

SETTINGS: Final = in_order("/etc/ /usr/ ~/. $HOME/.")
BUILDING: Final = in_order(".tf .hcl .nix .gradle .kts .cmake .bzl .rake")
BUILDERS: Final = WORDS["files that a builder finds by itself"]
"""How files end, or are called, that a builder finds by itself and runs."""

_EVALUATES: Final = regex(
    r"(?i)(?:^|[\s(:;])(?:eval|source|include|load\w*|exec\w*|require|import|runpy|dofile)"
    r"\b[^\n]{0,200}?https?://"
)
"""A language of its own that runs what an address holds."""
_RUNS: Final = regex(
    r"(?i)(?:^|[:=,;!|])\s*(?:exec|command|cmd|sh|shell|system|run|call)?[=:! ]*[!=]\s*(.+)"
)
"""What follows a mark by which programs with a language of their own start others: `:!…`,
`exec=…`."""


_IS_TEXT: Final = regex(r"[ \n\t!(]|exec=")
"""What a word has that is more than a name or a path."""


def pass_on(walker: Walker, call: PendingCommand, name: str) -> None:
    """Follow what a command is given, as if it ran it."""
    if walker.passing >= DEEPEST:
        _give_up(walker, name, call.argv[1:], "it passes texts on too deeply to follow")
        return
    _settings(walker, call, name)
    started = started_by(name, call.argv[1:])
    if len(started) > 1 or DOERS.intersection(started):
        at = len(call.argv) - len(started)
        _words(walker, msgspec.structs.replace(call, argv=(*call.argv[:at], *started)), name, at)
    _give_up(walker, name, call.argv[MANY_WORDS + 1 :], "it passes on too many words to follow")
    words = call.argv if name in DATA else call.argv[: MANY_WORDS + 1]
    for at, (before, word) in enumerate(pairwise(words), 1):
        if is_run(name, before) or is_run(name, word):
            _command(walker, call, name, word)
        else:
            _word(walker, call, name, at)
    if name in DATA:
        return
    for path in UNNAMED.get(name, ()):
        if path in walker.files:
            _text(walker, name, walker.files[path])
    given = call.known
    if (
        given is not None
        and name not in ("sed", "gsed")
        and "verbs" not in kinds_of(name)
        and may_hold(given)
    ):
        _text(walker, name, given.replace("$$", "$") if name in UNNAMED else given)


def _word(walker: Walker, call: PendingCommand, name: str, at: int) -> None:
    """Follow a word that may be a text, the name of a program, or a file that the text wrote; not
    one that is for people, or only looked at."""
    before, word = call.argv[at - 1 : at + 1]
    if "types" in kinds_of(name):
        word = like(unescape(word.replace("^M", "\r")).replace("\r", "\n"), word)
    elif name in DATA or is_told(before) or is_told_in(word):
        return
    if _IS_TEXT.search(word) is not None:
        _text(walker, name, word)
    elif (
        word.rpartition("/")[2] in DOERS
        and before not in VALUED.get(name, NONE)
        and ("verbs" not in kinds_of(name) or "/" in word or before == "--")
    ):
        _words(walker, call, name, at)
    elif walker.files and word in walker.files and kinds_of(name).isdisjoint(("verbs", "views")):
        _text(walker, name, walker.files[word])


def _give_up(walker: Walker, name: str, words: tuple[str, ...], why: str) -> None:
    """Say that words are not followed, where one of them may be a command."""
    if name in DATA or walker.unclear:
        return
    loose = "verbs" not in kinds_of(name)
    if any(
        (" " in word and may_hold(word)) or (loose and word.rpartition("/")[2] in DOERS)
        for word in words
    ):
        walker.unclear = why


def pass_settings(walker: Walker, call: PendingCommand, name: str) -> None:
    """Follow what the variables of a command hold, as if it ran it, where its words are followed
    otherwise."""
    if walker.passing < DEEPEST:
        _settings(walker, call, name)


def _settings(walker: Walker, call: PendingCommand, name: str) -> None:
    for variable, value in call.settings:
        if names_command(variable):
            _command(walker, call, name, value.lstrip("| "))
        elif " " in value:
            _text(walker, name, value)


def _command(walker: Walker, call: PendingCommand, name: str, word: str) -> None:
    """Follow the value of an option or a variable that is known to be a command; a shell that has
    no other text runs what the program is given."""
    value = (
        word.partition("=")[2]
        if word.startswith("-")
        else word.lstrip("+:!")
        if word[:1] in "+:!"
        else word
    )
    if not value or value.startswith("-"):
        return
    if value.rpartition("/")[2] in SHELLS and call.known is not None:
        _follow(walker, name, call.known)
    elif value in walker.files:
        _text(walker, name, walker.files[value])
    elif " " in value or "/" in value:
        _text(walker, name, value.lstrip("!"), surely=" " in value)


def pass_written(walker: Walker) -> None:
    """Follow what a text writes where programs load it unasked: folders of settings, and files that
    builders read."""
    for path, text in walker.wrote:
        if isinstance(text, OpenText) or walker.passing:
            continue
        last = path.rpartition("/")[2].lower()
        builds = last.endswith(BUILDING) or last in BUILDERS
        if path.startswith(SETTINGS) or (
            builds and any("verbs" in one.kinds for one in walker.commands)
        ):
            _text(walker, last, text)


def pass_to_windows(walker: Walker, text: str) -> None:
    """Follow a whole text as PowerShell and cmd.exe would read it, where it looks like theirs."""
    keep_powershell(walker, text, "")
    if is_windows(text):
        _follow(walker, "cmd", slashed(text))


def _text(walker: Walker, name: str, text: str, surely: bool = False) -> None:
    """Follow a text as a shell's, and the fragments of it."""
    keep_powershell(walker, text, name)
    if _EVALUATES.search(text) is not None:
        fetched = OpenText("$(fetch…)", ("fetch",))
        walker.passed.append(Command(("eval", fetched), (*walker.via, name)))
    part = f"{name} …" if "types" in kinds_of(name) else name
    if part == name and not surely and not may_hold(text):
        return
    tried = {text}
    _follow(walker, name, text)
    marked = _RUNS.search(text)
    for piece in (*fragments(text), *([marked[1]] if marked is not None else [])):
        if piece not in tried:
            tried.add(piece)
            _follow(walker, part, piece)


def _words(walker: Walker, call: PendingCommand, name: str, at: int) -> None:
    """Follow the words from one on that names a program; `--` may part it from its own."""
    inner = _inner(walker, name, sum([len(word) + 1 for word in call.argv]))
    if inner is not None:
        own = at + 2 if call.argv[at + 1 : at + 2] == ("--",) else at + 1
        follow = msgspec.structs.replace(call, argv=(call.argv[at], *call.argv[own:]), opens=())
        _run(walker, inner, follow)


def _follow(walker: Walker, name: str, text: str) -> None:
    inner = _inner(walker, name, len(text))
    if inner is not None:
        inner.embedded = EMBEDDED
        _run(walker, inner, text)


def _inner(walker: Walker, name: str, chars: int) -> Walker | None:
    """A walker that follows what is passed, with all that is known so far; `None` where it is too
    much."""
    if len(walker.passed) >= MANY * 4 or walker.tried >= MANY:
        walker.unclear = (
            walker.unclear if walker.unclear else "it passes on too many texts to follow"
        )
        return None
    walker.tried += 1
    inner = type(walker)(Meter(chars, walker.meter.limits))
    inner.words.env = dict(walker.words.env)
    inner.files.update(walker.files)
    inner.links = dict(walker.links)
    inner.words.refs = dict(walker.words.refs)
    inner.functions = dict(walker.functions)
    inner.called = set(walker.functions)
    inner.via = (*walker.via, name)
    inner.cwd, inner.privileged = walker.cwd, walker.privileged
    inner.passing = walker.passing + 1
    return inner


def _run(walker: Walker, inner: Walker, what: str | PendingCommand) -> None:
    try:
        if isinstance(what, str):
            inner.whole(what)
        else:
            inner.run(what)
    except TooMuch as error:
        inner.unclear = str(error)
    except RecursionError:
        inner.unclear = "it is nested too deeply"
    walker.unclear = walker.unclear if walker.unclear else inner.unclear
    walker.passed += [*inner.commands, *inner.passed]


DOERS: Final = named("does")
"""Programs by whose names a command is known among the words of another: those that do something,
or start others."""
NAMED: Final = named("does", "known")
"""Those by whose names a command is known in a text: a lone word of these may be another program's
own."""

CLOSING: Final = {"(": ")", "{": "}", "[": "]"}
QUOTES: Final = "\"'`"
MANY_PIECES: Final = 24
"""How many fragments of one text are followed."""
LONGEST_TEXT: Final = 16_384
DEEPEST_QUOTE: Final = 2
"""How deep quotes in quotes are looked into."""

_PROGRAM: Final = regex(r"(?<![\w.$@%/-])/?[\w.-]++(?:/[\w.-]++)*+(?![=:/])")
"""What may be the name of a program, or its path."""


def may_hold(text: str) -> bool:
    """Whether a text names a program that does something."""
    return next(_begun(text), -1) >= 0


def _begun(text: str) -> Iterator[int]:
    """Where in a text the name of such a program stands."""
    for found in _PROGRAM.finditer(text):
        word = found[0]
        name = word.rpartition("/")[2] if word[0] == "/" else word
        if name in NAMED or name.startswith("mkfs."):
            yield found.start()


def fragments(text: str) -> Iterator[str]:
    """The pieces of a text that may be commands: what stands in quotes, and what begins with a
    program's name.

    1. A quoted piece is one by itself, its escapes undone; m4 closes a backquote with a quote. So
       is what is quoted in it, and what stands in braces, which quote in Tcl.
    2. Outside of quotes a piece goes from a program's name to the end of its line, or to what
       closes the bracket in which it stands.
    """
    text = text[:LONGEST_TEXT]
    quoted = dict.fromkeys(islice(_quoted(text, 0), MANY_PIECES))
    yield from quoted
    yield from [piece for piece in _bare(text, MANY_PIECES - len(quoted)) if piece not in quoted]


def _quoted(text: str, depth: int) -> Iterator[str]:
    at = 0
    while at < len(text):
        char = text[at]
        end = _closed(text, at) if char in QUOTES else _end(text, at + 1) if char == "{" else -1
        if end < 0:
            at += 1
            continue
        inner = text[at + 1 : end]
        if may_hold(inner):
            inner = unescape(inner) if char == '"' else inner
            yield inner
            if depth < DEEPEST_QUOTE:
                yield from _quoted(inner, depth + 1)
        at = end + 1


def _closed(text: str, at: int) -> int:
    """Where a quote is closed; -1 where it is none, as an apostrophe in a word."""
    char = text[at]
    if char == "'" and at and text[at - 1].isalnum():
        return -1
    if char == "`" and "`" not in text[at + 1 :]:
        return text.find("'", at)
    end = at + 1
    while end < len(text):
        if text[end] == "\\":
            end += 2
            continue
        if text[end] == char:
            return end
        end += 1
    return -1


def _bare(text: str, most: int) -> Iterator[str]:
    done = 0
    for begin in _begun(text):
        if begin < done:
            continue
        if most <= 0:
            return
        most -= 1
        done = _end(text, begin)
        yield text[begin:done]


def _end(text: str, begin: int) -> int:
    """Where a piece ends: with its line, or at a bracket or quote that was opened before it."""
    waiting: list[str] = []
    at = begin
    while at < len(text):
        char = text[at]
        if char == "\n":
            return at
        if char == "\\":
            at += 2
            continue
        if char in QUOTES:
            close = _closed(text, at)
            if close < 0:
                return at
            at = close + 1
            continue
        if char in CLOSING:
            waiting.append(CLOSING[char])
        elif char in CLOSING.values() and (not waiting or waiting.pop() != char):
            return at
        at += 1
    return len(text)


PASSED_BY.append(pass_on)
SETTINGS_PASSED_BY.append(pass_settings)
