"""Provenance: what a run learns of where values come from, and what it answers guards that ask."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from stanchion.guards.flow.answer import blamed
from stanchion.guards.flow.egress import leaving, links
from stanchion.guards.flow.last_words import said
from stanchion.guards.flow.memory import Memory
from stanchion.guards.flow.rules import check, explains
from stanchion.guards.flow.tools import Tool
from stanchion.kernel.contract.powers import Powers
from stanchion.kernel.decision import Decision
from stanchion.kernel.declared import result_of
from stanchion.kernel.engine import TRIES
from stanchion.kernel.events import Egress, Event, Failure, ModelReply, Moment, RunInfo, ToolCall
from stanchion.kernel.lookups import Recall
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import When
from stanchion.locks import Lock
from stanchion.runtime.answers.note import LEARNT, SAID, TOLD, WENT, Note, note_of
from stanchion.runtime.answers.notebook import Entry, Notebook, Terms
from stanchion.stores.protocol import ends_here

FEW: Final = 2
MANY: Final = TRIES - 2
"""In how many tries a note is written: of that many in all, two are left to read what others have
written."""


class Unreadable(Exception):
    """What other processes of the run have noted cannot be read: nobody can say what the run has
    read."""


class Provenance:
    """The memory of a run and of its children, for several threads; with a notebook, also for
    several processes."""

    def __init__(self, notebook: Notebook | None = None) -> None:
        self._memory = Memory(explains)
        self._lock = Lock()
        self._notebook = notebook

    def entry(self, moment: Moment, guard: Powers, child: bool) -> Entry | None:
        """What the decision about an event carries to the store and back, where other processes may
        ask."""
        event, notebook = moment.events[0], self._notebook
        if (
            notebook is None
            or not guard.share
            or event.run.tenant != notebook.tenant
            or not _concerns(event)
        ):
            return None
        approved = moment.has_a_yes and guard.remember
        write = partial(note_of, event, child=child, approved=approved)
        take = partial(self._take, guard, notebook.tenant)
        return Entry(notebook, write, take, _terms(event, approved))

    def learn(self, moment: Moment, decision: Decision, guard: Powers, child: bool) -> None:
        """Learn from an event that was judged: the user's words, what was read, what goes ahead,
        what was approved.

        `child` says that it is a child run's, which is told what to do by an agent.
        """
        event, entry = moment.events[0], moment.carried
        if isinstance(entry, Entry) and entry.done:
            return
        if event.stage not in LEARNT or not (decision.proceeds or isinstance(event, Failure)):
            return
        found = (*decision.findings, *decision.shadow)
        written = note_of(event, found, child, moment.has_a_yes and guard.remember)
        if written is not None:
            self._take(guard, event.run.tenant, written.learnt)
            if entry is not None and self._notebook is not None:
                self._notebook.owe(self._notebook.packed(written.kept))

    def _take(self, guard: Powers, tenant: str, note: Note | None) -> None:
        """Take a note in; nothing is one that is missing."""
        with self._lock:
            memory = self._memory
            memory.how = guard.how
            if note is None:
                memory.full = True
            elif note.kind == SAID:
                memory.say(note.content)
            elif note.kind == WENT:
                tool = guard.tool(tenant, note.tool, note.traits)
                memory.went(tool, note.args)
                if note.approved:
                    memory.approve(tool, note.args)
            elif note.kind == TOLD:
                memory.read(Tool(note.tool, traits=note.traits), {}, note.content)
            else:
                tool = guard.tool(tenant, note.tool, note.traits)
                memory.read(tool, note.args, note.content, result_of(note.traits))

    def answer(self, question: Recall) -> Any:
        """What stands against an event, as plain data; nothing where nothing does."""
        event, guard = question.event, question.guard
        if self._notebook is not None and self._notebook.unreadable:
            raise Unreadable
        with self._lock:
            self._memory.how = guard.how
            match event:
                case ToolCall():
                    tool = guard.tool(event.run.tenant, event.tool, event.traits)
                    found = check(self._memory, tool, event.args)
                    return (
                        blamed(self._memory, found)
                        if found is not None
                        else links(self._memory, tool, event.args)
                    )
                case Egress():
                    return leaving(self._memory, event.url, event.payload)
                case ModelReply():
                    return said(self._memory, event.text)
                case _:
                    return None


def remembering(run: RunInfo, store: Any, shown: Callable[[str], str]) -> Provenance:
    """The memory of a run. Where its store outlives the process, others of the run or of its
    children may have written there, or may read it. Names are kept as they are `shown`."""
    if ends_here(store):
        return Provenance()
    return Provenance(Notebook(run.tenant, run.root, shown))


def _terms(event: Event, approved: bool) -> Terms:
    """What was read is to be known before the agent acts on it, and so is a yes. That a call went
    ahead only spares questions."""
    if event.stage not in LEARNT:
        return Terms(When.LOOK, 0)
    if event.stage is Stage.TOOL_CALL and not approved:
        return Terms(When.PROCEED, FEW)
    return Terms(When.JUDGED if isinstance(event, Failure) else When.PROCEED, MANY)


def _concerns(event: Event) -> bool:
    """Whether an event is learnt from, or asked about."""
    return (
        event.stage in LEARNT
        or event.stage is Stage.EGRESS
        or (isinstance(event, ModelReply) and event.final)
    )
