"""What cannot be read: refused, or marked and let through, as the policy says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding, Patch, PathStep
from stanchion.kernel.shown import visible
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.values import Read, Seen, Unreadable, UnreadPart

UNREAD_CODE, WITHHELD_CODE = "kernel.unread", "kernel.part_withheld"
ABOUT_UNREAD: Final = frozenset({UNREAD_CODE, WITHHELD_CODE})
CODES: Final = declare(
    {
        "kernel.unread": Words(
            "the guards cannot read {}",
            "give it as text or plain data",
            "a policy lets it pass unread with `unread: allow` in the entry of the tool",
        ),
        "kernel.part_withheld": Words(
            "a part that the guards cannot read is withheld, and the rest is here: {}",
            "go on with the rest, or get the same as text",
            "the line that lets it in stands in its place",
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


def arrived(read: Read) -> Read:
    """What came in, as it is known to guards and records: files in base64 by their digest."""
    from stanchion.runtime.values.parts import digested

    return digested(read) if read.parts else read


def against(
    desk: Desk, stage: Stage, tool: str, read: Read, under: tuple[PathStep, ...] = ()
) -> tuple[Finding, ...]:
    """What stands against a value that was read: nothing, a refusal, a mark that some of it is
    unread, or, of a result that stands `under` a field of what was read, that parts are
    withheld."""
    if not read.parts:
        return ()
    from stanchion.runtime.values.parts import lets_in, without

    kept = _kept(desk, stage, tool, read)
    passed = [part for part in read.parts if part not in kept]
    patches = [
        without(read.content, part, stand_in(part, tool, lets_in(read.content, part)), len(under))
        for part in kept
        if stage is Stage.TOOL_RESULT and part.path[: len(under)] == under
    ]
    found = [patch for patch in patches if patch is not None]
    if len(found) < len(kept):
        return (_finding(desk, Action.BLOCK, UNREAD_CODE, read.parts),)
    said = [_finding(desk, Action.ALLOW, UNREAD_CODE, passed)] if passed else []
    if found:
        said.append(_finding(desk, Action.REDACT, WITHHELD_CODE, kept, tuple(found)))
    return tuple(said)


def _kept(desk: Desk, stage: Stage, tool: str, read: Read) -> list[UnreadPart]:
    """What of that does not go through."""
    from stanchion.runtime.values.parts import lets_in, sha256_of

    most: Seen = {
        "block": Seen.WHOLE,
        "media": Seen.SPELLED if stage in OUTGOING else Seen.DIGEST,
        "allow": Seen.NOTHING,
    }[desk.shield.policy.unread(tool)]
    media = stage is Stage.TOOL_RESULT and desk.shield.policy.lets_media(tool)
    let = [part for part in read.parts if media and lets_in(read.content, part)]
    for part in let:
        desk.let_in(sha256_of(read.content, part))
    if stage is Stage.MODEL_CALL:
        let = [one for one in read.parts if desk.has_let_in(sha256_of(read.content, one))]
    return [part for part in read.parts if part.seen > most and part not in let]


def stand_in(part: UnreadPart, tool: str, is_media: bool) -> str:
    """What the agent reads in the place of a part: what stood there, and how it is let in."""
    cure = f"`unread: {'media' if part.seen == Seen.DIGEST else 'allow'}`"
    why = "no guard can read it"
    if is_media:
        cure = "`media: allow`"
    elif part.kind.startswith(("image/", "audio/")):
        why = "it is too large, or not what is said of it"
    what = part.words.rpartition("`, ")[2]
    return (
        f"[{what} was withheld, because {why}; {cure} for the tool `{visible(tool)}` in the policy "
        f"lets it in]"
    )


def _finding(
    desk: Desk,
    action: Action,
    code: str,
    parts: Sequence[UnreadPart],
    patches: tuple[Patch, ...] = (),
) -> Finding:
    more = len(parts) - MOST_NAMED
    words = "; ".join([part.words for part in parts[:MOST_NAMED]])
    named = words + (f"; and {more:,} more" if more > 0 else "")
    shadow = desk.plans.policy.shadow and action > Action.ALLOW
    return Finding(action, code, (named,), patches=patches, guard="kernel", shadow=shadow)


def marked(event: Any, read: Read) -> Any:
    """The event of a value that was read, marked where something in it was not."""
    if not read.parts:
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
