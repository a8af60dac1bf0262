"""Questions: what only a repository knows of what a command would throw away, and whether it can be
asked at all."""

from __future__ import annotations

import posixpath
from typing import Final, Literal

import msgspec

from stanchion.guards.shell.worst import Danger
from stanchion.kernel.regex import regex
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.partly_known import Open
from stanchion.readings.word_lists import listed

Kind = Literal["changed", "untracked", "ignored", "tree", "pushed"]
"""What is asked: changes to files that git keeps, files that it does not, these and those that it
ignores, everything in a working tree, or whose commits a remote branch has."""

LOCAL: Final = listed(
    "sudo doas env timeout nice ionice nohup stdbuf setsid time command builtin exec eval sh bash "
    "dash zsh ksh if while"
)
"""What starts a command here, in the same folder and with the same files."""
ELSEWHERE: Final = listed(
    "-c --config-env --git-dir --work-tree --namespace --bare --recurse-submodules "
    "--pathspec-from-file --all --branches --tags --mirror --prune"
)
"""Options of git by which the answer would be about something else, or about less."""
MOST: Final = 64
"""How many paths are asked for one by one; more are asked for as the whole tree."""
_OPEN: Final = regex(r"[$`*?\[]|\(…\)|^container:")
_REMOTE: Final = regex(r"[\w.-]+")
_BRANCH: Final = regex(r"[\w][\w./-]*")


class Question(msgspec.Struct, frozen=True):
    """One question to the repository that a folder is in: about these paths, or about a remote and
    a branch of it."""

    kind: Kind
    folder: str
    about: tuple[str, ...] = ()


class Unsure(NamedTuple):
    """A danger that the answers to some questions may do away with."""

    danger: Danger
    questions: tuple[Question, ...]


def questions_of(danger: Danger, before: list[Command]) -> tuple[Question, ...]:
    """What to ask about a danger; nothing where no answer would be about what the command does.

    1. The rule has to want it. 2. The command runs here, by options and variables that leave the
       repository as it is.
    3. No command before it moves something in: what is there then is not what is there now. 4. Its
       words are known, as far as they say where.
    """
    command, kind = danger.command, danger.rule.known
    if not kind or not _is_here(command) or any(_brings(one) for one in before):
        return ()
    folder = _folder(command)
    if folder is None:
        return ()
    if kind == "pushed":
        return _pushes(command, folder)
    if kind == "tree":
        named = [word for word in command.operands[2:] if not _OPEN.search(word)]
        whole = len(named) == len(command.operands[2:])
        return (
            tuple([Question("tree", posixpath.join(folder, word)) for word in named])
            if whole
            else ()
        )
    asked: Kind = "ignored" if kind == "untracked" and command.flags & {"-x", "-X"} else kind
    return (Question(asked, folder, _paths(command) if danger.rule.by_path else ()),)


def _is_here(command: Command) -> bool:
    if any(each.partition(" ")[0] not in LOCAL for each in command.via):
        return False
    if any(name.startswith("GIT_") for name, _ in command.settings):
        return False
    return command.flags.isdisjoint(ELSEWHERE)


def _brings(command: Command) -> bool:
    """Whether a command may put into the folder what is nowhere else then, or changes where git
    looks."""
    if command.name == "git":
        return command.operands[:2] in (("stash", "pop"), ("stash", "drop"), ("stash", "clear"))
    if command.name in ("export", "declare", "typeset"):
        return any(word.startswith("GIT_") for word in command.argv[1:])
    return bool(command.deletes and command.writes)


def _folder(command: Command) -> str | None:
    folder = command.cwd
    for flag, value in command.sorted.values:
        if flag == "-C":
            folder = posixpath.join(folder, value)
    return None if _OPEN.search(folder) else folder


def _paths(command: Command) -> tuple[str, ...]:
    """The paths that a command is about; nothing where it may be about more, which asks for the
    whole tree."""
    words = command.operands[1:]
    if len(words) > MOST or any(
        isinstance(word, Open) or word.startswith((":", "~")) for word in words
    ):
        return ()
    return words


def _pushes(command: Command, folder: str) -> tuple[Question, ...]:
    """The branches that a push is forced on, one question each; `HEAD` is the one that is checked
    out."""
    words = command.operands[1:]
    if any(isinstance(word, Open) for word in words):
        return ()
    remote = words[0] if words else ""
    if remote and not _REMOTE.fullmatch(remote):
        return ()
    refs = [word.lstrip("+").rpartition(":")[2].removeprefix("refs/heads/") for word in words[1:]]
    if not all(_BRANCH.fullmatch(ref) for ref in refs):
        return ()
    return tuple(
        [Question("pushed", folder, (remote, ref)) for ref in (refs if refs else ["HEAD"])]
    )
