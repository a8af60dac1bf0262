"""What watches an agent: Stanchion's own files, and what other programs run on an agent's
behalf."""

from __future__ import annotations

from typing import Final

from stanchion.guards._own import POLICY, STATE
from stanchion.guards._protected import Held, Use
from stanchion.guards.files.protected.names import WORDS, ending, words_in, words_of
from stanchion.guards.files.protected.seat import Seat
from stanchion.kernel.regex import regex

RULES: Final = (POLICY, STATE)

AGENTS: Final = WORDS["agents"]
"""Agents and their hosts, by the folder or file that has their name behind a dot."""
RULING: Final = WORDS["ruling"]
"""Words of what says to a host what its agent may do and what it runs."""
RECORDS: Final = WORDS["records of agents"]
"""Words of what tells afterwards what an agent did."""
_HOSTS: Final = regex(
    r"(?s)(?=.*(?<![a-z])mcp(?![a-z])).+\.(?:json|toml|ya?ml)\Z|claude_desktop_config\.json\Z"
)
"""Files that tell a host which servers an agent has."""
HELD: Final = Held("a setting of an agent's host", asks=True)
RECORD: Final = Held("the record of what an agent did", asks=True)


def held(seat: Seat, use: Use) -> Held | None:
    """What says to an agent's host what the agent may do; its notes and commands are work like any
    other."""
    if use == "read" or not seat.all:
        return None
    name = seat.all[-1]
    if _HOSTS.match(name) is not None:
        return HELD
    at = next(
        (
            at
            for at, part in enumerate(seat.all)
            if part[:1] == "." and not AGENTS.isdisjoint(words_of(part)[:1])
        ),
        -1,
    )
    if at < 0:
        return None
    words = words_in(seat.all[at:])
    if seat.sure and seat.is_home and (ending(name) == "jsonl" or not RECORDS.isdisjoint(words)):
        return RECORD
    return (
        HELD if not RULING.isdisjoint(words) and ending(name) not in ("md", "mdc", "txt") else None
    )
