"""Requests: what a command line asks of a service over HTTP, told as the call of a tool is."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final, Literal

from stanchion.kernel.regex import regex
from stanchion.readings.act_words import DELETES
from stanchion.readings.commands.deeds import HERE, asked_words, pairs, told
from stanchion.readings.commands.shapes import parsed
from stanchion.readings.commands.weights import DOES, UNDOES, WORDS
from stanchion.readings.names import numbered_words, plain
from stanchion.readings.shell.command import Command
from stanchion.readings.word_lists import listed

OVER_HTTP: Final = listed("curl wget http https xh gh glab")
METHOD: Final = listed("-X --request --method")
BODY: Final = listed(
    "-d --data --data-raw --data-binary --data-urlencode --json -f -F --field --raw-field --form "
    "--post-data --body-data"
)
"""Options that say the method of a request, and what is sent."""
FORGES: Final = frozenset({"gh", "glab"})
SURELY: Final = (UNDOES - DELETES) | listed("deactivate delete reinstall revoke")
"""Verbs that are seldom about files or lists of one's own."""
SCRIPTS: Final = (".sh", ".py", ".rb", ".js", ".ts", ".pl", ".ps1")
EVERY: Final = "--@every"
PRODUCTION: Final = "--@production"
SPOKEN: Final = 4
"""Among how many of its first words a program is told what to do."""
_SPOKEN: Final = regex(r"[A-Za-z][\w:-]{1,40}")
LONGEST: Final = 4_096


def told_command(command: Command) -> Command | None:
    """A request, or what a program that nobody knows is told, as the call of a tool is."""
    return (told_request if command.name in OVER_HTTP else told_unknown)(command)


def told_request(command: Command) -> Command | None:
    """A request that may change something as the call of a tool, by its method, the words of its
    address and what it sends; `None` where a command makes none to another host."""
    if command.name in FORGES and command.operands[:1] != ("api",):
        return None
    options = _options(command.argv)
    bodies = [value[:LONGEST] for flag, value in options if flag in BODY]
    method = next((value for flag, value in options if flag in METHOD), "post" if bodies else "")
    places = [word for word in command.operands if "/" in word and word not in bodies]
    url = next((word for word in places if "://" in word), places[0] if places else "")
    words = asked_words(method, url)
    if not words or HERE.match(url) is not None:
        return None
    sent = pairs(_sent(bodies))
    return Command(told(words, sent), command.via, command.privileged, command.cwd)


def told_unknown(command: Command) -> Command | None:
    """What a program that nobody knows is told by its first words, as the call of a tool is;
    `None` where these do not do away with something weighty, or act on production or on all."""
    words = [word.rpartition("/")[2] for word in (command.name, *command.operands[:SPOKEN])]
    scripts = [word.partition(".")[0] for word in words if word.endswith(SCRIPTS)]
    spoken = scripts[:1] + [word for word in words[1:] if _SPOKEN.fullmatch(word)]
    verbs = [word for one in spoken for word in numbered_words(one)]
    if DOES.isdisjoint(verbs):
        return None
    given: list[tuple[str, str | Literal[True]]] = [
        (plain(flag[2:]), True) for flag in command.flags if flag[:2] == "--"
    ]
    given += [(plain(flag), value.lower()) for flag, value in command.sorted.values]
    argv = told(verbs, [*given, *[("given", word.lower()) for word in command.operands]])
    far = EVERY in argv or not WORDS["far"].isdisjoint(argv)
    if PRODUCTION not in argv and (SURELY.isdisjoint(verbs) or not far):
        return None
    return Command(argv, command.via, command.privileged, command.cwd)


def _sent(bodies: list[str]) -> dict[str, Any]:
    """What bodies of a request hold by name, in JSON or as a form."""
    held: dict[str, Any] = {}
    for body in bodies:
        known = parsed(body)
        fields = [part.partition("=") for part in body.split("&")]
        held.update({key: value for key, _, value in fields} if known is None else known)
    return held


def _options(argv: tuple[str, ...]) -> list[tuple[str, str]]:
    """Options with the word behind them, or what they are joined with."""
    found = [(word, after) for word, after in pairwise(argv) if word[:1] == "-"]
    joined = [word.partition("=") for word in argv if word[:2] == "--" and "=" in word]
    found += [(flag, value) for flag, _, value in joined]
    return found + [("-X", word[2:]) for word in argv if word[:2] == "-X" and len(word) > 2]
