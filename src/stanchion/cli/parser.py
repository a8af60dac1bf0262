"""Reading command lines: help of one width everywhere, mistakes in one line, the nearest word
suggested."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from typing import Any, Final, NoReturn

from stanchion.cli.trouble import BadInput
from stanchion.kernel.regex import regex

MOST: Final = 1_000_000
Several: Final[type[argparse.Action]] = argparse._AppendAction
"""What argparse makes of an option that keeps every value it is given."""
WHOLE: Final = (argparse.PARSER, argparse.REMAINDER)
"""Arguments that take everything behind them."""
_SECRET: Final = regex(r"//[^/@]*@")
"""Who is at a server, and with which password."""


class Parser(argparse.ArgumentParser):
    """A parser whose mistakes are raised as `BadInput`; subcommands get the same kind."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": Help, "allow_abbrev": False, **options})
        # Newer versions of argparse colour help by themselves, and would do so in the generated
        # docs.
        self.color = False
        self._mixing = False

    @property
    def needs_verb(self) -> bool:
        """Whether the command does nothing without one of its verbs."""
        return any(action.dest == "verb" and action.required for action in self._actions)

    def verbs_help(self) -> str:
        """The verbs of the command, with what each of them does."""
        return (
            f"usage: {self.prog} VERB [options]\n\n{self.description}\n\nsee `{self.prog} --help`"
        )

    def format_help(self) -> str:
        """The help. What stands last in it may be a function that gives it: most commands run
        without saying it."""
        last: Any = self.epilog
        if callable(last):
            self.epilog = last()
        return super().format_help()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse words in any order: argparse gives a word that may be left out its place before it
        has seen the words behind an option, so that `tickets show --json ID` would have an ID too
        many."""
        if self._mixing or any(action.nargs in WHOLE for action in self._actions):
            return super().parse_known_args(args, namespace)
        self._mixing = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._mixing = False

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
            raise BadInput(f"`{wrong}` is an argument too many: see `{self.prog} --help`")
        options = [name for action in self._actions for name in action.option_strings]
        raise BadInput(
            f"`{self.prog}` has no option `{wrong}`: "
            f"{nearest(wrong, options, f'see `{self.prog} --help`')}"
        )


class Help(argparse.RawDescriptionHelpFormatter):
    """Help that looks the same in every window, so that the docs show what the terminal shows."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=20, width=88)

    def add_argument(self, action: argparse.Action) -> None:
        """Leave room for the names of commands, too: Python does so since 3.13."""
        super().add_argument(action)
        if action.help is not argparse.SUPPRESS:
            for command in self._iter_indented_subactions(action):
                length = len(self._format_action_invocation(command)) + self._current_indent
                self._action_max_length = max(self._action_max_length, length)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """An option with all its names and then its value, once: Python writes it so since 3.13."""
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {value}"

    def _get_help_string(self, action: argparse.Action) -> str | None:
        """The help of an option; one that collects what it is given says that it may be given
        several times."""
        said = super()._get_help_string(action)
        return f"{said} (can be given several times)" if isinstance(action, Several) else said


class Once(argparse.Action):
    """Keeps the value of an option that has one; given twice, it is refused rather than the last
    one taken."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Take the value."""
        if option_string is not None and getattr(namespace, self.dest) is not self.default:
            raise BadInput(
                f"`{option_string}` is given twice, but takes only one value: give it once"
            )
        setattr(namespace, self.dest, values)


def nearest(wrong: str, words: Iterable[str], otherwise: str) -> str:
    """A question with the nearest known word, or other advice where none is near."""
    from difflib import get_close_matches

    near = get_close_matches(wrong, list(words), 1, 0.7)
    return f"did you mean `{near[0]}`?" if near else otherwise


def count(text: str) -> int:
    """The type of an option that says how many."""
    if not text.isdecimal() or not 0 < int(text) <= MOST:
        raise argparse.ArgumentTypeError(f"is `{text}`: give a number from 1 to {MOST:,}")
    return int(text)
