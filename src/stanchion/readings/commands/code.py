"""Code: a text as its language would be run on a command line, read as what it is where that can be
told."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.commands.words import ANY, LANGUAGES

LONGEST: Final = 65_536
KEPT: Final = 128
PYTHON: Final = LANGUAGES["python"]

_MAGIC: Final = regex(r"(?m)^([ \t]*)([!%?]+)(.*)$")
_CELL: Final = regex(r"\s*%%(?:bash|sh|script +(?:bash|sh)|system|sx|!)[^\n]*\n")

Text = str | tuple[str, ...]
"""A shell text, or the words of one command."""


@lru_cache(KEPT)
def spoken(text: str, language: tuple[str, ...], named: bool) -> tuple[Text, ...]:
    """What would run where a text is given to a tool of some language; `named` where its argument's
    name says that it is a command. A text that is no Python is read as a shell's: the tool may be
    one."""
    if language not in (PYTHON, ANY):
        return ((*language, text), text) if named else ((*language, text),)
    shell = _CELL.match(text)
    if shell is not None:
        return (text[shell.end() :],)
    code, lines = _without_magic(text)
    if not is_python(code):
        return (text, (*PYTHON, text)) if language == PYTHON and "\n" in text else (text,)
    read: list[Text] = [text] if language == ANY else []
    return (*read, *lines, (*PYTHON, code))


def _without_magic(text: str) -> tuple[str, list[str]]:
    """The code of a notebook's cell without the lines that are not Python, and those of them that a
    shell runs."""
    if "!" not in text and "%" not in text:
        return text, []
    lines = [line[3] for line in _MAGIC.finditer(text) if "!" in line[2]]
    lines += [
        line[3].partition(" ")[2]
        for line in _MAGIC.finditer(text)
        if line[3].startswith(("sx ", "system "))
    ]
    return _MAGIC.sub(r"\1pass", text), lines


@lru_cache(KEPT)
def is_python(text: str) -> bool:
    """Whether a text is Python."""
    if len(text) > LONGEST:
        return False
    import ast

    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
