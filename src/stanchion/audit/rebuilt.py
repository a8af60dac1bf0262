"""Rebuilding: what a decision was judged on, where its record leaves that to the run's records
before it.

Those decisions are made again, one after the other: each leaves what the next was judged on.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

import msgspec

from stanchion.audit.again import inputs_of, moment_of, withheld
from stanchion.audit.apart import is_erased
from stanchion.audit.reader import Found, Reader
from stanchion.audit.record import OUTCOME, Entry
from stanchion.audit.repeated import AT_MOST, digest_of_left
from stanchion.kernel.chain import Policy
from stanchion.kernel.decision import Decision, Known
from stanchion.kernel.events import RunInfo
from stanchion.kernel.replay import replay

REMEMBERED: Final = 4 * AT_MOST
"""Of how many decisions it is remembered what they were judged on."""

RecordId = tuple[str, int]
"""A record's chain and its number."""


class Forgotten(ValueError):
    """A decision cannot be judged again, and why: something that it was judged on is not there any
    more."""

    def __init__(self, why: str) -> None:
        super().__init__(f"it cannot be judged again: {why}")


def args_of(
    reader: Reader, entry: Entry, known: Mapping[str, Any] | None = None
) -> dict[str, Any] | None:
    """The arguments of an outcome's call, which its intent has; `known` has the content of some
    intents."""
    if entry.kind != OUTCOME or not entry.call or "args" in entry.beside:
        return None
    if known is not None and entry.call in known:
        content = known[entry.call]
    else:
        intent = reader.find(entry.call)
        content = None if intent is None else intent.entry().content
    return content if isinstance(content, dict) and not withheld(content) else None


class Rebuilding:
    """Rebuilds what the decisions of one run were judged on, under one policy. It remembers the
    last ones."""

    def __init__(self, reader: Reader, policy: Policy, run: RunInfo) -> None:
        self._reader, self._policy, self._run = reader, policy, run
        self._known: dict[RecordId, tuple[Known, ...]] = {}

    def entry(self, found: Found) -> Entry:
        """A decision's record with everything that it was judged on; raises `Forgotten` where that
        is not there."""
        entry = found.entry()
        if is_erased(found.line.body, found.line.kept):
            raise Forgotten("the content of its record was erased")
        if not entry.left:
            return entry
        place = found.chain, found.stub.seq
        if place not in self._known:
            self._walk(found)
        return msgspec.structs.replace(entry, records=self._known[place], left="")

    def _walk(self, found: Found) -> None:
        """Make the decisions before one again, and that one, too."""
        before = [*islice(self._reader.earlier(found), AT_MOST)]
        if len(self._known) + len(before) > REMEMBERED:
            self._known.clear()
        said: dict[str, tuple[int, Any]] = {}
        calls: dict[str, Any] = {}
        gone: Found | None = None
        for one in (*reversed(before), found):
            if is_erased(one.line.body, one.line.kept):
                said, gone = {}, one
                continue
            entry = one.entry()
            calls[entry.id] = entry.content
            decision = self._again(entry, said, calls)
            said |= {
                name: (version, value) for name, version, value in (*entry.refused, *entry.records)
            }
            if decision is None:
                continue
            judged = judged_on(entry, decision)
            if entry.left and judged is None:
                continue
            if judged is not None:
                self._known[one.chain, one.stub.seq] = judged
                said |= {name: (version, value) for name, version, value in judged}
            said |= {name: (version, value) for name, version, value in decision.wrote}
        if (found.chain, found.stub.seq) not in self._known:
            why = "the earlier records of the run do not lead to the state it was judged on"
            if gone is not None:
                why = f"it builds on record {gone.stub.seq} of its chain, whose content was erased"
            raise Forgotten(why)

    def _again(
        self, entry: Entry, said: dict[str, tuple[int, Any]], calls: dict[str, Any]
    ) -> Decision | None:
        """A decision made again on what was said before; `None` where its record has too little for
        that."""
        if not entry.policy or not self._policy.hash.startswith(entry.policy):
            return None
        own = {name: (version, value) for name, version, value in entry.records}
        merged = {**said, **own} if entry.left else own
        records = tuple((name, version, value) for name, (version, value) in merged.items())
        inputs = msgspec.structs.replace(inputs_of(entry), records=records)
        try:
            moment = moment_of(entry, self._run, args_of(self._reader, entry, calls))
            return replay(self._policy, self._run, moment, inputs)
        except (ValueError, msgspec.MsgspecError):
            return None


def judged_on(entry: Entry, decision: Decision) -> tuple[Known, ...] | None:
    """The records that a decision was judged on, made again; `None` where those that its record
    leaves to others are not the ones."""
    own = {name for name, _, _ in entry.records}
    later = {name for name, _, _ in entry.refused}
    there = tuple(one for one in decision.inputs.records if one[1] or one[0] in later)
    left = [one for one in there if one[0] not in own]
    return there if (digest_of_left(left) if left else "") == entry.left else None
