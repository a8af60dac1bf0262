"""Enough sessions that what happens once sets no median: our own few are repeated, each time with
other names."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion_lab.bench.packs.own_sessions import OWN
from stanchion_lab.bench.packs.sessions import Drawn, Session, drawn
from stanchion_lab.bench.table import Effort

NAMES: Final = ("shop", "prices", "report", "notes", "summary", "appendix", "access", "search")
"""What is called otherwise each time."""
FEW: Final = 2 * len(OWN)
TIMES: Final = 3
"""How often our own sessions are played for each round that is asked for."""
WARM: Final = 30
"""How many sessions at the most are played before anything is measured."""


def repeated(effort: Effort) -> Drawn:
    """The sessions of a corpus, or our own as often as there are rounds."""
    found = drawn(effort)
    if len(found.sessions) > FEW:
        return found
    times = range(effort.rounds * TIMES)
    sessions = tuple([_named(session, number) for number in times for session in found.sessions])
    return Drawn(sessions, f"{found.source}, {len(times)} times with other names")


def warming(sessions: tuple[Session, ...]) -> tuple[Session, ...]:
    """Some of all lengths, to be played first."""
    return sessions[:: max(1, len(sessions) // WARM)]


def told(session: Session) -> list[tuple[str, dict[str, Any], str, bool]]:
    """A session as libraries are told it."""
    return [(step.tool, step.args, step.result, step.failed) for step in session]


def _named(session: Session, number: int) -> Session:
    return tuple(
        [
            msgspec.structs.replace(
                step, args=_renamed(step.args, number), result=_renamed(step.result, number)
            )
            for step in session
        ]
    )


def _renamed(content: Any, number: int) -> Any:
    match content:
        case str():
            for name in NAMES:
                content = content.replace(name, f"{name}{number}")
            return content
        case dict():
            return {key: _renamed(value, number) for key, value in content.items()}
        case list():
            return [_renamed(value, number) for value in content]
        case _:
            return content
