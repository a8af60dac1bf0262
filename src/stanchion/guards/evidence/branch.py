"""The branch that is checked out: asked of the repository, where a call commits to it without
naming it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import msgspec

from stanchion.guards.evidence.targets import Branches, Target, folder_in, targets_of
from stanchion.kernel.actions import Category
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.lookups import Lookup
from stanchion.kernel.option import ACTIONS, PlainActionName, list_actions
from stanchion.kernel.stages import Stage
from stanchion.readings import Reading


class Asked(msgspec.Struct, frozen=True):
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
            Lookup("", Asked(folder_in(event.args), folders), self.deadline_ms) if folders else None
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


def _here(event: ToolCall) -> list[Target]:
    found = targets_of(event.tool, event.traits, event.args)
    return [one for one in found if one.branch == "" and one.folder is not None]


def _meant(target: Target, state: Any) -> list[str | None]:
    """The branches that a target may mean, by what a repository says: a push without a branch goes
    to the one of the same name, or to the one that the branch follows."""
    names = [state["branch"], *([state["upstream"]] if target.what == "git push" else [])]
    return [str(name) for name in dict.fromkeys(names) if name] if state["branch"] else []
