"""Decisions in one trail or several: the newest, one by its name, and why it was made."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from stanchion.audit.reader import FoundRecord, Progress, TrailReader
from stanchion.ops.views.case import case_of, policy_of
from stanchion.ops.views.explain import Explanation, explain
from stanchion.ops.views.records import DecisionView, record_view
from stanchion.ops.views.trails import record

LAST = "last"
"""What the newest decision can be called."""

Known = tuple[TrailReader, FoundRecord]
"""A decision, and the trail it is in."""


class NoDecision(LookupError):
    """That a record is there and is no decision."""


class Unreadable(ValueError):
    """That the record of a decision is there and cannot be read."""


def newest_decisions(readers: Sequence[TrailReader], most: int) -> list[DecisionView]:
    """The newest decisions of all trails, newest first; those that cannot be read are left out."""
    found = []
    for reader, each in islice(_newest(readers), most):
        begun = reader.begun(each)
        view = record_view(each, None if begun is None else begun.source).decision
        found += [] if view is None else [view]
    return found


def explained(
    readers: Sequence[TrailReader], name: str, told: Progress | None = None
) -> Explanation | None:
    """Why a decision was made, by its id, its place, or `last`; `None` where there is none.

    Raises `NoDecision` for a record that is none, `Unreadable` for one that cannot be read,
    `Ambiguous` for a place that can be several.
    """
    known = next(_newest(readers), None) if name == LAST else _found(readers, name, told)
    if known is None:
        return None
    try:
        case = case_of(*known)
        return explain(case, policy_of(case))
    except (msgspec.MsgspecError, ValueError, KeyError):
        raise Unreadable(name) from None


def _newest(readers: Sequence[TrailReader]) -> Iterator[Known]:
    return heapq.merge(*map(_decisions, readers), key=lambda known: known[1].stub.at, reverse=True)


def _decisions(reader: TrailReader) -> Iterator[Known]:
    return ((reader, found) for found in reader.backwards() if found.is_decision)


def _found(readers: Sequence[TrailReader], name: str, told: Progress | None) -> Known | None:
    for reader in readers:
        found = record(reader, name, told)
        if found is not None and found.is_decision:
            return reader, found
        if found is not None:
            raise NoDecision(name)
    return None
