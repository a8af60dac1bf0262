"""What has happened already when it is judged: a refusal then withholds what came of it, and undoes
nothing."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.events import Charge, Event
from stanchion.kernel.stages import Stage

WITHHELD: Final[dict[Stage, tuple[str, str]]] = {
    Stage.TOOL_RESULT: (
        "the call was done, and only its result is withheld",
        "do not repeat the call",
    ),
    Stage.ERROR: ("the call was begun, and has failed", ""),
    Stage.MODEL_REPLY: ("the model has answered, and only its reply is withheld", ""),
    Stage.MODEL_CHUNK: ("the model has answered, and the rest of its reply is withheld", ""),
    Stage.HANDOFF_DONE: ("the handoff was made", "do not repeat it"),
    Stage.CHARGE: ("the cost has arisen, and counts", "do not report it again"),
}
"""By stage what an agent reads of something that has happened and whose outcome is refused: what is
true, and what to do about it."""

OUTCOMES: Final = frozenset(WITHHELD) - {Stage.CHARGE}
"""Stages at which something comes out that has happened already."""


def has_happened(event: Event) -> bool:
    """Whether what an event is about has happened, however it is judged: an outcome, or a cost that
    is known."""
    return event.stage in OUTCOMES or (type(event) is Charge and event.settled)
