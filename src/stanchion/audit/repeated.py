"""What a segment has said already: records that a run is judged on again and again are not written
each time.

A decision is judged on records that the decision before it left, most of all on the history of its
run. Whoever judges that one again has them. So a record says only their digest, and whole values
from time to time: at the beginning of every segment, after a record that is not all that was
judged, and after `AT_MOST` decisions of a run.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

from stanchion.audit.record import Quiet, RecordEntry, canonical
from stanchion.kernel.content import content_of
from stanchion.kernel.decision import Decision, Known
from stanchion.kernel.events import Moment, ToolCall
from stanchion.kernel.state import LiveRecord, name_or_value
from stanchion.kernel.tuples import NamedTuple

AT_MOST: Final = 64
"""How many decisions of a run are judged again, at the most, to know what one was judged on."""

MOST_RUNS: Final = 1_000
"""How many runs are remembered; where there are more, all are told anew."""

MOST_CHANGED: Final = 1_000
"""How many calls of a run are remembered whose records are not what was judged."""

POLICY_DIGITS: Final = 16
"""How many digits of its policy's hash a decision has: its run's record has them all, and these
tell which it is."""


class Brief(NamedTuple):
    """What a record says in the place of what its segment has said: digits of its policy's hash,
    those records judged on that are new, and the digest of the others."""

    policy: str
    records: tuple[Known, ...]
    left: str = ""


class _Run:
    """What a run's records have said: the records it is judged on, as they were left."""

    __slots__ = ("changed", "digits", "policy", "said", "since")

    def __init__(self, policy: str) -> None:
        self.policy = policy
        self.digits = policy[:POLICY_DIGITS]
        self.said: dict[str, Known] = {}
        self.since = 0
        self.changed: set[str] = set()


class Repeated:
    """What one segment of a chain has said, as far as its writer remembers."""

    def __init__(self, chain: str = "", number: int = 0) -> None:
        self.chain, self.number = chain, number
        self._runs: dict[str, _Run] = {}

    def of(self, chain: str, number: int) -> Repeated:
        """This, where it is what that segment of that chain has said; otherwise one that has said
        nothing."""
        return self if self.number == number and self.chain == chain else Repeated(chain, number)

    def brief(self, entry: RecordEntry | Quiet, decision: Decision) -> Brief:
        """What to write of a record that this segment has not said."""
        run = self._run(entry, decision)
        run.since += 1
        said = run.said
        known: list[Known] = []
        rest: list[Known] = []
        for one in entry.records:
            (known if said.get(one[0]) == one else rest).append(one)
        for name, version, _ in decision.inputs.records:
            if not version and name in said:
                # It was there, and would be found again: so nothing is taken from before.
                known = []
        if not known:
            return Brief(run.digits, entry.records)
        return Brief(run.digits, tuple(rest), digest_of_left(known))

    def note(
        self, entry: RecordEntry | Quiet, moment: Moment, decision: Decision, whole: bool
    ) -> None:
        """Remember what a record has said that was written; `whole` tells that nothing of it was
        too long."""
        run = self._runs[entry.run]
        said = run.said
        for one in entry.records:
            said[one[0]] = one
        if whole and not _is_changed(run, entry, moment, decision):
            for one in decision.wrote:
                said[one[0]] = one
        elif len(run.changed) >= MOST_CHANGED:
            del self._runs[entry.run]
        else:
            run.changed.add(entry.id)
            for one in decision.wrote:
                said.pop(one[0], None)

    def _run(self, entry: RecordEntry | Quiet, decision: Decision) -> _Run:
        run = self._runs.get(entry.run)
        if run is None or run.since >= AT_MOST or run.policy != decision.policy:
            if len(self._runs) >= MOST_RUNS:
                self._runs.clear()
            changed = set() if run is None else run.changed
            run = self._runs[entry.run] = _Run(decision.policy)
            run.changed = changed
        return run


def _is_changed(run: _Run, entry: RecordEntry | Quiet, moment: Moment, decision: Decision) -> bool:
    """Whether a record is not all that was judged: something in it, or in that of its call, was
    redacted."""
    event: Any = moment.events[0]
    content = event.args if type(event) is ToolCall else content_of(event)
    if entry.content is not content or entry.call in run.changed:
        return True
    if entry.beside and any(
        getattr(event, name) is not value for name, value in entry.beside.items()
    ):
        return True
    # A record that has nothing to hide is the very same as that which was judged on.
    return not set(map(id, decision.inputs.records)).issuperset(map(id, entry.records))


def without_named(policy: str, records: tuple[Known, ...]) -> Brief | None:
    """What to write where the run's records before are at hand as long as this one: a digest of
    those records judged on that have a name. `None` where none has."""
    named: list[Known] = []
    rest: list[Known] = []
    for one in records:
        (named if isinstance(one[2], LiveRecord) else rest).append(one)
    return Brief(policy, tuple(rest), digest_of_left(named)) if named else None


def digest_of_left(records: list[Known]) -> str:
    """What names records that are as they were left: the name of a single one, where it has a name,
    and a digest of them otherwise. It says whether they were found again, and protects nothing."""
    if len(records) == 1 and (left := name_or_value(records[0][2])) is not records[0][2]:
        return str(left)
    named = [(name, version, name_or_value(value)) for name, version, value in records]
    return sha256(canonical(named)).hexdigest()[:16]
