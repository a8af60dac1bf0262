"""What verifying a trail finds, as plain data."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final


class CannotVerify(Exception):
    """The trail, the key or the witness cannot be read at all, so nothing is said about the
    trail."""


class Deed(StrEnum):
    """What was done to a trail, in one word; `meaning` says it in one line."""

    meaning: str

    def __new__(cls, word: str, meaning: str) -> Deed:
        deed = str.__new__(cls, word)
        deed._value_ = word
        deed.meaning = meaning
        return deed

    EDITED = (
        "edited",
        "the bytes of a record, of its hash or of a head were changed after they were written",
    )
    DELETED = "deleted", "records, segments or a whole chain that were written are gone"
    TRUNCATED = "truncated", "the end of a chain or of a file is gone"
    REORDERED = (
        "reordered",
        "records are in another order, or in another file, than they were written in",
    )
    DUPLICATED = "duplicated", "a record is in its chain more than once"
    FORGED = "forged", "a record was written, or changed later, by somebody without the key"
    INSERTED = "inserted", "a chain has something in it that its writer never wrote there"
    SPLICED = (
        "spliced",
        "a record or a head comes from another chain, or from another copy of this one",
    )
    REWRITTEN = (
        "rewritten",
        (
            "records were changed and the hashes after them recalculated; a seal or a head still "
            "shows it"
        ),
    )
    RESEALED = (
        "resealed",
        "a seal was changed, or made with another key, while its record is as it was written",
    )
    UNSEALED = "unsealed", "a seal or a checkpoint that has to be there is missing"
    HEADLESS = "headless", "the head of a chain is gone"
    CONTRADICTED = (
        "contradicted",
        "what a `retired` record says about a segment does not match the chain around it",
    )
    UNREADABLE = "unreadable", "bytes that cannot be read as what was there"
    UNVERIFIED = "unverified", "nothing is known to be wrong, but a seal could not be checked here"
    BROKEN = (
        "broken",
        "the lines of a witness do not follow from one another, so the witness was changed",
    )
    UNCOVERED = (
        "uncovered",
        (
            "nothing is known to be wrong, but the witness stopped: the end of the trail is not "
            "proven after that"
        ),
    )


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a trail: where, what was done, and a sentence for people.

    `file` is the segment's file name, `head`, or empty where the whole chain is meant. `line`
    counts from 1. `seq` is the number of the record that is bad, or is not where it belongs; it is
    None where no record is meant.
    """

    chain: str
    file: str
    line: int | None
    seq: int | None
    deed: Deed
    sentence: str

    @property
    def place(self) -> str:
        """Where to look: chain, file and line, as far as there are any."""
        path = "/".join(part for part in (self.chain, self.file) if part)
        return path if self.line is None else f"{path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Remark:
    """Something worth knowing that is no fault; `chain` is empty where the whole trail is meant."""

    chain: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Chain:
    """What was read of one chain, up to its first fault.

    `first_seq` and `last_seq` are None where no record was read; times are in milliseconds since
    1970. `sealed` counts the checkpoints that bear a seal, whether or not a key was there to check
          it. `behind_head` counts the records that only hashes bind, `retired` those that retention
          removed.
    """

    id: str
    records: int
    segments: int
    first_seq: int | None
    last_seq: int | None
    first_at: int | None
    last_at: int | None
    checkpoints: int
    sealed: int
    bytes: int
    closed: bool
    behind_head: int
    retired: int


@dataclass(frozen=True, slots=True)
class Witnessed:
    """A witness that the trail was held against: whether it is a copy, which the trail's own user
    could rewrite, how many lines it has, when the newest was written, and after how many seconds
    the next was promised (0: never)."""

    name: str
    copy: bool
    lines: int
    at: int | None
    every_s: int


@dataclass(frozen=True, slots=True)
class Report:
    """All that verifying a trail found: its chains by id, the faults and the remarks.

    A chain has one fault at most that its own files show, the first; what other chains or a witness
    know against a chain comes after those.
    """

    folder: str
    chains: tuple[Chain, ...]
    faults: tuple[Fault, ...]
    remarks: tuple[Remark, ...]
    witnesses: tuple[Witnessed, ...] = ()
    end_proven: bool = False
    """Whether a store or a witness says of every chain how far it had come."""

    @property
    def whole(self) -> bool:
        """Whether the trail is as it was written, as far as anything in it can tell."""
        return not self.faults


# A report as people read it, and as programs do.

_COLUMNS: Final = ("chain", "records", "segments", "from", "to", "checkpoints", "sealed", "state")


def as_json(report: Report) -> str:
    """The report as one JSON object."""
    return json.dumps({"whole": report.whole, **asdict(report)}, ensure_ascii=True)


def as_text(report: Report) -> str:
    """A table of the chains, then the faults, the remarks, and the verdict in the last line."""
    rows = [_COLUMNS, *map(_row, report.chains)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    lines += [f"{fault.place}: {fault.deed}: {fault.sentence}" for fault in report.faults]
    lines += [
        f"note: {remark.chain + ': ' if remark.chain else ''}{remark.sentence}"
        for remark in report.remarks
    ]
    return "\n".join([*lines, verdict(report)])


def verdict(report: Report) -> str:
    """What was found, in one line."""
    records = sum(chain.records for chain in report.chains)
    seen = f"{_count(records, 'record')} in {_count(len(report.chains), 'chain')}"
    if report.whole:
        return f"whole: {seen}" if report.end_proven else f"whole: {seen}; end not proven"
    if all(fault.deed is Deed.UNVERIFIED for fault in report.faults):
        return f"not verified: the seals could not be checked ({seen})"
    if all(fault.deed in (Deed.UNVERIFIED, Deed.UNCOVERED) for fault in report.faults):
        return f"not verified: the witness stopped ({seen})"
    return f"not whole: {_count(len(report.faults), 'fault')} ({seen} read)"


def _row(chain: Chain) -> tuple[str, ...]:
    state = (
        "closed"
        if chain.closed
        else f"open, {chain.behind_head} after the head"
        if chain.behind_head
        else "open"
    )
    if chain.retired:
        state += f", {chain.retired} retired"
    counts = (chain.checkpoints, chain.sealed)
    times = (_time(chain.first_at), _time(chain.last_at))
    return (chain.id, str(chain.records), str(chain.segments), *times, *map(str, counts), state)


def _time(at: int | None) -> str:
    if at is None:
        return "-"
    try:
        return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, OSError, ValueError):
        return str(at)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
