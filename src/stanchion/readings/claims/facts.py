"""What follows, with certainty, from one command that was run and what came of it.

A command is read as its words. Only forms are known whose meaning does not depend on anything else:
what is not exactly one of them tells nothing.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import msgspec

from stanchion.kernel.regex import regex
from stanchion.readings.claims.claim import Claim, Predicate, same_path
from stanchion.readings.word_lists import Strings

REPLACED: Final = "\ufffd"
"""Stands where bytes were no text: then it is not known what was printed."""
SPECIAL: Final = frozenset("\\.[]*^$+?{}|()\n")
"""Characters that may not stand for themselves in a pattern of `grep`."""

_COUNT: Final = regex(r"[ \t]*([0-9]{1,18}) (.+)\n")
_SUM: Final = regex(r"([0-9a-f]{64}) [ *](.+)\n")
_VERSION: Final = regex(r"(?<![\w.])v?([0-9]+(?:\.[0-9]+)+[0-9A-Za-z.+~-]*)")


class Ran(msgspec.Struct, frozen=True):
    """A command that ran to its end. `whole` says that nothing of its output was cut off; `writes`,
    that no wall kept it from writing; `beyond` are those of its words that lead to where walls hide
    things from it."""

    argv: Strings
    rc: int
    stdout: str = ""
    stderr: str = ""
    whole: bool = True
    writes: bool = True
    beyond: Strings = ()


class Content(msgspec.Struct, frozen=True):
    """What stands in a file: all of it, or a part."""

    path: str
    text: str
    whole: bool


Fact = Claim | Content


def facts(ran: Ran) -> tuple[Fact, ...]:
    """What follows from a command: how it ended, and what it tells of the world."""
    if not ran.argv:
        return ()
    ended = Claim(Predicate.SUCCEEDED, shlex.join(ran.argv), polarity=ran.rc == 0)
    tells = _TELLS.get(ran.argv[0])
    told = () if tells is None else tells(ran)
    return (ended, *(one for one in told if not _is_of_walls(one, ran)), *_version(ran))


def _is_of_walls(fact: Fact, ran: Ran) -> bool:
    """Whether walls round a command may have made a fact, and not the world: it is about a path
    that leads behind them, or about writing, which they forbade."""
    path = fact.path if isinstance(fact, Content) else fact.subject
    if path in {same_path(word) for word in ran.beyond}:
        return True
    return isinstance(fact, Claim) and fact.predicate is Predicate.WRITABLE and not ran.writes


def _test(ran: Ran) -> Iterator[Fact]:
    words = ran.argv[1:]
    if ran.argv[0] == "[":
        if not words or words[-1] != "]":
            return
        words = words[:-1]
    turned = len(words) == 3 and words[0] == "!"
    words = words[1:] if turned else words
    if len(words) != 2 or words[0] not in _FLAGS or not words[1] or ran.rc not in (0, 1):
        return
    yield Claim(_FLAGS[words[0]], same_path(words[1]), polarity=(ran.rc == 0) is not turned)


_FLAGS: Final[Mapping[str, Predicate]] = {
    "-e": Predicate.EXISTS,
    "-f": Predicate.FILE,
    "-d": Predicate.DIRECTORY,
    "-s": Predicate.NONEMPTY,
    "-r": Predicate.READABLE,
    "-w": Predicate.WRITABLE,
    "-x": Predicate.EXECUTABLE,
}


def _wc(ran: Ran) -> Iterator[Fact]:
    kinds = {"-l": Predicate.LINES, "-c": Predicate.BYTES}
    if len(ran.argv) < 3 or ran.argv[1] not in kinds:
        return
    path = _only(ran.argv[2:])
    told = _COUNT.fullmatch(ran.stdout) if _clean(ran) else None
    if path is not None and told is not None and told[2] == path:
        yield Claim(kinds[ran.argv[1]], same_path(path), int(told[1]))


def _sha256sum(ran: Ran) -> Iterator[Fact]:
    path = _only(ran.argv[1:])
    told = _SUM.fullmatch(ran.stdout) if _clean(ran) else None
    if path is not None and told is not None and told[2] == path:
        yield Claim(Predicate.DIGEST, same_path(path), told[1])


def _cat(ran: Ran) -> Iterator[Fact]:
    path = _only(ran.argv[1:])
    if path is not None and _clean(ran):
        yield Content(same_path(path), ran.stdout, whole=True)


def _part(ran: Ran) -> Iterator[Fact]:
    """`head` and `tail`: a part of a file, however much of it."""
    words = ran.argv[1:]
    if len(words) > 1 and words[0] in ("-n", "-c"):
        words = words[2:]
    path = _only(words)
    if path is not None and _clean(ran):
        yield Content(same_path(path), ran.stdout, whole=False)


def _grep(ran: Ran) -> Iterator[Fact]:
    asked = _asked(ran.argv[1:])
    if asked is None or ran.rc not in (0, 1):
        return
    pattern, path = asked
    yield Claim(Predicate.CONTAINS, same_path(path), pattern, polarity=ran.rc == 0)


def _asked(words: Strings) -> tuple[str, str] | None:
    """The text that a `grep` looks for and the one file in which it does; `None` where it looks for
    anything else."""
    fixed, at = False, 0
    while at < len(words) and words[at].startswith("-") and words[at] not in ("-e", "--", "-"):
        if not set(words[at][1:]) <= set("FqnscHh"):
            return None
        fixed = fixed or "F" in words[at]
        at += 1
    named = at < len(words) and words[at] == "-e"
    rest = words[at + 1 :] if at < len(words) and words[at] in ("-e", "--") else words[at:]
    if named and len(rest) == 3 and rest[1] == "--":
        rest = (rest[0], rest[2])
    if len(rest) != 2 or not rest[0] or not _is_path(rest[1]):
        return None
    pattern = rest[0]
    literal = "\n" not in pattern if fixed else not SPECIAL & set(pattern)
    return (pattern, rest[1]) if literal and REPLACED not in pattern else None


def _version(ran: Ran) -> Iterator[Fact]:
    if len(ran.argv) != 2 or ran.argv[1] != "--version" or not _clean(ran):
        return
    told = {found[1] for found in _VERSION.finditer(ran.stdout.partition("\n")[0])}
    if len(told) == 1:
        yield Claim(Predicate.VERSION, ran.argv[0], told.pop())


def _only(words: Strings) -> str | None:
    """The one path that is left; `None` where there is another number of them, or one that may be
    an option."""
    if len(words) == 2 and words[0] == "--":
        return words[1] if words[1] and words[1] != "-" else None
    return words[0] if len(words) == 1 and _is_path(words[0]) else None


def _is_path(word: str) -> bool:
    return bool(word) and not word.startswith("-")


def _clean(ran: Ran) -> bool:
    return ran.rc == 0 and ran.whole and REPLACED not in ran.stdout


_TELLS: Final[Mapping[str, Callable[[Ran], Iterator[Fact]]]] = {
    "test": _test,
    "[": _test,
    "wc": _wc,
    "sha256sum": _sha256sum,
    "cat": _cat,
    "head": _part,
    "tail": _part,
    "grep": _grep,
}
"""Programs whose outcome tells something, by the name that the executor finds them by: never by a
path, behind which something else may stand."""
