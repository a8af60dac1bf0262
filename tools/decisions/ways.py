"""Ways of playing a case: in memory, on disk, async, through a broker, with answered tickets."""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, TypeVar
from zlib import crc32

import msgspec

from stanchion import Shield
from stanchion.audit.options import Options
from stanchion.audit.trail import Trail
from stanchion.ops.broker.peers import Admission
from stanchion.ops.broker.premises import listening
from stanchion.ops.broker.server import Broker
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.stores.sqlite.store import SqliteStore
from stanchion.testing import FakeClock
from tools.decisions.case import Call, Case, Judge
from tools.decisions.telling import Told, of_trail
from tools.decisions.writing import Written

SHARE: Final = 10
"""Of how many cases one is played in every way that fits it."""
QUICK: Final = "/dev/shm"
STILL: Final = Options(checkpoint_s=1e9, head_ms=1e12)
"""A trail that writes nothing by the time of day."""

T = TypeVar("T")


class Place(msgspec.Struct, frozen=True):
    """Where a case is played: its store, and what tells at the end of what lies on the disk."""

    store: Store
    leave: Callable[[], list[Told]] = list


class Way(msgspec.Struct, frozen=True):
    """A way of playing a case. Its caller must get the `same` as plainly; what is written down is
    compared where it `writes`, what telemetry `counts` where it does, and with `answers` a person
    answers whatever waits for one."""

    name: str
    open: Callable[[ExitStack, FakeClock, Written], Place]
    reach: Callable[[ExitStack, Shield], Callable[..., Any]]
    fits: Callable[[Case], bool] = lambda _case: True
    same: bool = True
    writes: bool = True
    counts: bool = False
    answers: bool = False

    def names(self, case: str) -> str:
        """The name of a case that is played in this way."""
        return f"{case} [{self.name}]" if self.name else case


def choose_ways(case: Case) -> list[Way]:
    """The further ways in which a case is played: none for most."""
    # Other digits of the hash than those that choose a part: a part has cases of both kinds.
    chosen = (crc32(case.name.encode()) >> 13) % SHARE == 0
    return [way for way in WAYS if chosen and way.fits(case)]


def _use_memory(_life: ExitStack, clock: FakeClock, _written: Written) -> Place:
    return Place(MemoryStore(clock))


def _make_folder(life: ExitStack) -> Path:
    """A folder while the case is played; in memory where it can be: nobody waits for a disk."""
    within = QUICK if os.access(QUICK, os.W_OK) else None
    made = tempfile.TemporaryDirectory(prefix="stanchion-way-", dir=within)
    return Path(life.enter_context(made))


def _use_disk(life: ExitStack, clock: FakeClock, written: Written) -> Place:
    """A store and a trail in files. What a trail draws at random otherwise is fixed."""
    folder = _make_folder(life)
    names = iter([f"{number:016x}" for number in range(100)])
    written.also = Trail(
        folder / "trail",
        STILL,
        clock,
        names=lambda: next(names),
        process=lambda: 1,
        secret=lambda: bytes(32),
    )
    life.callback(written.close)
    return Place(SqliteStore(folder / "state.db", clock), lambda: of_trail(folder / "trail"))


def _begin_here(_life: ExitStack, shield: Shield) -> Callable[..., Any]:
    return shield.run


class Awaited:
    """A run whose async methods are driven on a loop, each until it is done."""

    def __init__(self, run: Any, wait: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        self._run, self._wait = run, wait
        self.ticket, self.notices = run.ticket, run.notices

    def judge(self, stage: str, **fields: Any) -> Any:
        """Judge an event."""
        return self._wait(self._run.ajudge(stage, **fields))

    def call(self, tool: Any, **arguments: Any) -> Any:
        """Call a tool."""
        return self._wait(self._run.acall(tool, **arguments))

    def model(self, fn: Any, messages: Any, model: str) -> Any:
        """Call a model."""
        return self._wait(self._run.amodel(fn, messages, model=model))

    def stream(self, pieces: Sequence[str], channel: str, final: bool | None) -> Iterator[str]:
        """Pass a stream on."""
        passed = aiter(self._run.astream(_come(pieces), channel, final=final))
        while (piece := self._wait(_next(passed))) is not None:
            yield piece


async def _come(pieces: Sequence[str]) -> AsyncIterator[str]:
    for piece in pieces:
        yield piece


async def _next(passed: AsyncIterator[str]) -> str | None:
    return await anext(passed, None)


def _begin_awaited(life: ExitStack, shield: Shield) -> Callable[..., Any]:
    wait = life.enter_context(asyncio.Runner()).run
    return lambda **about: Awaited(shield.run(**about), wait)


def _begin_far(life: ExitStack, shield: Shield) -> Callable[..., Any]:
    """Runs of a broker in a thread of this process."""
    folder = _make_folder(life)
    listener = life.enter_context(listening(folder / "b.sock"))
    admission = Admission({os.getuid(): "default"}, {})
    broker = Broker(shield, admission, bytes(32), lambda _: None, witnesses=folder / "witnesses")
    thread = threading.Thread(target=broker.serve, args=(listener,))
    thread.start()
    life.callback(thread.join)
    life.callback(broker.stop)
    far = life.enter_context(Shield.load(f"broker:{folder / 'b.sock'}"))
    begin, ids = shield.run, []

    def begin_far(id: str, **about: Any) -> Any:
        ids.append(id)
        return far.run(**about)

    # A broker draws the ids of its runs, and some words name them.
    far_shield: Any = shield
    far_shield.run = lambda *who, **about: begin(*who, id=ids.pop(), **about)
    return begin_far


def _can_be_far(case: Case) -> bool:
    """Whether a broker can be asked all of it: it has no streams, no models, own tenants."""
    known = {"id", "agent", "task", "role", "tools", "can"}
    named = {name for about in case.runs.values() for name, value in about.items() if value}
    return named <= known and all(isinstance(step, Judge | Call) for step in case.steps)


def _waits_for_nobody(case: Case) -> bool:
    """Whether only events are judged: a call through a run would wait for its answer."""
    return all(isinstance(step, Judge) for step in case.steps)


PLAIN: Final = Way("", _use_memory, _begin_here)
WAYS: Final = (
    Way("disk", _use_disk, _begin_here, counts=True),
    Way("async", _use_memory, _begin_awaited, counts=True),
    Way("broker", _use_memory, _begin_far, _can_be_far, writes=False),
    Way("answered", _use_memory, _begin_here, _waits_for_nobody, same=False, answers=True),
)
