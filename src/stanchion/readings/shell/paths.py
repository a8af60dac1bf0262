"""Paths in a shell text: which files its commands would read, write and delete."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal
from unicodedata import normalize

from stanchion.kernel.regex import regex
from stanchion.kernel.sizes import LIMITS, ReadLimits
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.act import Use
from stanchion.readings.paths.included import Swap, included, patched, swapped
from stanchion.readings.paths.place import is_known, named_by
from stanchion.readings.shell.analysis import analysed
from stanchion.readings.shell.changed import changed_by, changed_in, is_far, is_open
from stanchion.readings.shell.command import (
    SPECIAL,
    Command,
    find_roots,
    found_names,
)
from stanchion.readings.shell.known import WORDS, kinds_of
from stanchion.readings.shell.options import LANGUAGES
from stanchion.readings.shell.secret_sources import shows_secret
from stanchion.readings.word_lists import Strings, listed

How = Literal["", "looks", "deep", "asks", "hunts"]
"""`looks` where it is only asked that there is a file, and of what kind; `deep` where all of a
folder is used; `hunts` where that is searched for words of credentials; `asks` where a tool is
asked for what it signs in with."""

CODERS: Final = listed("python python3 perl ruby node")
"""Programs that are given code, whatever else they read."""
STARTING: Final = listed("-exec -execdir -ok -x -X")
RECURSIVE: Final = listed("-r -R -a --recursive --archive")
SHOWING: Final = listed("scp sftp ssh-keygen")
LISTING: Final = listed("cpio pax afio")
"""Programs that read the names of files from their input."""
CONTAINERS: Final = listed("docker podman nerdctl")
CHECKOUT: Final = WORDS["git commands that change a checkout"]
LISTED: Final = listed("-T --files-from -@")
"""Options by which a program takes the names of files from its input."""
GIT_READS: Final = WORDS["git commands that take in any file"]
"""Commands of `git` that take in a file wherever it is."""

_WITHHELD: Final = regex(
    r"-?[0-7]?[4-7]00\Z|[augo,]*go?[-=](?:[rwxXst]*)\Z|o[-=][rwxXst]*\Z|u\+[rw]+\Z"
)
"""Modes that take rights away from others, or give the owner what it has."""
_QUIET: Final = regex(
    r"-+(?:i|[\w-]*(?:key|cert|ident|cacert|kubeconfig|env-file|exclude|ignore|include|name|glob|"
    r"pattern|filter|profile"
    r"|password-file|vault|netrc|message|regexp|cookie|config|context)[\w-]*)\Z"
)
"""Options whose value is used and not shown, or is a pattern."""
_PATH: Final = regex(
    r"(?:~|\.{0,2}/|\.[A-Za-z]|[A-Za-z]:[\\/]|\\\\|\$|%\w+%)[^\n\r\0]*\Z|[^\n\r\0\s]*/[^\n\r\0]*\Z"
)
_TEXT: Final = regex(r"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'|`([^`\n]*)`")
_WRITING: Final = regex(
    r"\b(?:write\w*|append\w*|dump|copy\w*|move|rename\w*|symlink\w*|truncate|file_put_contents|"
    r"save\w*)\b|[\"'][wax]b?\+?[\"']"
)
_HUNTED: Final = regex(
    r"(?i)\.pem|\.key\b|id_(?:rsa|dsa|ecdsa|ed25519)|\.env|credential|secret|passw|token|kdbx|"
    r"wallet|\.ssh|\.aws|netrc|pgpass"
    r"|mnemonic|seed|\.p12|\.pfx|keystore|_history|recovery.{0,4}(?:phrase|code|key|word)|"
    r"private.{0,4}key|api.{0,4}key|\bPIN\b|\biban\b"
)
"""Names by which somebody looks for credentials."""
_INSIDE: Final = regex(
    r"(?:~|/home/[^/\s'\"]+|/root|/Users/[^/\s'\"]+|\$HOME|\$\{HOME\}|/etc|/proc|/run|/var)/"
    r"[^\s'\"`;|)<>,\\]+"
)
"""Paths in a word that is a little program of its own."""
_WALKS: Final = regex(
    r"\bos\.walk|\brglob|\bscandir|\bcopytree|\bmake_archive|\breaddir|\bFind\.find|"
    r"\bfilepath\.Walk|\*\*/"
)
"""How code goes through all that is in a folder."""
_STORES: Final = regex(
    r"keyring\.get_password|browser_cookie3|CryptUnprotectData|secretstorage|win32cred|"
    r"pycookiecheat|GetCredential|SecItemCopy"
)
"""Libraries by which code opens a store of credentials."""
_STATEMENTS: Final = regex(r"[;\n|]+|&&")
_BACKSLASHED: Final = regex(
    r"\"(?:[A-Za-z]:|%\w+%|\$env:\w+|~|\$HOME)\\[^\"\n]+\"|'(?:[A-Za-z]:|~)\\[^'\n]+'"
    r"|(?:(?<![\w])[A-Za-z]:|%\w+%|\$env:\w+|~|\$HOME)\\[^\s\"'|&;<>,)]+|\$PROFILE(?:\.\w+)?(?!\w)"
    r"|\(Get-PSReadLine\w*\)\.HistorySavePath|\$\(\(Get-PSReadLine\w*\)\.HistorySavePath\)",
    re.IGNORECASE,
)
_PUTS: Final = regex(
    r"\s*(?:copy|copy-item|cp|move|move-item|mv|xcopy|robocopy|set-content|add-content|out-file|"
    r"new-item|ni|sc|ac|tee-object"
    r"|rename-item|mklink|echo|expand-archive|invoke-webrequest|iwr|curl|certutil|bitsadmin)\b",
    re.IGNORECASE,
)
_LISTS: Final = regex(
    r"\s*(?:dir|ls|gci|get-childitem|test-path|get-item|resolve-path|cd|set-location|pushd)\b",
    re.IGNORECASE,
)
LONGEST: Final = 1_024
KEPT: Final = 128
"""How many texts are remembered with their paths."""
MOST: Final = 200


class Used(NamedTuple):
    """A path, how it is used, the folder that it is seen from, and whether it is surely a path."""

    path: str
    use: Use
    base: str
    how: How = ""
    sure: bool = True


@lru_cache(KEPT)
def paths_in(text: str, limits: ReadLimits = LIMITS) -> tuple[Used, ...]:
    """The paths that a shell text would use, as far as it is known which they are."""
    return tuple(_paths_in(text, limits))


def _paths_in(text: str, limits: ReadLimits) -> Iterator[Used]:
    commands = analysed(text, limits).commands
    if "$(" in text or "`" in text:
        yield from _in_named(commands)
    handed = any(_takes_on(command) for command in commands)
    for command in commands:
        if command.cwd != "container:":
            far = is_far(command)
            yield from [one._replace(sure=False) if far else one for one in _used(command, handed)]
    for path, use, base, _ in changed_in(text, limits):
        if path:
            yield Used(path, use, base)
    if "\\" in text or "$" in text or "HistorySavePath" in text:
        yield from _in_windows(text)


def used_by(command: Command) -> Iterator[Used]:
    """The paths that one command would use."""
    if command.cwd != "container:":
        yield from _used(command, False)
        yield from [Used(*one[:3]) for one in changed_by(command) if one.path]


def _in_named(commands: Sequence[Command]) -> Iterator[Used]:
    """What is read or written in a place that another program names: `$(npm config get
    userconfig)`."""
    names = {
        f"$({command.name}\u2026)": place
        for command in commands
        if (place := named_by(command.argv))
    }
    for command in commands if names else ():
        uses: tuple[tuple[Use, Strings], ...] = (
            ("read", command.reads),
            ("write", command.writes),
        )
        for use, paths in uses:
            for path in paths:
                head, end, rest = path.partition("\u2026)")
                if f"{head}{end}" in names:
                    yield Used(f"{names[head + end]}{rest}", use, "", "", False)


def swaps_of(text: str | Strings, limits: ReadLimits) -> list[Swap]:
    """The swaps that a shell text makes in files, by `sed`."""
    if not isinstance(text, str):
        return []
    made = [
        command
        for command in analysed(text, limits).commands
        if command.name in ("sed", "gsed") and command.writes
    ]
    return [swap for command in made for word in command.argv[1:] for swap in swapped(word)]


def hunts(text: str) -> bool:
    """Whether somebody who searches for that looks for credentials."""
    return _HUNTED.search(text) is not None


def _takes_on(command: Command) -> bool:
    """Whether a command reads files whose names another one finds."""
    if "reads" not in command.kinds or "lists" in command.kinds:
        return False
    return any("xargs" in each for each in command.via) or any(
        word[:1] == "$" for word in command.reads
    )


def _used(command: Command, handed: bool) -> Iterator[Used]:
    """What a command uses by its effects, and by all other ways; `handed` where another command
    reads what this one finds."""
    how = _how(command)
    if how == "looks" and handed and "finds" in command.kinds:
        how = "deep"
    yield from _by_effects(command, how, handed)
    if command.name == "git":
        yield from _in_other_checkout(command)
    if shows_secret(command):
        yield Used(f"~/.{command.name}/credentials", "read", "", "asks", False)
    if not command.argv:
        return
    yield from _in_words(command, handed)
    yield from _in_code(command)
    if command.given:
        yield from _in_input(command, command.given)


def _in_input(command: Command, given: str) -> Iterator[Used]:
    """The files that what a command reads names: a list of them, what a text includes, a patch."""
    if given[:1] != "<":
        lists = command.name in LISTING or not LISTED.isdisjoint(command.argv)
        named = given.split("\n")[:MOST] if lists else included(given)
        yield from [
            Used(path, "read", command.cwd, "", False) for path in named if path and _is_path(path)
        ]
    if "patches" in command.kinds:
        yield from [Used(path, use, command.cwd) for path, use in patched(given)]


def _by_effects(command: Command, how: How, handed: bool) -> Iterator[Used]:
    """The files that a command reads, writes and deletes by its plain effects."""
    finds = "finds" in command.kinds
    roots = find_roots(command.argv) if finds else []
    names = found_names(command.argv) if finds else []
    deletes = [f"{path.rstrip('/')}/{name}" for path in command.deletes for name in names]
    uses: tuple[tuple[Use, Sequence[str], str, bool], ...] = (
        ("read", command.reads, _linked_from(command), True),
        ("write", command.writes, command.cwd, "unpacks" in command.kinds),
        ("delete", deletes if deletes else command.deletes, command.cwd, False),
    )
    for use, paths, base, keeps in uses:
        for path in paths:
            found: How = "looks" if finds and path not in roots and not handed else how
            found = "" if use == "delete" else found
            if path[:1] == "$" and "/" in path and is_open(path):
                yield Used(str(path), use, command.cwd, how, False)
            elif _is_path(path):
                yield Used(str(path), use, base, found if keeps or found == "looks" else "")


def _linked_from(command: Command) -> str:
    """The folder that what a command reads is seen from: for a link, that in which it is put."""
    if command.name != "ln" or not command.flags & {"-s", "--symbolic"} or len(command.writes) != 1:
        return command.cwd
    folder = command.writes[0].rpartition("/")[0]
    return (
        folder
        if folder[:1] in ("/", "~", "$") or not command.cwd
        else f"{command.cwd}/{folder}".rstrip("/")
    )


def _how(command: Command) -> How:
    """How a command uses what it reads."""
    kinds = command.kinds
    if "finds" in kinds:
        return _how_found(command.argv)
    if "lists" in kinds:
        return "looks"
    if "modes" in kinds:
        mode = command.operands[:1]
        return "looks" if mode and _WITHHELD.match(mode[0]) else ""
    if "uses-keys" in kinds:
        return "" if command.name in SHOWING else "looks"
    goes_in = not RECURSIVE.isdisjoint(command.flags)
    hunted = "greps" in kinds and any(map(hunts, command.operands[:1]))
    if hunted and (goes_in or "searches" in kinds):
        return "hunts"
    return "deep" if goes_in or "searches" in kinds or "packs" in kinds else ""


def _how_found(argv: Strings) -> How:
    """How a search uses what it finds: all of it where it looks for credentials, or has a program
    go through it."""
    if any(word[:1] not in "/~" and hunts(word) for word in argv[1:]):
        return "deep"
    runs = [after for word, after in pairwise(argv) if word in STARTING]
    return "deep" if any(map(_goes_in, map(kinds_of, runs))) else "looks"


def _goes_in(kinds: frozenset[str]) -> bool:
    """Whether a program of these kinds goes through what is in the files that it is given."""
    return "follows" in kinds or ("reads" in kinds and "lists" not in kinds)


def _is_path(path: str) -> bool:
    if path == "-" or "\n" in path or "; " in path or len(path) > LONGEST * 4:
        return False
    return not path.startswith("$") or is_known(path)


def _in_words(command: Command, handed: bool) -> Iterator[Used]:
    """Words that look like paths, whatever the program is: it may show what is in them."""
    kinds = command.kinds
    yield from _mounted(command)
    looks = not kinds.isdisjoint(("uses-keys", "lists", "modes"))
    if looks or ("names" in kinds and not _takes_in(command)):
        return
    how: How = "deep" if handed and "finds" in kinds else ""
    said = {*command.reads, *command.writes, *command.deletes}
    for option, word in _values(command):
        if " " in word and _is_given_code(command):
            inside = _INSIDE.findall(word)
            yield from [Used(path, "read", command.cwd, "", False) for path in inside]
        path = word.lstrip("@")
        quiet = _QUIET.match(option) or (option == "-e" and "pattern-first" in kinds)
        if path not in said and not quiet and _looks_like_path(path):
            yield Used(str(path), "read", command.cwd, how, False)


def _is_given_code(command: Command) -> bool:
    """Whether a word may be a little program: a pattern is none, and words that are read as
    commands are read already."""
    kinds = command.kinds
    return "walked" not in kinds and ("pattern-first" not in kinds or "awk" in command.name)


def _takes_in(command: Command) -> bool:
    """Whether a command of `git` takes in files wherever they are."""
    words = command.argv
    return command.name == "git" and ("--no-index" in words or not GIT_READS.isdisjoint(words[1:3]))


def _looks_like_path(text: str) -> bool:
    return len(text) <= LONGEST and _PATH.match(text) is not None and _is_path(text)


def _values(command: Command) -> Iterator[tuple[str, str]]:
    """The words of a command that may be files, each with the option before it; of a program of
    which it is known which operands are files, only what its options take."""
    name, kinds = command.name, command.kinds
    told = name in SPECIAL or not kinds.isdisjoint(("reads", "deletes", "makes"))
    if told and name not in CODERS:
        yield from command.sorted.values
        yield from [("", word) for word in command.operands if word[:5].lower() == "file:"]
        if "awk" in name:
            yield from [("", word) for word in command.operands[:1]]
        return
    before = ""
    for word in command.argv[1:]:
        option, equals, value = word.partition("=")
        if word[:1] != "-":
            yield (before if before[:1] == "-" else ""), word
        elif equals:
            yield option, value
        before = word


def _in_other_checkout(command: Command) -> Iterator[Used]:
    """The folder of a checkout that `git` changes, where it is not the one that it stands in."""
    folder = next((after for word, after in pairwise(command.argv) if word == "-C"), "")
    if (folder or command.cwd) and any(word in CHECKOUT for word in command.operands[:1]):
        yield Used(folder if folder else ".", "write", command.cwd)


def _mounted(command: Command) -> Iterator[Used]:
    """Folders of this host that a container is given."""
    for option, value in pairwise(command.argv if command.name in CONTAINERS else ()):
        if option in ("-v", "--volume") and ":" in value:
            yield Used(value.partition(":")[0], "read", command.cwd, "deep", False)


def _in_windows(text: str) -> Iterator[Used]:
    """Paths as Windows writes them, which a shell of another system would take apart; the last of a
    statement that writes is where it writes."""
    for statement in _STATEMENTS.split(text):
        paths = [_named(found[0].strip("\"'")) for found in _BACKSLASHED.finditer(statement)]
        for path in paths:
            yield Used(path, "read", "", "looks" if _LISTS.match(statement) else "", False)
        if paths and _PUTS.match(statement):
            yield Used(paths[-1], "write", "", "", False)


def _named(path: str) -> str:
    """A path, or the file that a property of PowerShell names."""
    return (
        "~/ConsoleHost_history.txt"
        if path.lower().rstrip(")").endswith("historysavepath")
        else path
    )


def _in_code(command: Command) -> Iterator[Used]:
    """Paths in code that an interpreter is given: the texts it is made of that look like one."""
    language = LANGUAGES.get(command.name)
    if language is None:
        return
    codes = [
        word for word in command.argv[1:] if len(word) > 8 and not word.startswith(("-", "/", "~"))
    ]
    codes += [command.given] if command.given and command.given[:1] != "<" else []
    for code in codes:
        if _STORES.search(code) is not None:
            yield Used("~/.local/share/keyrings/login.keyring", "read", "", "asks", False)
        writes = _WRITING.search(code) is not None
        how: How = "deep" if _WALKS.search(code) is not None else ""
        for path in texts_of(code):
            path = normalize("NFKC", path)
            if _looks_like_path(path):
                yield Used(path, "read", command.cwd, how, False)
                if writes and path != "/":
                    yield Used(path, "write", command.cwd, "", False)


def texts_of(code: str) -> list[str]:
    """The texts that a piece of code is made of: those of Python put together, those of others as
    they are written."""
    from stanchion.readings.shell.python_code import python_texts

    texts = python_texts(code)
    if texts is not None:
        return texts
    return [
        next(part for part in found.groups() if part is not None) for found in _TEXT.finditer(code)
    ]
