"""Both laws as the envelope needs them: what a player is told, what would come of a move, and
making it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, Generic, TypeVar

import msgspec

from stanchion.readings.claims.claim import CheckVerdict
from stanchion.tutor.envelope.schema.moves import FIRST, SECOND
from stanchion.tutor.envelope.schema.shape import MoveShape
from stanchion.tutor.envelope.trace import as_plain
from stanchion.tutor.graph import ClaimKind, Goal, Graph, Observation, Question, Status, Truth
from stanchion.tutor.law.v1 import TutorV1
from stanchion.tutor.law.v2 import TutorV2
from stanchion.tutor.law.verdicts import CheckResult, GameState, MoveResult, MoveVerdict
from stanchion.tutor.moves.legacy import AnyMove, AssertMove, ProposeMove
from stanchion.tutor.moves.typed import Assert, Propose, Reformulate, TypedMove

Referee = TypeVar("Referee", bound=TutorV1 | TutorV2)

TRUTHS: Final = 10
OBSERVATIONS: Final = 5
SHOWN: Final = 500
"""How many characters of an output a player is shown."""
ANSWERS: Final = frozenset({"check", "move_rejected"})
"""Events that answer a move."""


def context_of(tutor: TutorV2) -> str:
    """The goal and how far it is, what is proven, what was seen last, what is open, and what the
    last move came to."""
    lines = ["=== GAME ===", f"Turn: {tutor.state.turn}", f"Score: {tutor.state.score}"]
    lines += _part(
        "TO BE PROVEN", [f"{one.text}: {tutor.check(one).verdict.value}" for one in tutor.goal]
    )
    proven = tutor.pcg.of(Truth, Status.VALIDATED)[-TRUTHS:]
    lines += _part("PROVEN", [f"[{one.id}] {one.text}" for one in proven])
    seen = tutor.pcg.of(Observation)[-OBSERVATIONS:]
    lines += _part(
        "SEEN", [f"[{one.id}] {one.command}: ended with {one.rc}{_output(one)}" for one in seen]
    )
    asked = tutor.pcg.of(Question, Status.OPEN)
    lines += _part("OPEN QUESTIONS", [f"[{one.id}] {one.text}" for one in asked])
    return "\n".join([*lines, *_part("LAST MOVE", _answer(tutor))])


def _part(title: str, rows: list[str]) -> list[str]:
    return ["", f"{title}:", *(f"  {row}" for row in rows)] if rows else []


def _output(seen: Observation) -> str:
    text = (seen.stdout if seen.stdout else seen.stderr).rstrip("\n")
    more = "..." if len(text) > SHOWN else ""
    return f", and printed {text[:SHOWN]!r}{more}" if text else ", and printed nothing"


def _answer(tutor: TutorV2) -> list[str]:
    """The law's answer to the move of the turn before."""
    told = [
        one
        for one in tutor.pcg.events
        if one.turn == tutor.state.turn - 1 and one.event_type in ANSWERS
    ]
    return [f"{one.verdict}: {one.reason}" for one in told[-1:]]


class Foreseen(msgspec.Struct, frozen=True):
    """What would come of a move, as far as that is known without making it."""

    move: MoveVerdict
    check: CheckVerdict | None = None
    """The verdict on its claim; `None` where it claims nothing."""
    brings: bool = False
    """Whether it does something that can bring evidence."""
    why: str = ""
    missing: str = ""


class Law(ABC, Generic[Referee]):
    """A law, and the game that is played under it."""

    routing: ClassVar[str]
    """By what a reply is read where no layer reads it."""
    exact: ClassVar[bool]
    """Whether claims are compared by what they say, so that other words for one change nothing."""
    shape: ClassVar[MoveShape[Any]]
    """What its moves are."""

    def __init__(self, tutor: Referee) -> None:
        self._tutor = tutor

    @property
    def graph(self) -> Graph:
        """Its graph."""
        return self._tutor.pcg

    @property
    def state(self) -> GameState:
        """Where the game stands."""
        return self._tutor.state

    def begin(self) -> None:
        """Begin the next turn."""
        self._tutor.next_turn()

    @abstractmethod
    def told(self) -> str:
        """What a player is told."""

    @abstractmethod
    def foresee(self, move: Any) -> Foreseen:
        """What would come of a move; nothing is changed."""

    def make(self, move: Any) -> MoveResult:
        """Make a move."""
        return self._tutor.execute_move(move)

    @abstractmethod
    def refuse(self, reply: str) -> MoveResult:
        """Have the law itself answer a reply that is no move."""

    @abstractmethod
    def plain(self, move: Any) -> tuple[str, Mapping[str, Any]]:
        """The action of a move, and the move as plain data."""

    def won(self) -> bool:
        """Whether the goal is reached."""
        return self._tutor.check_goal_satisfaction()


def law_of(tutor: TutorV1 | TutorV2) -> Law[Any]:
    """The law of a referee."""
    return FirstLaw(tutor) if isinstance(tutor, TutorV1) else SecondLaw(tutor)


def goal_of(law: Law[Any]) -> str:
    """The goal in words."""
    return "\n".join(one.text for one in law.graph.of(Goal, Status.ACTIVE))


class FirstLaw(Law[TutorV1]):
    """The first law, with whatever it is not able to take kept from it."""

    routing: ClassVar[str] = "parse_move"
    exact: ClassVar[bool] = False
    shape: ClassVar[MoveShape[Any]] = FIRST

    def told(self) -> str:
        """What a player is told."""
        return self._tutor.get_context_for_llm()

    def foresee(self, move: AnyMove) -> Foreseen:
        """What would come of a move. One whose fields have types on which the law breaks is
        ill-typed."""
        if isinstance(move, ProposeMove):
            if not isinstance(move.command, str):
                return Foreseen(
                    MoveVerdict.ILLEGAL, CheckVerdict.ILL_TYPED, why="`command` has to be a text"
                )
            found = self._tutor.validate_move(move)
            return Foreseen(found.verdict, brings=bool(move.command.strip()), why=found.reason)
        if not isinstance(move, AssertMove):
            found = self._tutor.validate_move(move)
            return Foreseen(found.verdict, why=found.reason)
        kinds = {one.value for one in ClaimKind}
        if not isinstance(move.text, str) or (move.kind and move.kind not in kinds):
            return Foreseen(
                MoveVerdict.ILLEGAL,
                CheckVerdict.ILL_TYPED,
                why="a claim has a text and a known kind",
            )
        kind = ClaimKind(move.kind) if move.kind else ClaimKind.PROPERTY
        claim = Truth(
            id="",
            text=move.text,
            kind=kind,
            domain=move.domain,
            scope=move.scope,
        )
        return _claimed(self._tutor.validate_move(move), self._tutor.check(claim))

    def refuse(self, reply: str) -> MoveResult:
        """The first law reads every reply as something."""
        raise AssertionError(f"the first law has no move for {len(reply)} characters")

    def plain(self, move: AnyMove) -> tuple[str, Mapping[str, Any]]:
        """The action of a move, and the move as plain data."""
        fields = {
            name: value
            for name, value in msgspec.structs.asdict(move).items()
            if name != "raw_text"
        }
        return move.move_type.value, as_plain({"action": move.move_type.value, **fields})


class SecondLaw(Law[TutorV2]):
    """The second law."""

    routing: ClassVar[str] = "read"
    exact: ClassVar[bool] = True
    shape: ClassVar[MoveShape[Any]] = SECOND

    def told(self) -> str:
        """What a player is told."""
        return context_of(self._tutor)

    def foresee(self, move: TypedMove) -> Foreseen:
        """What would come of a move."""
        found = self._tutor.validate_move(move)
        if isinstance(move, Propose):
            return Foreseen(found.verdict, brings=True, why=found.reason)
        if isinstance(move, Assert | Reformulate):
            return _claimed(found, self._tutor.check(move.claim))
        return Foreseen(found.verdict, why=found.reason)

    def refuse(self, reply: str) -> MoveResult:
        """Have the law itself answer a reply that is no move."""
        return self._tutor.play(reply)

    def plain(self, move: TypedMove) -> tuple[str, Mapping[str, Any]]:
        """The action of a move, and the move as plain data."""
        data = as_plain(move)
        return data["action"], data


def _claimed(move: MoveResult, check: CheckResult) -> Foreseen:
    why = move.reason if move.reason else check.reason
    return Foreseen(move.verdict, check.verdict, False, why, ", ".join(check.missing))


BRINGS: Final = 2
NOTHING: Final = 3
RANKS: Final = {
    CheckVerdict.PROVABLE: 0,
    CheckVerdict.REFUTABLE: 1,
    CheckVerdict.UNDECIDABLE: NOTHING,
    CheckVerdict.ILL_TYPED: 4,
}
ILLEGAL: Final = 10
"""What a move that is not legal ranks below all that are."""


class Stood(msgspec.Struct, frozen=True):
    """What would come of a reply, in all."""

    rank: int = 0
    check: CheckVerdict | None = None
    names: frozenset[str] = frozenset()
    """The names of all verdicts on it."""
    why: str = ""
    missing: str = ""

    @property
    def undecided(self) -> bool:
        """Whether it claims what nobody can decide."""
        return self.check is CheckVerdict.UNDECIDABLE


def stood(foreseen: Sequence[Foreseen], unread: str, open_before: bool) -> Stood:
    """What would come of a reply's moves; `unread` is what is wrong with one that has none.

    `open_before` says that a claim was open earlier in the turn, under a law that goes by words:
    another claim is taken as open, too, for asking until some words slip through would prove what
    is not so.
    """
    if not foreseen:
        ill = CheckVerdict.ILL_TYPED
        return Stood(ILLEGAL + RANKS[ill], ill, frozenset({ill.name}), unread)
    seen = [_reworded(one) if open_before else one for one in foreseen]
    worst = max(seen, key=_rank)
    names = {one.check.name for one in seen if one.check is not None} | {
        one.move.name for one in seen
    }
    return Stood(_rank(worst), worst.check, frozenset(names), worst.why, worst.missing)


def _reworded(one: Foreseen) -> Foreseen:
    if one.check in (CheckVerdict.PROVABLE, CheckVerdict.REFUTABLE):
        return msgspec.structs.replace(
            one, check=CheckVerdict.UNDECIDABLE, missing="Evidence observation"
        )
    return one


def _rank(one: Foreseen) -> int:
    rank = BRINGS if one.brings else NOTHING if one.check is None else RANKS[one.check]
    return rank + (0 if one.move is MoveVerdict.LEGAL else ILLEGAL)
