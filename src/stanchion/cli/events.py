"""Events as JSON: the fields each stage takes, and a reader that lets nothing else through."""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, Any, Final

import msgspec

from stanchion import typed
from stanchion.cli.command import nearest
from stanchion.kernel.content import content_of
from stanchion.kernel.events import OF_STAGE, RunInfo
from stanchion.kernel.stages import Stage
from stanchion.kernel.tuples import NamedTuple
from stanchion.runtime.calling.reports import INNER, USAGE, BadEvent

MAX_NAME: Final = 256
"""How many characters the name of a run, an agent, a task and the like may have."""

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME)]
Label = Annotated[str, msgspec.Meta(max_length=MAX_NAME)]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Amount = Annotated[float, msgspec.Meta(ge=0, lt=1e12)]


class EventField(NamedTuple):
    """One field of an event: its type, and its default where it may be left out."""

    name: str
    type: Any
    required: bool = False
    default: Any = None


FRAME: Final = (
    EventField("run", Name, True),
    EventField("stage", str, True),
    EventField("id", Name),
)
"""What every event says of itself."""

IDENTITY: Final = (
    EventField("agent", Label),
    EventField("task", Label),
    EventField("role", Label),
    EventField("tenant", Name),
    EventField("parent", Name),
)
"""What the first event of a run may say of the run; later ones may repeat it."""

NEEDED: Final[dict[Stage, tuple[str, ...]]] = {
    Stage.MODEL_CALL: ("messages",),
    Stage.TOOL_CALL: ("tool",),
    Stage.TOOL_RESULT: ("tool", "result"),
}
"""Fields without which an event of that stage would be about nothing, though the library has
defaults for them."""

JSON_WORDS: Final = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
"""What Python's types are called in JSON."""

_AMOUNTS: Final = {"tokens": Count, "cost_usd": Amount, "api_calls": Count, "duration_s": Amount}
_OF_ACTIONS: Final = ("api_calls", "duration_s")
"""Amounts of actions; a charge is none."""


class EventReport(NamedTuple):
    """An event as a host reports it, checked: whose it is, what the run is said to be, the fields
    of its stage."""

    run: str
    stage: Stage
    id: str | None
    identity: dict[str, str]
    fields: dict[str, Any]

    @property
    def has_content(self) -> bool:
        """Whether events of this stage have content that patches can edit."""
        return self.stage is not Stage.CHARGE

    @property
    def content(self) -> Any:
        """The content as it was reported."""
        own = {name: value for name, value in self.fields.items() if name not in USAGE}
        kind: Any = OF_STAGE[self.stage]
        return content_of(kind(id="", at=0, run=RunInfo(self.run), **own))


@cache
def fields_of(stage: Stage) -> tuple[EventField, ...]:
    """The fields of a stage's own, those an event cannot do without first, usage last."""
    fields = []
    for info in msgspec.structs.fields(OF_STAGE[stage]):
        if info.name in INNER or info.name in _AMOUNTS:
            continue
        needed = info.name in NEEDED.get(stage, ())
        kind = Name if needed and info.type is str else info.type
        if needed or info.required:
            fields.append(EventField(info.name, kind, True))
        else:
            made = info.default_factory
            default = info.default if made is msgspec.NODEFAULT else made()
            fields.append(EventField(info.name, kind, False, default))
    usage = [
        EventField(name, kind)
        for name, kind in _AMOUNTS.items()
        if stage is not Stage.CHARGE or name not in _OF_ACTIONS
    ]
    return tuple(sorted(fields, key=lambda field: not field.required) + usage)


@cache
def _shape(stage: Stage) -> type[msgspec.Struct]:
    """A struct with every field an event of that stage may have, to check their types."""
    fields = (*FRAME, *IDENTITY, *fields_of(stage))
    return msgspec.defstruct(
        "Line",
        [
            (f.name, f.type) if f.required else (f.name, f.type | msgspec.UnsetType, msgspec.UNSET)
            for f in fields
        ],
        kw_only=True,
    )


def parse(text: bytes) -> Any:
    """JSON as data. A key that is there twice is refused: two readers could each believe another
    one."""
    try:
        data = msgspec.json.decode(text)
        if text.count(b":") != _members(data):
            import json

            json.loads(text.decode(), object_pairs_hook=_once)
    except RecursionError:
        raise BadEvent("the JSON is nested too deeply: send flatter data") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        reason = str(error).removeprefix("JSON is malformed: ")
        raise BadEvent(
            f"this is not JSON, {reason[:1].lower()}{reason[1:]}: check its quotes and brackets"
        ) from None
    return data


def _members(data: Any) -> int:
    """How many members all objects in some data have. Each was written with a colon, so where there
    are as many colons none is there twice; otherwise a text may have one."""
    if isinstance(data, dict):
        return len(data) + sum(map(_members, data.values()))
    return sum(map(_members, data)) if isinstance(data, list) else 0


def _once(pairs: list[tuple[str, Any]]) -> None:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise BadEvent(f"the key `{name}` is twice in one object: give it once")
        seen.add(name)


def read(data: Any) -> EventReport:
    """Check an event and take it apart; raises `BadEvent` with what is wrong and what to do."""
    if not isinstance(data, dict):
        raise BadEvent('this is not a JSON object: write an event as `{"run": ..., "stage": ...}`')
    stage = _stage_of(data)
    fields = (*FRAME, *IDENTITY, *fields_of(stage))
    known = [field.name for field in fields]
    for name in data:
        if name not in known:
            takes = f"it takes {', '.join(field.name for field in fields_of(stage))}"
            raise BadEvent(f"`{stage}` has no field `{name}`: {nearest(name, known, takes)}")
    for field in fields:
        if field.required and field.name not in data:
            raise BadEvent(f"`{stage}` needs the field `{field.name}`: add it")
    try:
        typed.convert(data, _shape(stage))
    except msgspec.ValidationError as error:
        raise BadEvent(_explained(stage, str(error))) from None
    return EventReport(
        data["run"],
        stage,
        data.get("id"),
        {field.name: data[field.name] for field in IDENTITY if field.name in data},
        {field.name: data[field.name] for field in fields_of(stage) if field.name in data},
    )


def _stage_of(data: dict[str, Any]) -> Stage:
    stages = ", ".join(Stage)
    if "stage" not in data:
        raise BadEvent(f"the event has no `stage`: give one of {stages}")
    given = data["stage"]
    if not isinstance(given, str):
        raise BadEvent(f"`stage` is not a text: give one of {stages}")
    try:
        return Stage(given)
    except ValueError:
        raise BadEvent(
            f"there is no stage `{given}`: {nearest(given, Stage, f'give one of {stages}')}"
        ) from None


def _explained(stage: Stage, message: str) -> str:
    what, _, place = message.partition(" - at ")
    field = place.strip("`").removeprefix("$.")
    for python, word in JSON_WORDS.items():
        what = re.sub(rf"\b{python}\b", word, what)
    return f"`{field}` of `{stage}` is wrong: {what[:1].lower()}{what[1:]}"
