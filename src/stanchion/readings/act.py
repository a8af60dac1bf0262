"""An act: what a tool does, by what is declared and by its name; never by what its description
says."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, Literal

import msgspec

from stanchion.kernel.declared import READ, effect_of
from stanchion.readings.act_words import (
    ALONE,
    APIS,
    ASKS,
    CARRIES,
    CHANGES,
    DELETES,
    ELSEWHERE,
    FILES,
    MOVES,
    READS,
    SAYS,
    SEEKS,
    WEB,
    WRITES,
)  # fmt: skip
from stanchion.readings.commands.words import SHELLS, runner_of
from stanchion.readings.names import KEPT, letters, words

Verb = Literal["read", "write", "delete", ""]
Use = Literal["read", "write", "delete"]


class ToolAct(msgspec.Struct, frozen=True, gc=False):
    """What a tool does. A declared effect says more than a name.

    `verb` is what the name says of files and other things, `use` what the tool does to them: what
    says nothing may write.
    """

    verb: Verb
    use: Use
    moves: bool
    of_files: bool
    web: bool
    """It speaks to the web."""
    api: bool
    """It reaches a service, at which a path is no file."""
    elsewhere: bool
    """It speaks of another machine, a bucket or a service that keeps files."""
    carries: bool
    """It brings something from one machine to another."""
    runs: bool
    """It runs what it is given."""
    changes: bool
    """It changes the work that it is given."""
    seeks: bool
    """It looks for something, so that nothing found is an answer."""
    asks: bool
    says: bool
    """It tells somebody something."""
    reads_only: bool
    """It is declared as one that changes nothing."""
    repeats: bool
    """It is declared as one whose calls can be repeated."""
    words: frozenset[str]
    """The words of its name, without numbers."""


def act(reading: Any) -> ToolAct:
    """What the tool of a reading does."""
    event = reading.event
    return act_of(event.tool, event.traits)


@lru_cache(KEPT)
def act_of(tool: str, traits: tuple[str, ...] = ()) -> ToolAct:
    """What a tool does that is called and declared like this."""
    said, known = words(tool), letters(tool)
    verb: Verb = (
        "delete"
        if known & DELETES
        else "write"
        if known & WRITES
        else "read"
        if known & READS
        else ""
    )
    effect = effect_of(traits)
    reads_only = effect == READ
    return ToolAct(
        verb=verb,
        use=_use(verb, effect),
        moves=bool(known & MOVES),
        of_files=bool(known & FILES) or (len(said) == 1 and said[0] in ALONE),
        web=bool(known & WEB),
        api=bool(known & (WEB | APIS)),
        elsewhere=not ELSEWHERE.isdisjoint(known | ({"s3"} if "s3" in tool.lower() else set())),
        carries=bool(known & CARRIES),
        runs=runner_of(tool).runs or bool(known & SHELLS),
        changes=bool(known & CHANGES) and not reads_only,
        seeks=bool(known & SEEKS),
        asks=bool(known & ASKS),
        says=bool(known & SAYS),
        reads_only=reads_only,
        repeats=reads_only or "idempotent" in traits,
        words=known,
    )


def _use(verb: Verb, effect: str) -> Use:
    """What a tool does to files: what acts does not only read them, whatever it is called."""
    if effect == READ:
        return READ
    if verb and not (effect and verb == READ):
        return verb
    return "delete" if effect == "irreversible" else UNSAID


UNSAID: Final = "write"
"""What a tool may do to files of which nothing says what it does."""


def reads(tool: str) -> bool:
    """Whether a tool is called like one that only looks: by a word for it, and none for changing or
    telling."""
    act = act_of(tool)
    return (
        (act.verb == "read" or act.asks or (act.seeks and not act.verb))
        and not act.says
        and not act.changes
    )
