"""What conditions see of an event: a flat view, each value worked out when it is first asked
for, and what a call is about."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from types import UnionType
from typing import (
    Any,
    Final,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from stanchion.kernel.actions import Risk
from stanchion.kernel.events import OF_STAGE, Event, RunInfo
from stanchion.kernel.stages import Stage
from stanchion.kernel.units import Amounts, Unit
from stanchion.policy.conditions.kinds import (
    BOOL,
    DOUBLE,
    DYN,
    INT,
    NAMES,
    STRING,
    Type,
    list_of,
    map_of,
)
from stanchion.policy.conditions.paths import normal
from stanchion.policy.conditions.vocabulary import Vocabulary
from stanchion.readings.act import ToolAct, act_of
from stanchion.readings.act_words import COMMANDS, LOOSE, PATHS, RESULTS, SOURCES, URLS
from stanchion.readings.names import plain

CONTENTS: Final = frozenset(
    {"content", "contents", "newstring", "newtext", "newcontent", "patch", "edits"}
)
"""Arguments of a call that writes, where its name does not say so."""


class CallSubject(NamedTuple):
    """What a tool call is about."""

    type: str
    command: str | None
    targets: list[str]


_PATH, _LOOSE, _COMMAND, _URL, _CONTENT = 1, 2, 3, 4, 5
_ROLES: Final = {
    **dict.fromkeys(CONTENTS, _CONTENT),
    **dict.fromkeys(URLS, _URL),
    **dict.fromkeys(COMMANDS, _COMMAND),
    **dict.fromkeys(LOOSE, _LOOSE),
    **dict.fromkeys(PATHS | SOURCES | RESULTS, _PATH),
}


@lru_cache(4096)
def _role(key: str) -> int:
    """What the argument of that name is; 0 where the name says nothing."""
    return _ROLES.get(plain(key), 0)


def call_of(tool: str, args: Any) -> CallSubject:
    """What a call is about: its kind, its command line, and the files and folders it names, in
    order, each once."""
    act = act_of(tool)
    if type(args) is not dict:
        args = {}
    named = act.of_files or act.verb != ""
    found: list[str] = []
    roles: list[int] = []
    command: str | None = None
    for key, value in args.items():
        role = _role(key) if type(key) is str else 0
        if role:
            roles.append(role)
            if role == _COMMAND and command is None:
                command = _line(value)
            elif role == _PATH or (role == _LOOSE and named):
                _collect(value, found)
        if type(value) is dict:
            _one_deeper(value, named, found)
        elif type(value) is list:
            for each in value:
                if type(each) is dict:
                    _one_deeper(each, named, found)
    targets = [_path(text) for text in found]
    if len(targets) > 1:
        targets = list(dict.fromkeys(targets))
    return CallSubject(_type(act, roles, bool(targets), command is not None), command, targets)


def _one_deeper(args: dict[Any, Any], named: bool, found: list[str]) -> None:
    for key, value in args.items():
        role = _role(key) if type(key) is str else 0
        if role == _PATH or (role == _LOOSE and named):
            _collect(value, found)


def _collect(value: Any, found: list[str]) -> None:
    """A path, or the paths of a list."""
    if type(value) is str:
        if value:
            found.append(value)
    elif type(value) is list:
        found += [each for each in value if type(each) is str and each]


def _line(value: Any) -> str | None:
    """A command line; a list of words is joined by spaces."""
    if type(value) is str:
        return value
    if type(value) is list and value and all(type(word) is str for word in value):
        return " ".join(value)
    return None


def _path(text: str) -> str:
    if "://" in text and text[:7].lower() == "file://":
        from urllib.parse import unquote

        text = unquote(text[7:])
    return normal(text)


def _type(act: ToolAct, roles: list[int], targets: bool, command: bool) -> str:
    if act.runs or command:
        return "command"
    if act.verb and (targets or act.of_files) and not act.web:
        return f"file_{act.verb}"
    if act.web or _URL in roles:
        return "http"
    return "file_write" if targets and _CONTENT in roles else "tool"


TYPES: Final = (
    "file_read",
    "file_write",
    "file_delete",
    "command",
    "http",
    "tool",
    "model",
    "prompt",
    "handoff",
    "charge",
)
"""Every `action.type`."""


_RISKS: Final = {risk: risk.name.lower() for risk in Risk}
_STAGES: Final = {stage: stage.value for stage in Stage}
_OF_OTHER_STAGES: Final = {
    Stage.EGRESS: "http",
    Stage.PROMPT: "prompt",
    Stage.MODEL_CALL: "model",
    Stage.MODEL_CHUNK: "model",
    Stage.MODEL_REPLY: "model",
    Stage.HANDOFF: "handoff",
    Stage.HANDOFF_DONE: "handoff",
    Stage.CHARGE: "charge",
}


class EventView:
    """An event as conditions see it. `agent.role` is the attribute `agent_role`, and so on for
    every name: each is worked out at its first use and is a plain attribute from then on."""

    def __init__(self, event: Event, amounts: Amounts | None = None) -> None:
        self.event: Final = event
        self.run: Final[RunInfo] = event.run
        self.amounts: Final = amounts

    def __getattr__(self, name: str) -> Any:
        """What a name says of the event; null where events of its stage have no such field."""
        work = _WORK.get(name)
        if work is not None:
            value = work(self)
        elif name in _FIELDS:
            value = getattr(self.event, name[6:], None)
        else:
            raise AttributeError(name)
        self.__dict__[name] = value
        return value


def _call(view: EventView) -> CallSubject:
    event = view.event
    call = call_of(event.tool, getattr(event, "args", None))
    other = _OF_OTHER_STAGES.get(event.stage)
    return call if other is None else call._replace(type=other)


def _first_target(view: EventView) -> str | None:
    found: list[str] = view.call.targets
    return found[0] if found else None


def _tokens(view: EventView) -> int | None:
    """How many tokens the action is expected to use."""
    if view.amounts is not None:
        return view.amounts[Unit.TOKENS]
    tokens: int | None = getattr(view.event, "tokens", None)
    return tokens


def _seconds(view: EventView) -> float | None:
    """How many seconds the action is expected to take."""
    return None if view.amounts is None else view.amounts[Unit.DURATION_MS] / 1_000


def _stage(view: EventView) -> str:
    return _STAGES[view.event.stage]


def _risk(view: EventView) -> str:
    return _RISKS[view.event.risk]


_WORK: Final[dict[str, Callable[[EventView], Any]]] = {
    "agent_id": attrgetter("run.agent"),
    "agent_role": attrgetter("run.role"),
    "agent_capabilities": attrgetter("run.capabilities"),
    "agent_allowed_tools": attrgetter("run.allowed_tools"),
    "task_id": attrgetter("run.task"),
    "task_additional_tools": attrgetter("run.additional_tools"),
    "action_tool_name": attrgetter("event.tool"),
    "call": _call,
    "action_type": attrgetter("call.type"),
    "action_command": attrgetter("call.command"),
    "action_target_files": attrgetter("call.targets"),
    "action_target_file": _first_target,
    "action_estimated_tokens": _tokens,
    "action_estimated_duration": _seconds,
    "event_stage": _stage,
    "event_risk": _risk,
}
"""How what is no field of the event is worked out; the call is what most of it is about."""


def _declared(hint: Any) -> Type:
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _declared(next(part for part in args if part is not type(None)))
    if origin is dict:
        return map_of(_declared(args[1]))
    if origin in (list, tuple):
        return list_of(_declared(args[0]))
    return {str: STRING, int: INT, bool: BOOL, float: DOUBLE}.get(hint, DYN)


def _event_words() -> dict[str, Type]:
    """Every field of every kind of event; one that not all of them have may be null."""
    kinds = OF_STAGE.values()
    words: dict[str, Type] = {}
    for kind in kinds:
        hints = get_type_hints(kind)
        for field in kind.__struct_fields__:
            known = _declared(hints[field])
            everywhere = all(field in each.__struct_fields__ for each in kinds)
            known = known if everywhere else known.or_null()
            if field not in ("run", "at", "stage", "risk", "before", "cleared"):
                word = f"event.{field}"
                words[word] = known if words.get(word, known) == known else DYN
    return words


WORDS: Final[dict[str, Type]] = {
    "agent.id": STRING,
    "agent.role": STRING,
    "agent.capabilities": list_of(STRING),
    "agent.allowed_tools": NAMES.or_null(),
    "action.type": Type("string", choices=TYPES),
    "action.tool_name": STRING,
    "action.command": STRING.or_null(),
    "action.target_file": STRING.or_null(),
    "action.target_files": list_of(STRING),
    "action.estimated_tokens": INT.or_null(),
    "action.estimated_duration": DOUBLE.or_null(),
    "task.id": STRING,
    "task.additional_tools": NAMES,
    "event.stage": Type("string", choices=tuple(_STAGES.values())),
    "event.risk": Type("string", choices=tuple(_RISKS.values())),
    **_event_words(),
}
"""Every name that a condition may read."""

_FIELDS: Final = frozenset(word.replace(".", "_") for word in WORDS if word.startswith("event."))

ARGUMENTS: Final = "event.args"
"""The name of a call's arguments."""

STANDARD: Final = Vocabulary(WORDS, ARGUMENTS)
"""What a policy's conditions are compiled with."""
