"""What is written into a file: the shell texts in it, told from its name and from what it begins
with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from shlex import quote
from typing import Any, Final

import msgspec

from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import in_order, listed

READ_BY_PEOPLE: Final = (
    ".md", ".rst", ".adoc", ".markdown", ".html", ".htm", ".tex", ".org", ".csv", ".tsv", ".svg",
    ".po", ".log",
)  # fmt: skip
"""How the names of files end that nobody runs."""
SHELL: Final = in_order(".sh .bash .zsh .ksh .fish .command .bats .envrc .profile rc")
RECIPES: Final = listed("makefile gnumakefile justfile .justfile procfile")
LONGEST: Final = 65_536
LONGEST_NAME: Final = 256
MANY: Final = 64
"""How many words are read as those of one command."""

ARGUMENTS: Final = listed("args arguments argv")
"""What the words of a program are called that stand in a list beside its name."""

_SET: Final = regex(r"\s*(?:export\s+|override\s+)?([A-Za-z_]\w*)\s*(?:[:?+]*=)\s*(.*)")
_USED: Final = regex(r"\$[({]\s*(?!shell\b)([A-Za-z_]\w*)\s*[)}]|\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_SHELL_CALL: Final = regex(r"\$\(shell ")
_SHEBANG: Final = regex(r"#!\s*(?:\S*/)?(?:env\s+(?:-S\s+)?)?([\w.+-]+)\s*(\S*)")


def begins_with(text: str) -> re.Match[str] | None:
    """The line at the head of a text that says what runs it."""
    return _SHEBANG.match(text)


def scripts(name: str, text: str, shebang: re.Match[str] | None) -> Iterator[str]:
    """The shell texts that are in a file."""
    program = "" if shebang is None else shebang[1].lower()
    if program in ("make", "just") or name in RECIPES or name.endswith((".mk", ".just")):
        yield _recipes(text)
    elif program.endswith("sh") or name.endswith(SHELL) or (not program and "." not in name):
        yield text
    elif name.endswith(".json"):
        yield from _strings(text)


def _recipes(text: str) -> str:
    """The recipes of a Makefile or a justfile as a shell would run them, its variables before
    them."""
    lines: list[str] = []
    for line in text.replace("\\\n", " ").split("\n"):
        if line[:1] in ("\t", " "):
            line = line.strip().lstrip("@-+")
        elif (found := _SET.fullmatch(line)) is not None:
            value = found[2].strip().strip("'\"")
            line = f"{found[1]}='{value}'" if "$" not in value else f'{found[1]}="{value}"'
        else:
            continue
        lines.append(
            _USED.sub(lambda one: f"${{{one[1] or one[2]}}}", _SHELL_CALL.sub("$(", line)).replace(
                "$$", "$"
            )
        )
    return "\n".join(lines)


def _strings(text: str) -> Iterator[str]:
    """The texts of a JSON document, wherever they stand."""
    try:
        waiting: list[Any] = [msgspec.json.decode(text)]
    except (msgspec.DecodeError, RecursionError):
        return
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, list):
            yield from _together(one)
            waiting += one
        elif isinstance(one, dict):
            for name, words in one.items():
                if name in ARGUMENTS and isinstance(words, list):
                    yield from _together(
                        [value for key, value in one.items() if key != name], words
                    )
            waiting += one.values()


def _together(first: list[Any], words: list[Any] | None = None) -> Iterator[str]:
    """Words that stand beside each other as one command: those of a list, or each of some texts
    with a list behind."""
    if words is None:
        first, words = first[:1], first[1:]
    behind = [quote(word) for word in words[:MANY] if isinstance(word, str)]
    for program in first if behind else ():
        if isinstance(program, str) and len(program) <= LONGEST_NAME:
            yield " ".join([program, *behind])
