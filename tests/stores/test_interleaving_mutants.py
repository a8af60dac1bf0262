"""The interleaving property holds on every store, and notices each of the faults that would let a
budget leak."""

import importlib.util
import inspect
import itertools
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from model import mutations, seeding
from model.drawn.case import Case, Feature
from model.mutations import CARRY
from model.properties import check_interleaved
from model.trial import drawn_cases
from stanchion.stores.memory import MemoryStore
from stanchion.stores.redis.packed import source
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing.store_suite.desk import Make
from tests.stores import redis_server, test_postgres_mutants, test_redis_mutants
from tests.stores.seeding import SOAK, Mutation, seeded
from tests.stores.servers import Empty, new_place

KERNEL: Final = {
    **{mutation.name: mutation for mutation in mutations.MUTATIONS},
    "compare-and-set removed": next(
        m for m in mutations.MUTATIONS if m.name == "expectations not checked"
    ),
    "ceiling ignored": mutations.Mutation(
        "ceiling ignored", CARRY, "elif outcome > batch.ceiling:", "elif outcome > 3:"
    ),
    "level skipped": mutations.Mutation(
        "level skipped",
        CARRY,
        "        if takes and amount:",
        "        if takes and amount and len(values) != 2:",
    ),
}
"""Faults of the code that the embedded stores run."""

POSTGRES: Final = {mutation.name: mutation for mutation in test_postgres_mutants.MUTATIONS}
REDIS: Final = {mutation.name: mutation for mutation in test_redis_mutants.MUTATIONS}

FAULTS: Final = (
    "compare-and-set removed",
    "ceiling ignored",
    "hold not released at expiry",
    "double settle",
    "level skipped",
    "spend released at expiry",
    "takes although refused",
)
"""Each of them is known under this name on every store."""


def seed_kernel(fault: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the functions of a module do what its source with the fault says, for all who have
    imported them."""
    if not fault:
        return
    mutation = KERNEL[fault]
    module = importlib.import_module(
        f"stanchion.{mutation.file.removesuffix('.py').replace('/', '.')}"
    )
    file = folder / "seeded.py"
    file.write_text(seeding.seeded(inspect.getsource(module), mutation), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("seeded", file)
    assert spec is not None
    assert spec.loader is not None
    changed = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(changed)
    for name, made in inspect.getmembers(module, inspect.isfunction):
        if made.__module__ == module.__name__:
            monkeypatch.setattr(made, "__code__", getattr(changed, name).__code__)


def seeded_text(text: str, fault: str, known: dict[str, Mutation]) -> str:
    """A text with a fault in it, or as it is."""
    return seeded(text, known[fault]) if fault else text


@contextmanager
def on_memory(fault: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Memory stores with a fault, or without."""
    seed_kernel(fault, folder, monkeypatch)
    yield MemoryStore


@contextmanager
def on_sqlite(fault: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """SQLite stores with a fault, or without, each on a file of its own."""
    seed_kernel(fault, folder, monkeypatch)
    numbers = itertools.count()
    yield lambda clock: SqliteStore(folder / f"{next(numbers)}.db", clock)


@contextmanager
def on_postgres(fault: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """PostgreSQL stores whose function has a fault, or none."""
    with new_place() as place:
        empty = Empty(place)
        place.server.do(seeded_text(test_postgres_mutants.SOURCE, fault, POSTGRES), place.schema)
        yield empty.store


@contextmanager
def on_redis(fault: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Redis stores whose script has a fault, or none."""
    text = seeded_text(source(), fault, REDIS)
    monkeypatch.setattr("stanchion.stores.redis.store.source", lambda: text)
    yield redis_server.make(redis_server.shared())


STORES: Final = {
    "memory": on_memory,
    "sqlite": on_sqlite,
    "postgres": on_postgres,
    "redis": on_redis,
}


def cases(count: int) -> Iterator[Case]:
    """Cases about counters, holds and records alone: what a store's fault shows in soonest."""
    for seed in range(count):
        drawn = random.Random(seed)
        features = Feature.METERS | Feature.HOLDS | Feature.RECORDS
        yield Case(seed, drawn.randint(2, 5), drawn.randint(8, 12), features)


def noticed(make: Make, tried: Iterator[Case]) -> str:
    """What the interleaving property says of the stores that are made; nothing where it holds."""
    for case in tried:
        try:
            check_interleaved(case, make)
        except Exception as error:  # noqa: BLE001 - a broken store may raise anything
            return f"{error!r}"
    return ""


@pytest.mark.parametrize("store", STORES)
def test_without_a_fault_the_property_holds(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with STORES[store]("", tmp_path, monkeypatch) as make:
        assert noticed(make, cases(500 if SOAK else 20)) == ""
        assert noticed(make, drawn_cases(500 if SOAK else 10, (8, 12))) == ""


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("store", STORES)
def test_a_fault_is_noticed(
    store: str, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with STORES[store](fault, tmp_path, monkeypatch) as make:
        said = noticed(make, cases(100))
    assert said
    assert "kernel.store" not in said, "this is no fault but a store that does not run"


def test_a_store_without_a_fault_is_left_behind(tmp_path: Path) -> None:
    """A fault that is seeded into the running kernel ends with its test."""
    with pytest.MonkeyPatch.context() as patched:
        seed_kernel("double settle", tmp_path, patched)
        assert noticed(MemoryStore, cases(100))
    assert noticed(MemoryStore, cases(20)) == ""
