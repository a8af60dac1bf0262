"""Sizes: what is too large to be judged is refused before anything reads it, and is not written
down either."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final, assert_never

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.content import content_of
from stanchion.kernel.events import (
    Charge,
    Egress,
    Event,
    Failure,
    Handoff,
    HandoffDone,
    ModelCall,
    ModelChunk,
    ModelReply,
    Moment,
    Prompt,
    ToolCall,
    ToolResult,
)
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.option import Lower, On

CEILING: Final = 8 * 1024 * 1024
"""How many characters an event may have under any policy: nothing reads more. Limits of a policy
are lower."""
LONG: Final = 16_384
"""An event with more characters is judged beside an event loop, and not on it."""
MATCHES: Final = 256
"""How many places of a text may be looked at closely, and `matches_a_kb` more for each KB of it.
Ordinary texts have a tenth of that."""
LONGEST_URL: Final = 8_192
"""How much of the address of a request that is too large is still of use to those who judge where
it goes."""

Many = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
Depth = Annotated[int, msgspec.Meta(ge=1, le=64)]
"""How deep something may be read: a compiled parser does not notice the end of its stack."""


class ReadLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of the engine itself."""

    warnings: Lower[Annotated[int, msgspec.Meta(ge=1)]] = 3
    """The number of the warning by one guard in a task that escalates; 3 means that the third one
    does."""
    count_marks: On[bool] = False
    """Whether marks of meters, such as `warn_at`, and warnings of guards that only watch count
    towards `warnings`, as in AGENT-33."""
    matches_a_kb: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 4
    """How many places of an event may look like a secret, for each KB of its texts and on top of
    256, and eight times as many like personal data; with more it is refused unread
    (`kernel.too_dense`), because each of them is looked at closely."""
    command_chars: Many = 65_536
    """A command with more characters is unclear, and none of it is read."""
    command_steps: Many = 20_000
    """A command is unclear where reading and following it takes more steps than these and one for
    each character, or where it runs more than one command for each 39 of them."""
    command_depth: Depth = 24
    """A command is unclear where groups, substitutions and texts that run as scripts stand deeper
    in each other."""
    query_chars: Many = 12_288
    """SQL with more characters is unclear, and none of it is read."""
    query_steps: Many = 24_576
    """SQL is unclear where parsing it may take more steps; each word or sign takes 6 of them at
    least, and each statement 96."""
    query_depth: Depth = 32
    """SQL is unclear where brackets stand deeper in each other."""


LIMITS: Final = ReadLimits()

_LONG: Final = (str, dict, list, tuple)
"""What can have more than one character."""

UNREAD: Final = Patch((), {"$withheld": "it is too large to be read"}, kind="unread")
"""What a finding hides by which content is refused for its size alone: all of it."""


def unread(findings: Iterable[Finding]) -> bool:
    """Whether content was refused for its size, so that nobody may read it afterwards."""
    return any(
        patch is UNREAD or patch.kind == UNREAD.kind
        for finding in findings
        for patch in finding.hides
    )


def allowed(chars: int, a_kb: int) -> int:
    """How many places of a text of so many characters may be looked at closely."""
    return MATCHES + chars * a_kb // 1_024


def exceeds(event: Event, most: int) -> bool:
    """Whether an event has more than so many characters, in its content and in the arguments that
    it repeats."""
    return room_left(event, most) < 0


def room_left(event: Event, most: int) -> int:
    """How many characters an event could still have without exceeding so many: texts, the names of
    fields, and one for every value count. Below zero it is measured no further."""
    waiting: list[Any]
    if type(event) is ToolCall:
        waiting = [event.args]
    elif type(event) is ToolResult:
        waiting = [event.args, event.result]
    elif type(event) is Failure:
        waiting = [event.args, event.text]
    else:
        waiting = [content_of(event)]
    left = most
    while waiting and left >= 0:
        value = waiting.pop()
        if isinstance(value, str):
            left -= len(value)
        elif isinstance(value, dict):
            for name, item in value.items():
                left -= len(name) if type(name) is str else 1
                if type(item) is str:
                    left -= len(item)
                elif isinstance(item, _LONG):
                    waiting.append(item)
            left -= len(value)
        elif isinstance(value, list | tuple):
            left -= len(value)
            if left >= 0:
                waiting += value
    return left


def refused_unread(moment: Moment, shadow: bool = False) -> Moment:
    """A moment that is too large as it can be judged: it has nothing left to read, and its refusal
    beside it."""
    event = moment.events[0]
    refusal = Finding(
        Action.BLOCK,
        "kernel.too_large",
        (f"{CEILING:,}",),
        guard="kernel",
        shadow=shadow,
        hides=(UNREAD,),
    )
    events = (_emptied(event), *moment.events[1:])
    return msgspec.structs.replace(moment, events=events, late=(*moment.late, refusal))


def _emptied(event: Event) -> Event:
    """The same event without what can be long in it."""
    match event:
        case ToolCall():
            return msgspec.structs.replace(event, args={})
        case ToolResult():
            return msgspec.structs.replace(event, result=None, args={})
        case Failure():
            return msgspec.structs.replace(event, text="", args={})
        case Prompt() | ModelChunk() | ModelReply():
            return msgspec.structs.replace(event, text="")
        case ModelCall():
            return msgspec.structs.replace(event, messages=[], params={})
        case Egress():
            url = event.url if len(event.url) <= LONGEST_URL else ""
            return msgspec.structs.replace(event, url=url, headers={}, payload=None)
        case Handoff() | HandoffDone():
            return msgspec.structs.replace(event, payload={})
        case Charge():
            return event
        case _:
            assert_never(event)
