"""The trail: a journal on disk. It survives a crash, waits for the disk where risk asks for it, and never drops."""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from weakref import WeakSet

from stanchion.audit import notes as noted
from stanchion.audit.ageing import Ageing
from stanchion.audit.apart import Parts, encode, salt_of
from stanchion.audit.chain import Chain, Heads
from stanchion.audit.ending import Unfit
from stanchion.audit.errors import AuditLost, TrailError, reason
from stanchion.audit.heads import read_head
from stanchion.audit.journal import Fact, Finish, Start, begun, ended, told
from stanchion.audit.layout import chains, refuse_former
from stanchion.audit.options import USUAL, Options
from stanchion.audit.record import INTENT, KINDS, entry_of
from stanchion.audit.repeated import Repeated
from stanchion.audit.retention import Copier
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Moment
from stanchion.kernel.findings import Patch


def wall_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class Trail:
    """A journal in a folder. Records are in the system's hands when `write` returns, so a killed process loses none;
    a thread brings them to the disk every few milliseconds.

    Several processes may use one folder: each writes a chain of its own.
    """

    def __init__(
        self,
        folder: Path,
        options: Options = USUAL,
        clock: Callable[[], int] = wall_ms,
        names: Callable[[], str] = lambda: os.urandom(8).hex(),
        process: Callable[[], int] = os.getpid,
        copier: Copier | None = None,
        secret: Callable[[], bytes] = lambda: os.urandom(32),
    ) -> None:
        self.folder = folder
        self._secret, self._repeated = secret(), Repeated()
        self._copier = copier
        self._options = options
        self._redact = options.redact
        self._clock, self._names, self._process = clock, names, process
        self.trouble = ""
        self._users = 1
        self._name = ""
        self._chain: Chain | None = None
        self._written = 0
        self._fresh()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            refuse_former(folder)
            self._chain = self._open()
            if self._chain.cut:
                self._announce(self._chain)
        except TrailError:
            raise
        except OSError as error:
            if self._chain is not None:
                self._chain.abandon()
            hint = "name another folder, or let this one be written"
            raise TrailError(f"the audit trail in `{folder}` cannot be opened: {reason(error)}; {hint}") from error
        _open_trails.add(self)
        atexit.register(self._end)

    def _fresh(self) -> None:
        """What a new trail has, and one that finds itself in a forked process."""
        self._lock = threading.Lock()
        self._done = threading.Condition()
        self._wake = threading.Event()
        self._hurry = threading.Event()
        self._thread: threading.Thread | None = None
        self._live: Chain | None = None
        self._woken = self._closed = False
        self._ageing = Ageing(self.folder, self._options.keep, self._clock)
        self._limit = self._options.queue_bytes
        self._unfit: tuple[str, ...] = ()
        self._bytes = self._synced_bytes = 0
        self._synced = self._written
        self._lost: deque[tuple[int, int, str]] = deque(maxlen=64)
        self._sealed = -1
        self._sealed_at = self._checked_at = 0.0

    def _open(self) -> Chain:
        """The first chain that nobody writes and that is as its writer left it, or a new one."""
        unfit = []
        for name in chains(self.folder):
            try:
                chain = Chain.resume(self.folder, name, self._options.key, self._clock)
            except (Unfit, OSError):
                unfit.append(name)
                continue
            if chain is not None:
                break
        else:
            chain = Chain.begin(self.folder, self._names(), self._options.key, self._clock)
        self._unfit = tuple(unfit)
        self._live = None
        self._name = chain.id
        return chain

    @property
    def name(self) -> str:
        """The chain that this process writes, or wrote last."""
        return self._name

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
            if chain is None or self._bytes > self._limit:
                chain = self._ready(KINDS[moment.events[0].stage] == INTENT)
            entry = entry_of(moment, decision, chain.seq, chain.head, chain.id, notes, self._redact, hide)
            self._repeated = self._repeated.of((chain.id, chain.number))
            parts = encode(self._repeated.brief(entry, decision), self._salt(chain))
            mark = self._append(chain, parts, took_ns)
            self._repeated.note(entry, moment, decision, parts.whole)
            return mark

    def _salt(self, chain: Chain) -> str:
        return salt_of(self._secret, chain.id, chain.seq)

    def begin(self, start: Start) -> None:
        """Write down that a run begins, or goes on under another policy."""
        with self._lock:
            chain = self._ready(True)
            self._append(chain, begun(start, chain.head, chain.seq, chain.id))

    def end(self, finish: Finish) -> None:
        """Write down that a run has ended."""
        with self._lock:
            chain = self._ready(False)
            self._append(chain, ended(finish, chain.head, chain.seq, chain.id, self._redact, self._salt(chain)))

    def tell(self, fact: Fact) -> None:
        """Write down something that is no decision about an event."""
        with self._lock:
            chain = self._ready(False)
            self._append(chain, told(fact, chain.head, chain.seq, chain.id, self._redact, self._salt(chain)))

    def _ready(self, starts: bool) -> Chain:
        """The chain to write to; raises where the queue is full, or no chain can be opened."""
        waiting = self._bytes - self._synced_bytes
        if waiting > self._options.queue_bytes * (1 if starts else 2):
            raise self._troubled(f"{waiting >> 20} MiB of records wait for the disk, more than may")
        try:
            if self._closed:
                raise AuditLost("the trail is closed")
            if self._chain is None:
                self._chain = self._open()
            chain = self._chain
            if self._live is None:
                self._announce(chain)
            return chain
        except OSError as error:
            raise self._troubled(reason(error)) from error

    def _announce(self, chain: Chain) -> None:
        """Say that this process goes on with the chain. Its head stops being a closed one before anything follows."""
        chain.sync()
        chain.seal(chain.position())
        self._written += self._ageing.parted(chain, self._others)
        self._bytes += chain.note(noted.Opened, noted.OPEN, cut=chain.cut, unfit=self._unfit, pid=self._process())
        self._written += 1
        self._live = chain
        if self._copier is not None:
            self._copier.moved(chain.id)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="stanchion-audit", daemon=True)
            self._checked_at = time.monotonic()
            self._thread.start()

    def _append(self, chain: Chain, parts: Parts, took_ns: int = 0) -> int:
        try:
            self._bytes += chain.append(parts.body, took_ns, kept=parts.kept)
        except OSError as error:
            raise self._troubled(reason(error)) from error
        self._written += 1
        if not self._woken:
            self._woken = True
            self._wake.set()
        return self._written

    def declare(self, kind: type[noted.Note], name: str, **fields: object) -> None:
        """Write down something that the trail says of itself; it and its head are on the disk when this returns."""
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
                self._bytes += chain.note(noted.Opened, noted.OPEN, cut=0, unfit=(), pid=self._process())
            except OSError as error:
                raise self._troubled(reason(error)) from error
            self._written += 1
            self.trouble = ""
            self._wake.set()

    def _troubled(self, why: str) -> AuditLost:
        self.trouble = why
        return AuditLost(why)

    def sync(self, mark: int) -> None:
        """Wait until the record with that mark is on the disk; raises `AuditLost` where it does not get there."""
        with self._done:
            if self._synced < mark:
                self._hurry.set()
                self._wake.set()
                self._done.wait_for(lambda: self._synced >= mark or bool(self._is_lost(mark)), self._options.wait_s)
            lost = self._is_lost(mark)
            if lost:
                raise AuditLost(lost)
            if self._synced < mark:
                raise AuditLost(f"the disk did not answer within {self._options.wait_s:g} s")

    def _is_lost(self, mark: int) -> str:
        """Why a record did not get to the disk; empty where it did, or still may."""
        return next((why for after, upto, why in self._lost if after < mark <= upto), "")

    def _work(self) -> None:
        """The thread that syncs: soon after something was written, at once where somebody waits."""
        head_s = self._options.head_ms / 1000
        while not self._closed:
            chain = self._chain
            unsealed = chain is not None and chain.seq - 1 != self._sealed
            unchecked = chain is not None and chain.since_checkpoint > 0
            woken = self._wake.wait(head_s if unsealed else self._options.checkpoint_s if unchecked else None)
            if woken and not self._closed:
                self._hurry.wait(self._options.sync_ms / 1000)
            self._wake.clear()
            self._woken = False
            self._hurry.clear()
            try:
                self._turn()
            except OSError as error:
                self._give_up(reason(error))
            except Exception as error:  # noqa: BLE001 - whatever goes wrong here, later records need this thread
                self._give_up(f"keeping it up failed with `{type(error).__name__}`")

    def _turn(self) -> None:
        """Bring everything written so far to the disk, then see to the head, checkpoints, segments and retention."""
        with self._lock:
            chain = self._chain
            if chain is None or self._closed:
                return
            if not chain.intact():
                raise OSError("its file was removed, or changed by somebody else")
            position, mark, size = chain.position(), self._written, self._bytes
        # Only this thread changes the file, so it stays open however many records others append meanwhile.
        chain.sync()
        with self._done:
            self._synced, self._synced_bytes = mark, size
            self._limit = size + self._options.queue_bytes
            self._done.notify_all()
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

    def _bind(self, chain: Chain, full: bool) -> None:
        """Write a checkpoint with the heads of the other chains; where the segment is full, begin the next."""
        heads = self._others(chain)
        with self._lock:
            before = chain.seq
            if full:
                chain.rotate(heads)
            elif chain.since_checkpoint:
                chain.checkpoint(heads)
            self._written += chain.seq - before
        if full or self._ageing.is_due():
            self._ageing.leave(chain, self._lock, self._copier)
        self._wake.set()

    def _others(self, chain: Chain) -> Heads:
        heads = {}
        for name in chains(self.folder):
            head = read_head(self.folder / name) if name != chain.id else None
            if head is not None:
                heads[name] = (head.seq, head.hash)
        return heads

    def _give_up(self, why: str) -> None:
        """What could not be brought to the disk is lost to those who wait; the next record opens another chain."""
        with self._lock:
            if self._chain is not None:
                self._chain.abandon()
            self._chain = self._live = None
            self._sealed = -1
            with self._done:
                self._lost.append((self._synced, self._written, why))
                self._synced, self._synced_bytes = self._written, self._bytes
                self._limit = self._bytes + self._options.queue_bytes
                self._done.notify_all()

    def shared(self) -> bool:
        """Use this trail once more, for somebody else who will close it, too; false where it is closed already."""
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
        self._hurry.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
        atexit.unregister(self._end)
        why = ""
        if chain is not None and live is None:
            chain.abandon()
        elif chain is not None:
            try:
                full = chain.offset >= self._options.segment_bytes or self._ageing.outlived(chain)
                if full or self._ageing.is_due():
                    self._bind(chain, full)
                chain.close(self._others(chain))
            except OSError as error:
                why = reason(error)
        with self._done:
            if why:
                self._lost.append((self._synced, self._written, why))
            self._synced = self._written
            self._done.notify_all()
        if self._copier is not None:
            self._copier.finish()

    def _forked(self) -> None:
        """In a forked process: the chain is the parent's, and so is the thread."""
        if self._chain is not None:
            self._chain.abandon()
            self._chain = None
        closed = self._closed
        self._fresh()
        self._closed = closed


_open_trails: WeakSet[Trail] = WeakSet()


def _after_fork() -> None:
    for trail in list(_open_trails):
        trail._forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
