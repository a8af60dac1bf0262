"""The repository: what it knows of work that a command would throw away, asked of it, and judged
with the answer."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

import msgspec

from stanchion.guards.shell.consequence import Loss, worst_of
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.events import ToolCall
from stanchion.kernel.findings import Finding, worse
from stanchion.kernel.guard import Kind
from stanchion.kernel.lookups import Lookup
from stanchion.kernel.regex import regex
from stanchion.kernel.sizes import ReadLimits
from stanchion.kernel.stages import Stage
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings import Reading
from stanchion.readings.commands.shapes import Text
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.partly_known import OpenText
from stanchion.readings.word_lists import in_order, listed

if TYPE_CHECKING:
    from stanchion.guards.shell.rules import Danger
    from stanchion.kernel.contract.values import GuardGate


KEPT: Final = 1_024
"""How many texts are remembered with what is asked about them."""
_SHARED: Final = regex(
    r"(?:main|master|trunk|develop|development|dev|staging|stable|next|prod|production|gh-pages)"
    r"|(?:release|releases|hotfix|support|env)(?:[/-].*)?|v?\d+(?:[.-][\w.-]+)?"
)
"""Names under which branches are everybody's, whoever wrote their commits."""
_PLAIN: Final = regex(r"[\w\s./:=,@+~-]*")
"""What a shell takes as it is written."""
_FOLDERS: Final = in_order("cwd workdir working_dir working_directory directory dir")
"""What the argument is called that says in which folder a command runs."""


class RepositoryQuestions(msgspec.Struct, frozen=True):
    """Questions about the repositories of folders, each seen from `base`; and the texts that they
    are asked for."""

    base: str
    questions: tuple[RepositoryQuestion, ...]
    texts: tuple[Text, ...]


class RepositoryGuard(msgspec.Struct, frozen=True, dict=True):
    """Judges commands that may throw work away by what the repository knows of that work."""

    name: ClassVar = "shell_repository"
    kind: ClassVar = Kind.ASKING
    deep: ClassVar = False
    call: ClassVar = "stanchion.runtime.answers.repository:states"
    stages: ClassVar = frozenset({Stage.TOOL_CALL})
    category: ClassVar = Category.SAFETY
    priority: ClassVar = 10

    shell: Any
    """The guard of shell texts that it stands beside."""

    @property
    def gate(self) -> GuardGate | None:
        """What is in every call that holds a command."""
        gate: GuardGate | None = self.shell.gate
        return gate

    def told(self, own: Any, /) -> RepositoryGuard:
        """The same guard that knows where the shield keeps what is its own."""
        return RepositoryGuard(self.shell.told(own))

    def ask(self, reading: Reading[ToolCall], /) -> Lookup | None:
        """Ask what the repositories know; nothing where no command depends on it."""
        if not any(map(_may_run_git, self.shell.texts(reading))):
            return None
        asked = self._asked(reading)
        return Lookup("", asked, self.shell.deadline_ms) if asked.questions else None

    def _asked(self, reading: Reading[Any]) -> RepositoryQuestions:
        texts = [text for text in self.shell.texts(reading) if _may_run_git(text)]
        found = [
            question
            for text in texts
            for one in self._about(text, reading.reader.limits)
            for question in one.questions
        ]
        return RepositoryQuestions(
            _base(reading.event.args), tuple(dict.fromkeys(found)), tuple(texts)
        )

    def judge(
        self, reading: Reading[ToolCall | RepositoryQuestions], value: Any, /
    ) -> Finding | None:
        """Judge what the repositories say; an answer of any other shape is a failure, which
        refuses."""
        event, limits = reading.event, reading.reader.limits
        asked = event if isinstance(event, RepositoryQuestions) else self._asked(reading)
        states = value["repositories"]
        if len(states) != len(asked.questions):
            raise ValueError("the repository was asked other questions")
        known = dict(zip(asked.questions, states, strict=True))
        worst: Finding | None = None
        for text in asked.texts:
            dangers = [
                one.danger._replace(
                    told=worst_of([_lost(one, known[each]) for each in one.questions])
                )
                for one in self._about(text, limits)
            ]
            worst = worse(worst, self.shell.verdict.told(text, dangers, limits))
        return worst

    @cached_property
    def _about(self) -> Callable[[Text, ReadLimits], tuple[Unsure, ...]]:
        return lru_cache(KEPT)(self.shell.verdict.unsure)

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        said: tuple[Action, ...] = self.shell.actions()
        return said


def _lost(one: Unsure, state: Any) -> Loss:
    """What is lost by what a repository says; without an answer what the rule says of none."""
    rule = one.danger.rule
    if state is None:
        return one.danger.loss
    if rule.known == "pushed":
        branch = str(state["branch"])
        shared = branch in ("", str(state["default"])) or _SHARED.fullmatch(branch) is not None
        goes = shared or int(state["others"])
    else:
        goes = int(state["lost"])
    feared = one.danger.loss if rule.then is None else rule.then
    return feared if goes else rule.otherwise


def _may_run_git(text: Text) -> bool:
    """Whether a text may run git: it names it, or has more than plain words, which can be it in
    another form."""
    line = text if isinstance(text, str) else " ".join(text)
    return "git" in line.lower() or _PLAIN.fullmatch(line) is None


def _base(args: Any) -> str:
    """The folder that a call says it runs in."""
    if type(args) is not dict:
        return ""
    return next((args[name] for name in _FOLDERS if type(args.get(name)) is str), "")


QuestionKind = Literal["changed", "untracked", "ignored", "tree", "pushed"]
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


class RepositoryQuestion(msgspec.Struct, frozen=True):
    """One question to the repository that a folder is in: about these paths, or about a remote and
    a branch of it."""

    kind: QuestionKind
    folder: str
    about: tuple[str, ...] = ()


class Unsure(NamedTuple):
    """A danger that the answers to some questions may do away with."""

    danger: Danger
    questions: tuple[RepositoryQuestion, ...]


def questions_of(danger: Danger, before: list[Command]) -> tuple[RepositoryQuestion, ...]:
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
            tuple([RepositoryQuestion("tree", posixpath.join(folder, word)) for word in named])
            if whole
            else ()
        )
    asked: QuestionKind = (
        "ignored" if kind == "untracked" and command.flags & {"-x", "-X"} else kind
    )
    return (RepositoryQuestion(asked, folder, _paths(command) if danger.rule.by_path else ()),)


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
        isinstance(word, OpenText) or word.startswith((":", "~")) for word in words
    ):
        return ()
    return words


def _pushes(command: Command, folder: str) -> tuple[RepositoryQuestion, ...]:
    """The branches that a push is forced on, one question each; `HEAD` is the one that is checked
    out."""
    words = command.operands[1:]
    if any(isinstance(word, OpenText) for word in words):
        return ()
    remote = words[0] if words else ""
    if remote and not _REMOTE.fullmatch(remote):
        return ()
    refs = [word.lstrip("+").rpartition(":")[2].removeprefix("refs/heads/") for word in words[1:]]
    if not all(_BRANCH.fullmatch(ref) for ref in refs):
        return ()
    return tuple(
        [
            RepositoryQuestion("pushed", folder, (remote, ref))
            for ref in (refs if refs else ["HEAD"])
        ]
    )
