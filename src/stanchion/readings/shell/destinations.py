"""Where commands send to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from stanchion.kernel.regex import regex
from stanchion.kernel.sizes import ReadLimits
from stanchion.readings.shell.analysis import analysed
from stanchion.readings.shell.command import Command, is_remote
from stanchion.readings.shell.known import by_name
from stanchion.readings.shell.options import DATA, is_told
from stanchion.readings.word_lists import Strings, listed

KEPT: Final = 1_024
"""How many texts are remembered with where they go."""
BY_OPTION: Final = by_name("host", str)
"""Programs that are told their host by an option of one letter, or of their own."""
HOST_OPTIONS: Final = listed("--host --hostname")
VIA: Final = listed("-x --proxy --preproxy --socks5 --socks5-hostname")
SOCKETS: Final = listed("--unix-socket --abstract-unix-socket")
USUAL: Final = listed("http https ftp ftps sftp scp ws wss")


_URL: Final = regex(r"([A-Za-z][A-Za-z0-9+.-]{0,31})://([^\s\"'`<>)]+)")
_DEVICE: Final = regex(r"/dev/(?:tcp|udp)/([^/\s]+)/(\w+)")
_AUTHORITY: Final = regex(r"[^/?#]*")


class ShellDestination(NamedTuple):
    """A URL that a command talks to; not `known` where its host is made when it runs."""

    url: str
    known: bool


@lru_cache(KEPT)
def destinations(text: str | Strings, limits: ReadLimits) -> tuple[ShellDestination, ...]:
    """Where a shell text goes, in order; a host without a scheme gets that of the web."""
    found = analysed(text, limits)
    return tuple(dict.fromkeys([one for command in found.commands for one in of_command(command)]))


def of_command(command: Command) -> Iterator[ShellDestination]:
    """Where one command goes."""
    name, values = command.name, command.sorted.values
    told = {value for option, value in values if is_told(option)}
    talks = command.sends[:1] if name == "ssh" else command.sends
    words = talks if name in DATA else [word for word in command.argv[1:] if word not in told]
    yield from [
        ShellDestination(f"unix://{value}", True) for option, value in values if option in SOCKETS
    ]
    for word in (*words, *[value for option, value in values if option in VIA]):
        for scheme, rest in _URL.findall(word):
            if "web" in command.kinds and scheme.lower() not in USUAL:
                yield _at(scheme, rest)
            elif rest[0] != "/":
                yield _at("http", rest)
    yield from [_at("http", _host(word)) for word in _hosts(command, talks)]
    yield from [
        _at("http", f"{host}:{port}")
        for _, target in command.opens
        for host, port in _DEVICE.findall(target)
    ]


def _hosts(command: Command, talks: Strings) -> list[str]:
    """The hosts that a command names without a scheme."""
    name = command.name
    asks = "asks-names" in command.kinds
    hosts = [
        word
        for word in talks
        if "://" not in word and not (asks and (word[:1] == "+" or word.isupper()))
    ]
    naming = {BY_OPTION[name], *HOST_OPTIONS} if name in BY_OPTION else frozenset()
    hosts += [value for option, value in command.sorted.values if option in naming]
    if name == "git":
        hosts += [word for word in command.operands if "@" in word and is_remote(word)]
    return hosts


def _at(scheme: str, rest: str) -> ShellDestination:
    place = _AUTHORITY.match(rest)
    return ShellDestination(f"{scheme}://{rest}", place is not None and "$" not in place[0])


def _host(word: str) -> str:
    """The host of `user@host:path`, with its port where it has one."""
    host = word.rpartition("@")[2]
    port = host.partition(":")[2].partition("/")[0]
    return host.partition(":")[0] if is_remote(host) and not port.isdigit() else host
