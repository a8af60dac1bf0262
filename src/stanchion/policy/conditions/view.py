"""What conditions see of an event: a flat view, each value worked out when it is first asked
for."""

from __future__ import annotations

from collections.abc import Callable
from types import UnionType
from typing import Any, Final, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

from stanchion.kernel.actions import Risk
from stanchion.kernel.events import OF_STAGE, Event, RunInfo
from stanchion.kernel.names import Names
from stanchion.kernel.stages import Stage
from stanchion.kernel.units import Amounts, Unit
from stanchion.policy.conditions.actions import Call, call_of
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
from stanchion.policy.conditions.vocabulary import Vocabulary

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


T = TypeVar("T")

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


class _Once(Generic[T]):
    """An attribute that is worked out at its first use and is a plain one from then on."""

    def __init__(self, work: Callable[[Any], T]) -> None:
        self.work = work
        self.name = work.__name__
        self.__doc__ = work.__doc__

    def __get__(self, view: Any, _owner: type[Any]) -> T:
        value = self.work(view)
        view.__dict__[self.name] = value
        return value


class View:
    """An event as conditions see it. `agent.role` is the attribute `agent_role`, and so on for
    every name."""

    def __init__(self, event: Event, amounts: Amounts | None = None) -> None:
        self.event: Final = event
        self.run: Final[RunInfo] = event.run
        self.amounts: Final = amounts

    @_Once
    def agent_id(self) -> str:
        """The agent's id."""
        return self.run.agent

    @_Once
    def agent_role(self) -> str:
        """The agent's role; empty where it has none."""
        return self.run.role

    @_Once
    def agent_capabilities(self) -> tuple[str, ...]:
        """What the policy says the agent can do."""
        return self.run.capabilities

    @_Once
    def agent_allowed_tools(self) -> Names | None:
        """The agent's tools, globs included; null where the policy lists none."""
        return self.run.allowed_tools

    @_Once
    def task_id(self) -> str:
        """The task's name."""
        return self.run.task

    @_Once
    def task_additional_tools(self) -> Names:
        """Tools that the task adds to those of its agents."""
        return self.run.additional_tools

    @_Once
    def action_tool_name(self) -> str:
        """The tool; empty where the event is of none."""
        return self.event.tool

    @_Once
    def call(self) -> Call:
        """What the tool call is about."""
        event = self.event
        call = call_of(event.tool, getattr(event, "args", None))
        other = _OF_OTHER_STAGES.get(event.stage)
        return call if other is None else call._replace(type=other)

    @_Once
    def action_type(self) -> str:
        """What kind of action it is."""
        return self.call.type

    @_Once
    def action_command(self) -> str | None:
        """The command line that the call carries."""
        return self.call.command

    @_Once
    def action_target_files(self) -> list[str]:
        """All files and folders that the call names, in order, made normal."""
        return self.call.targets

    @_Once
    def action_target_file(self) -> str | None:
        """The first of them."""
        found = self.call.targets
        return found[0] if found else None

    @_Once
    def action_estimated_tokens(self) -> int | None:
        """How many tokens it is expected to use."""
        if self.amounts is not None:
            return self.amounts[Unit.TOKENS]
        tokens: int | None = getattr(self.event, "tokens", None)
        return tokens

    @_Once
    def action_estimated_duration(self) -> float | None:
        """How many seconds it is expected to take."""
        if self.amounts is None:
            return None
        return self.amounts[Unit.DURATION_MS] / 1_000

    @_Once
    def event_stage(self) -> str:
        """Where the event is caught."""
        return _STAGES[self.event.stage]

    @_Once
    def event_risk(self) -> str:
        """How much harm the tool can do."""
        return _RISKS[self.event.risk]

    def __getattr__(self, name: str) -> Any:
        """A field of the event; null where events of its stage have no such field."""
        if name in _FIELDS:
            value = getattr(self.event, name[6:], None)
            self.__dict__[name] = value
            return value
        raise AttributeError(name)


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
