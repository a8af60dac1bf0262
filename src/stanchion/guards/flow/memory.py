"""A run's memory: what its processes learn of values, as notes of marks, and what a person has
approved."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.guards.flow.tools import ASKED, FlowTool, leaves, sinks_of
from stanchion.kernel.declared import READ
from stanchion.readings.origins.facts import Facts, facts_of, said_facts
from stanchion.readings.origins.known import MOST, Known, Origin
from stanchion.readings.origins.marks import Spelled, spell

SHOWN: Final = 240
"""How much of what the user said is kept for a person to see."""
CONSIDERED: Final = 5
"""How many of the user's messages are kept for that."""
MOST_GIVEN: Final = 64
"""How many values of one call are remembered."""

SAID: Final = "said"
WENT: Final = "went"
GOT: Final = "got"
"""What a note tells: the user has said something, a call went ahead, something was read."""


class Note(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What was learnt from one event: marks, and of the user's words their beginning. `given` are
    the values of the call, `local` says that it changed something here alone, `opens` that it
    opened a page."""

    kind: str
    tool: str = ""
    facts: Facts | None = None
    given: tuple[Spelled, ...] = ()
    trusted: bool = False
    makes: bool = False
    acts: bool = False
    local: bool = False
    opens: bool = False
    approved: bool = False
    shown: str = ""

    def times(self, key: int) -> Note:
        """The same with a key, as it is kept, or without it again."""
        return msgspec.structs.replace(
            self,
            facts=None if self.facts is None else self.facts.times(key),
            given=tuple([one.times(key) for one in self.given]),
        )


def note_of_words(text: str) -> Note:
    """What the user's words tell."""
    shown = text[:SHOWN].encode("utf-8", "replace").decode()
    return Note(SAID, facts=said_facts(text), shown=shown)


def note_of_call(tool: FlowTool, args: Any, has_a_yes: bool, approved: bool) -> Note | None:
    """What a call tells that goes ahead: the values that it acts on, and that a person has
    approved for more than once. What it does with a yes alone makes nothing the task's own."""
    acts = tool.effect in ASKED and not has_a_yes
    local = tool.effect == "local"
    if not (acts or local or approved or tool.opens):
        return None
    values = [text for _, text in sinks_of(tool, args)]
    if approved or (acts and not tool.sinks):
        values = [*leaves(args)]
    given = tuple([spell(text) for text in values[:MOST_GIVEN]])
    return Note(
        WENT, tool.name, None, given, acts=acts, local=local, opens=tool.opens, approved=approved
    )


def note_of_result(tool: FlowTool, args: Any, content: Any) -> Note | None:
    """What a result tells, or the text of an error."""
    if content is None or content == "":
        return None
    if tool.result == "user":
        return note_of_words(content if isinstance(content, str) else str(content))
    given = tuple([spell(text) for text in [*leaves(args)][:MOST_GIVEN]])
    return Note(
        GOT,
        tool.name,
        facts_of(content, tool.shape),
        given,
        trusted=tool.result == "trusted",
        makes=tool.makes,
        acts=tool.effect != READ and not tool.drafted,
    )


class Memory:
    """What one run and its children know."""

    def __init__(self) -> None:
        self.known = Known()
        self.asked: list[str] = []
        """What the user has said, shortened."""
        self._approved: set[tuple[str, int]] = set()
        self._mine: tuple[str, ...] = ()

    def belongs(self, values: tuple[str, ...]) -> None:
        """These values are the user's own, as its host says."""
        if values != self._mine:
            self._mine = values
            self.known.owned = {spell(value).mark for value in values}

    def take(self, note: Note | None) -> None:
        """Take a note in; nothing is one that is missing."""
        known = self.known
        if note is None:
            known.full = True
        elif note.kind == SAID and note.facts is not None:
            known.say(note.facts)
            if len(self.asked) < CONSIDERED:
                self.asked.append(note.shown)
        elif note.kind == WENT:
            self._went(note)
        elif note.facts is not None and note.trusted:
            known.trust(note.facts)
        elif note.facts is not None:
            lone = bool(note.given) and all(
                known.origin(one).word in ("user", "me", "own") for one in note.given
            )
            known.read(note.tool, note.facts, lone, note.makes, not note.acts)

    def _went(self, note: Note) -> None:
        known = self.known
        if note.approved and len(self._approved) < MOST:
            self._approved.update([(note.tool, one.mark) for one in note.given])
            self._approved.add((note.tool, 0))
        if note.opens and note.given:
            known.page = known.origin(note.given[0])
        if note.acts:
            known.make(note.given)
        elif note.local:
            known.make([one for one in note.given if self._is_new(one)])

    def _is_new(self, value: Spelled) -> bool:
        """Whether a value that something was made under is nobody else's: it stands nowhere, and is
        no address under which others could be reached."""
        return not value.names_somebody and self.known.origin(value).word == "nowhere"

    def approved(self, tool: str, value: Spelled | None = None) -> bool:
        """Whether a person has said yes to a value for a tool, or to the tool."""
        return (tool, 0 if value is None else value.mark) in self._approved

    def origin(self, tool: str, value: Spelled) -> Origin:
        """Where a value of a call comes from."""
        if self._approved and self.approved(tool, value):
            return Origin("granted")
        return self.known.origin(value)
