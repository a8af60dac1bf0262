"""Ways of deciding: a session is played through each of two, and all that can be seen of it has to
be the same.

A way is whatever plays a session and gives what is `Seen` of it. The engine is one for each driver,
store and journal. Another path of the runtime becomes a way by one line in `PAIRS` of
`test_two_ways.py`:

    Pair(ENGINE, Engine("another path", around=PATH)),

where `PATH()` is a context manager inside of which shields take that path. It is entered before the
shield is made and left when everything is told, so it may also put a wrong thing into the runtime's
place: by that `wrong_ways.py` shows that the comparison bites. Clock, ids, chance, addresses, and
the key and salts of the trail are the same in all ways, and so is what befalls a session
(`befalling.py`).
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, Protocol

import msgspec

from stanchion import Refused, Shield
from stanchion.audit.journal import MemoryJournal
from stanchion.audit.keys import SharedKey
from stanchion.audit.options import Options
from stanchion.audit.trail import Trail
from stanchion.kernel.decision import Decision
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import load_policy
from stanchion.runtime.calling.tool import Tool
from stanchion.runtime.run import Run
from stanchion.runtime.standing.veil import veil_store
from stanchion.stores.memory import MemoryStore
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import FakeClock
from tests.decisions.befalling import Befalling, Turns
from tests.decisions.seen import (
    CHAIN,
    Answer,
    Seen,
    spell,
    spell_decision,
    spell_figures,
    spell_records,
    spell_state,
)
from tools.decisions.case import Call, Case, Judge, Model, Step, Stream

KEY: Final = b"a key of thirty-two bytes, fixed"
"""What seals the trail, and what its salts are made of."""
FAR_S: Final = 1e6
"""The trail's own thread seals and binds by the wall clock: never in a session."""


class Session(msgspec.Struct, frozen=True):
    """A case, and what befalls it from outside.

    With `turns` each run works in a thread of its own; when the one at work comes to the store, the
    next of the list goes on. `struck` numbers the batch, or below zero the record, at which an
    error is raised, with `after` when it was carried out: an interrupt, or what neither a store nor
    a journal has a word for. With `close` runs are closed at the end.
    """

    case: Case
    turns: tuple[str, ...] = ()
    struck: int = 0
    error: Literal["KeyboardInterrupt", "ValueError"] = "KeyboardInterrupt"
    after: bool = False
    close: bool = False


class Way(Protocol):
    """One way of deciding."""

    @property
    def name(self) -> str:
        """What it is called where it differs."""

    def play(self, session: Session, place: Path) -> Seen:
        """Play a session with files in an empty folder, and give all that can be seen of it."""


class Engine(msgspec.Struct, frozen=True):
    """The engine by one of its drivers, on one of its stores, with one of its journals."""

    name: str
    driver: Literal["thread", "loop"] = "thread"
    store: Literal["memory", "sqlite"] = "memory"
    journal: Literal["memory", "trail"] = "memory"
    around: Callable[[], AbstractContextManager[object]] = nullcontext

    def play(self, session: Session, place: Path) -> Seen:
        """Play a session on a shield of its own; of a policy that is refused the reason is seen."""
        try:
            return self._play(session, place)
        except PolicyError as error:
            why = (spell(str(error)),)
            return Seen(why, why, (), (), (), (), ())

    def _play(self, session: Session, place: Path) -> Seen:
        case, clock, ids = session.case, FakeClock(), itertools.count(1)
        with ExitStack() as stack:
            stack.enter_context(self.around())
            file, lasts = place / "s.db", self.store == "sqlite"
            store: Any = SqliteStore(file, clock) if lasts else MemoryStore(clock)
            journal = MemoryJournal() if self.journal == "memory" else _open_trail(place, clock)
            shield = Shield(
                _load(spell(case.policy)),
                store=store,
                journal=journal,
                clock=clock,
                awake_ns=lambda: clock() * 1_000_000,
                nonces=lambda: f"n{next(ids)}",
                chance=lambda: 0.5,
                safe_mode=case.safe_mode,
                resolver=lambda host, _port: case.addresses.get(host, ()),
                metrics=True,
            )
            if case.tools:
                shield.ingest(list(case.tools))
            told = {name: {"id": f"run-{name}", **about} for name, about in case.runs.items()}
            runs = {name: shield.run(**about) for name, about in told.items()}
            turns = Turns(session.turns, list(runs)) if session.turns else None
            struck, error = session.struck, ERRORS[session.error]
            befalling = Befalling(case.lost, struck, error, session.after, turns)
            befalling.stand_before(store, journal)
            befalling.on = True
            given = self._act(runs, case.steps, clock, turns)
            befalling.on = False
            notices = [spell([name, *run.notices()]) for name, run in runs.items()]
            for run in runs.values() if session.close else ():
                run.close()
            figures = spell_figures(shield.telemetry.collect())
            # It tells the store and the journal what they have yet to be told, and closes them.
            shield.close()
            # A file has a digest for a secret in a name: it is read as the name again.
            kept = veil_store(SqliteStore(file, clock, reading=True), shield) if lasts else store
            state, pages = spell_state(kept)
            kept.close()
        verdicts, wholes = (
            tuple([one.verdict for one in given]),
            tuple([one.whole for one in given]),
        )
        records = spell_records(journal, place / "trail")
        return Seen(verdicts, wholes, records, state, pages, figures, tuple(notices))

    def _act(
        self,
        runs: Runs,
        steps: Iterable[Step],
        clock: FakeClock,
        turns: Turns | None,
    ) -> list[Answer]:
        """What callers get: step by step, or of each run in its thread."""
        driver = _drive_by_thread if self.driver == "thread" else _drive_by_loop
        if turns is None:
            with driver() as ask:
                return list(_perform(runs, steps, clock, ask))

        def work(name: str) -> list[Answer]:
            with turns.at_work(name), driver() as ask:
                own = [step for step in steps if step.run == name]
                return list(_perform(runs, own, clock, ask))

        with ThreadPoolExecutor(len(runs)) as threads:
            return list(itertools.chain(*threads.map(work, runs)))


ENGINE: Final = Engine("engine")
Runs = dict[str, Run]
Ask = Callable[..., Any]
"""Calls a method of a run by its name, or the twin of it."""


@cache
def _load(source: bytes) -> CompiledPolicy:
    return load_policy(json.loads(source))


def _open_trail(place: Path, clock: FakeClock) -> Trail:
    options = Options(key=SharedKey(KEY), head_ms=FAR_S * 1000, checkpoint_s=FAR_S)
    return Trail(place / "trail", options, clock, lambda: CHAIN, lambda: 1, None, lambda: KEY)


@contextmanager
def _drive_by_thread() -> Iterator[Ask]:
    """The sync driver."""

    def ask(run: Run, name: str, /, *args: Any, **named: Any) -> Any:
        if name != "stream":
            return getattr(run, name)(*args, **named)
        passed: list[Any] = []
        try:
            passed.extend(run.stream(*args, **named))
        except Refused as refused:
            return [*passed, str(refused)]
        return passed

    yield ask


@contextmanager
def _drive_by_loop() -> Iterator[Ask]:
    """The async driver, on a loop that goes on where an interrupt has stopped it."""
    loop = asyncio.new_event_loop()

    async def collect(run: Run, pieces: tuple[str, ...], /, *args: Any, **named: Any) -> list[Any]:
        async def come() -> AsyncIterator[str]:
            for piece in pieces:
                yield piece

        passed: list[Any] = []
        try:
            async for piece in run.astream(come(), *args, **named):
                passed.append(piece)
        except Refused as refused:
            return [*passed, str(refused)]
        return passed

    def ask(run: Run, name: str, /, *args: Any, **named: Any) -> Any:
        if name == "stream":
            return loop.run_until_complete(collect(run, *args, **named))
        return loop.run_until_complete(getattr(run, f"a{name}")(*args, **named))

    try:
        yield ask
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def _perform(runs: Runs, steps: Iterable[Step], clock: FakeClock, ask: Ask) -> Iterator[Answer]:
    """What the caller of each step gets: a decision, a value, or what is raised."""
    calls: dict[tuple[str, str], str] = {}
    for step in steps:
        clock.advance(step.advance_ms)
        try:
            yield _take_step(runs[step.run], step, calls, ask)
        except Refused as refused:
            by, said = spell_decision(refused.decision), spell([str(refused), refused.ticket])
            yield Answer(said + by.verdict, said + by.whole)
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - it is compared, too
            said = spell([type(error).__name__, str(error)])
            yield Answer(said, said)


def _take_step(run: Run, step: Step, calls: dict[tuple[str, str], str], ask: Ask) -> Answer:
    value = b""
    match step:
        case Judge(stage, fields):
            tool = str(fields.get("tool", ""))
            call = calls.get((step.run, tool), "") if step.of_call else ""
            about = {"call": call} if call else {}
            decision: Decision
            if stage == "tool_call" and fields.keys() == {"tool", "args"}:
                decision = ask(run, "check", fields["tool"], fields["args"])
            elif stage == "tool_result" and fields.keys() == {"tool", "args", "result"}:
                given = fields["tool"], fields["args"], fields["result"]
                decision = ask(run, "result", *given, **about)
            else:
                decision = ask(run, "judge", stage, **fields, **about)
            if stage == "tool_call":
                calls[step.run, tool] = decision.id
            return spell_decision(decision)
        case Call(tool, args, answers):
            value = spell(ask(run, "call", _script_tool(tool, answers), **args))
        case Stream(pieces, channel, final):
            value = spell(ask(run, "stream", pieces, channel, final=final))
        case Model(messages, replies, model):
            said = itertools.chain(replies, itertools.repeat(replies[-1]))
            reply = ask(run, "model", lambda _messages, **_: next(said), messages, model=model)
            value = spell(reply)
    return Answer(value, value)


ERRORS: Final[dict[str, type[BaseException]]] = {
    each.__name__: each for each in (ConnectionError, TimeoutError, ValueError, KeyboardInterrupt)
}
"""How tools of sessions fail, and what strikes them."""


def _script_tool(name: str, answers: tuple[dict[str, Any], ...]) -> Tool:
    """A tool that gives its answers in turn, the last one again and again."""
    turns = itertools.chain(answers, itertools.repeat(answers[-1]))

    def answer(**_arguments: Any) -> Any:
        turn = next(turns)
        if "error" in turn:
            raise ERRORS.get(turn["error"], RuntimeError)(turn.get("text", ""))
        return turn["result"]

    return Tool(answer, name)
