"""The keeper: takes outcomes in beside the way of every call, and brings them to each tier in
batches."""

from __future__ import annotations

import atexit
import contextlib
import os
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from stanchion.audit.marks import Waking
from stanchion.experience.bounded import encoded, fingerprint
from stanchion.experience.incident import DAY_MS, Incident, new_id
from stanchion.experience.session import OfTool, Session
from stanchion.experience.shelf import Shelf, ShelfError
from stanchion.experience.tally import Known, Tally
from stanchion.kernel.events import Event, Failure, RunInfo, ToolResult
from stanchion.kernel.faults import FAILED
from stanchion.kernel.tuples import NamedTuple
from stanchion.locks import Lock
from stanchion.locks.forks import tell_of_forks
from stanchion.runtime.learning.shelves import place_of, shelf_of
from stanchion.telemetry import loggers
from stanchion.telemetry.catalogue import EXPERIENCE_DROPPED, EXPERIENCE_WRITTEN

if TYPE_CHECKING:
    from stanchion.kernel.chain import Plans
    from stanchion.kernel.decision import Decision
    from stanchion.runtime.shield import Shield

MOST_TOOLS: Final = 4_096
"""How many tools are known, of all tenants; the one that was used longest ago is forgotten
first."""
NEVER: Final = -1

Name = tuple[str, str, str]
"""Where the store is, the tenant and the tool."""


class ReadTool:
    """What is known of one tool, and when it was last read from the store."""

    __slots__ = ("known", "read_ms")

    def __init__(self, known: Known, read_ms: int = NEVER) -> None:
        self.known, self.read_ms = known, read_ms


class ProcessTier:
    """Knows tools by store, tenant and name. Shields on the same store share it, tenants never
    do."""

    def __init__(self, most: int = MOST_TOOLS) -> None:
        self._most = most
        self._lock = Lock()
        self._entries: OrderedDict[Name, ReadTool] = OrderedDict()
        tell_of_forks(self)

    def forked(self) -> None:
        """In a forked process: nobody is left who could hold the lock."""
        self._lock = Lock()

    def add(self, place: str, one: Incident) -> None:
        """Learn from one incident."""
        name = (place, one.tenant, one.tool_name)
        with self._lock:
            before = self._entries.get(name)
            entry = ReadTool(Known()) if before is None else before
            self._put(name, ReadTool(entry.known.plus(one), entry.read_ms))

    def put(self, place: str, tenant: str, tool: str, known: Known, read_ms: int) -> None:
        """Take over what the store knows."""
        with self._lock:
            self._put((place, tenant, tool), ReadTool(known, read_ms))

    def get(self, place: str, tenant: str, tool: str) -> ReadTool | None:
        """What is known of a tool."""
        with self._lock:
            name = (place, tenant, tool)
            if name in self._entries:
                self._entries.move_to_end(name)
            return self._entries.get(name)

    def __len__(self) -> int:
        return len(self._entries)

    def _put(self, name: Name, entry: ReadTool) -> None:
        self._entries[name] = entry
        self._entries.move_to_end(name)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)


PROCESS: Final = ProcessTier()


BATCH: Final = 200
"""How many incidents go to the store at a time, at the most."""
MOST_WAITING: Final = 4_096
"""How many outcomes wait at the most, before and after they are redacted; what comes beyond that is
dropped."""
FLUSH_S: Final = 0.5
"""How long an outcome waits for others before they go together."""
IDLE_S: Final = 5.0
"""How long the thread waits for more before it ends; and after which time a store that failed is
tried again."""
REFRESH_MS: Final = 60_000
"""How old what was read from the store may be: within that time what other processes learn is known
here."""
PATIENCE_S: Final = 0.25
"""How long one who asks waits for those who write."""
MOST_SESSIONS: Final = 1_024
"""How many runs have a session at a time; the one that was used longest ago ends first."""


class JudgedOutcome(NamedTuple):
    """What came of a call, as it was judged: nothing is read of it on the way of the call."""

    event: ToolResult | Failure
    plans: Plans
    proceeds: bool
    hint: str = ""


class EndedRun(NamedTuple):
    """A run has ended."""

    run: RunInfo
    plans: Plans


class Keeper:
    """Keeps the experience of a shield. Its thread is there while there is something to do, and
    nobody waits for it."""

    def __init__(self, shield: Shield) -> None:
        self._clock: Final = shield.clock
        self._count: Final[Callable[..., None]] = shield.telemetry.count
        self._store: Final = shield.store
        self._place = place_of(shield.store)
        self._given: Shelf | None = None
        self._begin()
        tell_of_forks(self)
        _OPEN.add(self)

    def _begin(self) -> None:
        self._waiting: deque[JudgedOutcome | EndedRun] = deque()
        self._failing: set[tuple[str, str]] = set()
        """Runs and tools of which a failure waits."""
        self._owed: deque[Incident] = deque()
        self._unread: dict[tuple[str, str], None] = {}
        self._sessions: OrderedDict[tuple[str, str], Session] = OrderedDict()
        self._hints: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._digesting, self._writing = Lock(), Lock()
        self._shelf: Shelf | None = self._given
        self._waking: Waking | None = None
        self._trouble = ""
        self._taking = self._closed = False

    def forked(self) -> None:
        """In a forked process: what waits is the parent's, and it writes it."""
        closed = self._closed
        self._begin()
        self._closed = closed

    def heard(self, event: Event, plans: Plans, decision: Decision) -> None:
        """Take an outcome in. This is on the way of every call: it is only put aside."""
        if type(event) is ToolResult:
            if FAILED in event.traits or event.part > 1:
                return
        elif type(event) is not Failure or not event.tool:
            return
        if len(self._waiting) >= MOST_WAITING or self._closed:
            self._count(EXPERIENCE_DROPPED)
            return
        if type(event) is Failure:
            self._failing.add((event.run.id, event.tool))
        hint = (
            self._hints.pop((event.run.id, event.call if event.call else event.tool), "")
            if self._hints
            else ""
        )
        self._waiting.append(JudgedOutcome(event, plans, decision.proceeds, hint))
        self._wake(len(self._waiting) >= BATCH)

    def meant(self, run: str, about: str, hint: str) -> None:
        """Keep what the next outcome was meant for as its `context_hint`, in the place of the run's
        task. `about` is the id of its call, or the name of its tool where it names no call."""
        self._hints[run, about] = hint
        if len(self._hints) > MOST_WAITING:
            self._hints.popitem(last=False)

    def keep_on(self, shelf: Shelf) -> None:
        """Keep experience on a shelf of the program's own from now on, and close it at the end.
        What is known so far is left where it is."""
        self.flush()
        with self._writing:
            before, self._given, self._shelf = self._shelf, shelf, shelf
            self._place = place_of(shelf)
        if before is not None:
            before.close()

    def shelf(self) -> Shelf:
        """The shelf with all that was reported so far, as far as it takes it."""
        self.flush()
        with self._writing:
            return self._shelved()

    def ended(self, run: RunInfo, plans: Plans) -> None:
        """A run has ended: what it met goes to the store at once, and its session is forgotten
        after that."""
        if self._waiting or self._sessions:
            self._waiting.append(EndedRun(run, plans))
            self._wake(at_once=True)

    def flush(self) -> bool:
        """Bring all that waits to its tiers; says whether nothing is left."""
        with self._writing:
            self._digest()
            done = self._write()
            if done:
                self._learn()
            return done

    def session(self, tenant: str, run: str, tool: str) -> OfTool:
        """What a run has met with a tool."""
        self._digest()
        session = self._sessions.get((tenant, run))
        return OfTool() if session is None else session.of(tool)

    def tools(self, tenant: str, run: str) -> tuple[str, ...]:
        """The tools that a run has used, the one that was used last at the end."""
        self._digest()
        session = self._sessions.get((tenant, run))
        return () if session is None else session.tools()

    def failing(self, run: RunInfo, plans: Plans, tool: str) -> bool:
        """Whether a tool has failed in a run since it last worked, as far as can be said at once: a
        success that waits is not counted yet, a failure that waits is."""
        if (run.id, tool) in self._failing:
            return True
        from stanchion.runtime.learning.redacted import kept_name

        session = self._sessions.get((kept_name(plans, run.tenant), kept_name(plans, run.id)))
        return session is not None and session.of(kept_name(plans, tool)).in_a_row > 0

    def at_hand(self, tier: str, tenant: str, tool: str, lately: bool = True) -> Known | None:
        """What is known of a tool without asking the store; `None` where the store has to be asked.
        Without `lately`, what waits is not counted, so that nobody has to redact it now."""
        if lately:
            self._digest()
        if tier == "session":
            return self._of_sessions(tenant, tool)
        if tier == "process":
            return self.own(tenant, tool)
        entry = PROCESS.get(self._place, tenant, tool)
        fresh = (
            entry is not None
            and entry.read_ms != NEVER
            and self._clock() - entry.read_ms < REFRESH_MS
        )
        return entry.known if entry is not None and fresh else None

    def asked(self, tenant: str, tool: str) -> Known:
        """What is known of a tool, with what the store knows of it; `ShelfError` where it cannot be
        asked, or somebody has been writing to it all the while. What waits counts beside it: nobody
        waits until it is written."""
        self._digest()
        with self._writing.within(PATIENCE_S) as held:
            if not held:
                raise ShelfError(f"experience is being written for longer than {PATIENCE_S} s")
            return self._read(tenant, tool)

    def settled(self, tenant: str, tool: str) -> Known:
        """What is known of a tool when all that waits has been brought to the store. It is for a
        program's own question, which waits for those who write as long as they take; `ShelfError`
        where the store cannot be read."""
        with self._writing:
            self._digest()
            self._write()
            return self._read(tenant, tool)

    def own(self, tenant: str, tool: str) -> Known:
        """What this process knows of a tool by itself."""
        entry = PROCESS.get(self._place, tenant, tool)
        return Known() if entry is None else entry.known

    def close(self) -> None:
        """Bring what waits to the store, and let go of it; what it does not take then is lost, and
        counted."""
        if self._closed:
            return
        self._closed = True
        _OPEN.discard(self)
        waking = self._waking
        if waking is not None:
            waking.at_once()
        if not self.flush():
            for _ in range(len(self._owed)):
                self._count(EXPERIENCE_DROPPED)
        with self._writing:
            shelf, self._shelf = self._shelf, None
        if shelf is not None:
            shelf.close()

    def _wake(self, at_once: bool) -> None:
        waking = self._waking
        if waking is None:
            waking = self._waking = Waking()
            waking.start(self._work)
        if at_once:
            waking.at_once()
        else:
            waking.soon()

    def _work(self) -> None:
        """Flush as long as something comes. Who puts something aside looks for the thread
        afterwards, and the thread looks for what waits after it has said that it ends."""
        waking = self._waking
        while waking is not None and not self._closed:
            waking.sleep(IDLE_S, FLUSH_S, lambda: self._closed)
            left = bool(self._waiting)
            if not self._closed:
                self._try_to_flush()
            if not left and not self._owed:
                self._waking = None
                if self._waiting:
                    self._wake(at_once=False)
                return

    def _try_to_flush(self) -> None:
        try:
            self.flush()
        except Exception as error:  # noqa: BLE001 - whatever a shelf raises, the thread goes on
            self._say("experience cannot be written, and is tried again", error)

    def _digest(self) -> None:
        """Redact what waits, and count it in the run and in the process. What another thread is at
        is waited for: half of it is counted."""
        if not self._waiting and not self._taking:
            return
        with self._digesting:
            self._taking = True
            try:
                while self._waiting:
                    self._try_to_take()
            finally:
                self._taking = False

    def _try_to_take(self) -> None:
        try:
            self._take(self._waiting.popleft())
        except Exception as error:  # noqa: BLE001 - what cannot be read is not kept, and nobody else suffers
            self._count(EXPERIENCE_DROPPED)
            self._say("an outcome could not be kept", error)

    def _take(self, outcome: JudgedOutcome | EndedRun) -> None:
        from stanchion.runtime.learning.redacted import kept_name, kept_outcome

        if isinstance(outcome, EndedRun):
            ended, plans = outcome
            self._sessions.pop((kept_name(plans, ended.tenant), kept_name(plans, ended.id)), None)
            return
        event, plans, proceeds, meant = outcome
        policy: Any = plans.policy
        tier: str = policy.file.experience.tier
        name, run = kept_name(plans, event.tool), kept_name(plans, event.run.id)
        tenant = kept_name(plans, event.run.tenant)
        args, whole, reason, hint = kept_outcome(plans, event, meant if meant else event.run.task)
        success = type(event) is ToolResult
        good = success and whole and proceeds
        self._session(tenant, run).met(name, success, reason, args if good or not success else None)
        self._failing.discard((event.run.id, event.tool))
        if tier not in ("process", "persistent"):
            return
        data = encoded(args)
        one = Incident(
            new_id(event.at, os.urandom(10)), tenant, run, name, fingerprint(name, data), success,
            event.at, reason, hint, data, good,
        )  # fmt: skip
        PROCESS.add(self._place, one)
        if tier == "persistent":
            self._owed.append(one)
            if len(self._owed) > MOST_WAITING:
                self._owed.popleft()
                self._count(EXPERIENCE_DROPPED)

    def _session(self, tenant: str, run: str) -> Session:
        session = self._sessions.get((tenant, run))
        if session is None:
            if len(self._sessions) >= MOST_SESSIONS:
                self._sessions.popitem(last=False)
            session = self._sessions[tenant, run] = Session()
        return session

    def _of_sessions(self, tenant: str, tool: str) -> Known:
        met = [
            session.of(tool)
            for (whose, _), session in list(self._sessions.items())
            if whose == tenant
        ]
        good, bad = sum([one.successes for one in met]), sum([one.failures for one in met])
        return Known(Tally().plus(good, bad, self._clock() // DAY_MS) if met else Tally())

    def _write(self) -> bool:
        while self._owed:
            batch = list(self._owed)[:BATCH]
            try:
                self._shelved().write(batch)
            except ShelfError as error:
                self._say("experience cannot be written, and is tried again", error)
                return False
            self._trouble = ""
            for _ in batch:
                self._count(EXPERIENCE_WRITTEN)
                self._owed.popleft()
            self._unread |= dict.fromkeys([(one.tenant, one.tool_name) for one in batch])
        return True

    def _learn(self) -> None:
        """Read what the store knows of the tools that were just written, so that nobody has to wait
        for it."""
        unread, self._unread = self._unread, {}
        for tenant, tool in unread:
            if self.at_hand("persistent", tenant, tool) is None:
                try:
                    self._read(tenant, tool)
                except ShelfError as error:
                    self._say("experience cannot be read", error)
                    return

    def _read(self, tenant: str, tool: str) -> Known:
        """Take over what the store knows of a tool. What was redacted meanwhile and is not written
        counts beside it."""
        now = self._clock()
        known = self._shelved().known(tenant, tool, now // DAY_MS)
        with self._digesting:
            for one in self._owed:
                if (one.tenant, one.tool_name) == (tenant, tool):
                    known = known.plus(one)
            PROCESS.put(self._place, tenant, tool, known, now)
        return known

    def _shelved(self) -> Shelf:
        if self._shelf is None:
            self._shelf = shelf_of(self._store)
        return self._shelf

    def _say(self, what: str, error: Exception) -> None:
        """Say once what is wrong, until it is over."""
        said = (
            f"{what}: {error}"
            if isinstance(error, ShelfError)
            else f"{what}: {type(error).__name__}"
        )
        if said != self._trouble:
            self._trouble = said
            loggers.say(loggers.TELEMETRY, loggers.WARNING, what, why=said)


_OPEN: Final[WeakSet[Keeper]] = WeakSet()
"""Those that are not closed."""


def _at_exit() -> None:
    """Bring to its store what waits at the end of a program that has closed nothing. Each store is
    tried once."""
    for keeper in list(_OPEN):
        with contextlib.suppress(Exception):
            keeper.flush()


atexit.register(_at_exit)
