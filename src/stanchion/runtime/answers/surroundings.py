"""Surroundings: what a run keeps of its way, for the code behind guards that asks for the context
of an event."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

from stanchion.kernel.actions import RISK_NAMES, Action
from stanchion.kernel.chain import Plans
from stanchion.kernel.content import content_of
from stanchion.kernel.context import (
    HISTORY,
    MOST,
    MOST_TOOLS,
    Context,
    Said,
    Scope,
    Source,
    ToolFacts,
    Violation,
    clipped,
)
from stanchion.kernel.decision import Decision
from stanchion.kernel.declared import CONTENT, result_of
from stanchion.kernel.events import (
    Event,
    Failure,
    HandoffDone,
    ModelCall,
    ModelReply,
    Prompt,
    ToolResult,
)
from stanchion.kernel.names import is_glob
from stanchion.kernel.patches import PatchError
from stanchion.locks import Lock
from stanchion.policy.compiled import best
from stanchion.readings.requests import asks_for_instructions, asks_for_powers

TRUSTED: Final = frozenset({"user", "trusted"})
ROLES: Final = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant"}
"""Whose a message is, by what it says of that."""


class Surroundings:
    """What one process knows of a run's way: the last words of the user and of the agent, what was
    read and from where, and what guards have held against it. For several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._user = ""
        self._assistant = ""
        self._said: deque[Said] = deque(maxlen=HISTORY)
        self._sources: dict[Source, None] = {}
        self._violations: deque[Violation] = deque(maxlen=MOST)
        self._known: tuple[str, Context] | None = None

    def learn(self, event: Event, decision: Decision) -> None:
        """Take in an event that was judged, as it was delivered, and what was held against it. What
        does not go ahead was not said."""
        with self._lock:
            for finding in decision.findings:
                if finding.action >= Action.WARN:
                    self._violations.append(
                        Violation(finding.guard, finding.code, finding.action.name)
                    )
            if decision.proceeds:
                self._heard(event, _delivered(event, decision))

    def context(self, plans: Plans, event: Any) -> Context:
        """The context of an event, made once, whoever asks; of what is no event, that of the run so
        far."""
        name = str(getattr(event, "id", ""))
        with self._lock:
            known = self._known
            if known is None or not name or known[0] != name:
                known = self._known = (name, self._made(plans, event))
        return known[1]

    def _heard(self, event: Event, content: Any) -> None:
        match event:
            case Prompt(trusted=True):
                self._say("user", content)
            case Prompt():
                self._read(event.source if event.source else "prompt", CONTENT, content)
            case ModelCall():
                self._conversed(event.messages if content is None else content["messages"])
            case ModelReply():
                self._say("assistant", content)
            case ToolResult() | Failure():
                self._read(event.tool, result_of(event.traits), content)
            case HandoffDone():
                self._read(event.to, CONTENT, content)
            case _:
                pass

    def _say(self, role: str, content: Any) -> None:
        text = clipped(content)
        if role == "user":
            self._user = text
        else:
            self._assistant = text
        if Said(role, text) != (self._said[-1] if self._said else None):
            self._said.append(Said(role, text))

    def _read(self, name: str, result: str, content: Any) -> None:
        self._said.append(Said("read", clipped(content)))
        self._sources[Source(name, result)] = self._sources.pop(Source(name, result), None)
        while len(self._sources) > MOST:
            del self._sources[next(iter(self._sources))]

    def _conversed(self, messages: Iterable[Any]) -> None:
        """Take in a request to a model: it has the conversation, whoever told the run of it or
        not."""
        said = [one for message in messages if (one := _message(message)) is not None][-HISTORY:]
        for one in said:
            if one not in self._said:
                self._say(one.role, one.text)
        for role in ("user", "assistant"):
            last = next((one.text for one in reversed(said) if one.role == role), None)
            if last is not None and role == "user":
                self._user = last
            elif last is not None:
                self._assistant = last

    def _made(self, plans: Plans, event: Any) -> Context:
        tools = _tools(plans)
        current = None
        if getattr(event, "tool", ""):
            current = ToolFacts(event.tool, RISK_NAMES[event.risk], event.traits)
        user = self._user
        if isinstance(event, Prompt) and event.trusted:
            user = clipped(event.text)
        elif isinstance(event, ModelCall):
            said = [
                one.text
                for message in event.messages
                if (one := _message(message)) and one.role == "user"
            ]
            user = said[-1] if said else user
        sources = tuple(self._sources)
        brings = _source(event) == "agent" or (
            _source(event) == "tool" and result_of(event.traits) not in TRUSTED
        )
        risks = [
            RISK_NAMES.index(one.risk)
            for one in (*tools, *((current,) if current is not None else ()))
        ]
        return Context(
            user_text=user,
            primary_source=_source(event),
            contains_untrusted=brings or any(source.result not in TRUSTED for source in sources),
            available_tools=tools,
            current_tool=current,
            max_tool_risk=RISK_NAMES[max(risks, default=0)],
            requests_system_info=_wants(user)[0],
            requests_capability_change=_wants(user)[1],
            previous_violations=tuple(self._violations),
            task_scope=_scope(plans),
            last_assistant=self._assistant,
            conversation_history=tuple(self._said),
            sources=sources,
        )


@lru_cache(64)
def _wants(text: str) -> tuple[bool, bool]:
    """Whether the user asks for the agent's instructions, and for powers: their words stay the same
    for many events."""
    return asks_for_instructions(text), asks_for_powers(text)


def _delivered(event: Event, decision: Decision) -> Any:
    """The content of an event as it went ahead; `None` where that cannot be told."""
    try:
        return decision.patched(content_of(event)) if decision.patches else content_of(event)
    except PatchError:
        return None


def _source(event: Any) -> str:
    """Where an event's own content comes from."""
    match event:
        case Prompt():
            return "user" if event.trusted else "agent"
        case ToolResult() | Failure():
            return "tool"
        case HandoffDone():
            return "agent"
        case ModelCall() | None:
            return "user"
        case _:
            return "assistant"


def _message(message: Any) -> Said | None:
    """A message as something that was said; `None` where it says nothing that is kept."""
    if isinstance(message, str):
        return Said("user", clipped(message))
    if not isinstance(message, dict):
        return None
    whose = message.get("role", message.get("type"))
    role = ROLES.get(whose) if isinstance(whose, str) else None
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "\n".join([part for part in parts if isinstance(part, str)])
    return (
        None
        if role is None or not isinstance(content, str) or not content
        else Said(role, clipped(content))
    )


def _tools(plans: Plans) -> tuple[ToolFacts, ...]:
    """The tools that the agent may call: those that the policy or its own list names, and those the
    run has met."""
    policy: Any = plans.policy
    own = plans.run.allowed_tools
    named = [name for name in policy.file.tools if not is_glob(name)]
    listed = () if own is None else sorted(own.exact)
    names = dict.fromkeys([*named, *listed, *list(plans.tools)])
    allowed = [
        name
        for name in names
        if name and (own is None or name in own or name in plans.run.additional_tools)
    ]
    return tuple([_facts(plans, name) for name in allowed[:MOST_TOOLS]])


def _facts(plans: Plans, name: str) -> ToolFacts:
    policy: Any = plans.policy
    known = plans.tools.get(name)
    facts = policy.known(name) if known is None else known
    return ToolFacts(name, RISK_NAMES[facts.risk], facts.traits)


def _scope(plans: Plans) -> Scope:
    policy: Any = plans.policy
    entry = best(policy.file.tasks, plans.run.task) if plans.run.task else None
    return Scope(plans.run.task, None if entry is None else entry.related_tools)
