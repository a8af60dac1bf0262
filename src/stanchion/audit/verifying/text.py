"""A report as people read it, and as programs do."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Final

from .report import Chain, Deed, Report

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
