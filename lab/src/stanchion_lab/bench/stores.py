"""Stores side by side: a batch of a typical decision beside the least its server can do, and
decisions a second."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from stanchion.kernel.actions import Action
from stanchion.kernel.state import Batch, Line, StoreLost, When, key
from stanchion.kernel.units import Unit
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion_lab.bench.chain import ARGS, FEW, whole
from stanchion_lab.bench.measure import compare
from stanchion_lab.bench.servers import PATIENCE_S, Missing, postgres, redis
from stanchion_lab.bench.table import Effort, Row, Section

OWN: Final = "stanchion_bench"
"""The schema, and the prefix, of what is measured; it is removed afterwards."""

TENANT: Final = "bench"
BLOCK: Final = ((FEW * 1_000, Action.BLOCK),)
RECORD: Final = key(TENANT, "loops", "r1")
LINES: Final = (
    Line(key(TENANT, "budget", "tokens", "run", "r1"), BLOCK, Unit.TOKENS, hold_ms=60_000),
    Line(key(TENANT, "budget", "cost", "tenant"), BLOCK, Unit.COST_MICROUSD, hold_ms=60_000),
    Line(key(TENANT, "steps", "run", "r1"), BLOCK),
    Line(key(TENANT, "rate", "agent", "a1") + "/60000", BLOCK, window_ms=60_000),
)
RESERVED: Final = (1, 1_200, 3_600, 0, 0)
USED: Final = (1, 900, 2_700, 0, 0)
SEEN: Final = [123_456_789] * 16

FIVE: Final = [f"row{number}" for number in range(5)]
"""As many rows as a batch writes cells: four counters and a record."""

Call = Callable[[], object]


class Measured(NamedTuple):
    """A store, what people call it, and the least that its server can do for five rows."""

    name: str
    store: Store
    least: str
    floor: Call


def batches_on_stores(effort: Effort) -> Section:
    """A batch on each store, beside the least that its server can do."""
    with _opened() as (measured, missing):
        return _batches(effort, measured, missing)


def decisions_on_stores(effort: Effort) -> Section:
    """Decisions a second of one thread: of its own processor time, and as time passes."""
    with _opened() as (measured, missing):
        return _decisions(effort, measured, missing)


@contextmanager
def _opened() -> Iterator[tuple[list[Measured], list[str]]]:
    """All stores that there are, and a word for each that there is not; the servers live as long as
    they are needed."""
    with ExitStack() as stack:
        measured, missing = [], []
        for name, opened in OPENED.items():
            try:
                measured.append(stack.enter_context(opened()))
            except Missing as error:
                missing.append(f"{name} is not measured, because {error}")
        yield measured, missing


def _batches(effort: Effort, measured: list[Measured], missing: list[str]) -> Section:
    contenders: dict[str, Call] = {}
    for name, store, least, floor in measured:
        contenders |= {f"{name}: {least}": floor, f"{name}: the batch": batches(store)}
    costs = compare(contenders, effort.rounds, max(20, effort.calls // 4))
    rows = []
    for name, _, least, _ in measured:
        floor_cost, cost = costs[f"{name}: {least}"], costs[f"{name}: the batch"]
        rows.append(Row(f"{name}: {least}", floor_cost))
        rows.append(Row(f"{name}: the batch", cost, round(cost.p50_us / floor_cost.p50_us, 2)))
    note = (
        "four counters, two of them held, a record, and the hold before settled; beside the "
        "least the same server does"
    )
    return Section("a batch on each store", "\n  ".join([note, *missing]), rows)


def batches(store: Store) -> Call:
    """A call that carries out one batch after another, each settling what the one before has
    reserved."""
    nonce = os.urandom(4).hex()
    done = 0

    def carry() -> None:
        nonlocal done
        settles = ((f"{nonce}.{done - 1}", USED),) if done else ()
        expects, puts = ((RECORD, done, done + 1),), ((RECORD, SEEN, When.JUDGED, len(LINES), 0),)
        reply = store.carry(
            Batch(f"{nonce}.{done}", TENANT, True, expects, settles, LINES, RESERVED, puts)
        )
        if not reply.go or len(reply.settled) != len(settles):
            raise AssertionError(reply)
        done += 1

    return carry


def _decisions(effort: Effort, measured: list[Measured], missing: list[str]) -> Section:
    pairs = max(10, effort.calls // 8)
    working = {one.name: _work(one.store) for one in measured}
    spent = {name: [0.0, 0.0] for name in working}
    for turn in range(effort.rounds + 1):
        for name, call in working.items():
            cpu, wall = time.process_time(), time.perf_counter()
            for _ in range(pairs):
                call()
            if turn:
                spent[name][0] += time.process_time() - cpu
                spent[name][1] += time.perf_counter() - wall
    decided = 2 * pairs * effort.rounds
    rows = []
    for name, (cpu, wall) in spent.items():
        rows.append(
            Row(f"{name}: a second of its own core", amount=decided / cpu, unit="decisions")
        )
        rows.append(Row(f"{name}: a second of time", amount=decided / wall, unit="decisions"))
    note = (
        "the whole chain before and after a call (run.check, run.result), one thread, records "
        "in memory"
    )
    return Section("decisions on each store", "\n  ".join([note, *missing]), rows)


def _work(store: Store) -> Call:
    run = whole(store=store)[1]

    def work() -> None:
        decision = run.check("write_file", ARGS, tokens=1_200)
        if (
            not decision.proceeds
            or not run.result("write_file", ARGS, "ok", call=decision.id, tokens=900).proceeds
        ):
            raise AssertionError(decision.message)

    return work


@contextmanager
def _memory() -> Iterator[Measured]:
    totals, lock = dict.fromkeys(FIVE, 0), threading.Lock()

    def floor() -> None:
        with lock:
            for name in FIVE:
                totals[name] += 1

    yield Measured("memory", MemoryStore(), "five sums under a lock", floor)


@contextmanager
def _sqlite() -> Iterator[Measured]:
    from stanchion.stores.sqlite import SqliteStore

    with (
        TemporaryDirectory(prefix="stanchion-bench-") as folder,
        closing(SqliteStore(Path(folder) / "state.db")) as store,
        closing(sqlite3.connect(Path(folder) / "floor.db", isolation_level=None)) as db,
    ):
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute(
            "CREATE TABLE five (key TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID"
        )
        db.executemany("INSERT INTO five VALUES (?, 0)", [(name,) for name in FIVE])

        def floor() -> None:
            db.execute("BEGIN IMMEDIATE")
            db.execute("UPDATE five SET number = number + 1 WHERE key IN (?, ?, ?, ?, ?)", FIVE)
            db.execute("COMMIT")

        yield Measured("SQLite", store, "a transaction of five rows", floor)


@contextmanager
def _postgres() -> Iterator[Measured]:
    with postgres() as url:
        import psycopg

        from stanchion.stores.postgres import PostgresStore

        try:
            connected = psycopg.connect(url, autocommit=True)
        except psycopg.OperationalError:
            raise Missing(
                "its server cannot be reached: see that it runs, and takes connections"
            ) from None
        with connected as db:
            _begin_anew(db)
            try:
                with closing(PostgresStore(url, schema=OWN)) as store:
                    yield Measured("PostgreSQL", store, "an UPDATE of five rows", _five_rows(db))
            finally:
                db.execute("DROP SCHEMA IF EXISTS stanchion_bench CASCADE")
                db.execute("DROP TABLE IF EXISTS stanchion_bench_five")


def _begin_anew(db: Any) -> None:
    db.execute("DROP SCHEMA IF EXISTS stanchion_bench CASCADE")
    db.execute("DROP TABLE IF EXISTS stanchion_bench_five")
    db.execute(
        "CREATE TABLE stanchion_bench_five (key text PRIMARY KEY, number bigint NOT NULL) WITH "
        "(fillfactor = 50)"
    )
    db.execute("INSERT INTO stanchion_bench_five SELECT unnest(%s::text[]), 0", (FIVE,))


def _five_rows(db: Any) -> Call:
    update = "UPDATE stanchion_bench_five SET number = number + 1 WHERE key = ANY(%s)"
    return lambda: db.execute(update, (FIVE,), prepare=True)


@contextmanager
def _redis() -> Iterator[Measured]:
    with redis() as url:
        from stanchion.stores.redis import RedisStore
        from stanchion.stores.redis.address import parse
        from stanchion.stores.redis.connection import RedisLink, command, connect

        def ask(link: RedisLink, *words: str | bytes) -> Any:
            answer = link.ask(command(*words), time.monotonic() + PATIENCE_S)
            if isinstance(answer, Exception):
                raise answer
            return answer

        def remove() -> None:
            cursor = b"0"
            while True:
                cursor, names = ask(link, "SCAN", cursor, "MATCH", f"{OWN}*", "COUNT", "1000")
                if names:
                    ask(link, "UNLINK", *names)
                if cursor == b"0":
                    return

        try:
            link = connect(parse(url), PATIENCE_S, time.monotonic() + PATIENCE_S)
        except StoreLost as lost:
            raise Missing(lost.why) from None
        with closing(link):
            remove()
            empty = ask(link, "SCRIPT", "LOAD", "return 1")
            try:
                with closing(RedisStore(url, prefix=OWN)) as store:
                    yield Measured(
                        "Redis", store, "an empty script", lambda: ask(link, "EVALSHA", empty, "0")
                    )
            finally:
                remove()


OPENED: Final = {"memory": _memory, "SQLite": _sqlite, "PostgreSQL": _postgres, "Redis": _redis}
