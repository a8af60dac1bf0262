"""Records of a trail in short, and what guards in shadow mode would have done with decisions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec
from msgspec import MsgspecError, Struct
from msgspec.structs import asdict

from stanchion.audit import notes
from stanchion.audit.apart import is_erased
from stanchion.audit.reader import DECISIONS, would_change
from stanchion.audit.record import RecordedFinding, RecordEntry
from stanchion.audit.segment_scan import FoundRecord, Stub
from stanchion.audit.worded import content_in_words, worded
from stanchion.guards import SHIPPED
from stanchion.guards.evidence.files import named_in
from stanchion.guards.evidence.outcome import shell_texts
from stanchion.kernel.actions import NAMES
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import is_declared
from stanchion.ops.views.amounts import counted, framed

SHOWN: Final = 40
"""How much is shown of what a call would do."""
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


class Would(Struct, frozen=True):
    """What a guard in shadow mode would have done, and by which code."""

    action: str
    guard: str
    code: str


class DecisionView(Struct, frozen=True):
    """A decision in short. `about` is the tool, or whom a run is handed to, `does` what a call of
    it would do; `guard` and `code` determined it, `why` says it in words, and all are empty where
    no guard had anything to say. `policy` is where its policy came from, `None` where that is not
    known. `would` is what it would have been without shadow mode, `None` where that is the same.
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
    does: str = ""
    why: str = ""

    @property
    def reason(self) -> str:
        """The guard that determined it, and its code; and what would have come of it without shadow
        mode."""
        said = f"{self.guard} ({self.code})" if self.guard or self.code else ""
        if self.would is None:
            return said
        shadow = f"shadow: would be {self.would.action} by {self.would.guard} ({self.would.code})"
        return f"{said}  {shadow}" if said else shadow


class RecordView(Struct, frozen=True):
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
    decision = None
    if entry is not None:
        erased = is_erased(found.line.body, found.line.kept)
        decision = _decision(entry, policy, erased)
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
    except MsgspecError:
        return None
    return entry if entry is not None and entry.action in NAMES else None


def _decision(entry: RecordEntry, policy: str | None, erased: bool) -> DecisionView:
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
        does=_done_by(entry),
        why="" if determining is None else _why(determining, erased),
    )


def _why(said: RecordedFinding, erased: bool) -> str:
    """What a finding says, also where no guard was loaded yet that knows the words."""
    if not said.text and not is_declared(said.code):
        tuple(SHIPPED.values())
    return worded(said, erased).message


def _done_by(entry: RecordEntry) -> str:
    """What a call would do, in one short line: its command, the file that it is about, or its
    arguments, as the record has them."""
    args = entry.content
    if entry.stage != Stage.TOOL_CALL or not isinstance(args, dict) or not args:
        return ""
    named = (*shell_texts(args), *named_in(args))
    told = content_in_words(args)
    text = told if told is not None else named[0] if named else msgspec.json.encode(args).decode()
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}…"


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
    except MsgspecError:
        return UNREADABLE
    match note:
        case notes.RunBegun():
            who = f"{framed(' of ', note.run.agent)}{framed(' on ', note.run.task)}"
            source = framed(" (", note.source, ")")
            return f"{note.run.id}{who}, under policy {note.policy[:12]}{source}"
        case notes.RunEnded():
            decided = counted(sum(note.decided.values()), "decision")
            return f"{note.run}, {note.code}{framed(': ', note.why)}; {decided}"
        case notes.FactNote():
            return f"{note.what} {note.about}{framed(' by ', note.by)}{framed(': ', note.why)}"
        case notes.SegmentBegun():
            return f"number {note.number:,} begins"
        case notes.ChainOpened():
            cut = counted(note.cut, "byte") if note.cut else ""
            unfit = counted(len(note.unfit), "chain") if note.unfit else ""
            odd = framed("; ", cut, " of an unfinished record were cut off")
            odd += framed("; ", unfit, " changed since they were written")
            return f"by process {note.pid}{odd}"
        case notes.Checkpoint():
            sealed = ", sealed" if found.line.seal else ""
            return f"with {counted(len(note.heads), 'other chain')}{sealed}"
        case notes.SegmentsRetired():
            gone = ", ".join([str(segment[0]) for segment in note.segments])
            return f"segment {gone} removed: {note.why}"
        case notes.Erased():
            rows = [row for some in note.records.values() for row in some]
            count = counted(sum([last - first + 1 for first, last in rows]), "record")
            return f"the content of {count}{framed(' by ', note.by)}{framed(': ', note.why)}"
    return ""


EXAMPLES: Final = 3
"""How many decisions are named for each."""
MOST_RUNS: Final = 10_000
"""Up to how many runs are counted."""


class WouldView(Struct, frozen=True, kw_only=True):
    """What one guard in shadow mode would have done with one code. `changed` counts the decisions
    that would have been more severe for it, `examples` are the newest decisions with it."""

    guard: str
    action: str
    code: str
    times: int
    changed: int
    runs: int
    first_ms: int
    last_ms: int
    examples: tuple[str, ...]


class ShadowView(Struct, frozen=True, kw_only=True):
    """A report: how many decisions were looked at, how many of them would have been more severe,
    and by whom."""

    decisions: int
    changed: int
    guards: tuple[WouldView, ...]


class _Tally(Struct):
    """What was found of one guard, action and code so far."""

    times: int = 0
    changed: int = 0
    runs: set[str] = set()
    first_ms: int = 0
    last_ms: int = 0
    examples: list[str] = []

    def add(self, stub: Stub, changed: bool) -> None:
        """Take a decision, newest first."""
        self.times += 1
        self.changed += changed
        if len(self.runs) < MOST_RUNS:
            self.runs.add(stub.run_id)
        self.first_ms = stub.at
        self.last_ms = self.last_ms if self.last_ms else stub.at
        if len(self.examples) < EXAMPLES:
            self.examples.append(stub.id)


def shadowed(found: Iterable[FoundRecord]) -> ShadowView:
    """What guards in shadow mode would have done with these decisions, given newest first; the most
    frequent first."""
    tallies: dict[tuple[str, str, str], _Tally] = {}
    decisions, changed = 0, 0
    for each in found:
        stub = each.stub
        if stub.kind not in DECISIONS:
            continue
        decisions += 1
        changed += would_change(stub)
        for said in stub.shadow if isinstance(stub.shadow, list) else ():
            name = _named(said)
            if name is not None:
                worse = stub.action in NAMES and NAMES.index(name[1]) > NAMES.index(stub.action)
                tallies.setdefault(name, _Tally()).add(stub, worse)
    rows = [_row(name, tally) for name, tally in tallies.items()]
    rows.sort(key=lambda row: (-row.changed, -row.times, row.guard, row.code, row.action))
    return ShadowView(decisions=decisions, changed=changed, guards=tuple(rows))


def _named(said: Any) -> tuple[str, str, str] | None:
    """Who said what by which code; `None` where that cannot be read."""
    if not isinstance(said, dict):
        return None
    guard, action, code = (said.get(key) for key in ("guard", "action", "code"))
    if not (
        isinstance(guard, str)
        and isinstance(code, str)
        and isinstance(action, str)
        and action in NAMES
    ):
        return None
    return guard, action, code


def _row(name: tuple[str, str, str], tally: _Tally) -> WouldView:
    guard, action, code = name
    known = asdict(tally)
    known |= {"runs": len(tally.runs), "examples": tuple(tally.examples)}
    return WouldView(guard=guard, action=action, code=code, **known)
