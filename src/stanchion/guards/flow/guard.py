"""The flow guard: a call is stopped where a text that somebody else wrote explains it, and the user
does not."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Any, ClassVar, Final

import msgspec

from stanchion.guards.flow.answer import Answer
from stanchion.guards.flow.settings import SETTINGS, How, Setting, Thresholds
from stanchion.guards.flow.tools import Tool, rarities
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.events import Egress, Event, ModelReply, ToolCall
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.guard import Kind
from stanchion.kernel.lookups import Lookup, Recall
from stanchion.kernel.option import (
    ACTIONS,
    ActionName,
    Off,
    On,
    PlainActionName,
    Severer,
    list_actions,
)
from stanchion.kernel.stages import Stage
from stanchion.readings import Reading
from stanchion.readings.shortened import shorten

# Wording: what the agent reads, which shows nothing of what others wrote, and what a person is
# shown.

LONGEST: Final = 80
LEFT_OUT: Final = "[left out: a text that was read wanted this said]"
NO_LINK: Final = "[link left out: it would carry away what was read]"

CONFIRM: Final = {
    "dictated": "that the user wants this value, and not only the text that it was read in",
    "stands_for": "that the user means this one, and not only the text that names it",
    "action": "that the user wants this done at all",
    "unknown_origin": "that the value is right: nobody wrote it",
    "url_carries": "that this may be told to whoever keeps the address",
    "answer": "that the user is to be told this",
    "answer_link": "that this may be told to whoever keeps the address",
}


def finding(event: Event, said: Answer, action: Action) -> Finding:
    """What is found, in words for the agent: the parameter and where it comes from, never what
    stands there."""
    rule = said["rule"]
    name, where = _plain(said.get("parameter", "a value")), _where(said)
    match rule:
        case "action":
            args: tuple[str, ...] = (where, _plain(getattr(event, "tool", "")))
        case "answer":
            args = (where,)
        case "answer_link":
            args = ()
        case _:
            args = (name, where)
    left = NO_LINK if rule == "answer_link" else LEFT_OUT
    patches = tuple([Patch((), left, start, end, "flow") for start, end in said.get("spans", ())])
    return Finding(action, f"flow.{rule}", args, patches=patches)


FOR_THE_RUN: Final = "this tool to use these values for the rest of the run"
ONCE: Final = (
    "this call; the same one again only as far as your answer says: in this run, in this task, for "
    "a time"
)
OF_ANSWERS: Final = frozenset({"answer", "answer_link"})
"""Rules for what a model says last. A yes to a call of a tool is remembered; one to an answer or a
request is not."""


def told(said: Answer, remember: bool) -> dict[str, str]:
    """What a person is shown: the value, where it was read, what stands there, what was asked for,
    what to confirm, and what a yes allows. `remember` says whether a yes is remembered for the
    run."""
    shown: dict[str, str] = {}
    if "value" in said:
        shown[f"value of {said['parameter']}" if "parameter" in said else "value"] = str(
            said["value"]
        )
    if "tool" in said:
        field = f", field {said['field']}" if "field" in said else ""
        shown["read from"] = f"result {said['result']} of {said['tool']}{field}"
    if "untrusted" in said:
        shown["what stands there (untrusted)"] = str(said["untrusted"])
    if "wants" in said:
        shown["about it"] = str(said["wants"])
    asked = said.get("asked")
    shown["the user asked for"] = (
        "; ".join([str(each) for each in asked]) if asked else "nothing yet"
    )
    if said.get("full"):
        shown["memory"] = "not all that was read is remembered: origins may be missing"
    shown["confirm"] = CONFIRM.get(said["rule"], "that this is right")
    is_call = said["rule"] not in OF_ANSWERS and not said.get("request")
    shown["a yes allows"] = FOR_THE_RUN if remember and is_call else ONCE
    return shown


def _where(said: Answer) -> str:
    return (
        f"result {said['result']} of `{_plain(said['tool'])}`"
        if "tool" in said
        else "what was read"
    )


def _plain(text: Any) -> str:
    return shorten(str(text), LONGEST)


KEPT: Final = 4_096
"""How many tools are remembered as they are understood."""
TENANTS: Final = 256
"""Of how many tenants it is remembered how much words tell among their tools."""

Defined = Callable[[str, str], tuple[Any, Any, str]]
"""Gives by tenant and name what a tool's definition says of it, the schema of its arguments, and a
digest of both; that is empty where there is none."""


class Flow(msgspec.Struct, frozen=True, dict=True):
    """Asks a person about calls that are explained by texts which others wrote, and not by the
    user.

    What the user says enters by `run.prompt`, what is read by results. A person's yes is remembered
    for the run, unless `remember` is off.
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

    action: PlainActionName = "escalate"
    """The action for a call or a request that a text from others explains, and the user does not.
    """
    answer: Severer[ActionName] = "redact"
    """The action for a final answer with sentences that a text from others told the agent to say,
    or with addresses that would carry away what was read."""
    remember: Off[bool] = True
    """If `true`, a person's yes is valid for the rest of the run; otherwise once."""
    setting: Annotated[Setting, ("lenient", "balanced", "firm", "strict")] = "firm"
    """How firmly texts from others are held against a call: from `lenient`, which asks least, to
    `strict`, which asks most."""
    share: On[bool] = True
    """If `true`, what a run has read and been told is kept in the store, where that outlives the
    process, for the other processes of the run; otherwise each process knows only its own part."""

    @cached_property
    def how(self) -> How:
        """What is in force."""
        return How(SETTINGS[self.setting])

    def with_thresholds(self, thresholds: Thresholds) -> Flow:
        """The same guard with other thresholds."""
        return self._as(self.how._replace(thresholds=thresholds))

    def without(self, rule: str) -> Flow:
        """The same guard without a rule."""
        return self._as(self.how._replace(rules=self.how.rules - {rule}))

    def _as(self, how: How) -> Flow:
        made = msgspec.structs.replace(self)
        made.__dict__["how"] = how
        return made

    @cached_property
    def _defined(self) -> Defined:
        return lambda _tenant, _tool: ("", None, "")

    @cached_property
    def _names(self) -> Callable[[str], list[str]]:
        return lambda _tenant: []

    @cached_property
    def _tools(self) -> dict[tuple[str, str, tuple[str, ...]], Tool]:
        return {}

    @cached_property
    def _read(self) -> dict[tuple[str, tuple[str, ...], str], Tool]:
        """The tools by what their definitions say. Those that know other tools share it: each is
        read once."""
        return {}

    @cached_property
    def _rarities(self) -> dict[str, dict[str, float]]:
        return {}

    def knowing(self, defined: Defined, names: Callable[[str], list[str]]) -> Flow:
        """The same guard that knows how tools are defined, and which there are."""
        made = self._as(self.how)
        made.__dict__["_defined"] = defined
        made.__dict__["_names"] = names
        made.__dict__["_read"] = self._read
        return made

    def tool(self, tenant: str, name: str, traits: tuple[str, ...] = ()) -> Tool:
        """A tool as it is understood among those of a tenant."""
        asked = (tenant, name, traits)
        known = self._tools.get(asked)
        if known is None:
            if len(self._tools) >= KEPT:
                self._tools.clear()
            known = self._tools[asked] = self._understood(tenant, name, traits).weighed(
                self._of(tenant)
            )
        return known

    def _understood(self, tenant: str, name: str, traits: tuple[str, ...]) -> Tool:
        about, schema, digest = self._defined(tenant, name)
        if not digest:
            return Tool(name, about, schema, traits)
        said = (name, traits, digest)
        known = self._read.get(said)
        if known is None:
            if len(self._read) >= KEPT:
                self._read.clear()
            known = self._read[said] = Tool(name, about, schema, traits)
        return known

    def _of(self, tenant: str) -> dict[str, float]:
        """How much a word tells among the tools of which a tenant has a definition."""
        known = self._rarities.get(tenant)
        if known is None:
            if len(self._rarities) >= TENANTS:
                self._rarities.clear()
            tools = [self._understood(tenant, name, ()) for name in self._names(tenant)]
            known = self._rarities[tenant] = rarities(tools)
        return known

    def understand(self, tenant: str) -> None:
        """Understand the tools of which a tenant has a definition."""
        for name in self._names(tenant):
            self.tool(tenant, name)

    def ask(self, reading: Reading[ToolCall | ModelReply | Egress], /) -> Lookup | None:
        """Ask the run's memory; only what may be a run's last words is asked about of what a model
        says."""
        event = reading.event
        if isinstance(event, ModelReply) and not event.final:
            return None
        return Lookup("", Recall(event, self), 0)

    def judge(self, reading: Reading[Event], value: Any, /) -> Finding | None:
        """Say what the memory found; nothing where it has nothing against the event."""
        event = reading.event
        if value is None:
            return None
        action = self.answer if isinstance(event, ModelReply) else self.action
        return finding(event, value, ACTIONS[action])

    def shown(self, value: Any) -> dict[str, str]:
        """What a person has to know to decide about an event: the value, where it was read, what is
        to confirm."""
        return told(value, self.remember) if isinstance(value, dict) else {}

    actions = list_actions

    def actions_at(self, stage: Stage) -> tuple[Action, ...]:
        """What this guard can answer at a stage."""
        return (ACTIONS[self.answer if stage is Stage.MODEL_REPLY else self.action],)
