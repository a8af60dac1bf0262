"""What a call may change, and what follows from how it ended: from the commands of a shell text,
and from the arguments of tools for files.

Only what is sure is taken: a command counts by its status where the text ends well only if it did,
and by its output where nothing else can have printed that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from shlex import join
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from stanchion.guards.evidence.files import VIEWING, named_in
from stanchion.guards.evidence.outcome import status_in
from stanchion.guards.evidence.seen import Changes, Learnt
from stanchion.guards.evidence.steps import KnownSteps, texts_of
from stanchion.guards.evidence.work import fails
from stanchion.kernel.events import ToolResult
from stanchion.kernel.regex import regex
from stanchion.readings import Reading
from stanchion.readings.act import ToolAct, act_of
from stanchion.readings.claims.claim import PATHLESS, Claim, Predicate, same_path
from stanchion.readings.claims.facts import Content, Fact, Ran, facts
from stanchion.readings.names import plain
from stanchion.readings.shell.command import WRITES, Command
from stanchion.readings.shell.outcome import decided
from stanchion.readings.shell.parse import single
from stanchion.readings.word_lists import Strings, listed

LOOKING: Final = listed(
    "cat tac head tail less more nl od xxd wc sort uniq cut comm diff cmp md5sum sha1sum "
    "sha256sum file stat grep egrep fgrep rg jq ls readlink test [ true false : echo printf "
    "pwd cd which type sleep du df date whoami sed tr basename dirname realpath tree ps id "
    "uname hostname export set column"
)
"""Programs that change nothing but what they are told to write to."""
MAKING: Final = listed("touch mkdir cp mv tee sed")
TAKING: Final = listed("rm rmdir unlink mv")
"""Programs that end well only where what they write is there, and what they delete is not."""
ASKING_GIT: Final = listed("status diff log show blame ls-files rev-parse grep describe")
FIXING: Final = listed("--fix --write -w --fix-only --unsafe-fixes --in-place -i --apply")
"""Options with which a linter changes what it looks at."""
ITSELF: Final = frozenset({Predicate.LINES, Predicate.BYTES, Predicate.DIGEST, Predicate.VERSION})
"""What is printed only by a command that went well: here nobody has to say how it ended."""
STOPPED: Final = frozenset({124, 137, 143, -1, -9, -15})
"""Statuses of commands that were stopped: what they printed before is no evidence."""
OUTPUTS: Final = ("stdout", "output", "content", "text", "result")
WHOLE: Final = listed("content contents filetext text data body code filecontent")
PARTS: Final = listed("newstring newstr newtext inserttext replacement newcontent replace")
"""Names of arguments that become the whole of a file, and a part of it."""
EDITING: Final = listed("edit replace insert append patch update modify apply add")
LONGEST: Final = 1_000_000
KEPT: Final = 16

_CUT: Final = regex(
    r"(?i)\btruncated\b|\bclipped\b|\bomitted\b|\[\.\.\.|<redacted|\[redacted|\bredacted\]|\.\.\. "
    r"?\d+ (?:more|lines)"
)
"""Signs that not all of an output is there, or that something of it was replaced."""
_REFUSED: Final = regex(
    r"(?i)\A\W{0,4}(?:error|failed|failure|cannot|could not|can't|permission denied|no such|not "
    r"found|invalid|unable"
    r"|denied|traceback|exception|refused|timed out|timeout)\b"
)
_OPEN: Final = frozenset("*?[{$`~")


class CallEvidence(NamedTuple):
    """What a call may change, whether it may show something, and the commands that it runs."""

    changes: Changes
    shows: bool
    commands: Strings

    @property
    def matters(self) -> bool:
        """Whether anything of it is to be kept."""
        return self.changes.any or self.shows


class Observing:
    """Reads calls; `known` says which commands are tests and linters, which look and change
    nothing."""

    def __init__(self, known: KnownSteps) -> None:
        self._known = known

    def __call__(self, reading: Reading[Any]) -> CallEvidence:
        """What a call does, before anything came of it."""
        event, texts = reading.event, _shell_texts(reading)
        if texts:
            ran = [command for text in texts for command, _ in decided(text)]
            changes = _joined([self._changed_by(one) for one in ran]) if ran else Changes(all=True)
            return CallEvidence(changes, True, (*texts, *[join(one.argv) for one in ran]))
        act = act_of(event.tool, event.traits)
        return CallEvidence(_changed_by_tool(act, event.args), _path(event.args) is not None, ())

    def _changed_by(self, command: Command) -> Changes:
        """What a command may change: what it says to write, where it is one that changes nothing
        else."""
        paths = tuple([_rooted(command, path) for path in (*command.writes, *command.deletes)])
        if not command.known or any(_OPEN & set(path) for path in paths):
            return Changes(all=True)
        name, words = command.name, command.argv
        looks = (
            name in LOOKING
            or name in MAKING
            or name in TAKING
            or words[1:] in (("--version",), ("-V",))
        )
        looks = looks or (name == "git" and words[1:2] != () and words[1] in ASKING_GIT)
        if not looks:
            looks = self._known.checked_by(words) is not None and FIXING.isdisjoint(words)
        return Changes(paths=paths) if looks or not words else Changes(all=True)


@lru_cache(KEPT)
def observing_by(known: KnownSteps) -> Observing:
    """What reads calls by what a policy says: the same for all guards of which it says the same."""
    return Observing(known)


def _joined(every: list[Changes]) -> Changes:
    if any(one.all for one in every):
        return Changes(all=True)
    return Changes(paths=tuple(dict.fromkeys([path for one in every for path in one.paths])))


def _shell_texts(reading: Reading[Any]) -> Strings:
    """The shell texts of a call; the word that tells an editor what to do is none."""
    given = reading.of(texts_of).given
    edits = _path(reading.event.args) is not None and all(
        text.replace("_", "").isalpha() for text in given
    )
    return () if edits else given


def _changed_by_tool(act: ToolAct, args: Mapping[str, Any]) -> Changes:
    if act.runs:
        return Changes(all=True)
    if act.reads_only or str(args.get("command", "")) in VIEWING:
        return Changes()
    paths = tuple([same_path(path) for path in named_in(args)])
    if act.changes or act.verb in ("write", "delete"):
        return Changes(paths=paths) if paths and not act.moves else Changes(all=True)
    looks = act.verb == "read" or act.seeks or act.asks or act.says or act.web
    return Changes() if looks else Changes(all=True)


def learnt_from(event: ToolResult, reading: Reading[Any]) -> Learnt:
    """What follows from a call and its result."""
    if event.part:
        return Learnt()
    texts = _shell_texts(reading)
    if texts:
        plainly = reading.of(texts_of).plainly and len(texts) == 1
        return _from_shell(texts[0], event.result) if plainly else Learnt()
    return _from_tool(act_of(event.tool, event.traits), event.args, event.result)


class Printed(NamedTuple):
    """What a command printed, and whether that is all of it."""

    text: str
    whole: bool


def _printed(result: Any) -> Printed:
    text, whole = "", False
    if isinstance(result, str):
        text, whole = result, True
    elif isinstance(result, dict):
        text = next((value for name in OUTPUTS if isinstance(value := result.get(name), str)), "")
        whole = any(isinstance(result.get(name), str) for name in OUTPUTS) and not result.get(
            "truncated"
        )
    elif isinstance(result, list) and len(result) == 1:
        return _printed(result[0])
    return Printed(text, whole and len(text) <= LONGEST and _CUT.search(text) is None)


def _from_shell(text: str, result: Any) -> Learnt:
    status, printed = status_in(result), _printed(result)
    late = isinstance(result, dict) and (result.get("timed_out") or result.get("timeout") is True)
    if late or status in STOPPED:
        return Learnt()
    if status == 0:
        return _from_commands(text, printed)
    argv = single(text)
    told = [] if argv is None else [*_told(argv, 0 if status is None else status, printed)]
    if status is not None:
        return Learnt((*told, Claim(Predicate.SUCCEEDED, text, polarity=False)))
    sure = [one for one in told if isinstance(one, Claim) and one.predicate in ITSELF]
    return Learnt(tuple(sure))


def _from_commands(text: str, printed: Printed) -> Learnt:
    """What follows from a text that ended well."""
    found: list[Fact] = [Claim(Predicate.SUCCEEDED, text)]
    own: set[str] = set()
    for command, standing in decided(text):
        if standing.last and command.known and command.argv:
            shown = Printed(printed.text, printed.whole and standing.heard)
            found += [_in_folder(command, one) for one in _told(command.argv, 0, shown)]
        for fact in _done(command) if standing.last else ():
            found.append(fact)
            own.add(fact.subject)
    return Learnt(tuple(found), frozenset(own))


def _told(argv: Strings, status: int, printed: Printed) -> Iterator[Fact]:
    """What a command tells. A tool may leave out the last end of line, which only matters to what
    is in a file."""
    text = printed.text
    if text and not text.endswith("\n") and argv[0] not in ("cat", "head", "tail"):
        text += "\n"
    yield from facts(Ran(argv, status, text, whole=printed.whole))


def _in_folder(command: Command, fact: Fact) -> Fact:
    if isinstance(fact, Content):
        return replace(fact, path=_rooted(command, fact.path))
    if fact.predicate in PATHLESS:
        return fact
    return replace(fact, subject=_rooted(command, fact.subject))


def _done(command: Command) -> Iterator[Claim]:
    """What a command that went well has made and taken away."""
    redirected = [target for op, target in command.opens if op in WRITES]
    made = [*(command.writes if command.name in MAKING else ()), *redirected]
    gone = command.deletes if command.name in TAKING else ()
    for path, there in (*[(path, False) for path in gone], *[(path, True) for path in made]):
        if path and not _OPEN & set(path) and command.known:
            yield Claim(Predicate.EXISTS, _rooted(command, path), polarity=there)


def _rooted(command: Command, path: str) -> str:
    """A path as it is seen from where the text began."""
    return same_path(path if path.startswith("/") or not command.cwd else f"{command.cwd}/{path}")


def _from_tool(act: ToolAct, args: Mapping[str, Any], result: Any) -> Learnt:
    """What follows from a tool for files that did not say that it failed."""
    path = _path(args)
    if path is None or act.moves or _refused(result):
        return Learnt()
    if act.verb == "delete":
        return Learnt((Claim(Predicate.EXISTS, path, polarity=False),), frozenset({path}))
    told = str(args.get("command", ""))
    if (act.changes or act.verb == "write") and told not in VIEWING:
        return _written(act, path, args, told)
    if act.verb == "read" or told in VIEWING:
        printed = _printed(result)
        return Learnt((Content(path, printed.text, whole=False),)) if printed.whole else Learnt()
    return Learnt()


def _written(act: ToolAct, path: str, args: Mapping[str, Any], told: str) -> Learnt:
    named = {plain(str(key)): value for key, value in args.items() if isinstance(value, str)}
    edits = bool(EDITING & act.words) and told not in ("create", "write")
    texts = [value for name, value in named.items() if name in (PARTS if edits else WHOLE)]
    there = Claim(Predicate.EXISTS, path)
    if len(texts) != 1 or (not edits and PARTS & named.keys()):
        return Learnt((there,), frozenset({path}))
    return Learnt((there, Content(path, texts[0], whole=not edits)), frozenset({path}))


def _refused(result: Any) -> bool:
    return fails(result) or (_REFUSED.search(_printed(result).text[:200]) is not None)


def _path(args: Mapping[str, Any]) -> str | None:
    """The one path that a call names."""
    found = list(dict.fromkeys(named_in(args)))
    return same_path(found[0]) if len(found) == 1 and found[0] else None
