"""The moves of the second law; what is nearly right in one is put right where only one thing can be
meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, get_args

from stanchion.readings.claims.claim import COUNTS, TEXTS
from stanchion.tutor.envelope.schema.fields import COMMAND, PLACEHOLDER, bad, bare
from stanchion.tutor.envelope.schema.first import RUNS
from stanchion.tutor.envelope.schema.shape import Shape, is_remark
from stanchion.tutor.moves.typed import ACTIONS, Propose, TypedMove, Unread, of_value, read

CLAIM: Final = frozenset({"predicate", "subject", "value", "polarity", "scope"})
FIELDS: Final[Mapping[str, frozenset[str]]] = {
    str(move.__struct_config__.tag): frozenset(move.__struct_fields__)
    for move in get_args(TypedMove)
}
"""The fields of each action."""
_COUNTED: Final = frozenset(one.value for one in COUNTS)
_VALUED: Final = frozenset(one.value for one in COUNTS | TEXTS)
_SWITCH: Final = {"true": True, "false": False}


def _second(action: str, data: dict[str, Any], _text: str, strict: bool) -> TypedMove | Unread:
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


def _whole(reading: Callable[[Any], TypedMove | Unread], given: Any) -> TypedMove | Unread:
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


def _exactly(text: str) -> TypedMove | Unread:
    move = _whole(read, text)
    if isinstance(move, Propose) and not move.argv and not move.command.strip():
        return bad("a command is missing")
    return move


def _moves(text: str) -> tuple[TypedMove, ...] | Unread:
    move = read(text)
    return move if isinstance(move, Unread) else (move,)


SECOND: Final[Shape[TypedMove]] = Shape(
    {**{one: one for one in ACTIONS}, **RUNS},
    _second,
    _exactly,
    _moves,
    {"ASK": "text", "PROPOSE": "command", "RESPOND": "message"},
)
"""The moves of the second law."""
