"""Reading command lines: help of one width everywhere, mistakes in one line, the nearest word suggested."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, Final, NoReturn

from stanchion.cli.trouble import BadInput

MOST: Final = 1_000_000
Several: Final[type[argparse.Action]] = argparse._AppendAction
"""What argparse makes of an option that keeps every value it is given."""
_SECRET: Final = re.compile(r"//[^/@]*@")
"""Who is at a server, and with which password."""


class Parser(argparse.ArgumentParser):
    """A parser whose mistakes are raised as `BadInput`; subcommands get the same kind."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": Help, "allow_abbrev": False, **options})
        # Newer versions of argparse colour help by themselves, and would do so in the generated docs.
        self.color = False

    def error(self, message: str) -> NoReturn:
        """Raise what argparse says, with the option in backticks and where to read on."""
        about = re.fullmatch(r"argument (\S+): (.+)", message, re.DOTALL)
        if about is not None:
            message = f"`{about[1]}` {about[2]}"
        raise BadInput(f"{message}: see `{self.prog} --help`")

    def unknown(self, words: list[str]) -> NoReturn:
        """Raise that a word on the command line means nothing here."""
        wrong = _SECRET.sub("//…@", words[0].partition("=")[0])
        if not wrong.startswith("-"):
            raise BadInput(f"`{wrong}` is one word too many: see `{self.prog} --help`")
        options = [name for action in self._actions for name in action.option_strings]
        raise BadInput(f"`{self.prog}` has no option `{wrong}`: {nearest(wrong, options, f'see `{self.prog} --help`')}")


class Help(argparse.RawDescriptionHelpFormatter):
    """Help that looks the same in every window, so that the docs show what the terminal shows."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=20, width=88)

    def _get_help_string(self, action: argparse.Action) -> str | None:
        """The help of an option; one that collects what it is given says that it may be given several times."""
        said = super()._get_help_string(action)
        return f"{said} (can be given several times)" if isinstance(action, Several) else said


class Once(argparse.Action):
    """Keeps the value of an option that has one; given twice, it is refused rather than the last one taken."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Take the value."""
        if option_string is not None and getattr(namespace, self.dest) is not self.default:
            raise BadInput(f"`{option_string}` is given twice, and it takes one value: give one of them")
        setattr(namespace, self.dest, values)


def nearest(wrong: str, words: Iterable[str], otherwise: str) -> str:
    """A question with the nearest known word, or other advice where none is near."""
    near = get_close_matches(wrong, list(words), 1, 0.7)
    return f"did you mean `{near[0]}`?" if near else otherwise


def count(text: str) -> int:
    """The type of an option that says how many."""
    if not text.isdecimal() or not 0 < int(text) <= MOST:
        raise argparse.ArgumentTypeError(f"is `{text}`: give a number from 1 to {MOST:,}")
    return int(text)
