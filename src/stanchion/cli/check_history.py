"""What `stanchion check` decides, kept in a small trail of its own so that `stanchion explain` can
explain it later.

It is a convenience: what it cannot keep is told once, and changes no answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import Fact, Finish, MemoryJournal, Start
from stanchion.audit.options import TrailOptions
from stanchion.audit.retention import Keep
from stanchion.audit.trail import Trail
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Moment
from stanchion.kernel.findings import Patch

if TYPE_CHECKING:
    from pathlib import Path

    from stanchion.ops.views.explain import DecisionCase

KEPT: Final = TrailOptions(segment_bytes=1024 * 1024, keep=Keep(size=2 * 1024 * 1024))

Tell = Callable[[str], None]


class Checks(MemoryJournal):
    """A journal that takes every record: the newest is at hand, and all are kept in a trail as far
    as that goes."""

    def __init__(self, folder: Callable[[], Path], tell: Tell) -> None:
        super().__init__(capacity=1)
        self._folder, self._say = folder, tell
        self._trail: Trail | None = None
        self._is_lost = False
        self._start: Start | None = None

    def write(
        self,
        moment: Moment,
        decision: Decision,
        took_ns: int,
        notes: tuple[str, ...] = (),
        hide: tuple[Patch, ...] = (),
    ) -> int:
        """Take one decision."""
        self._also(lambda trail: trail.write(moment, decision, took_ns, notes, hide))
        return super().write(moment, decision, took_ns, notes, hide)

    def begin(self, start: Start) -> None:
        """Take a run's beginning."""
        self._start = start
        self._also(lambda trail: trail.begin(start))

    def end(self, finish: Finish) -> None:
        """Take a run's end."""
        self._also(lambda trail: trail.end(finish))

    def tell(self, fact: Fact) -> None:
        """Take a fact."""
        self._also(lambda trail: trail.tell(fact))

    def close(self) -> None:
        """Let go of the trail."""
        if self._trail is not None:
            self._trail.close()

    def last(self) -> DecisionCase:
        """The newest decision, as a case to explain."""
        from stanchion.ops.views.explain import case_just_made

        kept = self.kept()
        if not kept or self._start is None:
            raise LookupError("nothing was decided")
        folder = None if self._trail is None else self._trail.folder
        return case_just_made(kept[-1].read(), self._start, folder)

    def _also(self, write: Callable[[Trail], object]) -> None:
        if self._is_lost:
            return
        try:
            if self._trail is None:
                self._trail = Trail(self._folder(), KEPT)
            write(self._trail)
        except (AuditLost, OSError) as error:
            self._is_lost = True
            self._say(str(error))
