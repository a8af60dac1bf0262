"""Shell texts in the arguments of a call: what is run, and what beside it says how."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import join, quote
from typing import Any, Final

from stanchion.readings.act_words import COMMANDS
from stanchion.readings.names import plain
from stanchion.readings.word_lists import listed

LONGEST: Final = 65_536
BEHIND: Final = listed("args arguments argv params parameters options flags")
"""Names of arguments that stand behind the command they are given with."""
AROUND: Final = frozenset(
    {
        "env", "environment", "envvars", "shell", "executable", "interpreter", "stdin", "input",
        "background", "runinbackground", "isbackground", "isinput", "detach", "async",
    }
)  # fmt: skip
"""Names of arguments that say what runs a command, what it is given, or that nobody waits for
it."""


def shell_texts(args: Mapping[str, Any]) -> list[str]:
    """The shell texts in the arguments of a call, each with the words that other arguments put
    behind it."""
    given = [value for key, value in args.items() if plain(str(key)) in COMMANDS]
    return [text for value in given if (text := _shell_text(value, args))]


def _shell_text(value: Any, args: Mapping[str, Any]) -> str:
    text = _text(value)
    if not text:
        return ""
    behind = [each for key, each in args.items() if plain(str(key)) in BEHIND and each is not value]
    return " ".join([text, *[word for each in behind for word in _words(each)]])


def changes_what_runs(args: Mapping[str, Any]) -> bool:
    """Whether something beside a command says how it runs."""
    return any(
        bool(value) and value != "false" for key, value in args.items() if plain(str(key)) in AROUND
    )


def _words(value: Any) -> list[str]:
    """What stands behind a command: a text as it is, words one by one."""
    if isinstance(value, list):
        return [quote(str(word)) for word in value]
    return [value if isinstance(value, str) else quote(str(value))] if value else []


def _text(value: Any) -> str:
    """A text, or words as one; of words, what a shell among them is given to run."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST else ""
    if not isinstance(value, list) or not value or not all(isinstance(word, str) for word in value):
        return ""
    return _text(join(value))
