"""Effects: which files a command reads, writes and deletes, and whom it talks to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from stanchion.readings.shell.command import READS, WRITES, Command
from stanchion.readings.shell.listing import listed

Found = tuple[list[str], list[str], list[str], list[str]]
"""Reads, writes, deletes, sends."""

READERS: Final = listed(
    "cat tac head tail less more nl od xxd hexdump strings wc sort uniq cut paste comm diff cmp md5sum "
    "sha1sum sha256sum base64 base32 file stat rev fold gzip bzip2 xz zcat zless bat view grep egrep "
    "fgrep zgrep rg ag awk gawk sed jq yq python python3 perl ruby node source . openssl gpg split tar "
    "zip 7z rar column pr tsort ls readlink"
)
PATTERN_FIRST: Final = listed("grep egrep fgrep zgrep rg ag awk gawk mawk sed jq yq")
DELETERS: Final = listed("rm rmdir unlink shred trash srm wipe del erase rd")
MAKERS: Final = listed("touch mkdir tee chmod chown chgrp truncate chattr setfacl mkfifo mknod setcap")
HOSTS: Final = listed("curl wget http https xh nc ncat netcat telnet socat ssh ftp sftp tftp lftp dig nslookup host")


def effects_of(command: Command) -> tuple[tuple[str, ...], ...]:
    """What a command reads, writes, deletes and sends to."""
    found: Found = ([], [], [], [])
    for op, target in command.opens:
        if op in READS:
            found[0].append(target)
        if op in WRITES:
            found[1].append(target)
    if command.argv:
        special = SPECIAL.get(command.name)
        if special is not None:
            special(command, found)
        else:
            _plain(command, found)
    return tuple([tuple(each) for each in found])


def _plain(command: Command, found: Found) -> None:
    name, operands = command.name, command.operands
    if name in DELETERS:
        found[2].extend(operands)
    elif name in MAKERS:
        found[1].extend(operands[1:] if name in ("chmod", "chown", "chgrp") else operands)
    elif name in READERS:
        files = operands[1:] if name in PATTERN_FIRST and not command.flags & {"-e", "-f"} else operands
        into = found[1] if name == "sed" and command.flags & {"-i", "--in-place"} else found[0]
        into.extend([file for file in files if file != "-"])
    elif name in HOSTS:
        found[3].extend([each for each in operands if not each.isdigit()][:4])


def _copy(command: Command, found: Found) -> None:
    operands, values = command.operands, dict(command.sorted.values)
    into = values.get("-t", values.get("--target-directory"))
    sources = operands if into is not None else operands[:-1]
    found[0].extend(sources)
    if into is not None or operands:
        found[1].append(into if into is not None else operands[-1])
    if command.name == "mv":
        found[2].extend(sources)


def _disk_dump(command: Command, found: Found) -> None:
    for word in command.argv[1:]:
        if word.startswith("if="):
            found[0].append(word[3:])
        elif word.startswith("of="):
            found[1].append(word[3:])


DATA: Final = frozenset({"-d", "--data", "--data-binary", "--data-ascii", "--data-urlencode", "--json", "-F", "--form"})


def _curl(command: Command, found: Found) -> None:
    found[3].extend(command.operands)
    for flag, value in command.sorted.values:
        if flag in DATA and "@" in value:
            found[0].append(value.partition("@")[2].partition(";")[0])
        elif flag in DATA and "=<" in value:
            found[0].append(value.partition("=<")[2])
        elif flag in ("-T", "--upload-file", "-K", "--config"):
            found[0].append(value)
        elif flag in ("-o", "--output", "-c", "--cookie-jar"):
            found[1].append(value)
        elif flag == "--url":
            found[3].append(value)
    if command.flags & {"-O", "--remote-name"}:
        found[1].extend([each.rstrip("/").rpartition("/")[2] for each in command.operands])


def _wget(command: Command, found: Found) -> None:
    found[3].extend(command.operands)
    given = dict(command.sorted.values)
    for flag, value in given.items():
        if flag in ("--post-file", "--body-file", "-i", "--input-file", "--load-cookies"):
            found[0].append(value)
        elif flag in ("-O", "--output-document", "-o", "--output-file", "--save-cookies", "-P", "--directory-prefix"):
            found[1].append(value)


def _remote_copy(command: Command, found: Found) -> None:
    operands = command.operands
    for at, word in enumerate(operands):
        if is_remote(word):
            found[3].append(word)
        elif at == len(operands) - 1:
            found[1].append(word)
        else:
            found[0].append(word)
    if command.name == "rsync" and operands and any(flag.startswith("--delete") for flag in command.flags):
        found[2].append(operands[-1])


def is_remote(word: str) -> bool:
    """Whether a word names something on another host: `host:path` or a URL."""
    head, colon, _ = word.partition(":")
    return bool(colon) and "/" not in head and len(head) > 1


def _find(command: Command, found: Found) -> None:
    roots = find_roots(command.argv)
    found[0].extend(roots)
    if "-delete" in command.argv:
        found[2].extend(roots)


def find_roots(argv: tuple[str, ...]) -> list[str]:
    """Where a `find` begins to look."""
    roots: list[str] = []
    for word in argv[1:]:
        if word in ("-H", "-L", "-P") or word.startswith("-O"):
            continue
        if word[:1] in ("-", "(", "!"):
            break
        roots.append(word)
    return roots if roots else ["."]


def _link(command: Command, found: Found) -> None:
    operands = command.operands
    found[1].extend(operands[-1:])
    found[0].extend(operands[:-1])


def _archive(command: Command, found: Found) -> None:
    args = command.argv[1:]
    mode = args[0].lstrip("-") if args else ""
    creates = "c" in mode or bool(command.flags & {"-c", "--create", "-r", "-u"})
    given = dict(command.sorted.values)
    archive = given.get(
        "-f", given.get("--file", args[1] if "f" in mode and not args[0].startswith("-") and len(args) > 1 else "")
    )
    if archive and archive != "-":
        found[1 if creates else 0].append(archive)
    if creates:
        found[0].extend([each for each in command.operands if each not in (archive, args[0])])
    else:
        found[1].append(given.get("-C", given.get("--directory", ".")))


SPECIAL: Final[dict[str, Callable[[Command, Found], None]]] = {
    "cp": _copy, "mv": _copy, "install": _copy, "dd": _disk_dump, "curl": _curl, "wget": _wget, "scp": _remote_copy,
    "rsync": _remote_copy, "find": _find, "ln": _link, "tar": _archive,
}  # fmt: skip
