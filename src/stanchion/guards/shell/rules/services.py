"""Services and databases: things in clouds, clusters, containers and servers that a command line
would delete or stop, history that would be rewritten, and statements that drop, empty or hand over
what a database holds."""

from __future__ import annotations

from typing import Final

from stanchion.guards.shell.places import CORE, Roots, under
from stanchion.guards.shell.rule import CHECKS, asked
from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command, is_remote
from stanchion.readings.shell.partly_known import OpenText
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


_COMMENT: Final = regex(r"/\*[^*]*(?:\*(?!/)[^*]*)*\*/|--[^\n]*")
_TEXT: Final = regex(r"'[^']*'")
_DESTROYS: Final = regex(
    r"^(?:drop\s+(?:(?:materialized\s+)?view|table|database|schema|index|user|role|owned|"
    r"collection|keyspace|type|function|trigger|tablespace|sequence|extension|procedure|event|domain|policy|"
    r"measurement|bucket|series|retention|warehouse|partition|publication|subscription|server|"
    r"column|constraint|dictionary|login)\b"
    r"|truncate\s+[^-\s(]|grant\s+all|revoke\b|alter\s+table\s+\S+\s+drop|alter\s+user"
    r"|reset\s+master|purge\s+binary|flushall|flushdb|shutdown|alter\s+system\s+set|set\s+password"
    r"|(?:create|alter)\s+(?:role|user|login)\s[^;]*\b(?:superuser|createrole|bypassrls|sysadmin)\b"
    r"|.*\b(?:pg_shadow|pg_authid|authentication_string|lo_export|pg_read_file|xp_cmdshell|"
    r"load_file|(?:into\s+(?:out|dump)file|from\s+program))\b)",
)
_UNBOUNDED: Final = regex(
    r"^(?:delete\s+from|update\s+\S+\s+set|alter\s+table\s+\S+(?:\s+on\s+cluster\s+\S+)"
    r"?\s+(?:delete|update))\b"
)
_ALWAYS: Final = regex(
    r"\bwhere\s+(?:1|true|(\S{1,40}?)\s*=\s*\1|not\s+false|\w*id\s*(?:>=?\s*0|is\s+not\s+null))"
    r"(?:\s+settings\b|\s*$)"
)
"""A condition that holds for every row."""


def destroys(text: str) -> bool:
    """Whether one of the statements drops, truncates, changes rights, or deletes or updates without
    a condition."""
    plain = _TEXT.sub("''", _COMMENT.sub(" ", text[:65_536])).lower()
    for statement in plain.split(";"):
        words = " ".join(statement.split())
        if words.startswith("with ") and " delete from " in words:
            return True
        if _DESTROYS.match(words):
            return True
        if _UNBOUNDED.match(words) and (" where " not in f"{words} " or _ALWAYS.search(words)):
            return True
    return False


def _texts(command: Command) -> tuple[str, ...]:
    """What a client is given to run: its words, and its input where that is known."""
    given = command.given
    return (*command.argv[1:], "" if given is None or isinstance(given, OpenText) else given)


_LOSES: Final = regex(
    r"--(?:accept|allow|force|confirm)-(?:data-?loss|(?:db-|database-)?reset)"
    r"|--(?:delete|drop|destroy|erase|purge|wipe|remove)-(?:all-)?(?:data|database|db)"
)
_EVERY_NODE: Final = regex(r"(?i)\bmatch\s*\(\s*\w*\s*\)[^;]*?\bdelete\b")


CHECKS.update(
    {
        # Whether another program lists what is pushed, which may be deletions.
        "listed_ref": lambda command, _: (
            "xargs" in command.via
            and any(
                isinstance(word, OpenText) and word[:2] == "$(" for word in command.operands[2:]
            )
        ),
        "statement": lambda command, _: any(map(destroys, _texts(command))),
        "typed": lambda command, _: len(command.argv) > 2 and destroys(" ".join(command.argv)),
        # Whether an option says that data may go: `--accept-data-loss`, `--force-reset`.
        "accepts_loss": lambda command, _: any(
            _LOSES.fullmatch(flag) is not None for flag in command.flags
        ),
        # Whether a statement deletes every node or edge of a graph.
        "graph": lambda command, _: any(
            _EVERY_NODE.search(text) is not None and " where " not in text.lower()
            for text in _texts(command)
        ),
    }
)
