"""Provenance: what a run learns of where values come from, and what it answers guards that ask."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from stanchion.guards.flow.answers import answered, left_out
from stanchion.guards.flow.commands import CommandAddress, addresses
from stanchion.guards.flow.memory import ProvenanceMemory, ProvenanceNote, note_of_yes
from stanchion.guards.flow.rules import FlowQuestion, check, links_in, request
from stanchion.guards.flow.tools import FlowTool
from stanchion.kernel.contract.powers import Powers
from stanchion.kernel.decision import Decision
from stanchion.kernel.declared import ToolKnown
from stanchion.kernel.engine import TRIES
from stanchion.kernel.events import Egress, Event, Failure, ModelReply, Moment, RunInfo, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.lookups import Recall
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import When
from stanchion.locks import Lock
from stanchion.readings.mandate import granted_by
from stanchion.runtime.answers.notebook import LEARNT, Notebook, NotebookEntry, NoteTerms, note_of
from stanchion.stores.protocol import ends_here

FEW: Final = 2
MANY: Final = TRIES - 2
"""In how many tries a note is written: of that many in all, two are left to read what others have
written."""

Tells = Callable[[str], ToolKnown]
"""Gives what is known of a tool."""


class UnreadableNote(Exception):
    """What other processes of the run have noted cannot be read: nobody can say what the run has
    read."""


class Provenance:
    """The memory of a run and of its children, for several threads; with a notebook, also for
    several processes."""

    def __init__(self, notebook: Notebook | None = None) -> None:
        self._memory = ProvenanceMemory()
        self._lock = Lock()
        self._notebook = notebook

    def entry(self, moment: Moment, guard: Powers, tells: Tells) -> NotebookEntry | None:
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
        approved = moment.has_a_yes
        write = partial(self._note, moment, guard, tells)
        return NotebookEntry(notebook, write, self._take, _terms(event, approved))

    def learn(self, moment: Moment, decision: Decision, guard: Powers, tells: Tells) -> None:
        """Learn from an event that was judged: the user's words, what was read, what goes ahead,
        what was approved."""
        event, entry = moment.events[0], moment.carried
        if isinstance(entry, NotebookEntry) and entry.done:
            return
        if event.stage not in LEARNT or not (decision.proceeds or isinstance(event, Failure)):
            return
        found = (*decision.findings, *decision.shadow)
        note = self._note(moment, guard, tells, found)
        if note is not None:
            self._take(note)
            if entry is not None and self._notebook is not None:
                self._notebook.owe(self._notebook.packed(note))

    def _note(
        self, moment: Moment, guard: Powers, tells: Tells, findings: tuple[Finding, ...]
    ) -> ProvenanceNote | None:
        event, has_a_yes = moment.events[0], moment.has_a_yes
        if event.stage not in LEARNT:
            return None
        tool: FlowTool = guard.tool(event.run.tenant, event.tool, tells(event.tool))
        if has_a_yes and isinstance(event, ToolCall):
            return note_of_yes(tool, self._asked_about(moment, guard, tool))
        child = bool(event.run.parents)
        return note_of(event, findings, tool, child, has_a_yes)

    def _asked_about(self, moment: Moment, guard: Powers, tool: FlowTool) -> tuple[str, ...]:
        """The values that a call would be asked about, to which a person has said yes."""
        event: Any = moment.events[0]
        told = addresses(moment.readings[0]) if tool.runs and moment.readings else ()
        with self._lock:
            asked = self._check(event, guard, tool, told)
        return () if asked is None else tuple([one.value for one in asked.doubts])

    def _check(
        self, event: ToolCall, guard: Powers, tool: FlowTool, told: tuple[CommandAddress, ...]
    ) -> FlowQuestion | None:
        tool, follow = tool.called(event.args), guard.links == "follow"
        granted = granted_by(event.run, event.tool, event.args, tool.effect, guard.me)
        return check(self._memory, tool, event.args, granted, follow, told)

    def _take(self, note: ProvenanceNote | None) -> None:
        """Take a note in; nothing is one that is missing."""
        with self._lock:
            self._memory.take(note)

    def answer(self, question: Recall, tells: Tells) -> Any:
        """What is to be asked about an event, as plain data; nothing where nothing is."""
        event, guard = question.event, question.guard
        if self._notebook is not None and self._notebook.unreadable:
            raise UnreadableNote
        follow = guard.links == "follow"
        with self._lock:
            self._memory.belongs((*guard.me, *event.run.label_values))
            match event:
                case ToolCall():
                    tool = guard.tool(event.run.tenant, event.tool, tells(event.tool))
                    asked = self._check(event, guard, tool, question.addresses)
                    return (
                        None
                        if asked is None
                        else answered(self._memory, asked, tool.called(event.args).effect)
                    )
                case Egress():
                    asked = request(self._memory, event.url, event.method, follow)
                    if asked is None:
                        return None
                    return {**answered(self._memory, asked, "outward"), "request": True}
                case ModelReply():
                    return left_out(self._memory, links_in(self._memory, event.text))
                case _:
                    return None


def remembering(run: RunInfo, store: Any, shown: Callable[[str], str]) -> Provenance:
    """The memory of a run. Where its store outlives the process, others of the run or of its
    children may have written there, or may read it. Names are kept as they are `shown`."""
    if ends_here(store):
        return Provenance()
    return Provenance(Notebook(run.tenant, run.root, shown))


def _terms(event: Event, approved: bool) -> NoteTerms:
    """What was read is to be known before the agent acts on it, and so is a yes. That a call went
    ahead only spares questions."""
    if event.stage not in LEARNT:
        return NoteTerms(When.LOOK, 0)
    if event.stage is Stage.TOOL_CALL and not approved:
        return NoteTerms(When.PROCEED, FEW)
    return NoteTerms(When.JUDGED if isinstance(event, Failure) else When.PROCEED, MANY)


def _concerns(event: Event) -> bool:
    """Whether an event is learnt from, or asked about."""
    return (
        event.stage in LEARNT
        or event.stage is Stage.EGRESS
        or (isinstance(event, ModelReply) and event.final)
    )
