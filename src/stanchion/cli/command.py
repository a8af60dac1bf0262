"""Commands as data: their words and options as help shows them, how they are read, who does it."""

from __future__ import annotations

import argparse
import re
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final, NoReturn

from stanchion.kernel.regex import regex
from stanchion.kernel.tuples import NamedTuple


class BadInput(Exception):
    """What was typed or handed in cannot be used; each of its faults says what is wrong and what to
    do."""

    def __init__(self, *faults: str) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


class AsBadInput:
    """Around work: an exception of these kinds is bad input, in its own words."""

    def __init__(self, *kinds: type[Exception]) -> None:
        self._kinds = kinds

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, self._kinds):
            raise BadInput(str(error)) from None


def in_words(error: OSError | ValueError) -> str:
    """What the system says of an error, without its number; what Python says of a name that can be
    none."""
    return error.strerror.lower() if isinstance(error, OSError) and error.strerror else str(error)


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


class GivenOnce(argparse.Action):
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


UNITS_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_AGO: Final = regex(r"(\d{1,9})([smhdw])")


def moment_ms(option: str, text: str, now_ms: int) -> int:
    """A moment from what was typed: ISO 8601 (in UTC unless it says otherwise), or how long ago,
    such as `2h`."""
    ago = _AGO.fullmatch(text.strip())
    if ago is not None:
        return now_ms - int(ago[1]) * UNITS_MS[ago[2]]
    try:
        at = datetime.fromisoformat(text.strip())
        at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
        return round(at.timestamp() * 1000)
    except (ValueError, OverflowError):
        forms = (
            "write `2026-01-31`, `2026-01-31T12:00:00Z`, or how long ago: `90s`, `15m`, `2h`, `7d`"
        )
        raise BadInput(f"`{option}` is `{text}`, which is not a time: {forms}") from None


def lasting_s(text: str) -> float:
    """How long something is to last, from what was typed: the type of an option."""
    said = _AGO.fullmatch(text.strip())
    if said is None or not int(said[1]):
        raise ArgumentTypeError(f"is `{text}`: give a time such as `90s`, `15m`, `2h` or `1d`")
    return int(said[1]) * UNITS_MS[said[2]] / 1000


Args = argparse.Namespace
"""What was given on the command line."""


class CommandOption(NamedTuple):
    """One argument: `--tool NAME`, `-n, --lines N`, a flag `--json`, or `verb show|prune` for a
    word without an option; what it is for, and what else argparse has to know."""

    written: str
    help: str
    how: dict[str, Any]

    @property
    def name(self) -> str:
        """What it is called, without dashes."""
        return self.written.rpartition(", ")[2].partition(" ")[0].lstrip("-")

    def given(self, args: Args) -> Any:
        """What it was given."""
        return getattr(args, self.how.get("dest", self.name.replace("-", "_")))


class OptionGroup(NamedTuple):
    """Options under a heading of their own. Without a title only one of them can be given."""

    title: str
    options: tuple[CommandOption, ...]


CommandOptions = Iterable[CommandOption | OptionGroup]
Work = Callable[[Args], int]
"""Does what was asked for, and gives the exit status."""


class Verb(NamedTuple):
    """A word of a command: what does it; what it takes, of all that only some words of the command
    take; and what is said where the word behind it is missing, if it needs one."""

    work: Work
    takes: str = ""
    needs: str = ""


class DeclaredCommand(NamedTuple):
    """A command: its help, its arguments, and what does it, or does each of its verbs."""

    usage: str
    description: str
    epilog: str | Callable[[], str]
    options: tuple[CommandOption | OptionGroup, ...]
    work: Work | Mapping[str, Verb]


def option(written: str, about: str, **how: Any) -> CommandOption:
    """Declare an argument, written as its help shows it."""
    return CommandOption(written, about, how)


def group(title: str, *options: CommandOption) -> OptionGroup:
    """Declare options that stand together in the help."""
    return OptionGroup(title, options)


def parser_of(name: str, command: DeclaredCommand) -> Parser:
    """The parser of a command."""
    parser = Parser(
        prog=f"stanchion {name}",
        usage=command.usage,
        description=command.description,
        epilog=command.epilog,
    )
    _add(parser, command.options)
    return parser


def _add(parser: Any, options: CommandOptions) -> None:
    for one in options:
        if isinstance(one, OptionGroup):
            apart = parser.add_argument_group if one.title else parser.add_mutually_exclusive_group
            _add(apart(*filter(None, [one.title])), one.options)
            continue
        *short, last = one.written.split(", ")
        name, _, value = last.partition(" ")
        shape = {"metavar": value} if value else {"action": "store_true"}
        parser.add_argument(*short, name, **shape, **one.how, help=one.help)


NOT_GIVEN: Final = (None, False, "", list[str]())


def carry_out(name: str, command: DeclaredCommand, args: Args) -> int:
    """Do what was asked for. An unknown verb, what a verb does not take and what it misses is bad
    input."""
    if not isinstance(command.work, Mapping):
        return command.work(args)
    verb = command.work[know_verb(name, args.verb, command.work)]
    taken, some = verb.takes.split(), " ".join([one.takes for one in command.work.values()]).split()
    behind = ""
    for one in every_option(command.options):
        given = one.given(args)
        if one.name in some and one.name not in taken and given not in NOT_GIVEN:
            said = given[0] if isinstance(given, list) else given
            # A URL may hold a password.
            scheme, url, _ = said.partition("://") if isinstance(said, str) else ("", "", "")
            word = f"--{one.name}" if one.written[0] == "-" else f"{scheme}{url}…" if url else said
            see = f"see `stanchion {name} --help`"
            raise BadInput(f"`stanchion {name} {args.verb}` takes no `{word}`: {see}")
        if one.name in taken and one.written[0] != "-" and not behind:
            behind = one.name
            if verb.needs and not given:
                raise BadInput(verb.needs)
    return verb.work(args)


def every_option(options: CommandOptions) -> Iterator[CommandOption]:
    """The options, those of groups among them."""
    for one in options:
        yield from one.options if isinstance(one, OptionGroup) else (one,)


def know_verb(command: str, verb: str, verbs: Iterable[str]) -> str:
    """The verb of a command; `BadInput` for one that it does not have, with the nearest that it
    has."""
    return _known(f"`stanchion {command}` cannot `{verb}`", verb, verbs, "write", "`")


def one_of(option: str, word: str, words: Iterable[str]) -> str:
    """The word that an option was given; `BadInput` where it is not one of these."""
    return _known(f"`{option}` is `{word}`", word, words, "give one of")


def word_of(option: str, words: Iterable[str]) -> Callable[[str], str]:
    """The type of an option that is one of some words."""
    return lambda word: one_of(option, word, words)


def _known(trouble: str, word: str, words: Iterable[str], advice: str, quote: str = "") -> str:
    known = list(words)
    if word not in known:
        every = f"{advice} {', '.join([f'{quote}{one}{quote}' for one in known])}"
        raise BadInput(f"{trouble}: {nearest(word, known, every)}")
    return word


STORE: Final = option("--store URL", "the store: a file, a URL, or `user:`")
PROJECT: Final = option(
    "--project DIR", "the project whose state to use (default: that of the current folder)"
)
TENANT: Final = option("--tenant NAME", "the tenant (default: STANCHION_TENANT, or else `default`)")
TRAIL: Final = option("--trail DIR", "the folder of the trail, or the URL of its database")
WHY: Final = option("--why WORDS", "the reason, for the trail", default="")
BY: Final = option("--by NAME", "your name, if no key proves it", default="")
DOER: Final = option("--by NAME", "who does it (default: you)", default="")
JSON: Final = option("--json", "answer with JSON")
ONE_LINE: Final = option("--json", "answer with one line of JSON")

WHO: Final = (
    option("--ssh-agent", "sign with a key in your ssh-agent (SSH_AUTH_SOCK)"),
    option(
        "--as NAME",
        "your name as an operator, if your key does not tell",
        dest="as_name",
        default="",
    ),
    option("--role ROLE", "the role in which you answer, if you have several", default=""),
    option("--passphrase-fd N", "read the key's passphrase from this descriptor", type=int),
)
KEY: Final = (option("--key FILE", "sign with the private key in this file"), *WHO)
SIGNER: Final = group("who answers", *KEY)
"""Who answers, for a command that has `--policy` for itself."""
ANSWERER: Final = group(
    "who answers", *KEY, option("--policy FILE", "the policy that lists operators, if one does")
)
CHANGE: Final = (
    option("--why WORDS", "the reason, for agents and for the trail", default=""),
    DOER,
    TENANT,
    STORE,
    PROJECT,
)
"""What every command takes that changes a state."""


def scope(change: str) -> CommandOption:
    """The scope of a change, in the words of what is done to it."""
    return option(
        "scope SCOPE", f"what to {change} (default: the whole tenant)", nargs="?", default=""
    )
