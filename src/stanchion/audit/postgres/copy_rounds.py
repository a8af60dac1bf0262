"""Rounds through the chains of a folder: what is new in each goes to the database, in an order that
can be verified."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum, auto
from pathlib import Path
from typing import Final, NamedTuple

from stanchion.audit.chain_lock import is_written
from stanchion.audit.layout import chains
from stanchion.audit.postgres.chain_files import (
    Another,
    Position,
    Sealed,
    ShippedBatch,
    find,
    left_behind,
    read,
    sealed,
    unshipped,
)
from stanchion.audit.postgres.database_writer import NOTHING, Cursor, RecordLanding

PASSES: Final = 64
"""How many batches of each chain one round carries: there is other work as well."""

FIRST: Final = 8
"""How many batches may go at once before a chain has a head in the database."""


class Manner(NamedTuple):
    """How a round goes: the chains that this process writes, how long those of others are left to
    others, how many bytes of records go at a time, and how long a checkpoint waits for what others
    ship."""

    own: frozenset[str]
    others_s: float
    batch_bytes: int
    patience_s: float


class Did(Enum):
    """What came of one step with a chain."""

    MORE = auto()
    """Something arrived, and there may be more."""
    NOTHING = auto()
    """There was nothing to do."""
    BUSY = auto()
    """Another process is at this chain."""
    WAITS = auto()
    """A checkpoint names records of other chains that have not arrived yet."""


class Rounds:
    """Goes through a folder's chains. What it knows of the database it learnt on its way; `clock`
    gives seconds.

    A checkpoint goes when the records of other chains that it names are there. Whoever verifies the
    database at any moment would otherwise miss them.
    """

    def __init__(self, folder: Path, clock: Callable[[], float]) -> None:
        self._folder: Final = folder
        self._clock: Final = clock
        self._known: dict[str, Cursor] = {}
        self._places: dict[str, tuple[Position, Position]] = {}
        self._behind: dict[str, tuple[int, float]] = {}
        self._wants: dict[str, set[str]] = {}
        self._waits: dict[str, float] = {}
        self._forced: set[str] = set()
        self._torn: dict[str, Position] = {}
        self._odd: dict[str, str] = {}

    def go(self, landing: RecordLanding, manner: Manner) -> bool:
        """Bring what is new to the database; tells whether some of it has to wait for another
        round."""
        names = chains(self._folder)
        self._learn(landing, [name for name in names if self._is_unsure(name, manner)])
        todo = [name for name in names if self._is_due(name, manner)]
        tried, busy = set(todo), False
        for _ in range(PASSES):
            did = {name: self._step(landing, name, manner) for name in todo}
            busy = busy or Did.BUSY in did.values()
            todo = [name for name in todo if did[name] in (Did.MORE, Did.WAITS)]
            if not todo:
                return busy
            if Did.MORE in did.values():
                continue
            wanted = {name for stuck in todo for name in self._wants[stuck]}
            self._learn(landing, wanted)
            untried = sorted(wanted.intersection(names) - tried)
            tried.update(untried)
            if not untried and busy and not self._is_impatient(todo, manner):
                return True
            if not untried:
                self._forced.update(todo)
            todo += untried
        return True

    def has(self, chain: str, seq: int) -> bool:
        """Whether all records of a chain up to that number are in the database, and the same."""
        cursor = self._known.get(chain, NOTHING)
        return cursor.place.seq >= seq and not cursor.stopped

    def is_stopped(self, chain: str) -> bool:
        """Whether no more of a chain is taken."""
        return bool(self._known.get(chain, NOTHING).stopped)

    def lag(self) -> tuple[int, int]:
        """How many records are not in the database yet, as far as is known, and how many bytes
        those are."""
        records = size = 0
        for name in chains(self._folder):
            seal, place = sealed(self._folder / name), self._known.get(name, NOTHING).place
            if seal is not None:
                records += max(0, seal.head.seq - place.seq)
                size += unshipped(self._folder / name, place, seal.head)
        return records, size

    @property
    def troubles(self) -> list[str]:
        """What is wrong with single chains, in words."""
        # Copies: others ask for it while a round changes them.
        stopped = {
            name: cursor.stopped for name, cursor in dict(self._known).items() if cursor.stopped
        }
        return [words for _, words in sorted({**self._odd, **stopped}.items())]

    def _learn(self, landing: RecordLanding, names: Iterable[str]) -> None:
        asked = sorted(set(names))
        if asked:
            self._known.update(landing.cursors(asked))

    def _is_unsure(self, name: str, manner: Manner) -> bool:
        """Whether the database may know better: of a chain that others ship, or that was stopped
        and may go on."""
        if name not in self._known or self.is_stopped(name):
            return True
        return name not in manner.own and self._new(name) is not None

    def _new(self, name: str) -> Sealed | None:
        """The head of a chain of which something is not in the database yet; `None` where nothing
        is new."""
        cursor, seal = self._known.get(name, NOTHING), sealed(self._folder / name)
        if seal is None:
            self._odd[name] = (
                f"the head of chain `{name}` is missing or cannot be read, so the chain is no "
                f"longer shipped"
            )
            return None
        if seal.head.seq < cursor.head_seq:
            self._odd[name] = (
                f"the head of chain `{name}` went back to record {seal.head.seq}: verify the trail"
            )
            return None
        self._odd.pop(name, None)
        if cursor.stopped:
            return None
        if seal.text != cursor.head or seal.head.seq > cursor.place.seq:
            return seal
        torn = self._torn.get(name) == cursor.place
        return (
            seal if not torn and left_behind(self._folder / name, cursor.place, seal.head) else None
        )

    def _is_due(self, name: str, manner: Manner) -> bool:
        """Whether to see to a chain now; one that another process writes is left to it for a
        while."""
        seal = self._new(name)
        if seal is None:
            self._behind.pop(name, None)
            return False
        if name in manner.own or manner.others_s <= 0:
            return True
        if name not in self._behind and not is_written(self._folder / name):
            return True
        seq, since = self._behind.get(name, (-1, 0.0))
        now, come = self._clock(), self._known.get(name, NOTHING).place.seq
        if come >= seq:
            self._behind[name] = (max(seal.head.seq, come + 1), now)
            return False
        return now - since >= manner.others_s

    def _is_impatient(self, stuck: list[str], manner: Manner) -> bool:
        now = self._clock()
        return any(now - self._waits.setdefault(name, now) >= manner.patience_s for name in stuck)

    def _step(self, landing: RecordLanding, name: str, manner: Manner) -> Did:
        """Carry one batch of a chain."""
        seal = self._new(name)
        if seal is None:
            return Did.NOTHING
        cursor = self._known[name]
        try:
            place = self._place(name, cursor.place)
            batch, waits = self._fitting(name, place, self._read(name, place, seal, manner))
            if not batch.rows and waits:
                return Did.WAITS
            if batch.bad is not None and not batch.rows:
                find(self._folder / name, cursor.place)
                return self._stop(
                    landing, name, cursor, "edited", batch.bad.seq, batch.bad.line, batch.bad.why
                )
        except Another as another:
            why = "the database has another record under that number"
            return self._stop(landing, name, cursor, "spliced", another.seq, another.line, why)
        head = seal if seal.text != cursor.head and seal.head.seq <= batch.behind.seq else None
        if not batch.rows and head is None:
            return Did.NOTHING
        return self._arrived(name, batch, landing.land(name, cursor, batch, head))

    def _place(self, name: str, copied: Position) -> Position:
        """Where to go on in a chain's files; looked for once, and known from then on."""
        known = self._places.get(name)
        if known is None or known[0] != copied:
            known = self._places[name] = (copied, find(self._folder / name, copied))
        return known[1]

    def _read(self, name: str, place: Position, seal: Sealed, manner: Manner) -> ShippedBatch:
        chain = self._folder / name
        # Without a head a chain cannot be verified, so its first records come with one where that
        # is near enough.
        most = manner.batch_bytes * (1 if self._known[name].head else FIRST)
        batch = read(chain, place, seal.head, most)
        if batch.rows or batch.bad is not None or name in manner.own:
            return batch
        if left_behind(chain, place, seal.head):
            batch = read(chain, place, seal.head, manner.batch_bytes, tail=True)
            if not batch.rows:
                self._torn[name] = place
        return batch

    def _fitting(
        self, name: str, start: Position, batch: ShippedBatch
    ) -> tuple[ShippedBatch, bool]:
        """What of a batch can go now, and whether the rest has to wait."""
        for index, row in enumerate(batch.rows):
            wants = {
                other
                for other, (seq, _) in row.heads.items()
                if self._known.get(other, NOTHING).place.seq < seq
            }
            if wants and name not in self._forced:
                self._wants[name] = wants
                return batch.before(index, start), True
            if row.heads:
                self._forced.discard(name)
                self._waits.pop(name, None)
        return batch, False

    def _arrived(self, name: str, batch: ShippedBatch, now: Cursor | None) -> Did:
        if now is None:
            return Did.BUSY
        self._known[name] = now
        if now.place == batch.behind:
            self._places[name] = (now.place, now.place)
        return Did.MORE

    def _stop(
        self,
        landing: RecordLanding,
        name: str,
        cursor: Cursor,
        deed: str,
        seq: int,
        line: bytes,
        why: str,
    ) -> Did:
        words = (
            f"chain `{name}` is no longer shipped: record {seq} in its files is not the one "
            f"that should follow: {why}"
        )
        now = landing.stop(
            name, cursor, deed, f"{words}; verify the trail and the database", seq, line
        )
        if now is None:
            return Did.BUSY
        self._known[name] = now
        return Did.MORE
