"""What cannot be read: refused, or marked and let through, as the policy says."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.values import Read, Seen, Unreadable

CODES: Final = declare(
    {
        "kernel.unread": Words(
            "the guards cannot read {}",
            "give it as text or plain data",
            "a policy lets it pass unread with `unread: allow` in the entry of the tool",
        ),
        "kernel.no_form": Words(
            "{} cannot be recorded as data, so it can be neither approved nor run exactly once",
            "give it as text or plain data",
        ),
    }
)

UNREAD: Final = "unread"
"""The trait of an event of whose content something could not be read."""
OPAQUE: Final = "opaque"
"""The trait of one whose content does not have all of it: two that look the same need not be."""

OUTGOING: Final = frozenset({Stage.TOOL_CALL, Stage.HANDOFF, Stage.EGRESS})
MOST_NAMED: Final = 3

NOTHING: Final = Read(None, None)


def against(desk: Desk, stage: Stage, tool: str, read: Read) -> tuple[Finding, ...]:
    """What stands against a value that was read: nothing, a refusal, or a mark that some of it is
    unread."""
    if not read.unread:
        return ()
    rule = desk.shield.policy.unread(tool)
    most = {
        "block": Seen.WHOLE,
        "media": Seen.SPELLED if stage in OUTGOING else Seen.DIGEST,
        "allow": Seen.NOTHING,
    }
    action = Action.ALLOW if read.seen <= most[rule] else Action.BLOCK
    return (Finding(action, "kernel.unread", (named(read),), guard="kernel"),)


def named(read: Read) -> str:
    """What was not read, in words."""
    more = len(read.unread) - MOST_NAMED
    return "; ".join(read.unread[:MOST_NAMED]) + (f"; and {more:,} more" if more > 0 else "")


def marked(event: Any, read: Read) -> Any:
    """The event of a value that was read, marked where something in it was not."""
    if not read.unread:
        return event
    traits = (UNREAD, OPAQUE) if read.seen is Seen.NOTHING else (UNREAD,)
    return msgspec.structs.replace(event, traits=(*event.traits, *traits))


def unreadable(error: Unreadable) -> tuple[Finding, ...]:
    """What stands against a value that is too deep, too large or too confused."""
    return (Finding(Action.BLOCK, "kernel.bad_event", (str(error),), guard="kernel"),)


def formless(event: Event) -> tuple[Finding, ...]:
    """What stands against approving or replaying an event whose content does not tell it from
    others."""
    if OPAQUE not in event.traits:
        return ()
    what = f"what `{event.tool}` takes" if event.tool else "this"
    return (Finding(Action.BLOCK, "kernel.no_form", (what,), guard="kernel"),)
