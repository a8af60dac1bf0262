"""Exfiltration: secrets, and what is in files and variables, that would be read or go out."""

from __future__ import annotations

from typing import Final

from stanchion.guards.shell.places import KEY_SIGNS, Roots, is_key, is_secret, plain
from stanchion.guards.shell.rule import CHECKS, asked
from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import HOSTS, Command, is_remote
from stanchion.readings.shell.known import named
from stanchion.readings.shell.options import DATA, SHELLS
from stanchion.readings.shell.partly_known import OpenText, origin_of
from stanchion.readings.shell.secret_sources import SOURCE
from stanchion.readings.word_lists import listed

UPLOADERS: Final = named("uploads")
"""Senders whose operands are files."""
KEEPERS: Final = listed("secret secrets variable secretsmanager ssm keyvault auth login kms")
"""What they do with secrets that are meant for the service."""
SENDERS: Final = named("sends-out")
_TO_PROGRAM: Final = regex(r"(?i)\bto\s+program\s+'([^']*)'")
ISSUERS: Final = {
    "gcloud": regex(r"https://[\w.-]+\.googleapis\.com(?:/.*)?"),
    "gh": regex(r"https://api\.github\.com(?:/.*)?"),
    "glab": regex(r"https://gitlab\.com(?:/.*)?"),
    "az": regex(r"https://[\w.-]+\.azure\.com(?:/.*)?"),
}
"""Tools that give out tokens, and the addresses of the services that the tokens are for."""
ROUND: Final = listed("-k --insecure -x --proxy --preproxy --connect-to --resolve -K --config")
"""Options by which a request may reach another host than the one that it names."""
ALL_VARIABLES: Final = listed("env printenv set export declare")


def _sent(command: Command) -> list[str]:
    """The files whose content goes out: those it reads, and those that what it is given comes
    from."""
    read = [each[1:] for each in (*command.origin, *command.carries) if each.startswith("<")]
    return [*[plain(path, command.cwd) for path in command.reads], *read]


@asked
def sends_secret(command: Command, _roots: Roots) -> bool:
    if command.name == "openssl" and "s_client" not in command.operands:
        return False
    if command.name in UPLOADERS and not KEEPERS.isdisjoint(command.operands):
        return False
    if command.name in ("ssh", "scp", "sftp", "rsync"):
        keys = {value for flag, value in command.sorted.values if flag in ("-i", "-F", "-e")}
        # A copy that comes from another host brings nothing out.
        far = command.name == "ssh" or any(map(is_remote, command.operands[-1:]))
        return far and any(is_secret(path) and path not in keys for path in _sent(command))
    return any(is_secret(path) for path in (*_sent(command), *_uploaded(command))) or _in_words(
        command
    )


def _uploaded(command: Command) -> list[str]:
    """The operands that a program uploads: all but the last, which may be where something comes
    to."""
    if command.name not in UPLOADERS:
        return []
    far = any("://" in word or ":" in word[2:] for word in command.operands)
    words = command.operands[:-1] if far else command.operands
    paths = [
        word
        for word in words
        if ("/" in word or word[:1] == ".") and "://" not in word and " " not in word
    ]
    return [plain(word, command.cwd) for word in paths]


@asked
def serves_home(command: Command, _roots: Roots) -> bool:
    """Whether a folder with secrets is served to everybody who asks."""
    words = " ".join(command.argv[1:])
    if not any(
        mark in words
        for mark in ("http.server", "SimpleHTTPServer", "pyftpdlib", "-S ", "httpd", "serve")
    ):
        return False
    folders = [
        command.cwd,
        *[plain(word, command.cwd) for word in command.argv[1:] if word[:1] in "/~$."],
    ]
    return any(
        folder in ("~", "/", "/root", "/home", "/Users", "/etc") or is_secret(folder)
        for folder in folders
    )


def _in_words(command: Command) -> bool:
    """Whether a word is made of what a secret file or all variables have."""
    for word in command.argv[1:]:
        origin = origin_of(word)
        if ALL_VARIABLES.intersection(origin):
            return True
        secret = any(each.startswith("<") and is_secret(each[1:]) for each in origin)
        if secret and not _signs_in(command, word):
            return True
    return False


def _signs_in(command: Command, word: str) -> bool:
    """Whether a word is a header that hands a token to the service whose own tool gave it out, and
    to nobody else."""
    headers = [value for flag, value in command.sorted.values if flag in ("-H", "--header")]
    if word not in headers or not ROUND.isdisjoint(command.flags):
        return False
    issuers = [ISSUERS[each] for each in origin_of(word) if each in ISSUERS]
    return bool(command.sends) and any(
        all(issuer.fullmatch(url) for url in command.sends) for issuer in issuers
    )


@asked
def hands_variables(command: Command, _roots: Roots) -> bool:
    """Whether a word of a program that does not only look at it or keep it is made of all
    variables."""
    if command.name in DATA - HOSTS or command.name in SHELLS:
        return False
    return any(
        "env" in origin_of(word) or "printenv" in origin_of(word) for word in command.argv[1:]
    )


@asked
def to_program(command: Command, _roots: Roots) -> bool:
    """Whether a query's rows go to a program that sends."""
    found = [found[1] for word in command.argv[1:] for found in _TO_PROGRAM.finditer(word)]
    return any(not SENDERS.isdisjoint(text.replace("/", " ").split()) for text in found)


@asked
def opens_socket(command: Command, _roots: Roots) -> bool:
    goes = [
        path
        for op, path in command.opens
        if ">" in op and path.startswith(("/dev/tcp/", "/dev/udp/"))
    ]
    reads = [path for path in command.reads if path not in goes]
    return bool(goes) and (
        bool(reads)
        or command.name in ALL_VARIABLES
        or any(not each.startswith("</dev/") for each in command.origin)
    )


SEEN: Final = listed("/dev/stdout /dev/stderr /dev/tty /dev/fd/1 /dev/fd/2")
"""Files that whoever runs a command sees."""
VAULTS: Final = named("vault")
"""Programs that keep secrets for people and tell them one by one."""


@asked
def is_shown(command: Command, _roots: Roots) -> bool:
    """Whether what a command prints is seen, and no program, variable or file takes it."""
    return not command.taken and not any(
        op[:1] == ">" and path not in SEEN for op, path in command.opens
    )


@asked
def repeats_secret(command: Command, roots: Roots) -> bool:
    """Whether a program prints what one that keeps secrets has told it."""
    texts = [command.given, *command.argv[1:]]
    origins = [set(origin_of(text)) for text in texts if isinstance(text, OpenText)]
    told = any(SOURCE in origin and not VAULTS.isdisjoint(origin) for origin in origins)
    return told and is_shown(command, roots)


CHECKS.update(
    {
        "reads_key": lambda command, _: any(
            [  # noqa: C419  # a generator is a call more for each path
                is_key(place)
                for path in command.reads
                if KEY_SIGNS.search(place := plain(path, command.cwd)) is not None
            ]
        ),
    }
)
