"""Services and histories: things in clouds, clusters, containers and servers that a command line
would delete or stop, and pushed history that would be rewritten."""

from __future__ import annotations

from typing import Final

from stanchion.guards.shell.places import CORE, Roots, under
from stanchion.guards.shell.rule import CHECKS, asked
from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command, is_remote
from stanchion.readings.shell.partly_known import Open
from stanchion.readings.word_lists import in_order

_CHANGING: Final = regex(
    r"(?i)(?<![a-z])(?:destroy|delete|update|save|create|insert|upsert|increment|decrement|toggle|"
    r"touch|remove|truncate|"
    r"drop|execute|exec|system|spawn|eval|instance_eval|send|public_send|transfer|block|ban|"
    r"archive|disable|enable|reset|"
    r"revoke|assign|write|unlink|clear|purge|import|perform|call|new|transition|rename|move|merge|"
    r"approve)(?![a-z])"
    r"|\w!|\.\w+\s*[-+*/|&]{0,2}=(?![=~])|`|%x|<<"
)
"""What Ruby says where something stored may change: a method, one with a bang, an attribute that is
set, a command."""
_STRAY: Final = regex(r"\S*\.rb(?: .*)?|-?|/\S*")
"""A file, the input, or nothing."""


@asked
def changes_records(command: Command, _roots: Roots) -> bool:
    """Whether code for a runner of Rails may change what is stored; a file of it is not known."""
    code = " ".join(command.operands[1:])
    return (
        not command.known
        or _STRAY.fullmatch(code) is not None
        or _CHANGING.search(code) is not None
    )


@asked
def onto_system(command: Command, _roots: Roots) -> bool:
    last = command.operands[-1] if command.operands else ""
    return is_remote(last) and bool(
        under(last.partition(":")[2].rstrip("/"), (*CORE, "/", "/root", "/var/lib", "/var/spool"))
    )


HELD_BY_SERVICES: Final = in_order("ad az ec2 s3 rds vm smbshare dns mailbox msol mg spo")


@asked
def removes(command: Command, _roots: Roots) -> bool:
    verb, _, noun = command.name.partition("-")
    return verb in ("remove", "clear", "reset", "disable", "stop") and noun.startswith(
        HELD_BY_SERVICES
    )


@asked
def checks_out_files(command: Command, _roots: Roots) -> bool:
    """Whether what is checked out are files, not a branch."""
    operands = command.operands
    return (
        "--" in command.argv
        or "." in operands[1:]
        or len(operands) > 2
        or any("/" in w and "." in w.rpartition("/")[2] for w in operands[1:])
    )


CHECKS.update(
    {
        # Whether another program lists what is pushed, which may be deletions.
        "listed_ref": lambda command, _: (
            "xargs" in command.via
            and any(isinstance(word, Open) and word[:2] == "$(" for word in command.operands[2:])
        ),
    }
)
