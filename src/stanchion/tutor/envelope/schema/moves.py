"""The moves of both laws, each with the fields that it needs; what is nearly right in one is put
right where only one thing can be meant."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Any, Final, get_args

from stanchion.readings.claims.claim import COUNTS, TEXTS
from stanchion.tutor.envelope.schema.shape import (
    COMMAND,
    PLACEHOLDER,
    ActionFields,
    MoveShape,
    bad,
    bare,
    is_remark,
    texts_of,
)
from stanchion.tutor.graph import ClaimKind
from stanchion.tutor.moves.legacy import (
    INTENT,
    AnyMove,
    AskMove,
    AssertMove,
    ChallengeMove,
    ProposeMove,
    ReformulateMove,
    RespondMove,
    parse_move,
)
from stanchion.tutor.moves.typed import ACTIONS, Propose, TypedMove, UnreadReply, of_value, read

RUNS: Final = {"BASH": "PROPOSE", "BASH_AND_RESPOND": "PROPOSE"}
"""Other names of the action that runs a command."""


def _first(action: str, data: dict[str, Any], text: str, strict: bool) -> AnyMove | UnreadReply:
    fields = ActionFields(data, strict)
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
                mode=_mode(fields),
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


def _kind(fields: ActionFields, strict: bool) -> str:
    """The kind of a claim. The first law cannot go on with one that it does not know, and compares
    none."""
    kind = fields.text("kind", default=ClaimKind.PROPERTY.value).strip().lower()
    if kind in {one.value for one in ClaimKind}:
        return kind
    if strict:
        fields.wrong.append(f"`kind` is one of {', '.join(one.value for one in ClaimKind)}")
    return ClaimKind.PROPERTY.value


def _mode(fields: ActionFields) -> str:
    mode = fields.text("mode", default="read").strip().lower()
    if mode not in ("read", "write"):
        fields.wrong.append("`mode` is `read` or `write`")
    return mode


def _command(fields: ActionFields, strict: bool) -> str:
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


FIRST: Final[MoveShape[AnyMove]] = MoveShape(
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


CLAIM: Final = frozenset({"predicate", "subject", "value", "polarity", "scope"})
FIELDS: Final[Mapping[str, frozenset[str]]] = {
    str(move.__struct_config__.tag): frozenset(move.__struct_fields__)
    for move in get_args(TypedMove)
}
"""The fields of each action."""
_COUNTED: Final = frozenset(one.value for one in COUNTS)
_VALUED: Final = frozenset(one.value for one in COUNTS | TEXTS)
_SWITCH: Final = {"true": True, "false": False}


def _second(action: str, data: dict[str, Any], _text: str, strict: bool) -> TypedMove | UnreadReply:
    if strict:
        return _whole(of_value, {"action": action, **data})
    value = {name.strip().lower(): one for name, one in data.items()}
    if action == "PROPOSE":
        wrong = _typed_command(value)
        if wrong:
            return bad(wrong)
    if action in ("ASSERT", "REFORMULATE", "RESOLVE"):
        value["claim"] = _claim(value)
    if isinstance(value.get("falsified_by"), dict):
        value["falsified_by"] = _claim({"claim": value["falsified_by"]})
    known = FIELDS[action]
    left = [name for name in value if name not in known and not is_remark(name, value[name])]
    if left:
        return bad(f"`{action}` has no field `{left[0]}`")
    return _whole(
        of_value, {"action": action, **{name: one for name, one in value.items() if name in known}}
    )


def _whole(
    reading: Callable[[Any], TypedMove | UnreadReply], given: Any
) -> TypedMove | UnreadReply:
    """What something is read as; a name with half a character in it cannot be compared with any."""
    try:
        return reading(given)
    except UnicodeEncodeError:
        return bad("a text has half a character in it")


def _typed_command(value: dict[str, Any]) -> str:
    """Bring the ways in which a command is given into one; says what is wrong."""
    for other in COMMAND[1:]:
        if other in value and "command" not in value:
            value["command"] = value.pop(other)
    if isinstance(value.get("command"), list):
        value["argv"] = value.pop("command")
    if isinstance(value.get("argv"), str):
        value["command"] = value.pop("argv")
    if isinstance(value.get("command"), str):
        value["command"] = bare(value["command"])
        if PLACEHOLDER.fullmatch(value["command"].lower()):
            return "`command` has to be the text of a command"
    mode = value.pop("mode", None)
    if mode is not None and str(mode).strip().lower() not in ("read", "write"):
        return "`mode` is `read` or `write`"
    said = value.get("write", str(mode).strip().lower() == "write")
    switch = said if isinstance(said, bool) else _SWITCH.get(str(said).strip().lower())
    if switch is None:
        return "`write` is `true` or `false`"
    value["write"] = switch
    return "" if value.get("command") or value.get("argv") else "a command is missing"


def _claim(value: dict[str, Any]) -> Any:
    """A claim with the types that its predicate needs; one whose parts stand beside the action is
    put together."""
    if "claim" not in value and "predicate" in value:
        parts = ("predicate", "subject", "value", "polarity", "scope")
        return _claim({"claim": {name: value.pop(name) for name in parts if name in value}})
    claim = value.get("claim")
    if not isinstance(claim, dict):
        return claim
    made = {str(name).strip().lower(): one for name, one in claim.items()}
    if any(name not in CLAIM for name in made):
        return {"predicate": None}  # a part nobody knows may turn its meaning round
    if isinstance(made.get("predicate"), str):
        made["predicate"] = made["predicate"].strip().lower()
    if isinstance(made.get("polarity"), str):
        made["polarity"] = _SWITCH.get(made["polarity"].strip().lower())
    number = made.get("value")
    if isinstance(number, str) and number.strip().isdecimal() and made.get("predicate") in _COUNTED:
        made["value"] = int(number)
    if made.get("value") == "" and made.get("predicate") not in _VALUED:
        del made["value"]
    return made


def _exactly(text: str) -> TypedMove | UnreadReply:
    move = _whole(read, text)
    if isinstance(move, Propose) and not move.argv and not move.command.strip():
        return bad("a command is missing")
    return move


def _moves(text: str) -> tuple[TypedMove, ...] | UnreadReply:
    move = read(text)
    return move if isinstance(move, UnreadReply) else (move,)


SECOND: Final[MoveShape[TypedMove]] = MoveShape(
    {**{one: one for one in ACTIONS}, **RUNS},
    _second,
    _exactly,
    _moves,
    {"ASK": "text", "PROPOSE": "command", "RESPOND": "message"},
)
"""The moves of the second law."""
