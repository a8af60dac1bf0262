"""Shapes: a command in the ways in which arguments spell it, as a shell would be told."""

from __future__ import annotations

from collections.abc import Iterable
from shlex import join, quote
from typing import Any, Final

from stanchion.kernel.regex import regex
from stanchion.readings.commands.code import Text
from stanchion.readings.names import plain

LONE: Final = regex(r"[\w.:@+-]*")
"""A word that stands alone."""


def listed(name: str, words: tuple[str, ...]) -> list[Text]:
    """A list as a command: lines that stand by themselves, or the words of one."""
    lines = len(words) == 1 or name.endswith("s") or " " in words[0]
    if not lines or name == "args":
        return [words]
    whole = (
        len(words) > 1 and plain(name) != "scripts" and not any(" " in word for word in words[1:])
    )
    return [*words, " ".join(words)] if whole else [*words]


def words_behind(value: Any) -> Iterable[str]:
    """What stands behind a command: a text as it is, words one by one."""
    if type(value) is str:
        return [value] if value and value[0] not in "{[" else []
    if type(value) is list or type(value) is tuple:
        return [quote(str(word)) for word in value if isinstance(word, str | int | float)]
    return []


def given(command: str, text: str) -> str:
    """A command that is given a text, as a shell would be told to do so."""
    mark = "GIVEN"
    while mark in text:
        mark += "_"
    return f"{{ {command}\n}} <<'{mark}'\n{text}\n{mark}"


def is_lone(text: Text) -> bool:
    return LONE.fullmatch(text if isinstance(text, str) else join(text)) is not None
