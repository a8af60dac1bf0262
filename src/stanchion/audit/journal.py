"""Journals: where records go, in order, each bound to the one before."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, Final, Protocol

import msgspec

from stanchion.audit import notes
from stanchion.audit.apart import NO_SALT, RecordParts, encode, encode_quiet, entry_from
from stanchion.audit.record import GENESIS, Quiet, RecordEntry, Redact, entry_of, quiet_of
from stanchion.audit.redaction import masked
from stanchion.audit.repeated import without_named
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Moment, RunInfo
from stanchion.kernel.findings import Patch
from stanchion.kernel.tuples import NamedTuple
from stanchion.locks import Lock

NO_DATA: Final[Mapping[str, Any]] = {}
MEMORY: Final = "0" * 16
"""The chain of records that are kept in memory."""
AT_ONCE: Final = 16
"""How many quiet records are bound into that chain at once."""


class Start(NamedTuple):
    """A run as its first record tells it: who, when, under which policy, and where that came from.

    `began` is when it really began, where it only goes on under another policy. `tools` is the
    digest of the definitions of tools, where the policy's hash is that of its file and of these.
    """

    info: RunInfo
    at: int
    policy: str
    source: str = ""
    env: str | None = None
    deadline_ms: int | None = None
    began: int = 0
    tools: str = ""


class Finish(NamedTuple):
    """How a run ended, how often what was decided, what it had produced, oldest first, which guards
    had flagged it, and how many strikes each had given."""

    info: RunInfo
    at: int
    code: str
    why: str
    decided: dict[str, int]
    produced: tuple[Any, ...] = ()
    left_out: int = 0
    flagged: tuple[str, ...] = ()
    strikes: Mapping[str, int] = NO_DATA


class Fact(NamedTuple):
    """Something that is no decision about an event: what happened, to what, by whom, and why."""

    at: int
    what: str
    about: str = ""
    tenant: str = "default"
    run: str = ""
    by: str = ""
    why: str = ""
    data: Mapping[str, Any] = NO_DATA


class Kept(msgspec.Struct, frozen=True, gc=False):
    """A record as it is kept: its bytes, their hash, how long the decision took, and what stands
    apart of it."""

    body: bytes
    hash: str
    took_ns: int
    apart: bytes = b""

    @property
    def text(self) -> bytes:
        """All that is kept of it."""
        return self.body + self.apart

    def read(self) -> RecordEntry:
        """The record parsed back from its bytes."""
        return entry_from(self.body, self.apart)


class Journal(Protocol):
    """Takes records; raises `AuditLost` if it cannot, so that nothing goes ahead unrecorded."""

    def write(
        self,
        moment: Moment,
        decision: Decision,
        took_ns: int,
        notes: tuple[str, ...] = (),
        hide: tuple[Patch, ...] = (),
    ) -> int:
        """Write one decision down, content redacted by `hide` as well; gives a mark by which `sync`
        knows the record."""

    def begin(self, start: Start) -> None:
        """Write down that a run begins, or goes on under another policy."""

    def end(self, finish: Finish) -> None:
        """Write down that a run has ended."""

    def tell(self, fact: Fact) -> None:
        """Write down something that is no decision about an event."""

    @property
    def trouble(self) -> str:
        """Why records could not be written lately; empty where they can."""

    def probe(self) -> None:
        """Find out whether records can be written again; raises `AuditLost` where they cannot."""

    def sync(self, mark: int) -> None:
        """Wait until the record with that mark, and all before it, would outlive a power
        failure."""

    def close(self) -> None:
        """Let go of files."""


def begun(start: Start, prev: str, seq: int, chain: str) -> RecordParts:
    """The record of a run's beginning."""
    said = start._asdict()
    return notes.encode_note(
        notes.RunBegun(
            prev=prev, seq=seq, chain=chain, kind=notes.RUN, run=said.pop("info"), **said
        )
    )


def ended(
    finish: Finish, prev: str, seq: int, chain: str, redact: Redact, salt: str = NO_SALT
) -> RecordParts:
    """The record of a run's end."""
    said = finish._asdict()
    info, (produced, left_out) = said.pop("info"), notes.fitting(finish.produced, redact)
    said |= {"why": redact(finish.why), "produced": produced, "strikes": dict(finish.strikes)}
    said["left_out"] += left_out
    whose = {"run": info.id, "tenant": info.tenant, "agent": info.agent, "task": info.task}
    note = notes.RunEnded(prev=prev, seq=seq, chain=chain, kind=notes.END, **whose, **said)
    return notes.encode_note(note, salt)


BYPASSES: Final = "bypass."
"""How the names of facts begin whose records are never removed."""


def told(
    fact: Fact, prev: str, seq: int, chain: str, redact: Redact, salt: str = NO_SALT
) -> RecordParts:
    """The record of a fact."""
    said = fact._replace(why=redact(fact.why), data=redact(dict(fact.data)))
    return notes.encode_note(
        notes.FactNote(
            prev=prev,
            seq=seq,
            chain=chain,
            kind=notes.BYPASS if fact.what.startswith(BYPASSES) else notes.FACT,
            **said._asdict(),
        ),
        salt,
    )


class MemoryJournal:
    """Keeps the newest decisions in memory, and the newest facts; older ones leave at the other end
    and are counted.

    Nothing is left of it after the process, so beginnings and ends of runs are not worth a place,
    nor is the text of a run's history: its name says which it was.
    """

    def __init__(self, capacity: int = 10_000, redact: Redact = masked) -> None:
        if capacity < 1:
            raise ValueError(f"capacity is `{capacity}`: give at least 1")
        from hashlib import sha256

        self._sha256 = sha256
        self._kept: deque[Kept] = deque(maxlen=capacity)
        self._facts: deque[Fact] = deque(maxlen=capacity)
        self._waiting: deque[tuple[int, Quiet, Moment, Decision, int]] = deque()
        """Records of quiet events that are not bound to the one before yet, each with its number:
        some at a time cost less than one by one."""
        self._lock = Lock(self._mend)
        self._redact = redact
        self._end = (0, GENESIS)
        self.trouble = ""

    @property
    def written(self) -> int:
        """How many records were written."""
        with self._lock:
            return self._bind()[0]

    @property
    def head(self) -> str:
        """The hash of the newest record."""
        with self._lock:
            return self._bind()[1]

    def write(
        self,
        moment: Moment,
        decision: Decision,
        took_ns: int,
        notes: tuple[str, ...] = (),
        hide: tuple[Patch, ...] = (),
    ) -> int:
        """Write one decision down, at the same cost whatever is already kept."""
        with self._lock:
            if moment.template is not None and not notes:
                quiet = quiet_of(moment, decision, self._redact).sealed()
                number = self._end[0] + len(self._waiting)
                self._waiting.append((number, quiet, moment, decision, took_ns))
                if len(self._waiting) >= AT_ONCE:
                    self._bind()
                return number + 1
            place = *self._bind(), MEMORY
            entry = entry_of(moment, decision, *place, notes, self._redact, hide)
            brief = without_named(decision.policy, entry.records)
            return self._keep(encode(entry, NO_SALT, brief), took_ns)

    def _bind(self) -> tuple[int, str]:
        """Bind the records that wait, and say how many there are, and which is the newest."""
        while self._waiting:
            number, quiet, moment, decision, took_ns = self._waiting[0]
            if number == self._end[0]:  # or whoever bound it was cut off behind it
                brief = without_named(decision.policy, quiet.records)
                place = *self._end, MEMORY
                parts = encode_quiet(
                    moment.template, quiet, moment, decision, *place, NO_SALT, brief
                )
                self._keep(parts, took_ns)
            self._waiting.popleft()
        return self._end

    def _keep(self, parts: RecordParts, took_ns: int) -> int:
        head = self._sha256(parts.body).hexdigest()
        self._kept.append(Kept(parts.body, head, took_ns, parts.kept))
        self._end = (self._end[0] + 1, head)
        return self._end[0]

    def begin(self, start: Start) -> None:
        """Nothing is written: the run and this journal live in one process."""

    def end(self, finish: Finish) -> None:
        """Nothing is written: the run and this journal live in one process."""

    def tell(self, fact: Fact) -> None:
        """Keep a fact."""
        self._facts.append(
            fact._replace(why=self._redact(fact.why), data=self._redact(dict(fact.data)))
        )

    def facts(self) -> tuple[Fact, ...]:
        """The facts still here, oldest first."""
        return tuple(self._facts)

    def probe(self) -> None:
        """Memory takes every record."""

    def sync(self, mark: int) -> None:
        """Nothing here outlives the process, and nobody who chose it waits for that."""

    def kept(self) -> tuple[Kept, ...]:
        """The records still here, oldest first."""
        with self._lock:
            self._bind()
            return tuple(self._kept)

    @property
    def dropped(self) -> int:
        """How many records have left to make room."""
        return self.written - len(self._kept)

    def close(self) -> None:
        """Nothing to let go of."""

    def _mend(self) -> None:
        """A record that was kept and not counted is none: who wrote it was cut off."""
        if self._kept and self._kept[-1].hash != self._end[1]:
            self._kept.pop()
