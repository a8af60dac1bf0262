"""Where a rule does not hold yet. Each is a fault of ours that is to be mended: then its lines are taken out here, and
the table is measured anew with `python -m tools.faults`."""

from __future__ import annotations

from typing import Final

from tests.faults.table.rules import FORGOTTEN, OUTCOMES, RECOVERS, UNCOUNTED, Words

INLINE: Final = frozenset({"a guard raises", "a guard answers nonsense"})
FULL: Final = frozenset({"the disk is full when a record is written"})
DELETED: Final = frozenset({"the trail's folder is deleted"})
PUT_BACK: Final = frozenset({"an old copy of the trail is put back"})
STATE: Final = frozenset({"the state folder is deleted, trail included"})

CUT_SHORT: Final = "a stream that is cut short leaves no outcome"
AWAY: Final = "the process goes on writing to files that are no longer there"

KNOWN: Final[tuple[Words, ...]] = (
    Words(
        OUTCOMES,
        INLINE | UNCOUNTED | FORGOTTEN - STATE | {"KeyboardInterrupt while the action is at work"},
        CUT_SHORT,
        stages=frozenset({"model_chunk"}),
    ),
    Words(OUTCOMES, FULL, "an outcome that could not be recorded is not kept until it can be"),
    Words(
        OUTCOMES,
        frozenset({"KeyboardInterrupt while a batch is sent", "KeyboardInterrupt while a record is written"}),
        "an interrupt while an outcome is settled or recorded leaves none",
    ),
    Words(OUTCOMES, DELETED | PUT_BACK | STATE, AWAY),
    Words(RECOVERS, DELETED | STATE, AWAY),
)
