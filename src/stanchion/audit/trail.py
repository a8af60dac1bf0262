"""The trail: a journal on disk. It survives a crash, waits for the disk where risk asks for it, and
never drops."""

from __future__ import annotations

import atexit
import os
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from stanchion.audit import notes as noted
from stanchion.audit.anchors import Anchor, place_of
from stanchion.audit.apart import RecordParts, Salts, encode, encode_quiet
from stanchion.audit.chain import Lost, OpenChain, heads_beside, take_chain
from stanchion.audit.errors import AuditLost, TrailError, reason
from stanchion.audit.journal import Fact, Finish, Start, begun, ended, told
from stanchion.audit.marks import DiskMarks, Waking
from stanchion.audit.options import USUAL, TrailOptions
from stanchion.audit.record import INTENT, KINDS, Quiet, RecordEntry, entry_of, quiet_of
from stanchion.audit.repeated import Repeated
from stanchion.audit.retention import Ageing, Copier
from stanchion.audit.tampering import Tampering
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Moment
from stanchion.kernel.findings import Patch
from stanchion.locks import Lock
from stanchion.locks.forks import tell_of_forks


def wall_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class Trail:
    """A journal in a folder. Records are in the system's hands when `write` returns, so a killed
    process loses none; a thread brings them to the disk every few milliseconds.

    Several processes may use one folder: each writes a chain of its own.
    """

    def __init__(
        self,
        folder: Path,
        options: TrailOptions = USUAL,
        clock: Callable[[], int] = wall_ms,
        names: Callable[[], str] = lambda: os.urandom(8).hex(),
        process: Callable[[], int] = os.getpid,
        copier: Copier | None = None,
        secret: Callable[[], bytes] = lambda: os.urandom(32),
    ) -> None:
        self.folder = folder
        self._salts, self._repeated = Salts(secret()), Repeated()
        self._copier, self._options, self._redact = copier, options, options.redact
        self._clock, self._names, self._process = clock, names, process
        self.trouble, self.tampering, self._users = "", Tampering(), 1
        self.name = ""
        """The chain that this process writes, or wrote last."""
        self._place, self._written = place_of(folder), 0
        self._chain: OpenChain | None = None
        self._fresh()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._chain = chain = self._take()
            if chain.cut:
                self._announce(chain)
        except TrailError:
            raise
        except OSError as error:
            if self._chain is not None:
                self._chain.abandon()
            hint = "use another folder, or make this one writable"
            raise TrailError(
                f"the audit trail in `{folder}` cannot be opened: {reason(error)}; {hint}"
            ) from error
        tell_of_forks(self)
        atexit.register(self._end)

    def _fresh(self) -> None:
        """What a new trail has, and one in a forked process."""
        self._lock = Lock()
        self._marks = DiskMarks(self._written)
        self._waking = Waking()
        self._live: OpenChain | None = None
        self._waiting: deque[tuple[RecordParts, int]] = deque()
        self._gone: Lost = ()
        self.anchor: Anchor | None = None
        """The newest record that is on the disk."""
        self._turning: OpenChain | None = None
        self._left: list[OpenChain] = []
        self._closed = False
        self._ageing = Ageing(self.folder, self._options.keep, self._clock)
        self._limit = self._options.queue_bytes
        self._unfit: tuple[str, ...] = ()
        self._bytes = self._synced_bytes = 0
        self._sealed = -1
        self._sealed_at = self._checked_at = 0.0

    def _take(self) -> OpenChain:
        chain, unfit, doubted = take_chain(self.folder, self._options.key, self._clock, self._names)
        self._unfit = self.tampering.opened(unfit, doubted)
        self._chain, self._live, self.name, self._gone = (
            chain,
            None,
            chain.id,
            (*self._gone, *doubted),
        )
        return chain

    @property
    def head(self) -> tuple[int, str]:
        """The number and hash of the newest record."""
        with self._lock:
            return (-1, "") if self._chain is None else (self._chain.seq - 1, self._chain.head)

    def write(
        self,
        moment: Moment,
        decision: Decision,
        took_ns: int,
        notes: tuple[str, ...] = (),
        hide: tuple[Patch, ...] = (),
    ) -> int:
        """Write one decision down; the mark it gives is for `sync`."""
        with self._lock:
            chain = self._live
            if chain is None or self._bytes > self._limit or chain.is_short():
                chain = self._ready(KINDS[moment.events[0].stage] == INTENT)
            repeated = self._repeated = self._repeated.of(chain.id, chain.number)
            place = chain.seq, chain.head, chain.id
            salt = self._salts.of(chain.id, chain.seq)
            entry: RecordEntry | Quiet
            if moment.template is None or notes:
                entry = entry_of(moment, decision, *place, notes, self._redact, hide)
                parts = encode(entry, salt, repeated.brief(entry, decision))
            else:
                entry = quiet_of(moment, decision, self._redact)
                brief = repeated.brief(entry, decision)
                parts = encode_quiet(moment.template, entry, moment, decision, *place, salt, brief)
            mark = self._append(chain, parts, took_ns)
            repeated.note(entry, moment, decision, parts.whole)
            return mark

    def begin(self, start: Start) -> None:
        """Write down that a run begins, or goes on under another policy."""
        with self._lock:
            chain = self._ready(True)
            self._append(chain, begun(start, chain.head, chain.seq, chain.id))

    def end(self, finish: Finish) -> None:
        """Write down that a run has ended."""
        self._tell(ended, finish)

    def tell(self, fact: Fact) -> None:
        """Write down something that is no decision about an event."""
        self._tell(told, fact)

    def _tell(self, encoded: Callable[..., RecordParts], what: Finish | Fact) -> None:
        with self._lock:
            chain = self._ready(False)
            salt = self._salts.of(chain.id, chain.seq)
            self._append(chain, encoded(what, chain.head, chain.seq, chain.id, self._redact, salt))

    def _ready(self, starts: bool) -> OpenChain:
        """The chain to write to; raises where the queue is full, or no chain can be opened."""
        waiting = self._bytes - self._synced_bytes
        if waiting > self._options.queue_bytes * (1 if starts else 2):
            raise self._troubled(
                f"{waiting >> 20} MiB of records wait for the disk, which is over the limit"
            )
        try:
            if self._closed:
                raise AuditLost("the trail is closed")
            chain = self._take() if self._chain is None else self._chain
            if self._live is None:
                self._announce(chain)
            elif chain.is_short():
                chain = self._move(chain, chain.strayed())
            return chain
        except OSError as error:
            raise self._troubled(reason(error)) from error

    def _announce(self, chain: OpenChain) -> None:
        """Say that this process goes on with the chain."""
        self._bytes += chain.enter(self._process(), self._unfit, self._gone)
        self._gone = ()
        self._written += self._ageing.parted(chain, lambda one: heads_beside(self.folder, one.id))
        self._written += 1
        if self._copier is not None:
            self._copier.moved(chain.id)
        if not self._checked_at:
            self._checked_at = time.monotonic()
        self._waking.start(self._work)
        self._live = chain

    def _move(self, chain: OpenChain, why: str) -> OpenChain:
        """Go on in a new chain, because somebody has cut, renamed or removed the one that was
        written. The new one names it, and gets whatever the disk did not have yet. Whoever calls
        has the lock."""
        self._gone = (*self._gone, (chain.id, chain.seq - 1, chain.head, why))
        self.tampering.strayed(chain.id, why)
        # The thread may be at work with its files, so it is the thread that closes them.
        self._left.append(chain)
        self._chain = self._live = None
        try:
            self._sealed, self._unfit = -1, ()
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._chain = new = OpenChain.begin(
                self.folder, self._names(), self._options.key, self._clock
            )
            self.name = new.id
            self._announce(new)
            for parts, took_ns in self._waiting:
                self._bytes += new.append_again(parts.body, took_ns, parts.kept)
        except OSError as error:
            self._forsake(reason(error))
            raise
        self._waking.soon()
        return new

    def _append(self, chain: OpenChain, parts: RecordParts, took_ns: int = 0) -> int:
        try:
            self._bytes += chain.append(parts.body, took_ns, kept=parts.kept)
        except OSError as error:
            raise self._troubled(reason(error)) from error
        self._waiting.append((parts, took_ns))
        self._written += 1
        self._waking.soon()
        return self._written

    def declare(self, kind: type[noted.TrailNote], name: str, **fields: object) -> None:
        """Write down something that the trail says of itself; it and its head are on the disk when
        this returns."""
        with self._lock:
            chain = self._ready(True)
            self._bytes += chain.note(kind, name, **fields)
            self._written += 1
            chain.sync()
            chain.seal(chain.position())

    def probe(self) -> None:
        """Find out, after records could not be written, whether they can be again."""
        with self._lock:
            chain = self._ready(True)
            try:
                self._bytes += chain.note(
                    noted.ChainOpened, noted.OPEN, cut=0, unfit=(), pid=self._process()
                )
            except OSError as error:
                raise self._troubled(reason(error)) from error
            self._written += 1
            self.trouble = ""
            self._waking.soon()

    def _troubled(self, why: str) -> AuditLost:
        self.trouble = why
        return AuditLost(why)

    def sync(self, mark: int) -> None:
        """Wait until the record with that mark is on the disk; raises `AuditLost` where it does not
        get there."""
        self._marks.wait(mark, self._options.wait_s, self._waking.at_once)

    def _work(self) -> None:
        """The thread that syncs: soon after something was written, at once where somebody waits."""
        head_s = self._options.head_ms / 1000
        while not self._closed:
            chain = self._chain
            unsealed = chain is not None and chain.seq - 1 != self._sealed
            unchecked = chain is not None and chain.since_checkpoint > 0
            idle_s = head_s if unsealed else self._options.checkpoint_s if unchecked else None
            self._waking.sleep(idle_s, self._options.sync_ms / 1000, lambda: self._closed)
            try:
                self._turn()
            except OSError as error:
                self._fail(reason(error))
            except Exception as error:  # noqa: BLE001 - whatever goes wrong here, later records need this thread
                self._fail(f"its maintenance failed with `{type(error).__name__}`")

    def _turn(self) -> None:
        """Bring everything written so far to the disk, then see to the head, checkpoints, segments
        and retention."""
        with self._lock:
            self._let_go()
            self._turning = chain = self._chain
            if chain is None or self._closed:
                return
            position, mark, size, waiting = (
                chain.position(),
                self._written,
                self._bytes,
                len(self._waiting),
            )
        # Looked at after the position was taken: whatever it counts is in the file that is found at
        # its place.
        if self._live is chain and chain.may_have_strayed(position.offset):
            with self._lock:
                if self._chain is not chain:
                    return
                if strayed := chain.strayed():
                    self._turning = chain = self._move(chain, strayed)
                position, mark, size, waiting = (
                    chain.position(),
                    self._written,
                    self._bytes,
                    len(self._waiting),
                )
        # Only this thread closes files, so it stays open however many records others append
        # meanwhile.
        chain.sync()
        with self._lock:
            if self._chain is not chain:
                # Somebody found it cut, and went on in another: that one is for the next turn
                return
            for _ in range(waiting):
                self._waiting.popleft()
            self._moor(chain, position.seq, position.hash)
        self._synced_bytes, self._limit = size, size + self._options.queue_bytes
        self._marks.reached(mark)
        now = time.monotonic()
        if position.seq != self._sealed and (now - self._sealed_at) * 1000 >= self._options.head_ms:
            chain.seal(position)
            self._sealed, self._sealed_at = position.seq, now
            if self._copier is not None:
                self._copier.moved(chain.id)
        full = position.offset >= self._options.segment_bytes or self._ageing.outlived(chain)
        late = now - self._checked_at >= self._options.checkpoint_s and chain.since_checkpoint
        if full or late or chain.since_checkpoint >= self._options.checkpoint_records:
            self._bind(chain, full)
            self._checked_at = now

    def _moor(self, chain: OpenChain, seq: int, digest: str) -> None:
        """Remember how far it is certain to have come."""
        if self.anchor is None or (chain.id, seq) != self.anchor[:2]:
            self.anchor = Anchor(chain.id, seq, digest, self._place)

    def _bind(self, chain: OpenChain, full: bool) -> None:
        """Write a checkpoint with the heads of the other chains; where the segment is full, begin
        the next."""
        heads = heads_beside(self.folder, chain.id)
        with self._lock:
            before = chain.seq
            if full:
                chain.rotate(heads)
            elif chain.since_checkpoint:
                chain.checkpoint(heads)
            self._written += chain.seq - before
        if full or self._ageing.is_due():
            self._ageing.leave(chain, self._lock, self._copier)
        self._waking.soon()

    def _fail(self, why: str) -> None:
        """The chain of this turn cannot be kept up: somebody took it away, and another is gone on
        with; or what was not on the disk is lost to those who wait, and the next record opens
        another chain."""
        with self._lock:
            chain = self._turning
            if chain is None or chain is not self._chain:
                return
            strayed = chain.strayed() if self._live is not None else ""
            if not strayed:
                self._forsake(why)
                return
            with suppress(OSError):
                self._move(chain, strayed)

    def _forsake(self, why: str) -> None:
        """Let the chain be as it is; what it may not have kept is lost to those who wait."""
        if self._chain is not None:
            self._chain.abandon()
        self._chain = self._live = None
        self._sealed = -1
        self._waiting.clear()
        self._synced_bytes, self._limit = self._bytes, self._bytes + self._options.queue_bytes
        self._marks.reached(self._written, why)

    def _let_go(self) -> None:
        """Close the files of chains that were gone on from."""
        while self._left:
            self._left.pop().abandon()

    def shared(self) -> bool:
        """Use this trail once more, for somebody else who will close it, too; false where it is
        closed already."""
        with self._lock:
            self._users += not self._closed
            return not self._closed

    def close(self) -> None:
        """End the chain properly and let go of it, unless others still use it."""
        with self._lock:
            self._users -= 1
            if self._closed or self._users > 0:
                return
        self._end()

    def _end(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            chain, live, self._chain, self._live = self._chain, self._live, None, None
        self._waking.at_once()
        self._waking.join()
        atexit.unregister(self._end)
        why = ""
        if chain is not None and live is None:
            chain.abandon()
        elif chain is not None:
            try:
                if strayed := chain.strayed():
                    chain = self._move(chain, strayed)
                full = chain.offset >= self._options.segment_bytes or self._ageing.outlived(chain)
                if full or self._ageing.is_due():
                    self._bind(chain, full)
                chain.close(heads_beside(self.folder, chain.id))
                self._moor(chain, chain.seq - 1, chain.head)
            except OSError as error:
                why = reason(error)
            self._chain = self._live = None
        self._let_go()
        self._marks.reached(self._written, why)
        if self._copier is not None:
            self._copier.finish()

    def forked(self) -> None:
        """In a forked process: the chain is the parent's, and so is the thread."""
        if self._chain is not None:
            self._chain.abandon()
            self._chain = None
        self._let_go()
        closed = self._closed
        self._fresh()
        self._closed = closed
