"""What a segment has said already: records that a run is judged on again and again are not written each time.

A decision is judged on records that the decision before it left, most of all on the history of its run. Whoever judges
that one again has them. So a record says only their digest, and whole values from time to time: at the beginning of
every segment, after a record that is not all that was judged, and after `AT_MOST` decisions of a run.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

import msgspec

from stanchion.audit.record import Entry, canonical
from stanchion.kernel.content import content_of
from stanchion.kernel.decision import Decision, Known
from stanchion.kernel.events import Moment, ToolCall

AT_MOST: Final = 64
"""How many decisions of a run are judged again, at the most, to know what one was judged on."""

MOST_RUNS: Final = 1_000
"""How many runs are remembered; where there are more, all are told anew."""

MOST_CHANGED: Final = 1_000
"""How many calls of a run are remembered whose records are not what was judged."""

POLICY_DIGITS: Final = 16
"""How many digits of its policy's hash a decision has: its run's record has them all, and these tell which it is."""


class _Run:
    """What a run's records have said: the records it is judged on, as they were left."""

    __slots__ = ("changed", "policy", "said", "since")

    def __init__(self, policy: str) -> None:
        self.policy = policy
        self.said: dict[str, tuple[int, Any]] = {}
        self.since = 0
        self.changed: set[str] = set()


class Repeated:
    """What one segment of a chain has said, as far as its writer remembers."""

    def __init__(self, segment: tuple[str, int] = ("", 0)) -> None:
        self.segment = segment
        self._runs: dict[str, _Run] = {}

    def of(self, segment: tuple[str, int]) -> Repeated:
        """This, where it is what that segment has said; otherwise one that has said nothing."""
        return self if self.segment == segment else Repeated(segment)

    def brief(self, entry: Entry, decision: Decision) -> Entry:
        """A record without what this segment has said."""
        run = self._run(entry, decision)
        run.since += 1
        known = [one for one in entry.records if run.said.get(one[0]) == (one[1], one[2])]
        # What was there and is gone would be found again: then nothing is taken from before.
        gone = any(not version and name in run.said for name, version, _ in decision.inputs.records)
        if gone or not known:
            return msgspec.structs.replace(entry, policy=entry.policy[:POLICY_DIGITS])
        rest = tuple([one for one in entry.records if one not in known])
        return msgspec.structs.replace(
            entry, policy=entry.policy[:POLICY_DIGITS], records=rest, left=digest_of_left(known)
        )

    def note(self, entry: Entry, moment: Moment, decision: Decision, whole: bool) -> None:
        """Remember what a record has said that was written; `whole` tells that nothing of it was too long."""
        run = self._runs[entry.run]
        run.said.update({name: (version, value) for name, version, value in entry.records})
        if whole and not _is_changed(run, entry, moment, decision):
            run.said.update({name: (version, value) for name, version, value in decision.wrote})
        elif len(run.changed) >= MOST_CHANGED:
            del self._runs[entry.run]
        else:
            run.changed.add(entry.id)
            for name, _, _ in decision.wrote:
                run.said.pop(name, None)

    def _run(self, entry: Entry, decision: Decision) -> _Run:
        run = self._runs.get(entry.run)
        if run is None or run.since >= AT_MOST or run.policy != decision.policy:
            if len(self._runs) >= MOST_RUNS:
                self._runs.clear()
            changed = set() if run is None else run.changed
            run = self._runs[entry.run] = _Run(decision.policy)
            run.changed = changed
        return run


def _is_changed(run: _Run, entry: Entry, moment: Moment, decision: Decision) -> bool:
    """Whether a record is not all that was judged: something in it, or in that of its call, was redacted."""
    event: Any = moment.events[0]
    content = event.args if type(event) is ToolCall else content_of(event)
    if entry.content is not content or entry.call in run.changed:
        return True
    if any(getattr(event, name) is not value for name, value in entry.beside.items()):
        return True
    judged = {name: value for name, _, value in decision.inputs.records}
    return any(judged[name] is not value for name, _, value in entry.records)


def digest_of_left(records: list[Known]) -> str:
    """What names records that are as they were left. It says whether they were found again, and protects nothing."""
    return sha256(canonical(records)).hexdigest()[:16]
