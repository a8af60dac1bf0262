"""Events of PenguiFlow's planner, and the context in which a rule sees one."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

import msgspec

from stanchion.dialects.errors import DialectError
from stanchion.dialects.penguiflow.words import one_text, shown, typed
from stanchion.kernel.context import Context
from stanchion.policy.formats.penguiflow.rules import STAGES
from stanchion.policy.nearest import hint
from stanchion.readings.requests import asks_for_instructions, asks_for_powers

EVENT_TYPES: Final = tuple(STAGES)
"""The four events of a planner."""
EVERY_TOOL: Final = "__default__"
"""The name under which a pack gives the risk of all tools that it does not name."""


PAYLOAD: Final[dict[str, tuple[type, str]]] = {
    "task_scope": (str, "a text"),
    "messages": (list, "a list of messages, each a dict"),
    "model": (str, "the name of a model"),
    "error": (object, "an exception, or its name"),
    "channel": (str, "the name of a channel"),
    "index": (int, "the number of the piece"),
    "final": (bool, "True or False"),
}
"""What a payload says that is acted on: its type, and how that is called."""


class GuardrailEvent(msgspec.Struct, frozen=True):
    """Something that a planner is about to do, or has just got.

    The payload has what is known besides: `task_scope` is what the run is about; `messages` are
    those of a request, where the text is not all of it; `result` is a tool's result as data,
    `error` what it failed with; `channel` and `index` say which piece of a reply this is, and
    `final` that the text is the whole answer.
    """

    event_type: str
    run_id: str
    text_content: str | None = None
    tool_name: str | None = None
    tool_args: dict[str, Any] | None = None
    payload: dict[str, Any] = {}
    timestamp: float = msgspec.field(default_factory=time.time)

    def __post_init__(self) -> None:
        typed(self)
        if self.event_type not in STAGES:
            raise DialectError(
                f"there is no event `{self.event_type}`: {hint(self.event_type, EVENT_TYPES)}"
            )
        if not self.run_id:
            raise DialectError("GuardrailEvent.run_id says nothing: give the id of the run")
        for name in PAYLOAD.keys() & self.payload.keys():
            _checked(name, self.payload[name])


class GuardrailContext(msgspec.Struct, frozen=True):
    """Whose event it is: the run, its tenant, who is at work, and what is known of its tools
    (`available_tools`, `contains_untrusted`)."""

    run_id: str
    tenant_id: str | None = None
    persona_id: str | None = None
    tool_context: dict[str, Any] = {}

    def __post_init__(self) -> None:
        typed(self)
        one_text("GuardrailContext.run_id", self.run_id)
        tools = self.tool_context.get("available_tools", ())
        if (
            isinstance(tools, str)
            or not isinstance(tools, Iterable)
            or not all(isinstance(one, str) for one in tools)
        ):
            raise DialectError(
                f"`available_tools` is {shown(tools)}: give a list of the names of tools"
            )


class ToolRiskTier(StrEnum):
    """How much harm a tool can do."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


TIERS: Final = tuple(ToolRiskTier)
"""All of them, the most harmless first."""


class TrustBoundary(StrEnum):
    """Where a text comes from."""

    SYSTEM = "system"
    USER = "user"
    RAG = "rag"
    WEB = "web"
    TOOL_OUTPUT = "tool_output"


class ToolRiskInfo(msgspec.Struct, frozen=True):
    """A tool and how much harm it can do."""

    name: str
    risk_tier: ToolRiskTier

    def __post_init__(self) -> None:
        typed(self)


class ContextSnapshotV1(msgspec.Struct, frozen=True):
    """What a run has come to, as a rule sees it beside the event: the same for FAST and DEEP
    rules."""

    schema_version: str = "1"
    user_text: str = ""
    primary_source: TrustBoundary = TrustBoundary.USER
    contains_untrusted: bool = False
    available_tools: tuple[ToolRiskInfo, ...] = ()
    current_tool: ToolRiskInfo | None = None
    max_tool_risk: ToolRiskTier = ToolRiskTier.LOW
    requests_system_info: bool = False
    requests_capability_change: bool = False
    previous_violations: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, for classifiers elsewhere."""
        return {str(name): value for name, value in msgspec.to_builtins(self).items()}


class ContextSnapshotBuilder:
    """Builds the snapshot of an event, and knows how much harm tools can do."""

    def __init__(self, tool_risk_registry: Mapping[str, ToolRiskTier | str] | None = None) -> None:
        self.changes = 0
        """How often the risks were given: a gateway puts them in force when they change."""
        self._risks: dict[str, ToolRiskTier] = {}
        if tool_risk_registry is not None:
            self.set_tool_risks(tool_risk_registry)

    def set_tool_risks(self, tool_risk_registry: Mapping[str, ToolRiskTier | str]) -> None:
        """Replace what is known of tools; `__default__` stands for all that are not named."""
        if not isinstance(tool_risk_registry, Mapping):
            raise DialectError(
                f"`tool_risk_registry` is {shown(tool_risk_registry)}: give the risks of tools by "
                f"their names"
            )
        self._risks = {tool: _tier(tool, risk) for tool, risk in tool_risk_registry.items()}
        self.changes += 1

    @property
    def tool_risks(self) -> dict[str, ToolRiskTier]:
        """The risks that were given, by tool."""
        return dict(self._risks)

    def build(self, event: GuardrailEvent, ctx: GuardrailContext) -> ContextSnapshotV1:
        """The snapshot of an event by what it and its context say alone."""
        text = event.text_content if event.text_content is not None else ""
        source = (
            TrustBoundary.TOOL_OUTPUT
            if event.event_type == "tool_call_result"
            else TrustBoundary.USER
        )
        current = None if not event.tool_name else self._info(event.tool_name)
        said = ctx.tool_context
        tools, worst = self._tools(said, (), current)
        return ContextSnapshotV1(
            "1", text, source, bool(said.get("contains_untrusted")), tools, current, worst,
            asks_for_instructions(text), asks_for_powers(text),
        )  # fmt: skip

    def seen(self, known: Context, said: dict[str, Any], strikes: int) -> ContextSnapshotV1:
        """The snapshot of an event by what Stanchion knows of its run. Something refused may be a
        strike as well: the violations are as many as there are of either."""
        tool = known.current_tool
        current = None if tool is None else _risk_of(tool.name, tool.risk)
        tools, worst = self._tools(
            said, [_risk_of(one.name, one.risk) for one in known.available_tools], current
        )
        return ContextSnapshotV1(
            "1", known.user_text,
            TrustBoundary.TOOL_OUTPUT if known.primary_source == "tool" else TrustBoundary.USER,
            bool(known.contains_untrusted or said.get("contains_untrusted")), tools, current, worst,
            known.requests_system_info, known.requests_capability_change,
            max(len(known.previous_violations), strikes),
        )  # fmt: skip

    def _tools(
        self, said: dict[str, Any], known: Iterable[ToolRiskInfo], current: ToolRiskInfo | None
    ) -> tuple[tuple[ToolRiskInfo, ...], ToolRiskTier]:
        """The tools that a planner offers, or those that are known where it does not say; and the
        worst risk of them and the tool at hand."""
        named = {one.name: one for one in known}
        if "available_tools" in said:
            named = {
                name: named[name] if name in named else self._info(name)
                for name in said["available_tools"]
            }
        worst = 0 if current is None else TIERS.index(current.risk_tier)
        for one in named.values():
            worst = max(worst, TIERS.index(one.risk_tier))
        return tuple(named.values()), TIERS[worst]

    def _info(self, tool: str) -> ToolRiskInfo:
        return ToolRiskInfo(
            tool, self._risks.get(tool, self._risks.get(EVERY_TOOL, ToolRiskTier.MEDIUM))
        )


@lru_cache(1_024)
def _risk_of(tool: str, risk: str) -> ToolRiskInfo:
    return ToolRiskInfo(tool, ToolRiskTier(risk))


def _checked(name: str, given: Any) -> None:
    """Raise where a payload has something else than what is acted on."""
    kind, called = PAYLOAD[name]
    fits = isinstance(given, kind) and not (kind is int and isinstance(given, bool))
    if name == "messages":
        fits = fits and all(isinstance(one, dict) for one in given)
    elif name == "error":
        fits = isinstance(given, str | BaseException)
    if not fits:
        raise DialectError(f"`{name}` in the payload is {shown(given)}: give {called}")


def _tier(tool: str, risk: ToolRiskTier | str) -> ToolRiskTier:
    one_text("the name of a tool in `tool_risk_registry`", tool)
    try:
        return ToolRiskTier(risk)
    except ValueError:
        tiers = list(ToolRiskTier)
        raise DialectError(f"the risk of `{tool}` is `{risk}`: {hint(str(risk), tiers)}") from None
