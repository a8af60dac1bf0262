"""Names: the words of a tool's name, and the name of an argument as tables have it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from unicodedata import normalize

from stanchion.kernel.regex import regex

KEPT: Final = 4_096
LONGEST: Final = 200
"""How much of a name is read."""
TOOL: Final = "tool:"
LOOK: Final = "look:"
"""What stands for the program where a call is told as a command by its name, and where that only
looks."""

_WORD: Final = regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_BETWEEN: Final = regex(r"[^A-Za-z0-9]+")
_NUMBERED: Final = regex(r"[A-Za-z]{1,5}[0-9]{1,2}[a-z]?")
_SERVER: Final = regex(r"mcp__.+?__|.*[./:]", re.DOTALL)


@lru_cache(KEPT)
def words(name: str) -> tuple[str, ...]:
    """The words of a name, in small letters: `writeFile`, `write_file` and `fs.write-file` have the
    same."""
    return tuple([word.lower() for word in _WORD.findall(_plainly(name))])


def numbered_words(name: str) -> tuple[str, ...]:
    """The words of a name of which some have numbers: `s3` and `k8s` are one each."""
    return tuple(
        [
            word
            for part in _BETWEEN.split(name[:LONGEST])
            for word in ((part.lower(),) if _NUMBERED.fullmatch(part) else words(part))
        ]
    )


@lru_cache(KEPT)
def singular(word: str) -> str:
    """A word without the ending of many: `policy` of `policies`, `bucket` of `buckets`."""
    if len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    return word.removesuffix("s")


@lru_cache(KEPT)
def letters(name: str) -> frozenset[str]:
    """The words of a name that are no numbers."""
    return frozenset([word for word in words(name) if not word.isdigit()])


@lru_cache(KEPT)
def plain(name: str) -> str:
    """The name of an argument as tables have it: in small letters, without separators."""
    return name[:64].replace("_", "").replace("-", "").lower()


@lru_cache(KEPT)
def own_name(tool: str) -> str:
    """A tool's name in small letters without what says whose it is: `run` of `mcp__server__run` and
    `box.run`."""
    name = _plainly(tool)
    server = _SERVER.match(name)
    return (name if server is None else name[server.end() :]).lower()


def _plainly(name: str) -> str:
    return name[:LONGEST] if name.isascii() else normalize("NFKC", name[:LONGEST])
