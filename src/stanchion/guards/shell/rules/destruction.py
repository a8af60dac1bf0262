"""Destruction: files, disks and whole systems that would be lost; things in clouds, clusters and
servers that a command line would delete or stop, history that would be rewritten, and statements
that drop, empty or hand over what a database holds."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from stanchion.guards.shell.places import CORE, NOT, WORDS, Roots, place_of, under
from stanchion.guards.shell.rule import CHECKS, asked
from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command, find_deletes, find_roots, is_remote
from stanchion.readings.shell.partly_known import OpenText
from stanchion.readings.word_lists import in_order, listed

LOST: Final = listed("root home system core disk")
_PUT_ASIDE: Final = regex(r"\.(?:gz|bz2|xz|zst|old|\d+|\[0-9\]\*?)\Z")
"""How the name of a log ends that was put aside."""
RECURSIVE: Final = listed("-r -R --recursive -rf -Rf /s -recurse -Recurse")


ALWAYS_RECURSIVE: Final = listed("rimraf del-cli")


def _places(command: Command, roots: Roots, paths: tuple[str, ...] | list[str]) -> set[str]:
    return {place_of(path, command.cwd, roots) for path in paths}


@asked
def makes_nothing(command: Command, _roots: Roots) -> bool:
    return command.name in (":", "true")


@asked
def deletes_lost(command: Command, roots: Roots) -> bool:
    places = _places(command, roots, command.operands)
    if any(
        path.endswith("*") and place_of(path, command.cwd, roots) == "home"
        for path in command.operands
    ):
        return True
    if command.flags & RECURSIVE or command.name in ALWAYS_RECURSIVE:
        return bool(places & LOST)
    many = [path for path in command.operands if "/*" in f"/{path.rpartition('/')[2]}"]
    return bool(places & {"root", "core", "disk"}) or bool(_places(command, roots, many) & LOST)


def _seeks_old_logs(command: Command) -> bool:
    """Whether a search asks for logs that were put aside long ago, by their name and their age."""
    words = command.argv
    names = [word for before, word in pairwise(words) if before in ("-name", "-iname")]
    aged = any(
        before in ("-mtime", "-mmin", "-ctime") and word[:1] == "+"
        for before, word in pairwise(words)
    )
    below = all(root.startswith("/var/log/") for root in find_roots(words))
    return aged and below and bool(names) and all(_PUT_ASIDE.search(name) for name in names)


def _finds_widely(command: Command) -> bool:
    """Whether a search asks for nothing besides where something is."""
    return not any(word in NARROWS and before not in NOT for before, word in pairwise(command.argv))


NARROWS: Final = WORDS["what a search asks for besides where something is"]
"""What a search asks for besides where something is."""


@asked
def whole_drive(command: Command, roots: Roots) -> bool:
    paths = [path.replace("\\", "/").rstrip("*.").rstrip("/") for path in command.operands]
    return any(path[1:2] == ":" and path.count("/") < 2 for path in paths)


CHECKS.update(
    {
        "deletes_listed": lambda command, _: (
            bool(command.flags & RECURSIVE) and (not command.operands or "$(…)" in command.operands)
        ),
        "found": lambda command, _: "find -exec" in command.via,
        "deletes_finds": lambda command, _: find_deletes(command.argv),
        "deletes_all_finds": lambda command, _: (
            find_deletes(command.argv) and _finds_widely(command)
        ),
        "deletes_more_than_old_logs": lambda command, _: (
            find_deletes(command.argv) and not _seeks_old_logs(command)
        ),
        "has_target": lambda command, _: len(command.operands) > 1,
    }
)


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
