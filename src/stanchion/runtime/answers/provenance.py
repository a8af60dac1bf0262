"""Provenance: what a run learns of where values come from, and what it answers guards that ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from stanchion.guards.flow.answer import blamed
from stanchion.guards.flow.egress import leaving, links
from stanchion.guards.flow.last_words import said
from stanchion.guards.flow.memory import Memory
from stanchion.guards.flow.rules import check, explains
from stanchion.guards.flow.tools import Tool
from stanchion.kernel.content import content_of
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Egress, Failure, HandoffDone, ModelReply, Moment, Prompt, ToolCall, ToolResult
from stanchion.kernel.lookups import Recall
from stanchion.kernel.patches import PatchError
from stanchion.kernel.sizes import unread
from stanchion.kernel.stages import Stage
from stanchion.locks import Lock

if TYPE_CHECKING:
    from stanchion.kernel.contract.asking import Recalls

LEARNT: Final = frozenset({Stage.PROMPT, Stage.TOOL_CALL, Stage.TOOL_RESULT, Stage.ERROR, Stage.HANDOFF_DONE})
TRUST: Final = ("user", "trusted", "web")
READ: Final = ("read_only",)
"""What other agents say is read, and never the status of something that was done."""


class Provenance:
    """The memory of a run and of its children, for several threads."""

    def __init__(self) -> None:
        self._memory = Memory(explains)
        self._lock = Lock()

    def learn(self, moment: Moment, decision: Decision, guard: Recalls, child: bool) -> None:
        """Learn from an event that was judged: the user's words, what was read, what goes ahead, what was approved.

        `child` says that it is a child run's, which is told what to do by an agent.
        """
        event: Any = moment.events[0]
        if event.stage not in LEARNT or not (decision.proceeds or isinstance(event, Failure)):
            return
        try:
            content: Any = "" if unread(decision.findings) else decision.patched(content_of(event))
        except PatchError:
            return
        with self._lock:
            self._memory.how = guard.how
            match event:
                case Prompt():
                    self._hear(event, content, child)
                case ToolCall():
                    tool = guard.tool(event.run.tenant, event.tool, event.traits)
                    self._memory.went(tool, content)
                    if moment.granted and guard.remember:
                        self._memory.approve(tool, content)
                case ToolResult() | Failure():
                    tool = guard.tool(event.run.tenant, event.tool, event.traits)
                    self._memory.read(tool, event.args, content, _trust(event.traits))
                case HandoffDone():
                    self._memory.read(Tool("handoff", traits=READ), {}, content)

    def _hear(self, event: Prompt, text: str, child: bool) -> None:
        if event.trusted and not child:
            self._memory.say(text)
        elif not event.trusted:
            self._memory.read(Tool(event.source if event.source else "prompt", traits=READ), {}, text)

    def answer(self, question: Recall) -> Any:
        """What stands against an event, as plain data; nothing where nothing does."""
        event, guard = question.event, question.guard
        with self._lock:
            self._memory.how = guard.how
            match event:
                case ToolCall():
                    tool = guard.tool(event.run.tenant, event.tool, event.traits)
                    found = check(self._memory, tool, event.args)
                    return blamed(self._memory, found) if found is not None else links(self._memory, tool, event.args)
                case Egress():
                    return leaving(self._memory, event.url, event.payload)
                case ModelReply():
                    return said(self._memory, event.text)
                case _:
                    return None


def _trust(traits: tuple[str, ...]) -> str:
    return next((trait for trait in traits if trait in TRUST), "untrusted")
