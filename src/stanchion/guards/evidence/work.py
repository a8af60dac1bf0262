"""Work: what is kept of a run: whether code was changed, and what has been shown of it since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.guards.evidence.outcome import FAILED, NONE, PASSED, UNCLEAR, outcome, status_in
from stanchion.guards.evidence.reviews import Reviews
from stanchion.guards.evidence.seen import Seen
from stanchion.guards.evidence.steps import Step

KEPT: Final = 16
"""How many calls are remembered of each kind that are under way."""

Kept = tuple[str, ...]


class Work(msgspec.Struct, frozen=True, array_like=True):
    """`changed` is the code that was changed last. `tests` and `lint` are what came of the checks
    since. `running` are calls with checks that have not ended, `spoilt` those during which code was
    changed. `pending` are calls that change code and have not ended, `named` what the last of them
    changes. `changes` counts the changes, and `reviews` says which of them were reviewed. `api` is
    the public interface that was changed last, and `documented` whether documentation was, since
    work was last handed on. `seen` is what claims about files, commands and versions are judged
    by."""

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
    seen: Seen = Seen()

    @classmethod
    def of(cls, value: Any) -> Work:
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

    def change(self, name: str) -> Work:
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

    def with_reviews(self, reviews: Reviews) -> Work:
        """The same with other reviews."""
        return self if reviews == self.reviews else msgspec.structs.replace(self, reviews=reviews)

    def with_seen(self, seen: Seen) -> Work:
        """The same with what was seen by now."""
        return self if seen is self.seen else msgspec.structs.replace(self, seen=seen)

    def began(self, call: str, steps: Sequence[Step]) -> Work:
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
        self, call: str, steps: Sequence[Step], result: Any, failed: bool, part: int = 0,
        late: bool = False,
    ) -> Work:  # fmt: skip
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

    def checked(self, lint: bool, came: int) -> Work:
        """A check has ended. Tests that pass also show what changes did of which nothing was
        heard."""
        if lint:
            return msgspec.structs.replace(self, lint=came)
        work = self
        if came == PASSED:
            work = msgspec.structs.replace(self, changed=self.what, pending=(), named="")
        return msgspec.structs.replace(work, tests=came)

    def told(self, step: Step, refused: bool = False) -> Work:
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

    def _left(self, call: str) -> Work:
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
