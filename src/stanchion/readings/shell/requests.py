"""Requests: what a command line asks of a service over HTTP, told as the call of a tool is."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

from stanchion.readings.commands.deeds import HERE, asked_words, pairs, told
from stanchion.readings.commands.shapes import parsed
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
LONGEST: Final = 4_096


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
