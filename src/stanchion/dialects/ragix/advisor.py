"""The advisor of the document and its parts. They look at the graph of a game, and keep nothing of
their own: what a player did and was told is in the graph."""

from __future__ import annotations

from itertools import accumulate
from typing import Final

from stanchion.dialects.errors import DialectError
from stanchion.tutor.advice.advisor import Board, CardAdvice, advise, board
from stanchion.tutor.advice.cards import FOR, Card, CardType, card_for
from stanchion.tutor.advice.contradictions import contradiction
from stanchion.tutor.advice.failures import (
    FailureType,
    GameTrace,
    PlayedStep,
    PlayerFailure,
    failure,
)
from stanchion.tutor.advice.intent import IntentCourse, course
from stanchion.tutor.graph import Goal, Observation, Status, Truth
from stanchion.tutor.law.v1 import TutorV1
from stanchion.tutor.law.v2 import TutorV2

ADVICE: Final = "advice"
"""The event by which a card that was given is known."""


class _Looks:
    """What looks at a game."""

    def __init__(self, tutor: TutorV1 | TutorV2) -> None:
        if not isinstance(tutor, TutorV1 | TutorV2):
            raise DialectError(
                f"`{type(self).__name__}` is given a `{type(tutor).__name__}`: give it a `Tutor`"
            )
        self._tutor = tutor

    @property
    def trace(self) -> GameTrace:
        """What happened in the game: under the first law all nodes count as what is known."""
        tutor = self._tutor
        if isinstance(tutor, TutorV2):
            return tutor.trace()
        turns = [0] * (tutor.state.turn + 1)
        for node in tutor.pcg.nodes.values():
            turns[node.turn] += 1
        return GameTrace(_steps(tutor), tuple(accumulate(turns))[1:], turn=tutor.state.turn)


def _steps(tutor: TutorV1 | TutorV2) -> tuple[PlayedStep, ...]:
    seen = tutor.pcg.of(Observation)
    return tuple(
        PlayedStep(one.command, f"{one.stdout}\n{one.stderr}", one.rc != 0) for one in seen
    )


class FailureDetector(_Looks):
    """Finds what goes wrong in a game: `REPETITION`, `CIRCULAR`, `EXPLICIT_ERROR`, `STALL` and
    `EXHAUSTION`."""

    def detect(self) -> PlayerFailure | None:
        """The failure that the game shows now, if any; the most certain first."""
        return failure(self.trace)


class ContradictionDetector(_Looks):
    """Finds a way of playing that contradicts itself."""

    def detect(self) -> str:
        """Its name, as cards know it; empty where there is none."""
        return contradiction(_steps(self._tutor), self._tutor.pcg.count(Truth, Status.VALIDATED))


class MetaCardSelector(_Looks):
    """Chooses the card for what goes wrong. A game has few of them."""

    def select(self, what: PlayerFailure | FailureType | str) -> Card | None:
        """The card for a failure or a contradiction, by its name; `None` if no more are given in
        this game."""
        kind = what.failure_type if isinstance(what, PlayerFailure) else what
        name = kind.value if isinstance(kind, FailureType) else kind
        if not isinstance(name, str) or name not in FOR:
            raise DialectError(f"there is no card for `{name}`: write one of {', '.join(FOR)}")
        return card_for(name, self.issued)

    @property
    def issued(self) -> int:
        """How many cards the player was given."""
        return sum(one.event_type == ADVICE for one in self._tutor.pcg.events)


class StrategicAdvisor(_Looks):
    """Says what to tell the player before a turn. It belongs to the Tutor, and no layer of the
    envelope knows it."""

    @property
    def failure_detector(self) -> FailureDetector:
        """Finds failures."""
        return FailureDetector(self._tutor)

    @property
    def meta_card_selector(self) -> MetaCardSelector:
        """Chooses cards."""
        return MetaCardSelector(self._tutor)

    @property
    def contradiction_detector(self) -> ContradictionDetector:
        """Finds contradictions."""
        return ContradictionDetector(self._tutor)

    @property
    def board(self) -> Board:
        """What is to be done, under way, stuck and done."""
        return board(self._tutor.pcg)

    def advise(
        self, model: str = "", disabled: frozenset[CardType] = frozenset()
    ) -> CardAdvice | None:
        """What to tell the player, where anything is to be said: too much is under way, the way of
        playing contradicts itself, something goes wrong. It is written down in the graph, for a
        game has few cards."""
        tutor = self._tutor
        if not isinstance(model, str):
            raise DialectError(f"`model` is a `{type(model).__name__}`: give the name of the model")
        if isinstance(tutor, TutorV2) and not disabled:
            return tutor.advise(model)
        found = advise(tutor.pcg, self.trace, model, self.meta_card_selector.issued, disabled)
        if found is not None:
            tutor.pcg.log(ADVICE, reason=found.why, data={"card": found.card.card_id})
        return found


class SemanticIntentTracker(_Looks):
    """Follows whether a player comes closer to the goal, whatever layers stand round the game."""

    def track(self) -> IntentCourse:
        """Where the player is going: `converging`, `stable`, `wandering` or `diverging`, and what a
        score counts."""
        if isinstance(self._tutor, TutorV2):
            return self._tutor.course()
        goals = self._tutor.pcg.of(Goal, Status.ACTIVE)
        return course(
            "\n".join(one.text for one in goals), tuple(step.action for step in _steps(self._tutor))
        )
