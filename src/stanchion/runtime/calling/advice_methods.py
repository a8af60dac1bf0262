"""What a run can say of itself: what it should know of its tools, what to do about a refusal, and
its loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stanchion.kernel.contract.powers import all_having
from stanchion.kernel.decision import Decision
from stanchion.runtime.calling.model_bill import text_tokens
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.twins import twins
from stanchion.runtime.driving.flow import Flow

if TYPE_CHECKING:
    from stanchion.experience.guidance import Guidance
    from stanchion.guards.loops import Metrics
    from stanchion.runtime.calling.guardian_metrics import GuardianMetrics


class Advised:
    """The methods of a run by which its agent is told what is known."""

    _desk: Desk

    def _awareness(self, /, *, tokens: int | None = None) -> Flow[str]:
        """What the agent should know of its tools, for its prompt: what has failed, what is
        unsteady and what helps, in no more than so many tokens. Empty where nothing is known, or
        the policy keeps no experience."""
        from stanchion.runtime.learning.advising import awareness

        return awareness(
            self._desk, tokens, lambda text: text_tokens(text.encode("utf-8", "replace"))
        )

    def _advice(self, /, tool: str, args: dict[str, Any] | None = None) -> Flow[str]:
        """Advice about a call: what is known of its tool, and how the arguments differ from a call
        that worked."""
        from stanchion.runtime.learning.advising import advice_on

        return advice_on(self._desk, tool, {} if args is None else args)

    awareness, aawareness = twins(_awareness)
    advice, aadvice = twins(_advice)

    def canary(self, label: str = "system prompt", lasting: bool = False) -> str:
        """A token for a prompt, a file or a decoy record: the guard `canary` refuses what would
        carry it out.

        It is the same for the same run and label, in every process. A `lasting` one belongs to the
        tenant instead of the run, for what stays where it is. Raises `ValueError` where the policy
        has no guard that would find it.
        """
        info = self._desk.info
        finding = all_having(
            [seat.placed.guard for seat in self._desk.shield.policy.seats], "plant"
        )
        if not finding:
            raise ValueError(
                "no guard of the policy looks for canaries: add `- use: canary` to its guards"
            )
        return finding[0].plant(info.tenant, "" if lasting else info.id, label)

    def guidance(self, decision: Decision) -> Guidance:
        """What can be done about a decision of this run that refuses: what was wrong, what to do
        instead, whether and when to try again, and, for the call that was refused last, what is
        known to work."""
        from stanchion.runtime.learning.advising import guidance

        return guidance(self._desk, decision)

    def guardian_metrics(self) -> GuardianMetrics:
        """What the layers of the pack `guardian` have counted, in the words of its specification:
        loops, health and outcomes of this run, caches, and what refused calls are estimated to have
        saved."""
        from stanchion.runtime.calling.guardian_metrics import guardian_metrics

        return guardian_metrics(self._desk)

    def loop_metrics(self) -> Metrics:
        """How many calls of this run the guard `loops` has looked at, and how many loops it found,
        as the store has it."""
        from stanchion.guards.loops import history_key, metrics

        info = self._desk.info
        return metrics(self._desk.store.read(history_key(info.tenant, info.id))[1])
