"""Rights and machines: rights that a run would give itself or the whole world, traces that would be
wiped, and what would use a machine up, or end what runs on it."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from stanchion.guards.shell.places import TRACES, Roots, is_secret
from stanchion.guards.shell.rule import CHECKS, asked
from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command
from stanchion.readings.word_lists import in_order


@asked
def opens_traces(command: Command, _roots: Roots) -> bool:
    silent = command.name in ("", ":", "true", "cat", "echo") and (
        len(command.argv) < 2 or command.argv[1] in ("/dev/null", "", "-n")
    )
    return silent and any(mark in path for path in command.emptied for mark in TRACES)


@asked
def broad(command: Command, _roots: Roots) -> bool:
    return any(len(word) < 3 or word in (".", ".*", "*") for word in command.operands) or (
        bool(command.flags & {"-u", "-U"}) and not command.operands
    )


@asked
def holds_lock(command: Command, _roots: Roots) -> bool:
    words = " ".join(command.argv[1:]).split()
    return any(
        word == "sleep"
        and after[:-1].isdigit()
        and (int(after.rstrip("smhd")) >= 600 or after[-1] in "hd")
        for word, after in pairwise(words)
        if after.rstrip("smhd").isdigit()
    )


_WIDE: Final = regex(r"[0-7]{2,3}[2367]|(?:.*,)?(?:[ug]*[oa][ugoa]*[+=]r?w|\+rwx).*")
_READABLE: Final = regex(r"[0-7]{2,3}[4-7]|(?:.*,)?(?:[ug]*[oa][ugoa]*[+=]|\+)r.*")
"""Modes by which everybody may write, and by which others may read."""


AS_HOST: Final = in_order(
    "\"privileged\":true \"hostpid\":true \"hostnetwork\":true \"hostpath\":{\"path\":\"/\" src=/, "
    "source=/, security.privileged=true"
)  # fmt: skip
"""How a container is asked for that has the rights of its host."""


@asked
def shows_secret(command: Command, _roots: Roots) -> bool:
    """Whether others may read a key or a store of passwords from now on."""
    return any(map(_READABLE.fullmatch, command.operands[:1])) and any(
        path[0] in "/~$" and is_secret(path) for path in command.operands[1:]
    )


@asked
def setuid(command: Command, _roots: Roots) -> bool:
    mode = command.operands[0] if command.operands else ""
    if mode.isdigit():
        return len(mode) == 4 and mode[0] in "4267" and mode != "1777"
    return "+s" in mode or "=s" in mode or "u+xs" in mode


@asked
def root_shell(command: Command, _roots: Roots) -> bool:
    args = [word for word in command.argv[1:] if word not in ("-", "root", "-u", "-E", "-H", "-n")]
    if command.name == "su":
        return (
            not args
            and command.argv[1:] in ((), ("-",), ("root",), ("-", "root"), ("-l",))
            and command.given is None
        )
    return bool(args) and (
        (args[0] in ("-i", "-s", "--login", "--shell", "su", "-is") and len(args) == 1)
        or (len(args) == 1 and args[0] in ("bash", "sh", "zsh", "/bin/bash", "/bin/sh"))
    )


@asked
def gives_admin(command: Command, _roots: Roots) -> bool:
    words = ",".join(command.argv[1:]).lower().split(",")
    return bool(
        {"sudo", "wheel", "root", "admin", "docker", "adm", "administrators"}.intersection(words)
    )


@asked
def as_host(command: Command, _roots: Roots) -> bool:
    text = "".join(command.line.lower().split())
    return any(mark in text for mark in AS_HOST) or any(
        word in ("src=/", "source=/") for word in command.argv
    )


@asked
def open_server(command: Command, _roots: Roots) -> bool:
    """Whether a server listens to everybody and asks for no password, whatever its options are
    called."""
    everywhere = any(_EVERYWHERE.search(word) for word in command.argv[1:])
    return everywhere and _NO_PASSWORD.search(" ".join([*command.argv[1:], ""])) is not None


@asked
def lets_everybody(command: Command, _roots: Roots) -> bool:
    """Whether a line is written by which a database trusts every host."""
    texts = (*command.argv[1:], command.given if command.given is not None else "")
    writes = command.name in ("tee", "sed") or any(">" in op for op, _ in command.opens)
    return writes and any(_TRUSTS.search(text) for text in texts)


_EVERYWHERE: Final = regex(r"(?:^|[=:/@\s])(?:0\.0\.0\.0|\[::\]|\*)(?::\d+)?$|bind_ip_all$")
_NO_PASSWORD: Final = regex(
    r"(?i)--?[\w.-]*(?:token|password|passwd|auth|credential)[\w.-]*(?:=(?:none|off|false|no|"
    r"disabled|''|\"\")?\s|\s(?:none|off|no)\s)"
    r"|--?no-?auth\w*\s|--(?:without|disable|skip)-(?:auth|password|grant)[\w-]*\s|"
    r"--protected-mode\s+no\s"
)
"""Options by which a server asks nobody who he is: those of passwords with nothing, and those that
say so."""
_TRUSTS: Final = regex(r"\bhost\w*\s+\S+\s+\S+\s+(?:0\.0\.0\.0/0|::0?/0)\s+trust\b")


CHECKS.update(
    {
        "all_processes": lambda command, _: (
            any(word in ("-1", "1", "0") for word in command.operands)
            or (command.argv[-1:] == ("-1",) and len(command.argv) > 2)
        ),
        "is_privileged": lambda command, _: command.privileged,
        "wide": lambda command, _: any(map(_WIDE.fullmatch, command.operands[:1])),
        "past_rights": lambda command, _: (
            "/dev/" in command.line
            and (command.given is not None or bool(command.flags & {"-R", "-f"}))
        ),
    }
)
