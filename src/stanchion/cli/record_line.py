"""A record in one line: when, where, what, and why; what is no decision stands back."""

from __future__ import annotations

from typing import Final

import msgspec

from stanchion.audit import notes
from stanchion.audit.record import Entry
from stanchion.audit.scanning import Found
from stanchion.cli.terminal import Terminal, visible
from stanchion.cli.times import clock, day, shown
from stanchion.cli.trails import place_of
from stanchion.cli.verdict import style_of
from stanchion.kernel.actions import NAMES, Action

NUMBER: Final = 7
ACTION: Final = 10
STAGE: Final = 11
ABOUT: Final = 16
ROOMY: Final = 110
"""From this width on what a decision was about stands in columns."""

UNREADABLE: Final = "cannot be read: see `stanchion audit verify`"

OF_KIND: Final[dict[str, type[notes.Note]]] = {
    notes.RUN: notes.Begun,
    notes.END: notes.Ended,
    notes.SEGMENT: notes.Segment,
    notes.OPEN: notes.Opened,
    notes.CHECKPOINT: notes.Checkpoint,
    notes.RETIRED: notes.Retired,
    notes.ERASED: notes.Erased,
    notes.FACT: notes.Told,
}
"""How records that are no decisions are read."""


class Lines:
    """Records as lines, one after the other. On a terminal a day is told once, and every line fits the width."""

    def __init__(self, terminal: Terminal, digits: int) -> None:
        self._terminal = terminal
        self._digits = digits
        self._roomy = terminal.width is None or terminal.width >= ROOMY
        self._day = ""

    def of(self, found: Found) -> list[str]:
        """The lines that show a record."""
        lines = []
        at = found.stub.at
        if self._terminal.width is None:
            time = shown(at)
        else:
            time = clock(at)
            if day(at) != self._day:
                self._day = day(at)
                lines.append(self._terminal.paint(self._day, "bold"))
        start = f"{time}  {place_of(found, self._digits):<{self._digits + NUMBER}}  "
        entry = decision_in(found)
        if entry is not None:
            painted = self._terminal.paint(f"{entry.action:<{ACTION}}", style_of(Action[entry.action]))
            return [
                *lines,
                f"{start}{painted}{self._cut(f'  {told(entry, self._roomy)}', len(start) + ACTION)}".rstrip(),
            ]
        rest = self._cut(f"{visible(found.stub.kind):<{ACTION}}  {visible(noted(found))}", len(start))
        return [*lines, self._terminal.paint(f"{start}{rest}".rstrip(), "dim")]

    def _cut(self, text: str, before: int) -> str:
        width = self._terminal.width
        if width is None or before + len(text) <= width:
            return text
        return f"{text[: max(0, width - before - 1)]}…"


def decision_in(found: Found) -> Entry | None:
    """The decision that a record is; `None` where it is none, or none that can be read."""
    try:
        entry = found.entry() if found.is_decision else None
    except msgspec.MsgspecError:
        return None
    return entry if entry is not None and entry.action in NAMES else None


def told(entry: Entry, roomy: bool, by: bool = True) -> str:
    """What a decision was about, which guard determined it, and who was at work; in columns where there is room."""
    about = str(entry.tool if entry.tool else entry.beside.get("to", ""))
    if roomy:
        event = f"{entry.stage:<{STAGE}}  {about:<{ABOUT}}"
    else:
        event = f"{entry.stage} {about}" if about else entry.stage
    words = [event, reason_of(entry), f"by {entry.agent}" if by and entry.agent else ""]
    return visible("  ".join(word for word in words if word))


def reason_of(entry: Entry) -> str:
    """The guard that determined a decision, and its code; empty where none had anything to say."""
    return next((f"{said.guard} ({said.code})" for said in entry.findings if said.action == entry.action), "")


def noted(found: Found) -> str:
    """What a record says that is no decision."""
    kind = OF_KIND.get(found.stub.kind)
    if kind is None:
        return "" if not found.is_decision else UNREADABLE
    try:
        note = found.note(kind)
    except msgspec.MsgspecError:
        return UNREADABLE
    match note:
        case notes.Begun():
            agent = f" of {note.run.agent}" if note.run.agent else ""
            task = f" on {note.run.task}" if note.run.task else ""
            source = f" ({note.source})" if note.source else ""
            return f"{note.run.id}{agent}{task}, under policy {note.policy[:12]}{source}"
        case notes.Ended():
            why = f": {note.why}" if note.why else ""
            return f"{note.run}, {note.code}{why}; {counted(sum(note.decided.values()), 'decision')}"
        case notes.Told():
            by = f" by {note.by}" if note.by else ""
            why = f": {note.why}" if note.why else ""
            return f"{note.what} {note.about}{by}{why}"
        case notes.Segment():
            return f"number {note.number} begins"
        case notes.Opened():
            cut = f"; {note.cut} bytes of an unfinished record were cut off" if note.cut else ""
            unfit = f"; {counted(len(note.unfit), 'chain')} not as they were left" if note.unfit else ""
            return f"by process {note.pid}{cut}{unfit}"
        case notes.Checkpoint():
            return f"with {counted(len(note.heads), 'other chain')}{', sealed' if found.line.seal else ''}"
        case notes.Retired():
            return f"segment {', '.join(str(segment[0]) for segment in note.segments)} leaves: {note.why}"
        case notes.Erased():
            count = sum(last - first + 1 for rows in note.records.values() for first, last in rows)
            by = f" by {note.by}" if note.by else ""
            return f"what was said in {counted(count, 'record')}{by}{f': {note.why}' if note.why else ''}"
    return ""


def counted(number: int, what: str) -> str:
    """A number of things."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
