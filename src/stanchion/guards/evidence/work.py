"""Work: what a run has to show before it is done, reviews, and what fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.guards.evidence.outcome import (
    FAILED,
    NONE,
    PASSED,
    UNCLEAR,
    outcome,
    shell_texts,
    status_in,
)
from stanchion.guards.evidence.steps import WorkStep
from stanchion.guards.evidence.targets import ran_by
from stanchion.readings.act import act_of
from stanchion.readings.names import plain
from stanchion.readings.word_lists import Strings, in_order, listed

KEPT: Final = 16
"""How many agents are remembered of each kind."""
ANYBODY: Final = "*"
"""Stands for more authors than are remembered: nobody is known not to be one of them."""
NEVER: Final = -1

SAID: Final = in_order("review verdict decision event state status")
"""Under which names a verdict is given."""
APPROVED: Final = listed("approve approved accept accepted pass passed")
REJECTED: Final = frozenset(
    {
        "reject", "rejected", "requestchanges", "changesrequested", "needschanges", "block",
        "blocked", "fail", "failed", "deny", "denied",
    }
)  # fmt: skip


class Reviews(msgspec.Struct, frozen=True, array_like=True):
    """`authors` have changed code since the last review. `begun` are reviewers at work, each with
    the number of changes that there were when they began. `reviewed` is the number of changes that
    were there when one approved."""

    authors: Strings = ()
    begun: tuple[tuple[str, int], ...] = ()
    reviewed: int = NEVER

    def written(self, agent: str) -> Reviews:
        """Somebody has changed code."""
        if agent in self.authors or ANYBODY in self.authors:
            return self
        authors = (*self.authors, agent) if len(self.authors) < KEPT else (ANYBODY,)
        return msgspec.structs.replace(self, authors=authors)

    def begins(self, agent: str, changes: int) -> Reviews:
        """A reviewer was handed the work, or looks at something; who is at it already goes on."""
        if any(name == agent for name, _ in self.begun):
            return self
        return msgspec.structs.replace(self, begun=(*self.begun, (agent, changes))[-KEPT:])

    def says(self, agent: str, good: bool, changes: int, settled: bool) -> Reviews:
        """A reviewer gives a verdict. A yes counts where nothing has changed since that one began,
        nothing is being changed (`settled`), and nothing of it is that one's own; a no takes back
        what was said before."""
        begun = tuple([one for one in self.begun if one[0] != agent])
        if not good:
            return msgspec.structs.replace(self, begun=begun, reviewed=NEVER)
        own = agent in self.authors or ANYBODY in self.authors
        if own or not settled or (agent, changes) not in self.begun:
            return msgspec.structs.replace(self, begun=begun)
        return Reviews((), begun, changes)


def verdict_in(payload: Mapping[str, Any]) -> bool | None:
    """The verdict that a handoff or the arguments of a call give; `None` where they give none."""
    for name in SAID:
        given = payload.get(name)
        if isinstance(given, dict):
            found = verdict_in(given)
        else:
            word = plain(given) if isinstance(given, str) else ""
            found = True if word in APPROVED else False if word in REJECTED else None
        if found is not None:
            return found
    return None


def verdict_of(tool: str, traits: Strings, args: Mapping[str, Any]) -> bool | None:
    """The verdict that a call gives: of a tool for reviews, or of a command that reviews a pull
    request."""
    texts = shell_texts(args)
    if texts:
        return _by_command(texts[0]) if len(texts) == 1 else None
    said = act_of(tool, traits).words
    if "review" in said or "approve" in said:
        given = verdict_in(args)
        return True if given is None and "approve" in said else given
    return None


def _by_command(text: str) -> bool | None:
    """The verdict of a text that ends well only where the review is made."""
    for one in ran_by(text) if "gh" in text or "glab" in text else ():
        if not one.last:
            continue
        words = one.argv
        if words[:3] == ("gh", "pr", "review"):
            if not {"--approve", "-a"}.isdisjoint(words):
                return True
            return None if {"--request-changes", "-r"}.isdisjoint(words) else False
        if words[:3] == ("glab", "mr", "approve"):
            return True
        if words[:3] == ("glab", "mr", "revoke"):
            return False
    return None


Kept = Strings


class WorkState(msgspec.Struct, frozen=True, array_like=True):
    """`changed` is the code that was changed last. `tests` and `lint` are what came of the checks
    since. `running` are calls with checks that have not ended, `spoilt` those during which code was
    changed. `pending` are calls that change code and have not ended, `named` what the last of them
    changes. `changes` counts the changes, and `reviews` says which of them were reviewed. `api` is
    the public interface that was changed last, and `documented` whether documentation was, since
    work was last handed on."""

    changed: str = ""
    tests: int = NONE
    lint: int = NONE
    running: Kept = ()
    spoilt: Kept = ()
    pending: Kept = ()
    named: str = ""
    changes: int = 0
    reviews: Reviews = Reviews()
    api: str = ""
    documented: bool = False

    @classmethod
    def of(cls, value: Any) -> WorkState:
        """What a record holds; nothing, where it holds nothing that can be read."""
        try:
            return typed.convert(value, cls) if value is not None else cls()
        except msgspec.ValidationError:
            return cls(changed="something")

    def data(self) -> Any:
        """As it is kept."""
        return msgspec.to_builtins(self)

    @property
    def what(self) -> str:
        """The code that was changed, or may have been; empty where none was."""
        return self.changed if self.changed else self.named if self.pending else ""

    def change(self, name: str) -> WorkState:
        """Code was changed: what was shown of it before shows nothing any more."""
        spoilt = (*self.spoilt, *self.running)[-KEPT:]
        changes = self.changes + 1
        return msgspec.structs.replace(
            self, changed=name, tests=NONE, lint=NONE, running=(), spoilt=spoilt, changes=changes
        )

    @property
    def reviewed(self) -> bool:
        """Whether a reviewer has approved of the changes as they are now."""
        return not self.pending and self.reviews.reviewed == self.changes

    def with_reviews(self, reviews: Reviews) -> WorkState:
        """The same with other reviews."""
        return self if reviews == self.reviews else msgspec.structs.replace(self, reviews=reviews)

    def began(self, call: str, steps: Sequence[WorkStep]) -> WorkState:
        """A call goes ahead."""
        work = self
        for step in steps:
            if step.what == "change" and call not in work.pending:
                pending = (*work.pending, call)
                work = msgspec.structs.replace(work, pending=pending[-KEPT:], named=step.name)
                if len(pending) > KEPT:
                    work = work.change(step.name)
            elif step.what == "api":
                work = msgspec.structs.replace(work, api=step.name)
        if any(step.what in ("test", "lint") for step in steps):
            work = msgspec.structs.replace(work, running=(*work.running, call)[-KEPT:])
        return work

    def ended(
        self, call: str, steps: Sequence[WorkStep], result: Any, failed: bool, part: int = 0,
        late: bool = False,
    ) -> WorkState:  # fmt: skip
        """A call has ended: with a result, or by an error (`failed`), which says nothing of checks
        that took too long (`late`); `part` numbers what a generator gives."""
        work = self._left(call)
        refused = failed or fails(result)
        for step in steps:
            if step.what in ("api", "doc", "commit"):
                work = work.told(step, refused)
            elif step.what == "change" and (step.by_shell or not refused):
                work = work.change(step.name)
            elif step.what in ("test", "lint") and (not call or call not in self.spoilt):
                lint = step.what == "lint"
                heard = step.heard and not part
                came = outcome(result, lint, step.last, step.alone, heard) if not failed else FAILED
                came = UNCLEAR if late else came
                work = work if part and came == UNCLEAR else work.checked(lint, came)
        return work

    def checked(self, lint: bool, came: int) -> WorkState:
        """A check has ended. Tests that pass also show what changes did of which nothing was
        heard."""
        if lint:
            return msgspec.structs.replace(self, lint=came)
        work = self
        if came == PASSED:
            work = msgspec.structs.replace(self, changed=self.what, pending=(), named="")
        return msgspec.structs.replace(work, tests=came)

    def told(self, step: WorkStep, refused: bool = False) -> WorkState:
        """The same with what is known now of interfaces and documentation. What a shell did may be
        done in part."""
        if step.what == "api":
            if refused and not step.by_shell:
                return msgspec.structs.replace(self, api="") if self.api == step.name else self
            return msgspec.structs.replace(self, api=step.name)
        if refused:
            return self
        if step.what == "doc":
            return msgspec.structs.replace(self, documented=True)
        return msgspec.structs.replace(self, api="", documented=False)

    def _left(self, call: str) -> WorkState:
        if not call:
            return self
        without = {
            name: tuple([c for c in getattr(self, name) if c != call])
            for name in ("running", "spoilt", "pending")
        }
        return msgspec.structs.replace(self, **without)


def fails(result: Any) -> bool:
    """Whether a tool says that it has not done what it was to do."""
    if isinstance(result, str):
        return result.lstrip()[:6].lower() == "error:"
    return bool(status_in(result)) if isinstance(result, dict) else False


TOLD: Final = {
    NONE: "there has been no {} since",
    FAILED: "the last {} failed",
    UNCLEAR: "it is not known what came of the last {}",
}
