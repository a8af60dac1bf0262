"""Durable records and state: what they add to a decision, and that neither grows with history."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from stanchion.audit.apart import encode
from stanchion.audit.record import GENESIS, entry_of
from stanchion.audit.segment_scan import line_of
from stanchion.audit.trail import Trail
from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision, Inputs
from stanchion.kernel.events import Moment, RunInfo, ToolCall
from stanchion.kernel.state import Reply
from stanchion.runtime.run import Run
from stanchion.stores.memory import wall_ms
from stanchion.stores.open_store import open_store
from stanchion_lab.bench.chain import ARGS, checked, whole
from stanchion_lab.bench.measure import compare
from stanchion_lab.bench.table import Effort, Row, Section, rows_of

SYNC_S: Final = 0.002
"""How often a bare append is brought to the disk: as often as a trail is."""
BURST: Final = 5_000
"""How many records are written in a row."""

fdatasync: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)


def _records(effort: Effort, folder: Path) -> Section:
    """The whole chain with its records in memory and on disk; and a risky call beside the disk
    itself."""
    with closing(Trail(folder / "low")) as low, closing(Trail(folder / "high")) as high:
        in_memory, on_disk, risky = (
            whole()[1],
            whole(journal=low)[1],
            whole(journal=high, risk="high")[1],
        )
        contenders = {"records in memory": checked(in_memory), "records on disk": checked(on_disk)}
        costs = compare(contenders, effort.rounds, effort.calls)
        with _appending(folder / "bare") as file:
            waiting = {
                "bare write and sync": _synced(file),
                "high risk, on disk first": checked(risky),
            }
            synced = compare(waiting, max(2, effort.rounds // 4), max(20, effort.calls // 4))
    adds = costs["records on disk"].p50_us - costs["records in memory"].p50_us
    note = (
        f"the whole chain; records on disk add {adds:.1f} µs, and a risky call waits until its "
        f"own is there"
    )
    rows = rows_of(costs, "records in memory") + rows_of(synced, "bare write and sync")
    return Section("durable records", note, rows)


def _judged() -> tuple[Moment, Decision]:
    """A decision as the whole chain makes it."""
    at = wall_ms()
    run = RunInfo("r1", agent="a1", role="implementer", task="t1")
    call = ToolCall(
        id="r1.00000000.1000", at=at, run=run, tool="write_file", traits=("content",), args=ARGS
    )
    inputs = Inputs(reply=Reply(at, False, True, (1_000, 1_200_000, 60)), now=at)
    return Moment((call,), (1, 1_200, 0, 0, 0)), Decision(
        call.id, Action.ALLOW, "0" * 64, inputs=inputs
    )


def _line() -> bytes:
    """The line of its record."""
    parts = encode(entry_of(*_judged(), 1_000, GENESIS, "0" * 16))
    body = parts.body + parts.kept
    return line_of(body, sha256(body).hexdigest(), 12_345)


@contextmanager
def _appending(path: Path) -> Iterator[int]:
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        yield file
    finally:
        os.close(file)


def _synced(file: int) -> Callable[[], object]:
    line = _line()

    def write() -> None:
        os.write(file, line)
        fdatasync(file)

    return write


def _writer(effort: Effort, folder: Path) -> Section:
    """Records a second of one thread, beside a bare append of lines of the same length, both synced
    meanwhile."""
    moment, decision = _judged()
    line = _line()
    took = {"bare append": 0.0, "records": 0.0}
    bursts = max(2, effort.rounds)
    with (
        closing(Trail(folder / "trail")) as trail,
        _appending(folder / "bare") as file,
        _syncing(file),
    ):
        bare = _repeat(lambda: os.write(file, line))
        records = _repeat(lambda: trail.write(moment, decision, 12_345))
        for _ in range(bursts):
            took["bare append"] += bare(BURST)
            took["records"] += records(BURST)
    rates = {name: bursts * BURST / seconds for name, seconds in took.items()}
    rows = [
        Row("bare append", amount=rates["bare append"], unit="lines/s"),
        Row(
            "records: made, encoded, hashed, appended",
            amount=rates["records"],
            unit="records/s",
            ratio=round(rates["records"] / rates["bare append"], 2),
        ),
    ]
    return Section(
        "the writer alone",
        f"one thread, lines of {len(line)} bytes, a sync every few milliseconds",
        rows,
    )


def _repeat(call: Callable[[], object]) -> Callable[[int], float]:
    def repeat(count: int) -> float:
        begun = time.perf_counter()
        for _ in range(count):
            call()
        return time.perf_counter() - begun

    return repeat


@contextmanager
def _syncing(file: int) -> Iterator[None]:
    """Bring a file to the disk every few milliseconds."""
    stop = threading.Event()

    def work() -> None:
        while not stop.wait(SYNC_S):
            fdatasync(file)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _stores(effort: Effort, folder: Path) -> Section:
    """The whole chain on each store, records in memory."""
    with closing(open_store(str(folder / "state.db"))) as sqlite:
        contenders = {
            "state in memory": checked(whole()[1]),
            "state in SQLite": checked(whole(store=sqlite)[1]),
        }
        costs = compare(contenders, effort.rounds, max(20, effort.calls // 4))
    return Section(
        "durable state",
        "the whole chain on each store, records in memory",
        rows_of(costs, "state in memory"),
    )


def _history(effort: Effort, folder: Path) -> Section:
    """A decision at the beginning of a trail and after a long history, and the memory that history
    took."""
    early, late = effort.history // 10, effort.history
    with closing(Trail(folder / "young")) as young, closing(Trail(folder / "old")) as old:
        run = whole(journal=old)[1]
        memory = []
        done = 0
        for upto in (early, late):
            done = _work(run, done, upto)
            memory.append(_resident_mb())
        contenders = {
            "after 10 records": checked(whole(journal=young)[1]),
            f"after {late:,} records": checked(run),
        }
        costs = compare(contenders, effort.rounds, effort.calls)
    rows = rows_of(costs, "after 10 records")
    rows.append(Row(f"memory at {early:,} decisions", amount=memory[0], unit="MB"))
    rows.append(
        Row(
            f"memory at {late:,} decisions",
            amount=memory[1],
            unit="MB",
            ratio=round(memory[1] / memory[0], 2),
        )
    )
    return Section(
        "long histories", "the whole chain, records on disk; memory is the whole process's", rows
    )


def _work(run: Run, done: int, upto: int) -> int:
    """Call a tool, judged before and after and settled, until that many decisions are recorded."""

    def tool(path: str, content: str) -> str:
        return path

    shield: Any = run.desk.shield
    shielded = shield.tool(name="write_file")(tool)
    while done < upto:
        run.call(shielded, **ARGS)
        done += 2
    return done


def _resident_mb() -> float:
    """How much memory this process has."""
    gc.collect()
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def _in_a_folder(section: Callable[[Effort, Path], Section]) -> Callable[[Effort], Section]:
    def made(effort: Effort) -> Section:
        with TemporaryDirectory() as folder:
            return section(effort, Path(folder))

    return made


DURABLE: Final = {
    "durable records": _in_a_folder(_records),
    "the writer alone": _in_a_folder(_writer),
    "durable state": _in_a_folder(_stores),
    "long histories": _in_a_folder(_history),
}
"""What makes each section about what outlives the process, by its title."""
