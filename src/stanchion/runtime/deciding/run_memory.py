"""What a run keeps between decisions: notices for its agent, what was refused, results so far, and
what it waits for."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import msgspec

from stanchion.audit.journal import Start
from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, RunInfo
from stanchion.kernel.findings import Finding, Isolate, Pause, Retry, Wait
from stanchion.kernel.shown import StanchionError, visible
from stanchion.kernel.stages import Stage
from stanchion.locks import Lock
from stanchion.locks.forks import forks
from stanchion.policy.veil import renamed
from stanchion.runtime.values import Unreadable, project

if TYPE_CHECKING:
    from stanchion.policy.sections import Escalation
    from stanchion.runtime.shield import Shield

MAX_OPEN: Final = 10_000
"""How many judged calls a run remembers until their results are reported; the oldest is forgotten
first."""
MAX_NOTICES: Final = 100
"""How many notices wait for the agent; the oldest is forgotten first."""


class RunNotices:
    """What a run has to say to its agent. Safe to use from several threads."""

    def __init__(self) -> None:
        self._notices: deque[str] = deque(maxlen=MAX_NOTICES)
        self._notes: OrderedDict[str, tuple[str, ...]] = OrderedDict()

    def notice(self, event: Event, finding: Finding) -> None:
        """Keep a warning: for the agent, and for the record of what comes of the call."""
        message, advice = finding.message, finding.advice
        self.tell(f"{message}; {advice}" if advice else message)
        if event.stage is Stage.TOOL_CALL:
            if len(self._notes) >= MAX_OPEN:
                self._notes.popitem(last=False)
            self._notes[event.id] = (*self._notes.get(event.id, ()), message)

    def tell(self, words: str) -> None:
        """Keep words for the agent."""
        self._notices.append(visible(words, lines=True))

    def take_back(self, words: str) -> None:
        """Forget words that the agent has been given in another way."""
        with suppress(ValueError):
            self._notices.remove(visible(words, lines=True))

    def take_notices(self) -> tuple[str, ...]:
        """The words kept for the agent since the last call."""
        return tuple([self._notices.popleft() for _ in range(len(self._notices))])

    def take_notes(self, call: str) -> tuple[str, ...]:
        """The warnings that a call's outcome is annotated with."""
        return self._notes.pop(call, ()) if self._notes else ()


MOST: Final = 32
"""How many a run remembers; the oldest is forgotten first."""


class RefusedAction(NamedTuple):
    """An action, by which guardrail it was refused, and the decision that says so."""

    guardrail: str
    event: Event
    decision: Decision


class RefusedActions:
    """What guardrails have refused a run, by the id of the decision."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: OrderedDict[str, RefusedAction] = OrderedDict()

    def enter(self, one: RefusedAction) -> None:
        """Remember one."""
        with self._lock:
            if len(self._known) >= MOST:
                self._known.popitem(last=False)
            self._known[one.decision.id] = one

    def find(self, guardrail: str, call: str | None) -> RefusedAction | None:
        """The one that a guardrail refused last, or that of a decision; `None` where there is
        none."""
        with self._lock:
            fits = [one for one in self._known.values() if one.guardrail == guardrail]
        if call is not None:
            fits = [one for one in fits if call in (one.decision.id, one.event.call)]
        return fits[-1] if fits else None


MAX_CHUNKS: Final = 10_000
MAX_BYTES: Final = 10 * 1024 * 1024


class PartialOverflow(StanchionError):
    """There is no more room for partial results; `kept` is what has been kept until now."""

    def __init__(self, message: str, kept: tuple[Any, ...]) -> None:
        super().__init__(message)
        self.kept = kept


class PartialResults:
    """Chunks in the order they were produced, at most so many and so large. Safe to use from
    several threads."""

    def __init__(self, max_chunks: int = MAX_CHUNKS, max_bytes: int = MAX_BYTES) -> None:
        if max_chunks < 1 or max_bytes < 1:
            raise ValueError(
                "partial results need space: give a `max_chunks` and a `max_bytes` of at least 1"
            )
        self.max_chunks, self.max_bytes = max_chunks, max_bytes
        self.size_bytes = 0
        self.left_out = 0
        """How many chunks found no room."""
        self.completed = False
        self._chunks: list[Any] = []
        self._lock = Lock()

    def append(self, chunk: Any) -> None:
        """Keep a chunk, as plain data. Raises `PartialOverflow` where there is no room,
        `ValueError` once complete."""
        with self._lock:
            if self.completed:
                raise ValueError(
                    "these partial results are complete: start new ones with another run"
                )
            if not self._keep(chunk):
                full = (
                    f"{len(self._chunks):,} chunks and {self.size_bytes:,} bytes are kept, and "
                    f"there is no room "
                    "for more"
                )
                raise PartialOverflow(
                    f"{full}: at most {self.max_chunks:,} and {self.max_bytes:,}",
                    tuple(self._chunks),
                )

    def offer(self, chunk: Any) -> bool:
        """Keep a chunk if there is room; otherwise it is counted, and work goes on."""
        with self._lock:
            kept = not self.completed and self._keep(chunk)
            self.left_out += not kept
            return kept

    def _keep(self, chunk: Any) -> bool:
        try:
            shown = project(chunk)
            size = len(
                shown.encode("utf-8", "surrogatepass")
                if type(shown) is str
                else msgspec.json.encode(shown)
            )
        except Unreadable:
            return False
        if len(self._chunks) >= self.max_chunks or self.size_bytes + size > self.max_bytes:
            return False
        self._chunks.append(shown)
        self.size_bytes += size
        return True

    def complete(self) -> None:
        """Say that nothing more comes."""
        with self._lock:
            self.completed = True

    @property
    def chunks(self) -> tuple[Any, ...]:
        """What is kept, oldest first."""
        with self._lock:
            return tuple(self._chunks)

    @property
    def text(self) -> str:
        """The texts among the chunks, joined."""
        return "".join([chunk for chunk in self.chunks if isinstance(chunk, str)])

    def __len__(self) -> int:
        return len(self._chunks)


Named = TypeVar("Named", Wait, Retry, Isolate)


def terms_of(decision: Decision, default: Named) -> Named:
    """The terms of the determining finding, or the defaults where it has none of that kind."""
    determining = decision.determining
    terms = None if determining is None else determining.terms
    return terms if isinstance(terms, type(default)) else default


def paused(decision: Decision, usual: Escalation) -> Escalation:
    """On what terms a decision waits for a person: those of its determining finding, or else the
    policy's."""
    pause = None if decision.determining is None else decision.determining.terms
    if not isinstance(pause, Pause):
        return usual
    roles = pause.roles if pause.roles else usual.roles
    return msgspec.structs.replace(usual, roles=roles, timeout_s=max(1, pause.timeout_ms) / 1_000)


def question(decision: Decision) -> str:
    """What a person is asked, in words for them."""
    pause = None if decision.determining is None else decision.determining.terms
    return pause.prompt if isinstance(pause, Pause) and pause.prompt else decision.message


_ACTIONS: Final = tuple(Action)


class Beginning:
    """When a run began. A process that goes on with it says so, instead of beginning it anew."""

    def __init__(self, shield: Shield) -> None:
        self._shield = shield
        self._made, self._forks = shield.clock(), forks()
        self._began = 0

    def announce(self, run: RunInfo, deadline_at_ms: int | None) -> None:
        """Write down that the run begins, or goes on."""
        shield = self._shield
        now, policy = shield.clock(), shield.policy
        if not self._began and self._forks != forks():
            # Another process may have gone on with it already, and says that it began then.
            self._began = self._made
        who = renamed(run, policy.veil.of_run(run))
        begun = Start(
            who,
            now,
            policy.hash,
            shield.origin,
            shield.env,
            deadline_at_ms,
            self._began,
            policy.tools_digest,
        )
        shield.journal.begin(begun)
        self._began = self._began if self._began else now


def counts() -> list[Iterator[int]]:
    """What counts decisions by their action: each is one `next`, which no lock has to be around.
    Asked for a count, it counts once more."""
    return [count() for _ in _ACTIONS]
