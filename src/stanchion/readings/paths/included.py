"""What a text includes: the files whose content a document, a template or a source takes in when it
is made."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from stanchion.kernel.regex import may_stand, regex

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
