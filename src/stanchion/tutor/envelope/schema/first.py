"""The moves of the first law, each with the fields that it needs and the types that the law can go
on with."""

from __future__ import annotations

import shlex
from typing import Any, Final

from stanchion.tutor.envelope.schema.fields import COMMAND, PLACEHOLDER, Fields, bare, texts_of
from stanchion.tutor.envelope.schema.shape import Shape
from stanchion.tutor.graph.nodes import ClaimKind
from stanchion.tutor.moves.kinds import (
    AnyMove,
    AskMove,
    AssertMove,
    ChallengeMove,
    ProposeMove,
    ReformulateMove,
    RespondMove,
)
from stanchion.tutor.moves.legacy import INTENT, parse_move
from stanchion.tutor.moves.typed import Unread

RUNS: Final = {"BASH": "PROPOSE", "BASH_AND_RESPOND": "PROPOSE"}
"""Other names of the action that runs a command."""


def _first(action: str, data: dict[str, Any], text: str, strict: bool) -> AnyMove | Unread:
    fields = Fields(data, strict)
    match action:
        case "ASSERT":
            move: AnyMove = AssertMove(
                raw_text=text,
                text=fields.text("text", "claim"),
                kind=_kind(fields, strict),
                domain=fields.text("domain", default="bash"),
                scope=fields.text("scope", default=""),
            )
        case "ASK":
            move = AskMove(
                raw_text=text, text=fields.text("text", "question"), targets=fields.texts("targets")
            )
        case "PROPOSE":
            intent, command = fields.text("intent", default=INTENT), _command(fields, strict)
            move = ProposeMove(
                raw_text=text,
                intent=intent,
                command=command,
                mode=_mode(fields, strict),
                verify=fields.texts("verify"),
            )
        case "CHALLENGE":
            said, falsify = (
                fields.text("text", "assumption"),
                fields.text("falsify", "falsification", default=""),
            )
            move = ChallengeMove(raw_text=text, text=said, falsify=falsify)
        case "REFORMULATE":
            original = fields.text("original", "original_id", default="")
            move = ReformulateMove(
                raw_text=text,
                original_id=original,
                new_text=fields.text("new_text", "reformulation"),
            )
        case _:
            move = RespondMove(raw_text=text, message=fields.text("message", "text"))
    return fields.done(move)


def _kind(fields: Fields, strict: bool) -> str:
    """The kind of a claim. The first law cannot go on with one that it does not know, and compares
    none."""
    said = fields.text("kind", default=ClaimKind.PROPERTY.value)
    kind = said if strict else said.strip().lower()
    if kind in {one.value for one in ClaimKind}:
        return kind
    if strict:
        fields.wrong.append(f"`kind` is one of {', '.join(one.value for one in ClaimKind)}")
    return ClaimKind.PROPERTY.value


def _mode(fields: Fields, strict: bool) -> str:
    said = fields.text("mode", default="read")
    mode = said if strict else said.strip().lower()
    if mode not in ("read", "write"):
        fields.wrong.append("`mode` is `read` or `write`")
    return mode


def _command(fields: Fields, strict: bool) -> str:
    """The text of a command; lenient reading takes its words, too."""
    names = ("command",) if strict else (*COMMAND, "argv")
    value = fields.take(*names)
    words = None if isinstance(value, str) or strict else texts_of(value)
    said = shlex.join(words) if words else value
    if (
        not isinstance(said, str)
        or not said.strip()
        or "\0" in said
        or PLACEHOLDER.fullmatch(said.lower())
    ):
        fields.wrong.append("`command` has to be the text of a command")
        return ""
    return said if strict else bare(said)


FIRST: Final[Shape[AnyMove]] = Shape(
    {
        **{one: one for one in ("ASSERT", "ASK", "PROPOSE", "CHALLENGE", "REFORMULATE", "RESPOND")},
        **RUNS,
    },
    _first,
    None,
    lambda text: tuple(parse_move(text)),
    {
        "ASSERT": "text",
        "ASK": "text",
        "PROPOSE": "command",
        "CHALLENGE": "text",
        "REFORMULATE": "new_text",
        "RESPOND": "message",
    },
)
"""The moves of the first law."""
