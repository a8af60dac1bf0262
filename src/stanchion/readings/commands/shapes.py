"""Shapes: a command that a call holds, in the ways in which arguments spell it, as a shell would be
told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from shlex import join, quote
from typing import Any, Final

import msgspec

from stanchion.kernel.names import Names
from stanchion.kernel.regex import regex
from stanchion.readings.commands.words import (
    ANY,
    AWS,
    BARE,
    GUESSED,
    LANGUAGES,
    MODES,
    MOUNTED,
    SAYS,
    STANDS,
    UNKNOWN,
    USUALLY,
    VERBS,
)
from stanchion.readings.names import plain, words as named_words

LONGEST: Final = 65_536
KEPT: Final = 128
COMPLETE: Final = 3
"""With how many words a name says the service and the operation."""
MANY: Final = 256
"""How many arguments of a call are spelled."""
PYTHON: Final = LANGUAGES["python"]

_MAGIC: Final = regex(r"(?m)^([ \t]*)([!%?]+)(.*)$")
SURELY: Final = regex(r"(?m)^(?:import|from) [\w.]+(?: import \w|$)|^\w+ = \S|^print\(")
"""Lines of Python that no shell would be given."""
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
        if language == PYTHON:
            return (text, (*PYTHON, text)) if "\n" in text else (text,)
        guess = next((LANGUAGES[one] for sign, one in GUESSED if sign.search(text)), UNKNOWN)
        return (text, (*guess, text))
    read: list[Text] = [text] if language == ANY and SURELY.search(code) is None else []
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


Where = tuple[str | int, ...]


class Held(msgspec.Struct, frozen=True, gc=False):
    """A shell text or the words of one command, and where in the arguments it stands; `sure` where
    the tool's name says that it runs such texts, `code` where it is code of another language, as a
    command would give it to that."""

    text: Text
    where: Where
    sure: bool = True
    code: bool = False


class Naming(msgspec.Struct, frozen=True):
    """The tools that run what they are given and the arguments that hold it, where a policy names
    them."""

    tools: Names | None = None
    arguments: tuple[str, ...] | None = None


NAME: Final = regex(r"\S{1,256}")
"""The value of an option; what is longer or has blanks is a text that nothing runs."""
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


def spelled(program: tuple[str, ...], args: dict[str, Any]) -> str:
    """A call of a tool that is named after a program as that program's command: words as they are,
    whatever else is named as an option, switches where they are on."""
    words: list[str] = []
    options: list[str] = []
    waiting = list(args.items())
    beside = len(waiting) if program[:1] != AWS or len(program) < COMPLETE else 0
    bare = program[0] in BARE
    for at, (name, value) in enumerate(waiting):
        if len(waiting) > MANY:
            break
        if type(value) is dict and plain(name) in MOUNTED:
            places = [(one, into if type(into) is str else "") for one, into in value.items()]
            options += [f"--volume={one}:{into}" for one, into in places]
        elif type(value) is dict:
            waiting += value.items()
        elif type(value) is list and any(type(one) is dict for one in value):
            waiting += [pair for one in value if type(one) is dict for pair in one.items()]
        elif bare and type(value) is str and (told := _bare(str(name), value)) is not None:
            words += told
        elif (at < beside and plain(name) in SAYS) or type(value) is list:
            words += words_behind(value)
        elif type(value) in (bool, str, int, float):
            options += option(name, value, program[:1] == AWS)
    if program[:1] == AWS:
        program, words = as_aws([*program[1:], *words]), []
    text = " ".join([*program, *words, *map(quote, options)])
    for sign, put in USUALLY:
        text = sign.sub(put, text)
    return text


def _bare(name: str, value: str) -> list[str] | None:
    """What is given to a program of which most words have no name: a setting, a word, an option
    that is said by its value; `None` for any other option."""
    key = plain(name)
    if key in MODES:
        return [f"--{quote(value)}"]
    if "." in name:
        return [quote(name), quote(value)]
    if key in VERBS:
        return [f"--{key}", quote(value)]
    if key not in STANDS:
        return None
    return [value if key in SAYS else quote(value)]


def option(name: str, value: str | float, dashed: bool) -> tuple[str, ...]:
    """What is given by name as an option; nothing where it is off, but for a program that says so
    by an option of its own (`--no-dry-run`), whose words have dashes."""
    key = as_word(str(name)) if dashed else str(name).replace("_", "-")
    if type(value) is bool:
        return (f"--{key}",) if value else (f"--no-{key}",) if dashed else ()
    text = "".join(str(value).split()) if str(value)[:1] in ("{", "[") else str(value)
    return (f"--{key}={text}" if NAME.fullmatch(text) is not None else f"--{key}",)


@lru_cache(KEPT)
def as_word(name: str) -> str:
    """A name as a word of a command line: `db-cluster` of `DBCluster` and `db_cluster`."""
    return "-".join(named_words(name))


def as_aws(said: Sequence[str]) -> tuple[str, ...]:
    """The words of a call to AWS as its own program has them: a service and an operation."""
    if not said:
        return AWS
    service, *behind = said
    if behind and " " not in behind[0]:
        whole = all(word.isalnum() for word in behind)
        behind = [as_word("_".join(behind))] if whole else [as_word(behind[0]), *behind[1:]]
    if service == "s3" and behind and "-" in behind[0]:
        service = "s3api"
    return (*AWS, service.lower().replace("_", "-"), *behind)


def given(command: str, text: str) -> str:
    """A command that is given a text, as a shell would be told to do so."""
    mark = "GIVEN"
    while mark in text:
        mark += "_"
    return f"{{ {command}\n}} <<'{mark}'\n{text}\n{mark}"


def is_lone(text: Text) -> bool:
    return LONE.fullmatch(text if isinstance(text, str) else join(text)) is not None
