"""Games of the second law that need no commands, and moves in a player's words."""

from __future__ import annotations

import json
from typing import Any

from stanchion.readings.claims.claim import Claim
from stanchion.tutor.law.v2 import Outcome, TutorV2
from stanchion.tutor.law.verdicts import MoveVerdict


class World:
    """Gives each command the outcome that a test says, and success where it says nothing."""

    def __init__(self, outcomes: dict[str, Outcome] | None = None, refuses: str = "") -> None:
        self._outcomes = {} if outcomes is None else outcomes
        self._refuses = refuses
        self.ran: list[str] = []

    def refused(self, argv: tuple[str, ...], write: bool) -> str:
        """The one that is named."""
        return f"`{argv[0]}` is not on the list" if argv[0] == self._refuses else ""

    def run(self, argv: tuple[str, ...], write: bool) -> Outcome:
        """As a test says."""
        line = " ".join(argv)
        self.ran.append(line)
        return self._outcomes.get(line, Outcome(True, 0, changes=write))


def begun(outcomes: dict[str, Outcome] | None = None, *claims: Claim, **more: Any) -> TutorV2:
    """A game in its first turn."""
    world = World(outcomes, more.pop("refuses", ""))
    tutor = TutorV2("second", world, "goal", claims, **more)
    tutor.next_turn()
    return tutor


def propose(tutor: TutorV2, command: str, write: bool = False) -> MoveVerdict:
    """Propose a command, in a player's words."""
    return tutor.play(json.dumps({"action": "PROPOSE", "command": command, "write": write})).verdict


def says(
    predicate: str, subject: str, value: int | str | None = None, polarity: bool = True
) -> dict[str, Any]:
    """A claim in a player's words."""
    return {"predicate": predicate, "subject": subject, "value": value, "polarity": polarity}


def assert_(tutor: TutorV2, *claim: Any, **more: Any) -> str:
    """Claim something; gives the status of what was claimed."""
    result = tutor.play(json.dumps({"action": "ASSERT", "claim": says(*claim, **more)}))
    if not result.truths:
        return result.verdict.value
    status = tutor.pcg.status(result.truths[0].id)
    assert status is not None
    return status.value
