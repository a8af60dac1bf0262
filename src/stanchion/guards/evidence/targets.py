"""What a command is run on: folders, branches, and the one that is checked out."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Final, NamedTuple

import msgspec

from stanchion.guards.evidence.outcome import shell_texts
from stanchion.kernel.actions import Category
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.lookups import Lookup
from stanchion.kernel.names import glob, is_glob
from stanchion.kernel.option import ACTIONS, PlainActionName, list_actions
from stanchion.kernel.regex import regex
from stanchion.kernel.stages import Stage
from stanchion.readings import Reading
from stanchion.readings.act import act_of
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.outcome import CommandStanding, decided
from stanchion.readings.shell.partly_known import OpenText
from stanchion.readings.word_lists import in_order, listed

COMMITS: Final = listed("commit cherry-pick revert am merge")
"""What git does on the branch that is checked out."""
RESTS: Final = listed("--abort --quit --dry-run")
"""Options with which it commits nothing."""
ELSEWHERE: Final = listed("--git-dir --work-tree --namespace --bare")
"""Options of git by which another repository is meant than that of the folder."""
EVERY: Final = listed("--all --branches --mirror")
"""Options by which a push goes to branches that nobody names."""
BEFORE: Final = listed("-C -c --git-dir --work-tree --namespace --config-env --exec-path")
"""Options of git itself whose value is a word of its own."""
MAKES: Final = listed("-b -B -c -C --create --force-create --orphan")
"""Options behind which the name of a new branch stands."""
PUSH_VALUES: Final = listed("-o --push-option --repo --receive-pack --exec")
MAIN: Final = listed("main master trunk")
"""Names of the branch that others start from."""
FOLDERS: Final = in_order(
    "repo_path repository_path cwd workdir working_dir working_directory directory dir"
)
NAMES: Final = in_order("branch target_branch base base_branch ref")
"""What the arguments are called that say in which folder a call works, and on which branch."""
TOOLS: Final = (
    {"commit"}, {"git", "push"}, {"push", "files"}, {"git", "merge"}, {"merge", "pull", "request"},
    {"accept", "merge", "request"}, {"merge", "pr"},
)  # fmt: skip
"""Words that are together in the name of a tool that commits, pushes or merges."""
_OPEN: Final = regex(r"[$`*?\[]|\(…\)|^container:")


class BranchTarget(NamedTuple):
    """A branch that a call changes: `branch` by its name, or, where that is empty, the one that is
    checked out in `folder`. Where both are `None`, it is not known which."""

    what: str
    branch: str | None = None
    folder: str | None = None


class Branches(NamedTuple):
    """The branches that may be changed: those that match, and none that is written with `!`."""

    allowed: tuple[str, ...]
    denied: tuple[str, ...]

    @classmethod
    def of(cls, given: tuple[str, ...]) -> Branches:
        """Patterns as they are written. Where all of them say what may not be changed, everything
        else may."""
        denied = tuple([one[1:] for one in given if one.startswith("!")])
        allowed = tuple([one for one in given if not one.startswith("!")])
        return cls(allowed if allowed or not denied else ("*",), denied)

    def takes(self, branch: str) -> bool:
        """Whether a branch may be changed."""
        return _among(branch, self.allowed) and not _among(branch, self.denied)

    @property
    def all(self) -> bool:
        """Whether every branch may be."""
        return "*" in self.allowed and not self.denied

    def shown(self) -> str:
        """In words."""
        return ", ".join([*self.allowed, *[f"not {one}" for one in self.denied]]) or "none"


def _among(branch: str, patterns: tuple[str, ...]) -> bool:
    return any(glob(one, branch) if is_glob(one) else one == branch for one in patterns)


def targets_of(tool: str, traits: tuple[str, ...], args: Mapping[str, Any]) -> list[BranchTarget]:
    """The branches that a call changes, once each."""
    texts = shell_texts(args)
    may = [text for text in texts if "git" in text or "gh" in text or "glab" in text]
    found = [one for text in may for one in _in_shell(text)]
    return list(dict.fromkeys([*found, *([] if texts else _by_tool(tool, traits, args))]))


def folder_in(args: Mapping[str, Any]) -> str:
    """The folder that a call says it works in."""
    return next((args[name] for name in FOLDERS if type(args.get(name)) is str), "")


def merges(command: Command) -> bool:
    """Whether a command brings changes to the branch that others start from: it merges something
    else than that branch itself, or pushes to it by its name."""
    if command.name == "git" and command.operands[:1] == ("merge",):
        names = [one.rpartition("/")[2] for one in command.operands[1:]]
        return command.flags.isdisjoint(RESTS) and not (names and MAIN.issuperset(names))
    if command.name == "git" and command.operands[:1] == ("push",):
        return any(one.branch in MAIN for one in _pushed(command, ""))
    return _merges_request(command)


def _merges_request(command: Command) -> bool:
    hosted = command.name in ("gh", "glab")
    return hosted and command.operands[:2] in (("pr", "merge"), ("mr", "merge"), ("mr", "accept"))


def _by_tool(tool: str, traits: tuple[str, ...], args: Mapping[str, Any]) -> Iterator[BranchTarget]:
    act = act_of(tool, traits)
    if act.asks or not any(group <= act.words for group in TOOLS):
        return
    named = next((args[name] for name in NAMES if type(args.get(name)) is str and args[name]), None)
    if named is not None:
        yield BranchTarget(tool, named.removeprefix("refs/heads/"))
    elif act.words & {"files", "request", "pr"}:
        yield BranchTarget(tool)
    else:
        yield BranchTarget(tool, "", "")


def _in_shell(text: str) -> Iterator[BranchTarget]:
    """The branches that a text changes. What is checked out by one command is where the next
    commits; that is sure where both are in one `&&` list, and otherwise both branches are meant."""
    moved: dict[str, tuple[str | None, int]] = {}
    for command, standing in decided(text):
        if command.name == "git":
            folder = _folder(command)
            for one in _of_git(command, folder):
                yield from _placed(one, moved.get(folder or ""), standing)
            to = _switched(command)
            if to is not None and folder is not None:
                moved[folder] = (None if isinstance(to, OpenText) else str(to), standing.chain)
        elif _merges_request(command):
            yield BranchTarget(f"{command.name} {' '.join(command.operands[:2])}")


def _placed(
    target: BranchTarget, moved: tuple[str | None, int] | None, standing: CommandStanding
) -> Iterator[BranchTarget]:
    """A target as it is once the commands before it have run."""
    if target.branch != "" or moved is None:
        yield target
        return
    branch, chain = moved
    yield BranchTarget(target.what, branch, None)
    if not chain or chain != standing.chain:
        yield target


def _of_git(command: Command, folder: str | None) -> Iterator[BranchTarget]:
    verb, _ = _verb(command)
    what = f"git {verb}"
    here = BranchTarget(what) if folder is None else BranchTarget(what, "", folder)
    if verb in COMMITS and command.flags.isdisjoint(RESTS):
        yield here
    elif verb == "push" and "--dry-run" not in command.flags and "-n" not in command.flags:
        yield from _pushed(command, folder)
    elif verb == "branch" and command.flags & {"-f", "--force", "-M", "-C", "-D", "--delete", "-d"}:
        names = command.operands[1:]
        if not command.flags & {"-D", "-d", "--delete"}:
            names = names[-1:] if "-M" in command.flags else names[:1]
        yield from [_named(what, one) for one in names]
    elif verb == "update-ref":
        named = [one for one in command.operands[1:2] if not str(one).startswith("refs/tags/")]
        yield from [_named(what, one) for one in named]


def _pushed(command: Command, folder: str | None) -> Iterator[BranchTarget]:
    """Where a push goes: to the branches behind the remote, or to that of the branch that is
    checked out."""
    what = "git push"
    here = BranchTarget(what) if folder is None else BranchTarget(what, "", folder)
    if command.flags & EVERY:
        yield BranchTarget(what)
        return
    refs = _push_words(command)[1:]
    if not refs and "--tags" not in command.flags:
        yield here
    for word in refs:
        to = str(word).lstrip("+").rpartition(":")[2].removeprefix("refs/heads/")
        if to in ("HEAD", "@") and not isinstance(word, OpenText):
            yield here
        elif not str(word).startswith("refs/tags/") and not to.startswith("refs/tags/"):
            yield _named(what, word, to)


def _push_words(command: Command) -> list[str]:
    """The remote and the refs of a push, without options and their values."""
    words = list(command.operands[1:])
    argv = command.argv
    behind = {argv[at + 1] for at, word in enumerate(argv[:-1]) if word in PUSH_VALUES}
    return [word for word in words if word not in behind]


def _named(what: str, word: str, name: str | None = None) -> BranchTarget:
    """A branch by its name; one that is only known when the text runs is not known."""
    name = str(word).removeprefix("refs/heads/") if name is None else name
    unknown = isinstance(word, OpenText) or not name or _OPEN.search(name)
    return BranchTarget(what) if unknown else BranchTarget(what, name)


def _switched(command: Command) -> str | None:
    """The branch that a command checks out; `None` where it checks out none."""
    verb, words = _verb(command)
    if verb not in ("switch", "checkout") or (verb == "checkout" and "--" in words):
        return None
    made = [words[at + 1] for at, word in enumerate(words[:-1]) if word in MAKES]
    named = [word for word in words if isinstance(word, OpenText) or not word.startswith("-")]
    return next(iter([*made, *named]), None)


def _verb(command: Command) -> tuple[str, tuple[str, ...]]:
    """What git is to do, and the words behind that."""
    at = 1
    argv = command.argv
    while at < len(argv) and argv[at].startswith("-"):
        at += 2 if argv[at] in BEFORE else 1
    return (argv[at], argv[at + 1 :]) if at < len(argv) else ("", ())


def _folder(command: Command) -> str | None:
    """The folder whose repository a command is about; `None` where that is not known."""
    if command.flags & ELSEWHERE or any(name.startswith("GIT_") for name, _ in command.settings):
        return None
    _, behind = _verb(command)
    before = command.argv[1 : len(command.argv) - len(behind)]
    folder = command.cwd
    for at, word in enumerate(before[:-1]):
        folder = posixpath.join(folder, before[at + 1]) if word == "-C" else folder
    return None if _OPEN.search(folder) else folder


class ShellStep(NamedTuple):
    """A command of a shell text: its words, the files that it writes or deletes, and how it stands
    in the text.

    `chain` numbers the `&&` list that it is in, 0 where it is not sure that the list ends well only
    where it does; `last`: the text ends well only where it does; `heard`: nothing but what it
    prints is printed. `merges`: it brings changes to where others start from.
    """

    argv: tuple[str, ...]
    changes: tuple[str, ...] = ()
    chain: int = 0
    last: bool = False
    heard: bool = False
    merges: bool = False


def ran_by(text: str) -> Iterator[ShellStep]:
    """The commands that a shell text would run."""
    for command, standing in decided(text):
        yield ShellStep(
            command.argv, (*command.writes, *command.deletes), *standing, merges(command)
        )


class BranchQuestion(msgspec.Struct, frozen=True):
    """A question: which branches are checked out in these folders, each seen from `base`."""

    base: str
    folders: tuple[str, ...]


class CheckedOut(msgspec.Struct, frozen=True):
    """Judges commits to the branch that is checked out, and pushes of it."""

    name: ClassVar = "evidence_branch"
    kind: ClassVar = Kind.ASKING
    deep: ClassVar = False
    call: ClassVar = "stanchion.runtime.answers.repository:checked_out"
    stages: ClassVar = frozenset({Stage.TOOL_CALL})
    category: ClassVar = Category.COMPLIANCE
    priority: ClassVar = 20
    deadline_ms: ClassVar = 2_000

    action: PlainActionName
    branches_of: Callable[[RunInfo], Branches | None]

    def ask(self, reading: Reading[ToolCall], /) -> Lookup | None:
        """Ask what is checked out; nothing where every branch is named, or none is laid down."""
        event = reading.event
        rule = self.branches_of(event.run)
        if rule is None or rule.all:
            return None
        here = _here(event)
        folders = tuple(dict.fromkeys([one.folder for one in here if one.folder is not None]))
        return (
            Lookup("", BranchQuestion(folder_in(event.args), folders), self.deadline_ms)
            if folders
            else None
        )

    def judge(self, reading: Reading[ToolCall], value: Any, /) -> Finding | None:
        """Judge what the repositories say; an answer of any other shape is a failure, which
        refuses."""
        event = reading.event
        rule = self.branches_of(event.run)
        here = _here(event)
        folders = list(dict.fromkeys([one.folder for one in here]))
        said = value["branches"]
        if rule is None or len(said) != len(folders):
            raise ValueError("the repository was asked about other folders")
        known = dict(zip(folders, said, strict=True))
        for target in here:
            state = known[target.folder]
            names = [] if state is None else _meant(target, state)
            finding = judged(self.action, rule, target.what, names if names else [None])
            if finding is not None:
                return finding
        return None

    actions = list_actions


def judged(
    action: PlainActionName | None, rule: Branches, what: str, names: list[str | None]
) -> Finding | None:
    """What is wrong with changing these branches; one that is not known is refused as well."""
    for name in names if action is not None and not rule.all else ():
        does, shown = ACTIONS[str(action)], rule.shown()
        if name is None:
            return Finding(does, "evidence.branch_unknown", (what, shown), about=what)
        if not rule.takes(name):
            return Finding(does, "evidence.branch", (what, name, shown), about=name)
    return None


def _here(event: ToolCall) -> list[BranchTarget]:
    found = targets_of(event.tool, event.traits, event.args)
    return [one for one in found if one.branch == "" and one.folder is not None]


def _meant(target: BranchTarget, state: Any) -> list[str | None]:
    """The branches that a target may mean, by what a repository says: a push without a branch goes
    to the one of the same name, or to the one that the branch follows."""
    names = [state["branch"], *([state["upstream"]] if target.what == "git push" else [])]
    return [str(name) for name in dict.fromkeys(names) if name] if state["branch"] else []
