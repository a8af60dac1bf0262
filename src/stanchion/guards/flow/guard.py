"""The flow guard: a person is asked about a call that acts on what nobody named but a text that was
read."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec

from stanchion.guards.flow.answers import Answer, asked_values, finding, told
from stanchion.guards.flow.codes import CURES
from stanchion.guards.flow.commands import addresses
from stanchion.guards.flow.tools import FlowTool, understood
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.contract.values import AskedValues, PolicySaid
from stanchion.kernel.declared import ToolKnown
from stanchion.kernel.events import Egress, Event, ModelReply, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.lookups import Lookup, Recall
from stanchion.kernel.option import (
    ACTIONS,
    ActionName,
    On,
    PlainActionName,
    Severer,
    list_actions,
)
from stanchion.kernel.stages import Stage
from stanchion.readings import Reading
from stanchion.readings.commands.words import runner_of
from stanchion.readings.origins.facts import IDENTITY

KEPT: Final = 4_096
"""How many tools are remembered as they are understood."""

Defined = Callable[[str, str], tuple[Any, Any, str]]
"""Gives by tenant and name what a tool's definition says of it, the schema of its arguments, and a
digest of both; that is empty where there is none."""


class Flow(msgspec.Struct, frozen=True, dict=True):
    """Asks a person about calls that act on what only a text has that was read, and not the user.

    What the user says enters by `run.prompt`, what is read by results. A person's yes is remembered
    for the run.
    """

    name: ClassVar = "flow"
    kind: ClassVar = Kind.ASKING
    deep: ClassVar = False
    recalls: ClassVar = True
    reads: ClassVar = frozenset(
        {
            ("tools", "result"),
            ("tools", "records"),
            ("tools", "identity_fields"),
            ("policy", "identity_fields"),
            ("policy", "me"),
        }
    )
    stages: ClassVar = frozenset({Stage.TOOL_CALL, Stage.MODEL_REPLY, Stage.EGRESS})
    category: ClassVar = Category.SAFETY
    priority: ClassVar = 30
    cures: ClassVar = CURES

    action: PlainActionName = "escalate"
    """The action for a call or a request whose values the user has not named."""
    answer: Severer[ActionName] = "redact"
    """The action for a final answer with addresses that would carry away what was read."""
    links: Annotated[Literal["follow", "ask"], ("follow", "ask")] = "follow"
    """Whether a link that stands in what was read may be opened as it is: `follow`, or `ask`."""
    share: On[bool] = True
    """If `true`, what a run has read and been told is kept in the store, where that outlives the
    process, for the other processes of the run; otherwise each process knows only its own part."""

    @cached_property
    def _defined(self) -> Defined:
        return lambda _tenant, _tool: ("", None, "")

    @cached_property
    def identity_fields(self) -> tuple[str, ...]:
        """The fields of records that name things."""
        return IDENTITY

    @cached_property
    def me(self) -> tuple[str, ...]:
        """The user's own addresses and accounts, as the policy has them."""
        return ()

    @cached_property
    def _tools(self) -> dict[tuple[Any, ...], FlowTool]:
        return {}

    def knowing(self, defined: Defined) -> Flow:
        """The same guard that knows how tools are defined."""
        return self._with(_defined=defined)

    def scoped(self, said: PolicySaid) -> Flow:
        """The same guard that knows what the policy says names things, and what is the user's."""
        fields = said.identity_fields
        return self._with(identity_fields=fields if fields else IDENTITY, me=said.me)

    def _with(self, **known: Any) -> Flow:
        made = msgspec.structs.replace(self)
        made.__dict__.update({**self.__dict__, **known, "_tools": {}})
        return made

    def tool(self, tenant: str, name: str, known: ToolKnown) -> FlowTool:
        """A tool as it is understood among those of a tenant."""
        about, schema, digest = self._defined(tenant, name)
        asked = (tenant if digest or schema else "", name, known, digest)
        tool = self._tools.get(asked)
        if tool is None:
            if len(self._tools) >= KEPT:
                self._tools.clear()
            tool = understood(name, known, self.identity_fields, schema, about)
            self._tools[asked] = tool
        return tool

    def ask(self, reading: Reading[ToolCall | ModelReply | Egress], /) -> Lookup | None:
        """Ask the run's memory; only what may be a run's last words is asked about of what a model
        says."""
        event = reading.event
        if isinstance(event, ModelReply) and not event.final:
            return None
        runs = isinstance(event, ToolCall) and runner_of(event.tool).runs
        return Lookup("", Recall(event, self, addresses(reading) if runs else ()), 0)

    def judge(self, reading: Reading[Event], value: Any, /) -> Finding | None:
        """Say what the memory found; nothing where it has nothing against the event."""
        event = reading.event
        if value is None:
            return None
        action = self.answer if isinstance(event, ModelReply) else self.action
        return finding(event, value, ACTIONS[action])

    def shown(self, value: Answer) -> dict[str, str]:
        """What a person has to know to decide about an event: the values, where they stand, what is
        to confirm."""
        return told(value) if isinstance(value, dict) else {}

    def asked_about(self, _finding: Finding, value: Answer, /) -> AskedValues | None:
        """The values that a call is asked about, or the tool where it has none; nothing for what is
        no call, and where a yes is for one call alone."""
        calls = "request" not in value and "spans" not in value
        return asked_values(value) if calls else None

    actions = list_actions

    def actions_at(self, stage: Stage) -> tuple[Action, ...]:
        """What this guard can answer at a stage."""
        return (ACTIONS[self.answer if stage is Stage.MODEL_REPLY else self.action],)
