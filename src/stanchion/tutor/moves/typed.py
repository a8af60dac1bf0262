"""Reading a player's words as the second law does: exactly one move, or what is wrong with them."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.readings.claims.claim import Claim
from stanchion.readings.shell.parse import single
from stanchion.tutor.rules.typed import TypedRule

LONGEST: Final = 100_000
"""How long a reply may be."""


class WrittenMove(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="action"):
    """What all moves have."""


class Propose(WrittenMove, frozen=True, tag="PROPOSE"):
    """Run a command: as its words, or as a text that is one command of literal words."""

    argv: tuple[str, ...] = ()
    command: str = ""
    intent: str = ""
    write: bool = False


class Assert(WrittenMove, frozen=True, tag="ASSERT"):
    """Claim something."""

    claim: Claim


class AskQuestion(WrittenMove, frozen=True, tag="ASK"):
    """Ask something."""

    text: str
    targets: tuple[str, ...] = ()


class Challenge(WrittenMove, frozen=True, tag="CHALLENGE"):
    """Assume something, and name the claim that would prove it wrong."""

    text: str
    falsified_by: Claim


class Reformulate(WrittenMove, frozen=True, tag="REFORMULATE"):
    """Put another claim in the place of one that nobody can decide."""

    original: str
    claim: Claim


class Resolve(WrittenMove, frozen=True, tag="RESOLVE"):
    """Answer a question by a claim that is proven."""

    question: str
    claim: Claim


class Respond(WrittenMove, frozen=True, tag="RESPOND"):
    """Say something, which is no move."""

    message: str


class WriteRule(WrittenMove, frozen=True, tag="RULE"):
    """Write a rule for this game. What it concludes is a hint."""

    rule: TypedRule


TypedMove = Propose | Assert | AskQuestion | Challenge | Reformulate | Resolve | Respond | WriteRule


class Misread(Enum):
    """What is wrong with a reply."""

    EMPTY = "empty"
    TOO_LONG = "too long"
    NO_JSON = "no JSON"
    SEVERAL = "several moves"
    NO_OBJECT = "no object"
    UNKNOWN_ACTION = "unknown action"
    BAD_FIELD = "bad field"
    UNCLEAR = "unclear"


class UnreadReply(msgspec.Struct, frozen=True):
    """A reply that is no move, and why."""

    what: Misread
    why: str


def read(text: str) -> TypedMove | UnreadReply:
    """The one move that a reply is; nothing is guessed, and nothing raises."""
    if len(text) > LONGEST:
        return UnreadReply(Misread.TOO_LONG, f"a reply has at most {LONGEST:,} characters")
    bare = text.strip()
    if not bare:
        return UnreadReply(Misread.EMPTY, "the reply is empty: give one move as a JSON object")
    try:
        value: Any = json.loads(bare, object_pairs_hook=take_once, parse_constant=refuse_constant)
    except ValueError as error:
        return UnreadReply(
            Misread.NO_JSON, f"the reply is not one JSON object and nothing else: {error}"
        )
    except RecursionError:
        return UnreadReply(Misread.NO_JSON, "the reply is nested too deeply")
    return of_value(value)


def take_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, each of whose names it has once: of two that are the same one would be hidden."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a name stands in it twice")
    return made


def refuse_constant(constant: str) -> Any:
    """Refuse what Python reads beyond JSON, such as `NaN`."""
    raise ValueError(f"`{constant}` is no JSON")


def of_value(value: Any) -> TypedMove | UnreadReply:
    """The move that plain data is."""
    if isinstance(value, list):
        return UnreadReply(
            Misread.SEVERAL, f"the reply is a list of {len(value)}: give exactly one move a turn"
        )
    if not isinstance(value, dict):
        return UnreadReply(Misread.NO_OBJECT, "a move is a JSON object")
    if value.get("action") not in ACTIONS:
        known = ", ".join(f"`{one}`" for one in ACTIONS)
        return UnreadReply(Misread.UNKNOWN_ACTION, f"`action` is one of {known}")
    try:
        return typed.convert(value, TypedMove)  # type: ignore[no-any-return]  # a union is no type to mypy
    except msgspec.ValidationError as error:
        return UnreadReply(Misread.BAD_FIELD, str(error))
    except UnicodeEncodeError:
        return UnreadReply(
            Misread.BAD_FIELD,
            "the name of a field, or a word that has to be a known one, has half a character",
        )


ACTIONS: Final = (
    "ASSERT",
    "ASK",
    "PROPOSE",
    "CHALLENGE",
    "REFORMULATE",
    "RESOLVE",
    "RESPOND",
    "RULE",
)


def argv_of(move: Propose) -> tuple[str, ...] | None:
    """The words of a command; `None` where its text is more than one command of literal words."""
    return move.argv if move.argv else single(move.command)


def runnable(word: str) -> bool:
    """Whether a program can be given a word: bytes that are no text would be another word to it
    than was seen."""
    return not any(one == "\0" or "\ud800" <= one <= "\udfff" for one in word)
