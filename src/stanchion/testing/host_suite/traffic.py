"""Traffic: the events that a host reports as it plays a scene, and what was decided about each.

Recorded where a framework is installed, it can be judged again where it is not: what guards make of
the shapes in which a framework reports things does not change unnoticed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Final

import msgspec

from stanchion.kernel.actions import NAMES, Category
from stanchion.kernel.guard import Kind
from stanchion.kernel.stages import Stage
from stanchion.runtime.shield import Shield

OWN: Final = frozenset(
    {"id", "at", "run", "call", "risk", "traits", "cleared", "duration_ms", "fault"}
)
"""What an event has beside what its host reports."""

HEARD: Final = frozenset(
    {
        Stage.PROMPT,
        Stage.MODEL_CALL,
        Stage.MODEL_REPLY,
        Stage.TOOL_CALL,
        Stage.TOOL_RESULT,
        Stage.ERROR,
        Stage.HANDOFF,
    }
)


class Heard(msgspec.Struct, frozen=True):
    """One event as it was reported, and what was decided: the action, and the code of what
    determined it."""

    stage: str
    id: str
    call: str
    fields: dict[str, Any]
    action: str = ""
    code: str = ""


class Traffic(msgspec.Struct, frozen=True):
    """The events of one scene in their order, with the policy that judged them and what the host
    could carry out."""

    behaviour: str
    policy: dict[str, Any]
    can: tuple[str, ...]
    heard: tuple[Heard, ...]


class Hearing(msgspec.Struct, frozen=True):
    """A guard that has no objection to anything, and remembers what it was shown."""

    kind: ClassVar[Kind] = Kind.PURE
    heard: list[Any]
    id: str = "hearing"
    stages: frozenset[Stage] = HEARD
    priority: int = 0
    category: Category = Category.SAFETY
    mode: str = "enforce"

    def judge(self, reading: Any, /) -> None:
        """Remember the event."""
        self.heard.append(reading.event)


def traffic_of(
    behaviour: str, policy: dict[str, Any], can: Iterable[Any], events: list[Any], shield: Shield
) -> Traffic:
    """What was heard of a scene, with the decisions that its shield has recorded."""
    kept = {one.id: one for one in (entry.read() for entry in shield.journal.kept())}
    first = {event.id: event for event in reversed(events)}  # what was changed is judged once more
    order = dict.fromkeys([event.id for event in events if event.id in kept])
    heard = {name: _heard(first[name], kept[name]) for name in order}
    return Traffic(
        behaviour, policy, tuple([NAMES[one].lower() for one in can]), tuple(heard.values())
    )


def _heard(event: Any, kept: Any) -> Heard:
    said = msgspec.to_builtins(event, enc_hook=str)
    fields = {name: value for name, value in said.items() if name not in OWN and value is not None}
    if not event.tool:
        del fields["tool"]
    code = kept.findings[0].code if kept.findings else ""
    return Heard(event.stage.value, event.id, event.call, fields, kept.action, code)
