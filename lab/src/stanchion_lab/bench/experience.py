"""Experience: what it adds to a check and a report, and that neither grows with how much is
kept."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from stanchion.experience.bounded import encoded, fingerprint
from stanchion.experience.incident import DAY_MS, Incident, new_id
from stanchion.experience.shelf import Shelf
from stanchion.runtime.learning.shelves import shelf_of
from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import MEMORY
from stanchion.stores.memory import wall_ms
from stanchion.stores.open_store import open_store
from stanchion.stores.protocol import Store
from stanchion_lab.bench.measure import compare
from stanchion_lab.bench.servers import Missing, postgres
from stanchion_lab.bench.table import Effort, Row, Section, rows_of

FEW: Final = 10
BATCH: Final = 200
AT_ONCE: Final = 5_000
FAR: Final = 1_000_000_000
TENANT: Final = "default"
TOOL: Final = "pay"

Call = Callable[[], object]


def experience(effort: Effort) -> Section:
    """Check and report, a batch and a reading, with few and with many incidents kept, on SQLite and
    PostgreSQL."""
    rows: list[Row] = []
    absent: list[str] = []
    for name, opened in (("SQLite", _sqlite), ("PostgreSQL", _postgres)):
        try:
            with opened() as stores:
                rows += _on(name, stores, effort)
        except Missing as missing:
            absent.append(f"{name} is not measured, because {missing}")
    note = (
        f"a call that is checked and reported, with {FEW} and with {effort.history:,} incidents of "
        f"other calls kept"
    )
    return Section("experience", "; ".join([note, *absent]), rows)


def _on(name: str, stores: tuple[Store, Store, Store], effort: Effort) -> list[Row]:
    few, many = f"{name}, {FEW} kept", f"{name}, {effort.history:,} kept"
    with ExitStack() as ends:
        shelves = {few: shelf_of(stores[1]), many: shelf_of(stores[2])}
        for label, size in ((few, FEW), (many, effort.history)):
            ends.callback(shelves[label].close)
            _fill(shelves[label], size)
        without = f"{name}, no experience"
        said = dict(zip((without, few, many), stores, strict=True))
        calls = {label: _called(store, ends, "none" if label == without else "persistent") for label, store in  # noqa: E501
                 said.items()}  # fmt: skip
        rows = _rows("check and report", calls, effort.rounds, effort.calls, few)
        rounds = max(2, effort.rounds // 4)
        written = {label: _writing(shelf) for label, shelf in shelves.items()}
        rows += _rows(f"a batch of {BATCH}", written, rounds, max(5, effort.calls // 40), few)
        read = {label: _reading(shelf) for label, shelf in shelves.items()}
        return rows + _rows("what is known of a tool", read, rounds, effort.calls, few)


def _rows(what: str, calls: dict[str, Call], rounds: int, number: int, against: str) -> list[Row]:
    costs = compare(calls, rounds, number)
    return rows_of(
        {f"{what}: {label}": cost for label, cost in costs.items()}, f"{what}: {against}"
    )


def _called(store: Store, ends: ExitStack, tier: str) -> Call:
    policy: dict[str, Any] = {
        "name": "bench",
        "guards": [{"use": "step_limit", "max_steps": FAR}],
        "experience": {"tier": tier},
    }
    shield = Shield.load(policy, store=store, journal=MEMORY, tenant=TENANT)
    ends.callback(shield._close_experience)
    run = shield.run("a1", "t1")
    numbers = itertools.count()

    def call() -> None:
        args = {"n": next(numbers) % 10}
        run.result(TOOL, args, "ok", call=run.check(TOOL, args).id)

    return call


def _fill(shelf: Shelf, size: int) -> None:
    at_ms = wall_ms()
    for start in range(0, size, AT_ONCE):
        shelf.write(
            [_incident(number, at_ms) for number in range(start, min(size, start + AT_ONCE))]
        )


def _incident(number: int, at_ms: int) -> Incident:
    data = encoded({"kept": number})
    ident = new_id(at_ms, number.to_bytes(10, "big"))
    return Incident(
        ident, TENANT, "r", TOOL, fingerprint(TOOL, data), number % 10 > 0, at_ms, call_data=data
    )


def _writing(shelf: Shelf) -> Call:
    numbers = itertools.count(1 << 40)

    def write() -> None:
        at_ms = wall_ms()
        shelf.write([_incident(next(numbers), at_ms) for _ in range(BATCH)])

    return write


def _reading(shelf: Shelf) -> Call:
    today = wall_ms() // DAY_MS
    return lambda: shelf.known(TENANT, TOOL, today)


@contextmanager
def _sqlite() -> Iterator[tuple[Store, Store, Store]]:
    with TemporaryDirectory(prefix="stanchion-bench-") as folder, ExitStack() as ends:
        one, two, three = [open_store(str(Path(folder) / f"{name}.db")) for name in "abc"]
        for store in (one, two, three):
            ends.enter_context(closing(store))
        yield one, two, three


@contextmanager
def _postgres() -> Iterator[tuple[Store, Store, Store]]:
    with postgres() as url:
        import psycopg

        base, _, options = url.partition("?")
        names = [f"stanchion_bench_{name}" for name in "abc"]
        with psycopg.connect(url, autocommit=True) as db, ExitStack() as ends:
            for name in names:
                db.execute(
                    psycopg.sql.SQL("CREATE DATABASE {}").format(psycopg.sql.Identifier(name))
                )
                drop = psycopg.sql.SQL("DROP DATABASE {} WITH (FORCE)").format(
                    psycopg.sql.Identifier(name)
                )
                ends.callback(db.execute, drop)
            urls = [
                f"{base.rpartition('/')[0]}/{name}{'?' if options else ''}{options}"
                for name in names
            ]
            one, two, three = [open_store(each) for each in urls]
            for store in (one, two, three):
                ends.enter_context(closing(store))
            yield one, two, three
