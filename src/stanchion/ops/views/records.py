"""Records of a trail in short: when, where, what was decided about what, and why; of other records,
what they say."""

from __future__ import annotations

from typing import Final

import msgspec

from stanchion.audit import notes
from stanchion.audit.record import RecordEntry
from stanchion.audit.segment_scan import FoundRecord
from stanchion.kernel.actions import NAMES

UNREADABLE: Final = "cannot be read: see `stanchion audit verify`"

OF_KIND: Final[dict[str, type[notes.TrailNote]]] = {
    notes.RUN: notes.RunBegun,
    notes.END: notes.RunEnded,
    notes.SEGMENT: notes.SegmentBegun,
    notes.OPEN: notes.ChainOpened,
    notes.CHECKPOINT: notes.Checkpoint,
    notes.RETIRED: notes.SegmentsRetired,
    notes.ERASED: notes.Erased,
    notes.FACT: notes.FactNote,
    notes.BYPASS: notes.FactNote,
}
"""How records that are no decisions are read."""


class Would(msgspec.Struct, frozen=True):
    """What a guard in shadow mode would have done, and by which code."""

    action: str
    guard: str
    code: str


class DecisionView(msgspec.Struct, frozen=True):
    """A decision in short. `about` is the tool, or whom a run is handed to; `guard` and `code`
    determined it, and are empty where no guard had anything to say. `policy` is where its policy
    came from, `None` where that is not known. `would` is what it would have been without shadow
    mode, `None` where that is the same.
    """

    id: str
    at_ms: int
    action: str
    stage: str
    tool: str
    agent: str
    codes: tuple[str, ...]
    policy: str | None
    about: str
    guard: str
    code: str
    would: Would | None = None

    @property
    def reason(self) -> str:
        """The guard that determined it, and its code; and what would have come of it without shadow
        mode."""
        said = f"{self.guard} ({self.code})" if self.guard or self.code else ""
        if self.would is None:
            return said
        shadow = f"shadow: would be {self.would.action} by {self.would.guard} ({self.would.code})"
        return f"{said}  {shadow}" if said else shadow


class RecordView(msgspec.Struct, frozen=True):
    """A record: its kind, when it was written, its place in the trail, and the decision it is or
    else what it says."""

    kind: str
    at_ms: int
    chain: str
    seq: int
    decision: DecisionView | None
    says: str

    def place(self, digits: int) -> str:
        """Its place, short enough to type: the first digits of its chain, and its number there."""
        return f"{self.chain[:digits]}:{self.seq}"


def record_view(found: FoundRecord, policy: str | None = None) -> RecordView:
    """A record in short; `policy` is where the policy of a decision came from, where that is
    known."""
    stub = found.stub
    entry = decision_in(found)
    decision = None if entry is None else _decision(entry, policy)
    return RecordView(
        stub.kind,
        stub.at,
        found.chain,
        stub.seq,
        decision,
        "" if decision is not None else noted(found),
    )


def decision_in(found: FoundRecord) -> RecordEntry | None:
    """The decision that a record is; `None` where it is none, or none that can be read."""
    try:
        entry = found.entry() if found.is_decision else None
    except msgspec.MsgspecError:
        return None
    return entry if entry is not None and entry.action in NAMES else None


def _decision(entry: RecordEntry, policy: str | None) -> DecisionView:
    determining = next((said for said in entry.findings if said.action == entry.action), None)
    return DecisionView(
        id=entry.id,
        at_ms=entry.at,
        action=entry.action,
        stage=entry.stage,
        tool=entry.tool,
        agent=entry.agent,
        codes=tuple([said.code for said in entry.findings]),
        policy=policy,
        about=str(entry.tool if entry.tool else entry.beside.get("to", "")),
        guard="" if determining is None else determining.guard,
        code="" if determining is None else determining.code,
        would=_would(entry),
    )


def _would(entry: RecordEntry) -> Would | None:
    worse = NAMES[NAMES.index(entry.action) + 1 :]
    worst = max(
        [said for said in entry.shadow if said.action in worse],
        key=lambda said: NAMES.index(said.action),
        default=None,
    )
    return None if worst is None else Would(worst.action, worst.guard, worst.code)


def noted(found: FoundRecord) -> str:
    """What a record says that is no decision."""
    kind = OF_KIND.get(found.stub.kind)
    if kind is None:
        return "" if not found.is_decision else UNREADABLE
    try:
        note = found.note(kind)
    except msgspec.MsgspecError:
        return UNREADABLE
    match note:
        case notes.RunBegun():
            agent = f" of {note.run.agent}" if note.run.agent else ""
            task = f" on {note.run.task}" if note.run.task else ""
            source = f" ({note.source})" if note.source else ""
            return f"{note.run.id}{agent}{task}, under policy {note.policy[:12]}{source}"
        case notes.RunEnded():
            why = f": {note.why}" if note.why else ""
            return (
                f"{note.run}, {note.code}{why}; {counted(sum(note.decided.values()), 'decision')}"
            )
        case notes.FactNote():
            by = f" by {note.by}" if note.by else ""
            why = f": {note.why}" if note.why else ""
            return f"{note.what} {note.about}{by}{why}"
        case notes.SegmentBegun():
            return f"number {note.number:,} begins"
        case notes.ChainOpened():
            cut = (
                f"; {counted(note.cut, 'byte')} of an unfinished record were cut off"
                if note.cut
                else ""
            )
            unfit = (
                f"; {counted(len(note.unfit), 'chain')} changed since they were written"
                if note.unfit
                else ""
            )
            return f"by process {note.pid}{cut}{unfit}"
        case notes.Checkpoint():
            return (
                f"with "
                f"{counted(len(note.heads), 'other chain')}{', sealed' if found.line.seal else ''}"
            )
        case notes.SegmentsRetired():
            return (
                f"segment {', '.join(str(segment[0]) for segment in note.segments)} removed: "
                f"{note.why}"
            )
        case notes.Erased():
            count = sum(last - first + 1 for rows in note.records.values() for first, last in rows)
            by = f" by {note.by}" if note.by else ""
            return (
                f"the content of "
                f"{counted(count, 'record')}{by}{f': {note.why}' if note.why else ''}"
            )
    return ""


def counted(number: int, what: str) -> str:
    """A number of things."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
