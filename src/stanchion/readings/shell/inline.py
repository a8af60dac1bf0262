"""Code of other languages on a command line: the commands and deletions in it, found by a small
scan."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.shell.known import by_name
from stanchion.readings.shell.options import sort
from stanchion.readings.word_lists import in_order


class Language(NamedTuple):
    """How a program takes code: the options before it, or as its first operand."""

    options: tuple[str, ...]
    program: bool = False


LANGUAGES: Final = by_name("code", lambda code: Language(tuple(code.behind.split()), code.operands))


NO_FILES: Final[Mapping[str, str]] = MappingProxyType({})


def clustered(word: str, options: tuple[str, ...]) -> bool:
    """Whether short options stand together, the last of which takes code: `-ne`."""
    return (
        len(word) in (3, 4, 5)
        and word[0] == "-"
        and word[1].isalpha()
        and f"-{word[-1]}" in options
        and word not in options
        and word[1] != "-"
    )


def codes_in(
    argv: tuple[str, ...],
    given: str | None,
    language: Language,
    files: Mapping[str, str] = NO_FILES,
) -> list[str]:
    """The code that a program is given: behind its options, as its first operand, by its input or
    in a file."""
    args = argv[1:]
    spelled = str.lower if "-command" in language.options else str
    options = set(map(spelled, language.options))
    codes = [after for word, after in pairwise(args) if spelled(word) in options]
    codes += [
        word[2:]
        for word in args
        if len(word) > 3 and word[:2] in language.options and not word.startswith("--")
    ]
    codes += [
        word.partition("=")[2]
        for word in args
        if word[:2] == "--" and word.partition("=")[0] in language.options and "=" in word
    ]
    codes += [after for word, after in pairwise(args) if clustered(word, language.options)]
    operands = [word for word in args if not word.startswith("-")]
    if language.program and not codes and operands:
        codes = [*sort(argv[0].rpartition("/")[2], args).operands[:1]]
    elif not codes and given is not None and (not operands or args[-1:] == ("-",)):
        codes = [given]
    elif not codes:
        first = operands[1:2] if operands[:1] == ["run"] else operands[:1]
        codes = [files[each] for each in first if each in files]
    return codes


SOCKET: Final = in_order("socket TCPSocket Socket fsockopen net. TCPClient /inet/tcp /dev/tcp")
CONNECTS: Final = in_order("connect TCPSocket fsockopen TCPClient /inet/tcp /dev/tcp INET")
SPELLED: Final = regex(
    r"(?s)(?:sprintf\(\s*\"%c\"|fromCharCode).*\b(?:system|exec\w*|spawn\w*)\(\s*[A-Za-z_$]\w*\s*[,"
    r")]"
)
"""A text that is spelled by the numbers of its letters and then runs."""
ATTACHED: Final = (
    "dup2", "pty.spawn", "/bin/sh", "/bin/bash", "cmd.exe", "exec(", "popen", "system", "iex ",
    "IEX", '"sh"', "'sh'", "spawn(", "subprocess", "getline",
)  # fmt: skip


XOR: Final = regex(r"\s*print\s*'((?:[^'\\]|\\.)*)'\s*\^\s*'((?:[^'\\]|\\.)*)'\s*;?\s*", re.DOTALL)


_PERL: Final = regex(r"\\(['\\])")


def marks_of(code: str) -> set[str]:
    """What a piece of code is that its calls alone do not say."""
    marks: set[str] = set()
    if _any(SOCKET, code) and _any(CONNECTS, code) and _any(ATTACHED, code):
        marks.add("reverse")
    if ("%c" in code or "fromCharCode" in code) and SPELLED.search(code) is not None:
        marks.add("hidden")
    lowered = code[:512].lower()
    if "downloadstring" in lowered or ("invoke-webrequest" in lowered and "iex" in lowered):
        marks.add("fetched")
    return marks


def _any(words: tuple[str, ...], code: str) -> bool:
    return any(word in code for word in words)


def printed_by(code: str) -> str | None:
    """What a line of Perl prints that only combines two texts; None where that is not known."""
    match = XOR.fullmatch(code)
    if match is None:
        return None
    first, second = (_PERL.sub(r"\1", text).encode("latin-1", "replace") for text in match.groups())
    return bytes([one ^ other for one, other in zip(first, second, strict=False)]).decode("latin-1")
