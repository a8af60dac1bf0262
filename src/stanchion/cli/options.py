"""What a command takes, as data: its words and options, written as its help shows them."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from stanchion.cli.parser import nearest
from stanchion.cli.trouble import BadInput
from stanchion.kernel.tuples import NamedTuple


class CommandOption(NamedTuple):
    """One argument: `--tool NAME`, `-n, --lines N`, a flag `--json`, or `verb show|prune` for a
    word without an option; what it is for, and what else argparse has to know."""

    written: str
    help: str
    how: dict[str, Any]


class OptionGroup(NamedTuple):
    """Options under a heading of their own. Without a title only one of them can be given."""

    title: str
    options: tuple[CommandOption, ...]


CommandOptions = Iterable[CommandOption | OptionGroup]


def option(written: str, about: str, **how: Any) -> CommandOption:
    """Declare an argument, written as its help shows it."""
    return CommandOption(written, about, how)


def group(title: str, *options: CommandOption) -> OptionGroup:
    """Declare options that stand together in the help."""
    return OptionGroup(title, options)


def add_options(parser: Any, options: CommandOptions) -> None:
    """Give a parser what a command takes."""
    for one in options:
        if isinstance(one, OptionGroup):
            apart = (
                parser.add_argument_group(one.title)
                if one.title
                else parser.add_mutually_exclusive_group()
            )
            add_options(apart, one.options)
            continue
        *short, last = one.written.split(", ")
        name, _, value = last.partition(" ")
        shape = {"metavar": value} if value else {"action": "store_true"}
        parser.add_argument(*short, name, **shape, **one.how, help=one.help)


Takes = Mapping[str, frozenset[str]]
"""What each verb of a command takes, of all that only some of them take."""

NOT_GIVEN = (None, False, "")


def know_verb(command: str, verb: str, verbs: Collection[str], advice: str = "") -> None:
    """Raise `BadInput` for a verb that a command does not have, with the nearest that it has, or
    with advice."""
    if verb not in verbs:
        known = advice if advice else f"write {', '.join(f'`{name}`' for name in verbs)}"
        raise BadInput(f"`stanchion {command}` cannot `{verb}`: {nearest(verb, verbs, known)}")


def one_of(option: str, word: str, words: Iterable[str]) -> str:
    """The word that an option was given; `BadInput` where it is not one of these."""
    known = list(words)
    if word not in known:
        every = f"give one of {', '.join(known)}"
        raise BadInput(f"`{option}` is `{word}`: {nearest(word, known, every)}")
    return word


def check_verb(command: str, takes: Takes, args: argparse.Namespace, word: str) -> frozenset[str]:
    """What the verb takes that was asked for; an unknown verb, and what it does not take, is bad
    input. `word` is the argument that has no option's name."""
    know_verb(command, args.verb, takes)
    taken = takes[args.verb]
    for name in sorted(frozenset().union(*takes.values()) - taken):
        given = getattr(args, name)
        if given not in NOT_GIVEN:
            said = f"`{given}`" if name == word else f"`--{name.removesuffix('_s')}`"
            raise BadInput(
                f"`stanchion {command} {args.verb}` takes no {said}: see `stanchion {command} "
                f"--help`"
            )
    return taken


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

KEY: Final = (
    option("--key FILE", "sign with the private key in this file"),
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
