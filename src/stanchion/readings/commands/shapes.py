"""Shapes of arguments that hold commands, and calls that stand inside of arguments."""

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
    ASKED_BY,
    AWS,
    BARE,
    CALLED,
    DEFINING,
    GUESSED,
    KEEPING,
    LANGUAGES,
    MODES,
    MOUNTED,
    SAYS,
    STANDS,
    UNKNOWN,
    USUALLY,
    VERBS,
)
from stanchion.readings.names import letters, plain, words as named_words
from stanchion.readings.word_lists import Strings, listed

NAMED_BY: Final = listed("name tool toolname function functionname fn recipientname")
GIVEN_BY: Final = listed("arguments args params parameters input toolinput toolargs inputs kwargs")
"""Arguments that name the tool to which something is handed on, and what it is given."""
PROVIDERS: Final = listed("provider cloud cloudprovider vendor platform backend")
"""Arguments that name the program of a provider."""
ACTIONS: Final = ASKED_BY | listed("op operation action")
"""What a part of a batch says that is done."""
MOST: Final = 32
"""How many inner calls are judged."""
MANY: Final = 256
"""How many parts of arguments are looked through."""
LONGEST: Final = 65_536
_NAME: Final = regex(r"[A-Za-z][\w.:/-]{1,99}")

PARTS: Final = frozenset({dict, list, tuple})
"""What arguments are of that may hold a call, beside texts of JSON."""
Call = tuple[str, dict[str, Any]]
"""A tool's name, and what it is given."""


def inner_calls(reading: Any) -> tuple[Call, ...]:
    """The calls within the call of a reading."""
    event = reading.event
    args = getattr(event, "args", None)
    if type(args) is not dict:
        return ()
    keeps = not letters(event.tool).isdisjoint(KEEPING | DEFINING)
    around = {name: value for name, value in args.items() if type(value) is str}
    found: list[Call] = []
    waiting: list[Any] = [args]
    for one in waiting:
        if len(waiting) > MANY or len(found) >= MOST:
            break
        if type(one) is dict:
            found += _to_provider(one)
            if one is not args and any(plain(str(key)) in ACTIONS for key in one):
                found.append((event.tool, {**around, **one}))
            if not keeps and (handed := _handed_on(one)) is not None:
                found.append(handed)
                waiting.append(handed[1])
        waiting += [
            each for each in (one.values() if type(one) is dict else one) if type(each) in PARTS
        ]
    return tuple(found)


def _to_provider(level: dict[Any, Any]) -> list[Call]:
    """What is asked of the program of a provider that an argument names."""
    return [
        (value, {other: level[other] for other in level if other != key})
        for key, value in level.items()
        if type(value) is str and value.lower() in CALLED and plain(str(key)) in PROVIDERS
    ]


def _handed_on(level: dict[Any, Any]) -> Call | None:
    """The call of another tool that stands among some arguments."""
    name = given = None
    for key, value in level.items():
        known = plain(str(key))
        if known in NAMED_BY and type(value) is str and _NAME.fullmatch(value) is not None:
            name = value
        elif known in GIVEN_BY:
            given = parsed(value)
    return None if name is None or not given else (name, given)


def parsed(value: Any) -> dict[str, Any] | None:
    """What a value holds by name, as it is or as JSON; `None` where it is nothing of the kind."""
    if type(value) is str and value[:1] == "{" and len(value) <= LONGEST:
        try:
            value = msgspec.json.decode(value.encode())
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return None
    return value if type(value) is dict else None


KEPT: Final = 128
COMPLETE: Final = 3
"""With how many words a name says the service and the operation."""
PYTHON: Final = LANGUAGES["python"]

_MAGIC: Final = regex(r"(?m)^([ \t]*)([!%?]+)(.*)$")
SURELY: Final = regex(r"(?m)^(?:import|from) [\w.]+(?: import \w|$)|^\w+ = \S|^print\(")
"""Lines of Python that no shell would be given."""
_CELL: Final = regex(r"\s*%%(?:bash|sh|script +(?:bash|sh)|system|sx|!)[^\n]*\n")

Text = str | Strings
"""A shell text, or the words of one command."""


@lru_cache(KEPT)
def spoken(text: str, language: Strings, named: bool) -> tuple[Text, ...]:
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
    arguments: Strings | None = None


NAME: Final = regex(r"\S{1,256}")
"""The value of an option; what is longer or has blanks is a text that nothing runs."""
LONE: Final = regex(r"[\w.:@+-]*")
"""A word that stands alone."""


def list_texts(name: str, words: Strings) -> list[Text]:
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


def spelled(program: Strings, args: dict[str, Any]) -> str:
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


def option(name: str, value: str | float, dashed: bool) -> Strings:
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


def as_aws(said: Sequence[str]) -> Strings:
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
