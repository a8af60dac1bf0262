"""Decisions: the one resolved answer, and every input it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion.kernel.actions import NAMES, PROCEEDS, STOPS, Action
from stanchion.kernel.findings import Finding, Patch, Trace
from stanchion.kernel.happened import WITHHELD
from stanchion.kernel.lookups import Answer
from stanchion.kernel.patches import apply
from stanchion.kernel.shown import brief, visible
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Reply

if TYPE_CHECKING:
    from stanchion.kernel.chain_result import ChainResult
    from stanchion.kernel.guardian_result import GuardianResult

ERRORS: Final = frozenset(
    {
        "kernel.guard_error",
        "kernel.lookup_expired",
        "kernel.lookup_failed",
        "kernel.lookup_late",
        "kernel.lookup_undecided",
        "kernel.store_lost",
        "kernel.crowded",
        "kernel.store_forgot",
        "kernel.audit_lost",
        "kernel.shield_closed",
        "kernel.broker_lost",
        "kernel.contention",
        "kernel.patch_failed",
        "kernel.done_unrecorded",
        "kernel.done_unsettled",
        "kernel.done_unjudged",
    }
)
"""Codes of findings that say something broke, as opposed to something being refused."""

TRY_AGAIN: Final = frozenset(
    {
        "kernel.lookup_expired",
        "kernel.lookup_failed",
        "kernel.taken",
        "approval.expired",
        "approval.used",
    }
)
"""Codes whose advice is to repeat the action: it is left out where the action has happened."""


Known = tuple[str, int, Any]
"""A record by its name, with its version and its value."""


class Inputs(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What a decision was made from besides the event and the policy; enough to make it again.

    `lost` says why the store could not be asked, where it could not. `can` is what the host could
    carry out, where that was not everything. `taken` is the record that somebody else was first to
    change, or by which the store is known to have lost what it held. `crowd` is how many waited for
    the store and for how many milliseconds this did, where it was not asked for that reason.
    `confirmed` is when the gates were last confirmed, by the host's clock and by the store's, where
    the store was lost. `refused` are the records that guards which watch for refusals have judged
    on; empty where nothing was entered.
    """

    records: tuple[Known, ...] = ()
    answers: tuple[tuple[str, Answer], ...] = ()
    reply: Reply | None = None
    lost: str = ""
    mode: str = ""
    now: int = 0
    stale: int = 0
    can: tuple[int, ...] = ()
    taken: str = ""
    confirmed: tuple[int, int] | None = None
    refused: tuple[Known, ...] = ()
    crowd: tuple[int, int] | None = None


class Decision(msgspec.Struct, frozen=True, gc=False):
    """What is to be done with a moment, why, and under which policy.

    `passed` names the guards that found nothing, of those whose policy entry wants that written
    down. `wrote` are the records that guards changed with it, as it left them. `withheld` is the
    stage of an outcome that is refused: what it came of has happened all the same. `trace` is
    beside what was decided, and no record has it.
    """

    id: str
    action: Action
    policy: str
    findings: tuple[Finding, ...] = ()
    skipped: tuple[str, ...] = ()
    shadow: tuple[Finding, ...] = ()
    patches: tuple[Patch, ...] = ()
    effects: tuple[str, ...] = ()
    held: bool = False
    inputs: Inputs = Inputs()
    passed: tuple[str, ...] = ()
    wrote: tuple[Known, ...] = ()
    withheld: Stage | None = None
    trace: Trace = Trace()

    def __repr__(self) -> str:
        """What was decided and why, as an agent may read it; what it was judged on is no part of
        it."""
        return f"<Decision {self} ({self.id})>"

    def __str__(self) -> str:
        determining = self.determining
        if determining is None:
            return NAMES[self.action]
        by = f" by {visible(determining.guard)}" if determining.guard else ""
        why = f": {brief(self.message)}" if self.message else ""
        return f"{NAMES[self.action]} {determining.code}{by}{why}"

    @property
    def happened(self) -> bool:
        """Whether it refuses what came of something that has happened: only the outcome is
        withheld."""
        return self.withheld is not None

    @property
    def proceeds(self) -> bool:
        """Whether the action goes ahead."""
        return self.action <= PROCEEDS

    @property
    def determining(self) -> Finding | None:
        """The most severe finding, the first of its kind in chain order."""
        for finding in self.findings:
            if finding.action == self.action:
                return finding
        return None

    @property
    def code(self) -> str:
        """The determining finding's code; empty where nothing was found."""
        determining = self.determining
        return determining.code if determining else ""

    @property
    def message(self) -> str:
        """Why, in words for the agent; where it has happened all the same, that first."""
        determining = self.determining
        said = determining.message if determining else ""
        if self.withheld is None:
            return said
        return ": ".join([words for words in (WITHHELD[self.withheld][0], said) if words])

    @property
    def advice(self) -> str:
        """What to do instead; where it has happened, not to try it again, unless the step itself is
        wanted again."""
        determining = self.determining
        said = determining.advice if determining else ""
        if self.withheld is None or self.action == Action.RETRY:
            return said
        own = "" if self.code in TRY_AGAIN else said
        return "; ".join([words for words in (WITHHELD[self.withheld][1], own) if words])

    @property
    def behind(self) -> tuple[Finding, ...]:
        """What was said of a refusal itself: a stop skips all guards behind it but those that watch
        for refusals."""
        determining = self.determining
        if determining is None or determining.action < STOPS:
            return ()
        return self.findings[self.findings.index(determining) + 1 :]

    def patched(self, content: Any) -> Any:
        """That content with this decision's patches applied; the content itself where there are
        none."""
        return apply(content, self.patches) if self.patches else content

    def chain_result(self) -> ChainResult:
        """What each guard of the chain said, in the chain's order, by the verdicts of AGENT-33:
        `pass`, `warn`, `escalate` or `block`. Guards that are parts of one give one verdict. A
        guard in shadow mode passes."""
        from stanchion.kernel.chain_result import chain_result

        return chain_result(self.trace, self.findings, self.skipped)

    def guardian_result(self, advice: str = "") -> GuardianResult:
        """The same in the fields of GuardianLayer's check. `advice` is what `run.advice` gives;
        without it, what warnings advise. The health score is there where the guard `health` judges
        calls, as in the pack `guardian`."""
        from stanchion.kernel.guardian_result import guardian_result

        allowed = self.proceeds
        reason, suggestion = ("", "") if allowed else (self.message, self.advice)
        return guardian_result(allowed, reason, suggestion, self.findings, advice)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Findings that say something broke while judging; the action says whether it failed
        closed."""
        return tuple(finding for finding in self.findings if finding.code in ERRORS)
