"""Where the time of a call and of its result goes, through each dialect: by part of Stanchion, in
microseconds."""

from __future__ import annotations

import asyncio
import dis
import functools
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from inspect import iscoroutinefunction
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from time import thread_time_ns
from types import CodeType, FrameType
from typing import Any, Final

import stanchion
from stanchion_lab.bench.packs.pack import at_home
from stanchion_lab.bench.packs.sessions import Session
from stanchion_lab.bench.peers import worker
from stanchion_lab.bench.peers.library import DISK, MEMORY
from stanchion_lab.bench.peers.ours import OURS, Storage
from stanchion_lab.bench.peers.repeated import repeated, told, warming
from stanchion_lab.bench.table import Effort, Row, Section

CALL, RESULT = "call", "result"
EVERY_S: Final = 0.0005
"""How often it is looked where the program is."""
HOME: Final = f"{Path(stanchion.__file__).parent}/"
LEAST: Final = 0.02
"""What takes less than this share of a call stands under `else`."""


class Sampler:
    """Looks every half millisecond which part of Stanchion the program is in, while `phase` says
    what it does."""

    def __init__(self) -> None:
        self.phase = ""
        self._used = 0
        self.seen: dict[str, Counter[str]] = {CALL: Counter(), RESULT: Counter()}

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Look from now on."""
        self._used = thread_time_ns()
        before = signal.signal(signal.SIGALRM, self._look)
        signal.setitimer(signal.ITIMER_REAL, EVERY_S, EVERY_S)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    @contextmanager
    def during(self, phase: str) -> Iterator[None]:
        """Count what is seen for this."""
        self.phase = phase
        try:
            yield
        finally:
            self.phase = ""

    def _look(self, _number: int, frame: FrameType | None) -> None:
        # Where the machine was busy with something else, less was done since the last look, and it
        # counts for less.
        before, self._used = self._used, thread_time_ns()
        if not self.phase or frame is None:
            return
        # A signal is noticed when the next function begins: the time before it was its caller's.
        if frame.f_lasti <= _begins(frame.f_code) and frame.f_back is not None:
            frame = frame.f_back
        while frame is not None and not frame.f_code.co_filename.startswith(HOME):
            frame = frame.f_back
        if frame is not None:
            self.seen[self.phase][_part(frame.f_code)] += self._used - before


@functools.cache
def _begins(code: CodeType) -> int:
    """Where a function has just begun."""
    return next((one.offset for one in dis.get_instructions(code) if one.opname == "RESUME"), 0)


@functools.cache
def _part(code: CodeType) -> str:
    """The part of Stanchion that a function belongs to: its room, or below a room of many parts one
    of these."""
    room, *below = PurePath(code.co_filename.removeprefix(HOME)).with_suffix("").parts
    if room == "guards" and below:
        return f"guard {below[0]}"
    return f"{room}/{below[0]}" if room == "runtime" and len(below) > 1 else room


def shares(effort: Effort) -> Section:
    """A row for each part of a call and of its result, for each dialect and the pack `default`."""
    calls = repeated(effort)
    rows: list[Row] = []
    for name in OURS:
        for storage in (MEMORY, DISK):
            took, sampler = sampled(name, storage, calls.sessions)
            for phase, seen in sampler.seen.items():
                rows += _rows(f"{name}, {storage}, {phase}", took[phase], seen)
    note = (
        f"{len(calls.steps):,} calls of {calls.source};\n  means of processor time, by where "
        f"the program was seen"
    )
    return Section("where the time goes", note, rows)


def _rows(title: str, took_us: float, seen: Counter[str]) -> list[Row]:
    whole = sum(seen.values())
    if not whole:  # its result is judged with the call
        return []
    shown = {part: spent for part, spent in seen.most_common() if spent >= LEAST * whole}
    rest = whole - sum(shown.values())
    if rest:
        shown["else"] = rest
    parts = {part: spent / whole for part, spent in shown.items()}
    return [
        Row(f"{title}: all", amount=took_us, unit="µs"),
        *[
            Row(f"{title}: {part}", amount=took_us * one, unit="µs", ratio=round(one, 2))
            for part, one in parts.items()
        ],
    ]


class Phased:
    """A library whose calls and results tell the sampler what goes on."""

    def __init__(self, library: Any, sampler: Sampler) -> None:
        self._library, self._sampler = library, sampler
        self.begin = library.begin

    def call(self, *step: Any) -> Any:
        """Judge a call."""
        with self._sampler.during(CALL):
            return self._library.call(*step)

    def result(self, *step: Any) -> Any:
        """Judge a result."""
        with self._sampler.during(RESULT):
            return self._library.result(*step)


class Awaited(Phased):
    """The same for one whose calls and results are awaited."""

    async def call(self, *step: Any) -> Any:
        """Judge a call."""
        with self._sampler.during(CALL):
            return await self._library.call(*step)

    async def result(self, *step: Any) -> Any:
        """Judge a result."""
        with self._sampler.during(RESULT):
            return await self._library.result(*step)


def sampled(
    name: str, storage: str, sessions: tuple[Session, ...]
) -> tuple[dict[str, float], Sampler]:
    """What a call and a result take on average in µs, and where that goes."""
    sampler = Sampler()
    took: list[worker.Timed] = []
    with at_home(), TemporaryDirectory(prefix="stanchion-bench-") as folder, ExitStack() as ends:
        made = OURS[name](ends, Storage(storage, Path(folder)))
        library = (Awaited if iscoroutinefunction(made.call) else Phased)(made, sampler)
        loop = asyncio.new_event_loop()
        ends.callback(loop.close)
        for session in warming(sessions):
            worker.played(library, told(session), loop)
        with sampler.looking():
            for session in sessions:
                took += worker.played(library, told(session), loop)
    results = [one.result_cpu for one in took if one.ahead]
    return {
        CALL: sum([one.call_cpu for one in took]) / len(took) / 1000,
        RESULT: sum(results) / max(1, len(results)) / 1000,
    }, sampler
