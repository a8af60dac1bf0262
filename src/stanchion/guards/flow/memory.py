"""A run's memory: what its processes learn of values, as notes of marks, and what a person has
approved."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.guards.flow.tools import ASKED, FlowTool, leaves, sinks_of
from stanchion.kernel.declared import READ
from stanchion.readings.origins.facts import ReadFacts, facts_of, said_facts
from stanchion.readings.origins.known import MOST, TaskKnowledge, ValueOrigin
from stanchion.readings.origins.marks import Spelled, spell
from stanchion.readings.origins.values import of_token, split_link

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


class ProvenanceNote(msgspec.Struct, frozen=True, array_like=True):
    """What was learnt from one event: marks, and of the user's words their beginning. `given` are
    the values of the call, `local` says that it changed something here alone, `opens` that it
    opened a page, `file` that it read files."""

    kind: str
    tool: str = ""
    facts: ReadFacts | None = None
    given: tuple[Spelled, ...] = ()
    trusted: bool = False
    makes: bool = False
    acts: bool = False
    local: bool = False
    opens: bool = False
    approved: bool = False
    shown: str = ""
    file: bool = False


OWNED: Final = frozenset({"granted", "user", "me", "own", "named", "nowhere"})
"""Where a value comes from that a call makes the task's own: no text and no list has it."""


def is_file(text: str) -> bool:
    """Whether a value names a file, and nobody and nothing else."""
    found = of_token(text) if not any(map(str.isspace, text)) else []
    return bool(found) and all(value.kind == "path" for value in found) and ":" not in text


def note_of_words(text: str) -> ProvenanceNote:
    """What the user's words tell."""
    shown = text[:SHOWN].encode("utf-8", "replace").decode()
    return ProvenanceNote(SAID, facts=said_facts(text), shown=shown)


def note_of_call(tool: FlowTool, args: Any, has_a_yes: bool) -> ProvenanceNote | None:
    """What a call tells that goes ahead: the values that it acts on. What it does with a yes alone
    makes nothing the task's own."""
    tool = tool.called(args)
    acts = tool.effect in ASKED and not has_a_yes
    local = tool.effect == "local"
    if not (acts or local or tool.opens):
        return None
    values = [text for _, text in sinks_of(tool, args)]
    if local:
        values = [text for text in values if is_file(text)]
    if tool.opens:
        values += [host for text in values if (host := split_link(text)[0])]
    given = tuple([spell(text) for text in values[:MOST_GIVEN]])
    return ProvenanceNote(WENT, tool.name, None, given, acts=acts, local=local, opens=tool.opens)


def note_of_yes(tool: FlowTool, values: tuple[str, ...]) -> ProvenanceNote:
    """What a person has said yes to, for more than once: just the values that were asked about, and
    the tool where there were none."""
    return ProvenanceNote(WENT, tool.name, None, tuple(map(spell, values)), approved=True)


def note_of_result(tool: FlowTool, args: Any, content: Any) -> ProvenanceNote | None:
    """What a result tells, or the text of an error."""
    if content is None or content == "":
        return None
    if tool.result == "user":
        return note_of_words(content if isinstance(content, str) else str(content))
    asked = [*leaves(args)][:MOST_GIVEN]
    return ProvenanceNote(
        GOT,
        tool.name,
        facts_of(content, tool.shape),
        tuple(map(spell, asked)),
        trusted=tool.result == "trusted",
        makes=tool.makes,
        acts=tool.effect != READ and not tool.drafted and not tool.runs,
        file=tool.effect == READ and all(map(is_file, asked)),
    )


class ProvenanceMemory:
    """What one run and its children know."""

    def __init__(self) -> None:
        self.known = TaskKnowledge()
        self.asked: list[str] = []
        """What the user has said, shortened."""
        self._approved: set[tuple[str, int]] = set()
        self._mine: tuple[str, ...] = ()

    def belongs(self, values: tuple[str, ...]) -> None:
        """These values are the user's own, as its host says."""
        if values != self._mine:
            self._mine = values
            self.known.owned = {spell(value).mark for value in values}

    def take(self, note: ProvenanceNote | None) -> None:
        """Take a note in; nothing is one that is missing."""
        known = self.known
        if note is None:
            known.full = True
        elif note.kind == SAID and note.facts is not None:
            known.hear(note.facts)
            if len(self.asked) < CONSIDERED:
                self.asked.append(note.shown)
        elif note.kind == WENT:
            self._went(note)
        elif note.facts is not None and note.trusted:
            known.trust(note.facts)
        elif note.facts is not None:
            lone = bool(note.given) and all(
                known.origin(one).word in ("user", "me") for one in note.given
            )
            lone = lone and not any(record.forged for record in note.facts.records)
            known.learn(note.tool, note.facts, lone, note.makes, not note.acts, note.file)

    def _went(self, note: ProvenanceNote) -> None:
        known = self.known
        if note.approved and len(self._approved) < MOST:
            self._approved.update([(note.tool, one.mark) for one in note.given])
            if not note.given:
                self._approved.add((note.tool, 0))
        if note.opens and note.given:
            if not known.opened:
                known.make(
                    [one.mark for one in note.given]
                )  # nobody but the user and the model can have chosen it
            known.page = known.origin(note.given[0])
        if note.acts or note.local:
            known.make([one.mark for one in note.given if known.origin(one).word in OWNED])

    def approved(self, tool: str, value: Spelled | None = None) -> bool:
        """Whether a person has said yes to a value for a tool, or to the tool."""
        return (tool, 0 if value is None else value.mark) in self._approved

    def origin(self, tool: str, value: Spelled) -> ValueOrigin:
        """Where a value of a call comes from."""
        if self._approved and self.approved(tool, value):
            return ValueOrigin("granted")
        return self.known.origin(value)
