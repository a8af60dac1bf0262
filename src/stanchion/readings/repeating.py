"""Repeating: whether a call that is made once more changes nothing, or only looks whether something
has changed, by its tool's name or by what it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Final

from stanchion.readings.act import reads
from stanchion.readings.names import letters
from stanchion.readings.shell.analysis import analysed
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.known import named
from stanchion.readings.word_lists import listed

SHOWS: Final = named("prints", "seeks") | listed(
    "cat tac head tail nl od xxd hexdump strings wc sort uniq cut paste comm diff cmp column rev "
    "tr fold file stat ls dir tree du df basename dirname realpath readlink pwd cd true false : jq "
    "yq md5sum sha1sum sha256sum"
)  # fmt: skip
"""Programs that show something and change nothing; what they print may be written to a file."""
GIT_SHOWS: Final = listed("status log diff show ls-files rev-parse blame")
WAITS: Final = listed("sleep wait")
TELLS: Final = WAITS | listed(
    "ps lsof ss netstat free uptime date nvidia-smi squeue qstat dig nslookup host"
)
"""Programs that wait, or tell how things are at the time."""
SERVICES: Final = dict.fromkeys(
    listed(
        "kubectl oc helm argocd docker podman nerdctl docker-compose systemctl heroku fly flyctl "
        "vercel netlify"
    ),
    0,
) | dict.fromkeys(listed("gh glab aws gcloud az doctl service"), 1)
"""Programs that ask a service or tell it what to do, and which of their words says which."""
BODIES: Final = listed(
    "-d --data --data-binary --data-ascii --data-raw --data-urlencode --json -F --form -T "
    "--upload-file"
)
"""Options by which a request has a body."""
GROUPS: Final = listed("compose container image volume network rollout")
"""Words before that one."""
ASKS: Final = listed("logs ps inspect top checks events stats")
"""Words that ask, besides those in names of tools."""
METHODS: Final = listed("-X --request")
GETS: Final = listed("GET HEAD")
KEPT: Final = 256
"""Of how many texts it is remembered."""
SAME: Final = listed("> < <<< << 2> >& &>")
"""Redirections by which a file has the same in it afterwards, however often they are made."""


def is_the_same_again(reading: Any) -> bool:
    """Whether nothing changes when a call is made again: its tool only looks, or all that it runs
    shows something or writes the same to the same file."""
    held = reading.commands
    return _each(held, _shows) if held else reads(reading.event.tool)


def is_a_look(reading: Any) -> bool:
    """Whether a call waits for something, or looks whether it is there, by its tool's name or by
    all that it runs."""
    held, tool = reading.commands, reading.event.tool
    return _each(held, _looks) if held else reads(tool) or not letters(tool).isdisjoint(WAITS)


def _each(held: Iterable[Any], does: Callable[[Command], bool]) -> bool:
    return all(not one.code and type(one.text) is str and _only(one.text, does) for one in held)


@lru_cache(KEPT)
def _only(text: str, does: Callable[[Command], bool]) -> bool:
    """Whether all commands of a text do that and no more."""
    found = analysed(text)
    if found.unclear or found.broken or found.passed or not found.commands:
        return False
    return all(map(does, found.commands))


def _looks(command: Command) -> bool:
    """Whether a command shows something here, or asks a service how things are."""
    if _shows(command):
        return True
    name, opened = command.name, {target for _, target in command.opens}
    if not (_keeps(command) and opened.issuperset((*command.writes, *command.reads))):
        return False
    if name == "curl":
        methods = [value for flag, value in command.sorted.values if flag in METHODS]
        return command.flags.isdisjoint(BODIES) and GETS.issuperset(methods)
    at = SERVICES.get(name, -1)
    words = [word for word in command.operands if word not in GROUPS][: at + 1]
    asks = len(words) == at + 1 > 0 and (words[at] in ASKS or reads(words[at]))
    return asks or name in TELLS


def _keeps(command: Command) -> bool:
    """Whether its redirections leave the same in a file, however often they are made."""
    return all(sign in SAME for sign, _ in command.opens)


def _shows(command: Command) -> bool:
    if not _keeps(command):
        return False
    if command.name == "git":
        return command.operands[:1] != () and command.operands[0] in GIT_SHOWS
    return command.name in SHOWS and not command.deletes and not command.sends
