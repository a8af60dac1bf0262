"""The words of a rule that ended a run, or has it wait: kept in the store, so that every process
tells them."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.dialects.penguiflow.findings import Seated, stopped
from stanchion.dialects.penguiflow.words import (
    GuardrailAction,
    GuardrailDecision,
    PauseSpec,
    StopSpec,
)
from stanchion.kernel.compare_and_set import LEFT, change
from stanchion.kernel.gates import Ending, ending_key, stop_of
from stanchion.kernel.state import ABSENT, StoreLost, key
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.driving.flow import Flow

WORDS: Final = "penguiflow"
"""The part of a key by which the words of a run are found."""


class Words(msgspec.Struct, frozen=True):
    """What is kept of a decision: what a planner says of a run that is over or waits."""

    action: GuardrailAction
    rule_id: str
    stop: StopSpec | None = None
    pause: PauseSpec | None = None


def leave_words(desk: Desk, said: GuardrailDecision) -> Flow[None]:
    """Keep the words of a decision for other processes; without the store they have the usual
    ones."""
    words = msgspec.to_builtins(Words(said.action, said.rule_id, said.stop, said.pause))
    try:
        yield from change(
            desk.shield.records,
            f"{said.decision_id}.words",
            desk.info.tenant,
            _key(desk),
            lambda *_: words,
        )
    except StoreLost:
        desk.tell(
            "the store could not be reached: other processes do not know yet in which words this "
            "run has ended"
        )


def last_words(desk: Desk, seated: Seated) -> GuardrailDecision | None:
    """The words of the rule that ended a run, as the end itself has them; `None` where no rule has
    ended it."""
    kept = desk.shield.records.get(ending_key(desk.info.tenant, desk.info.id), ABSENT)[1]
    ending = stop_of(kept) if desk.ended is None else desk.ended
    return stopped(ending, seated) if isinstance(ending, Ending) else None


def left_words(desk: Desk, decision_id: str) -> Flow[GuardrailDecision | None]:
    """The words that were kept last; `None` where there are none, or nobody can say."""
    kept: list[Any] = []

    def seen(value: Any, _now: int) -> Any:
        kept[:] = [value]
        return LEFT

    try:
        yield from change(
            desk.shield.records, f"{decision_id}.words", desk.info.tenant, _key(desk), seen
        )
        words = None if kept[0] is None else typed.convert(kept[0], Words)
    except (StoreLost, msgspec.ValidationError):
        return None
    if words is None:
        return None
    return GuardrailDecision(words.action, words.rule_id, stop=words.stop, pause=words.pause)


def _key(desk: Desk) -> str:
    return key(desk.info.tenant, WORDS, desk.info.id)
