"""What guards in shadow mode would have done: counted by guard, with decisions to look at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from stanchion.audit.reader import DECISIONS, FoundRecord, would_change
from stanchion.audit.segment_scan import Stub
from stanchion.kernel.actions import NAMES

EXAMPLES: Final = 3
"""How many decisions are named for each."""
MOST_RUNS: Final = 10_000
"""Up to how many runs are counted."""


class WouldView(msgspec.Struct, frozen=True, kw_only=True):
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


class ShadowView(msgspec.Struct, frozen=True, kw_only=True):
    """A report: how many decisions were looked at, how many of them would have been more severe,
    and by whom."""

    decisions: int
    changed: int
    guards: tuple[WouldView, ...]


class _Tally:
    """What was found of one guard, action and code so far."""

    def __init__(self) -> None:
        self.times, self.changed = 0, 0
        self.runs: set[str] = set()
        self.first_ms, self.last_ms = 0, 0
        self.examples: list[str] = []

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
    return WouldView(
        guard=guard,
        action=action,
        code=code,
        times=tally.times,
        changed=tally.changed,
        runs=len(tally.runs),
        first_ms=tally.first_ms,
        last_ms=tally.last_ms,
        examples=tuple(tally.examples),
    )
