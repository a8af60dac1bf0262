"""Texts that name paths: includes, patches, and swaps of one text for another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from stanchion.kernel.regex import may_stand, regex
from stanchion.readings.act import Use
from stanchion.readings.names import plain
from stanchion.readings.word_lists import listed

MOST: Final = 64
"""How many includes of a text are read."""
LONGEST: Final = 65_536

HINTS: Final = (
    "include", "input", "system", "import", "--8<--", ":file:", "file(", "readfile", "extends",
    "undivert", ".so ", ".mso ",
)  # fmt: skip
"""What every text has that takes in a file, in small letters."""
_INCLUDE: Final = regex(
    r"^[ \t]*#[ \t]*(?:include|include_next|import|embed)[ \t]*[<\"]([^\">\n]+)[>\"]"
    r"|^[ \t]*\.\.[ \t]+(?:[\w]+[ \t]+)?[\w-]*include[\w-]*::[ \t]*(\S+)|^[ \t]*:file:[ \t]*(\S+)"
    r"|^include::([^\[\n]+)\[|\\(?:input|include|subfile|[A-Za-z]*(?:listing|verbatim)[\w]*input[\w]*|"
    r"[\w]*inputlisting|VerbatimInput)"
    r"(?:\[[^\]\n]*\])?\{([^}\n]+)\}"
    r"|\{%-?[ \t]*(?:include[\w]*|import|extends|render)[ \t]+[\"']?([^\"'%\s]+)"
    r"|\{\{[<%]?[ \t]*(?:include|readfile)[\w]*[ \t]+(?:file=)?[\"']([^\"']+)"
    r"|\bs?include\(`?([^)'`\n]+)'?\)|\bundivert\(`?([^)'`\n]+)|^\.(?:so|mso|psbb|cf)[ \t]+(\S+)"
    r"|<!--#include[ \t]+(?:file|virtual)=\"([^\"]+)"
    r"|<!ENTITY[\s]+%?[\s]*\S+[\s]+SYSTEM[\s]+[\"']([^\"']+)"
    r"|<[\w]+:include[\s][^>]*href=[\"']([^\"']+)|!inc[\w]*[ \t]+[\"']?([^\"'\s]+)|--8<--[ "
    r"\t]+[\"']([^\"']+)",
    re.MULTILINE | re.IGNORECASE,
)
"""Directives that take in a file: of C, reStructuredText, AsciiDoc, TeX, templates, server-side
pages, XML and YAML."""
_CALL: Final = regex(
    r"^([^\n]*?)\b(?:file|filebase64|filebase64sha256|templatefile|readFile|importstr|read_file|"
    r"get_file)\(?[ \t]*"
    r"(?:\(?[ \t]*(?:pathexpand|expanduser|abspath)\([ \t]*)?[\"']?([~/$.][^\"'()\n]*)",
    re.MULTILINE,
)
"""Functions of settings that take in a file."""
_USED: Final = regex(
    r"(?i)\s*[\w.-]*(?:key|credential|cert|identity|config|kubeconfig|password|token)"
    r"\w*[\"']?\s*[:=]"
)
"""What a line of settings begins with that hands a file on to what signs in with it."""


def included(text: str, calls: bool = True) -> Iterator[str]:
    """The files that a text takes in; with `calls` also by functions of settings, where they are
    not signed in with."""
    text = text[:LONGEST]
    low = text.lower()
    if not any(hint in low for hint in HINTS) or not any(mark in text for mark in ("/", "~", "\\")):
        return
    if not may_stand(text, *_signs()):
        return
    for found in list(_INCLUDE.finditer(text))[:MOST]:
        yield next(part for part in found.groups() if part is not None).strip()
    for found in list(_CALL.finditer(text))[:MOST] if calls else ():
        if _USED.match(found[1]) is None:
            yield found[2].strip()


@cache
def _signs() -> list[str]:
    """What stands in every text that has one of them. RE2 takes fewer characters for blanks and
    letters."""
    both = [f"(?mi:{one.pattern})" for one in (_INCLUDE, _CALL)]
    blanks = [one.replace(r"\s", r"\s\x0b\x1c-\x1f") for one in both]
    return [one.replace(r"\w", r"\w\x80-\xff?") for one in blanks]


MOST_PATCHED: Final = 256
"""How many headers of a patch are read."""

_HEADER: Final = regex(
    r"^(?:\*\*\* (Add|Update|Delete) File: |\*\*\* (Move) to: |(\+\+\+) |(---) |(rename|copy) to "
    r")([^\t\r\n]+)",
    re.MULTILINE,
)


def patched(text: str) -> Iterator[tuple[str, Use]]:
    """The files that a patch names, and whether it writes or deletes them; nothing where a text is
    no patch."""
    old = ""
    for found in list(_HEADER.finditer(text))[:MOST_PATCHED]:
        verb, path = next(part for part in found.groups()[:5] if part is not None), found[6].strip()
        if verb == "---":
            old = path
        elif verb == "+++" and path == "/dev/null":
            yield _stripped(old), "delete"
        elif path:
            path = _stripped(path) if verb == "+++" else path
            yield path, "delete" if verb == "Delete" else "write"


def _stripped(path: str) -> str:
    """A path of a header without the `a/` or `b/` that stands for the folder."""
    return path[2:] if path[:2] in ("a/", "b/") else path


OLD: Final = listed("oldstring oldstr oldtext old search find searchtext pattern before")
NEW: Final = listed(
    "newstring newstr newtext new replace replacement replacewith replacetext after"
)
SCRIPTS: Final = listed("expression expressions expr sed substitution")
_SED: Final = regex(
    r"(?:\A|[;\n{]|\A[^;]*?[\d/$])\s*s([^\w\s\\;])((?:\\.|(?!\1).)*)\1((?:\\.|(?!\1).)*)\1"
)


class Swap(NamedTuple):
    """A text, and what comes in its place."""

    old: str
    new: str


def swaps_in(args: Mapping[str, Any]) -> Iterator[Swap]:
    """The swaps that a call makes: by the names of its arguments, in lists too, and in expressions
    of `sed`."""
    waiting: list[Any] = [args]
    seen = 0
    while waiting and seen < MOST:
        value = waiting.pop()
        if type(value) is list:
            waiting += value
            continue
        if type(value) is not dict and not isinstance(value, Mapping):
            continue
        seen += 1
        texts = {plain(str(key)): each for key, each in value.items() if type(each) is str}
        old = next((texts[key] for key in texts if key in OLD), None)
        new = next((texts[key] for key in texts if key in NEW), None)
        if old is not None and new is not None:
            yield Swap(old, new)
        for key in texts:
            if key in SCRIPTS:
                yield from swapped(texts[key])
        waiting += [each for each in value.values() if type(each) in (list, dict)]


def swapped(expression: str) -> Iterator[Swap]:
    """The swaps of an expression of `sed`."""
    for found in list(_SED.finditer(expression[:4_096]))[:MOST]:
        yield Swap(found[2], found[3])
