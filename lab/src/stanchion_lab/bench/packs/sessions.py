"""Sessions of honest agents: their calls and what came of them, from a corpus or, where there is
none, our own few."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion_lab.bench.packs.own_sessions import OWN
from stanchion_lab.bench.table import Effort
from stanchion_lab.measuring.rows import VARIABLE, NoRows, rows

FILE: Final = "honest_sessions.jsonl"
SPARING: Final = 10
"""Of how many sessions one is played where it has to be quick."""


class Step(msgspec.Struct, frozen=True):
    """One call and what came of it; `asked` is what the user said before."""

    tool: str
    args: dict[str, Any]
    result: str
    failed: bool = False
    asked: tuple[str, ...] = ()

    @property
    def chars(self) -> int:
        """How long the call's texts are together."""
        return chars_of(self.args)


Session = tuple[Step, ...]


class Drawn(msgspec.Struct, frozen=True):
    """The sessions that are played, and where they are from."""

    sessions: tuple[Session, ...]
    source: str

    @property
    def steps(self) -> list[Step]:
        """All steps, in order."""
        return [step for session in self.sessions for step in session]


def drawn(effort: Effort, folder: Path | None = None) -> Drawn:
    """Sessions of all lengths, as often as they come: ordered by how long they are, and then every
    so many-th."""
    named = os.environ.get(VARIABLE, "")
    place = folder if folder is not None else Path(named)
    try:
        found, source = [_session(row.payload["steps"]) for row in rows(place, FILE)], f"`{FILE}`"
    except NoRows:
        found, source = (
            [_session(steps) for steps in OWN],
            f"our own few, because there is no `{FILE}` ({VARIABLE})",
        )
    found = sorted([session for session in found if session], key=_length)
    sparing = effort.rounds <= 4 and len(found) > SPARING
    return Drawn(tuple(found[SPARING // 2 :: SPARING] if sparing else found), source)


def chars_of(content: Any) -> int:
    """How long the texts of some content are together."""
    return sum([len(text) for text in texts_of(content)])


def texts_of(content: Any) -> Iterator[str]:
    """The texts of some content."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict | list):
        for value in content.values() if isinstance(content, dict) else content:
            yield from texts_of(value)


def _session(steps: list[dict[str, Any]]) -> Session:
    made: list[Step] = []
    asked: list[str] = []
    for step in steps:
        if "user" in step:
            asked.append(step["user"])
        elif "tool" in step:
            made.append(
                Step(
                    step["tool"],
                    step["args"],
                    step["result"],
                    step.get("failed", False),
                    tuple(asked),
                )
            )
            asked = []
    return tuple(made)


def _length(session: Session) -> int:
    return sum([step.chars + len(step.result) for step in session])
