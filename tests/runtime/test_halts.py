"""A halt holds where the store is lost, where the host's clock is set back, and where the store has
lost its memory."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.stores.redis import RedisStore
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import FakeClock, shield_for
from stanchion.testing.shields import LostStore
from tests.operators import ANN, KNOWN
from tests.stores import redis_server, servers

BARE: dict[str, Any] = {"name": "bare", "tools": {"get": {"effect": "read"}}}
OPENS = {**BARE, "guards": [{"use": "step_limit", "max_steps": 100, "fail_open": True}]}
DURABLE = ("sqlite", "postgres", "redis")


def test_a_halt_that_is_known_holds_without_the_store() -> None:
    lost = LostStore(MemoryStore(FakeClock()))
    shield = shield_for(OPENS, store=lost)
    run = shield.run("ann")
    assert run.check("t", {}).proceeds
    shield.quarantine("tool:t")
    assert run.check("t", {}).code == "kernel.quarantined"
    shield.halt("drill", scope="agent:ann")
    assert run.check("t", {}).code == "kernel.halted"
    lost.on = range(1_000)
    decision = run.check("t", {})
    assert (decision.code, [finding.code for finding in decision.errors]) == (
        "kernel.halted",
        ["kernel.store_lost"],
    )


def test_a_halt_that_is_not_known_is_missed_for_a_minute_at_the_most() -> None:
    clock = FakeClock()
    store = MemoryStore(clock)
    lost = LostStore(store)
    run = shield_for(OPENS, store=lost, clock=clock).run("ann")
    assert run.check("t", {}).proceeds
    shield_for(OPENS, store=store, clock=clock).halt("drill")
    lost.on = range(1_000)
    clock.advance(60_000)
    assert run.check("t", {}).proceeds
    clock.advance(1)
    assert not run.check("t", {}).proceeds


def test_a_clock_that_is_set_back_is_not_fresh() -> None:
    clock = FakeClock()
    store = MemoryStore()
    run = shield_for(BARE, store=store, clock=clock).run("ann")
    assert run.check("t", {}).proceeds
    shield_for(BARE, store=store).halt("drill")
    clock.advance(-3_600_000)
    assert run.check("t", {}).code == "kernel.halted"


class Kept:
    """A store that outlives its process, and what happens to it behind everybody's back."""

    def __init__(
        self,
        open_: Callable[[], Store],
        wipe: Callable[[], None],
        copy: Callable[[], Callable[[], None]],
        clock: FakeClock,
    ) -> None:
        self.open, self.wipe, self.copy, self.clock = open_, wipe, copy, clock

    def shield(self, policy: dict[str, Any] = BARE) -> Shield:
        """Another process."""
        return shield_for(policy, store=self.open(), clock=self.clock, operators=[KNOWN])


@contextmanager
def kept(kind: str, folder: Path) -> Iterator[Kept]:
    """A store of a kind. It is looked for at its place once a second, by its clock."""
    clock = FakeClock()
    if kind == "sqlite":
        path = folder / "state.db"

        def remove() -> None:
            for name in ("state.db", "state.db-wal", "state.db-shm"):
                (folder / name).unlink(missing_ok=True)
            clock.advance(1_001)

        def copied() -> Callable[[], None]:
            with (
                closing(sqlite3.connect(path)) as now,
                closing(sqlite3.connect(folder / "backup.db")) as backup,
            ):
                now.backup(backup)

            def restore() -> None:
                remove()
                shutil.copy(folder / "backup.db", path)

            return restore

        yield Kept(lambda: SqliteStore(path, clock), remove, copied, clock)
    elif kind == "postgres":
        with servers.new_place() as place:

            def truncate() -> None:
                place.do("TRUNCATE {}.cell, {}.batch, {}.permit")

            def table() -> Callable[[], None]:
                place.do("CREATE TABLE {}.backup AS TABLE {}.cell")

                def insert() -> None:
                    truncate()
                    place.do("INSERT INTO {}.cell SELECT * FROM {}.backup")

                return insert

            yield Kept(lambda: place.open(clock), truncate, table, clock)
    else:
        server = redis_server.shared()
        server.ask("FLUSHALL")

        def flush() -> None:
            server.ask("FLUSHALL")

        def dumped() -> Callable[[], None]:
            keys = server.ask("KEYS", "*")
            held = {key: server.ask("DUMP", key) for key in keys}

            def load() -> None:
                flush()
                for key, value in held.items():
                    server.ask("RESTORE", key, "0", value)

            return load

        yield Kept(lambda: RedisStore(server.url, clock=clock, timeout_s=30), flush, dumped, clock)


@pytest.mark.parametrize("kind", DURABLE)
def test_a_store_that_was_wiped_under_a_live_process(kind: str, tmp_path: Path) -> None:
    with kept(kind, tmp_path) as store, store.shield(OPENS) as shield, store.shield(OPENS) as other:
        run = shield.run("ann")
        assert run.check("t", {}).proceeds
        other.halt("drill", scope="tool:bomb")
        store.wipe()
        assert (run.check("t", {}).proceeds, run.check("t", {}).code) == (
            False,
            "kernel.store_forgot",
        )
        assert (run.check("get", {}).proceeds, run.check("get", {}).code) == (
            True,
            "kernel.store_forgot",
        )
        # A process that has never seen the store is told by those who have.
        with store.shield(OPENS) as newcomer:
            assert newcomer.run("eve").check("t", {}).code == "kernel.store_forgot"
            assert run.check("t", {}).code == "kernel.store_forgot"
            store.clock.advance(1)
            other.accept_store("flushed on purpose", by=ANN)
            assert run.check("t", {}).proceeds
            assert newcomer.run("eve").check("t", {}).proceeds
        assert [
            (fact.what, fact.by, fact.why)
            for fact in other.journal.facts()
            if fact.what.startswith("store.")
        ] == [("store.accepted", "ann", "flushed on purpose")]


@pytest.mark.parametrize("kind", DURABLE)
def test_a_backup_that_is_older_than_the_last_mark(kind: str, tmp_path: Path) -> None:
    with kept(kind, tmp_path) as store, store.shield() as shield:
        run = shield.run("ann")
        assert run.check("t", {}).proceeds
        restore = store.copy()
        store.clock.advance(60_000)
        assert run.check("t", {}).proceeds
        restore()
        store.clock.advance(1_001)
        assert run.check("t", {}).code == "kernel.store_forgot"
        shield.accept_store("disk failure", restored=True, by=ANN)
        assert run.check("t", {}).proceeds


@pytest.mark.parametrize("kind", DURABLE)
def test_a_backup_that_is_older_than_a_halt(kind: str, tmp_path: Path) -> None:
    """The halt was lifted again, so it is not the halt itself that is remembered."""
    with kept(kind, tmp_path) as store, store.shield() as shield:
        run = shield.run("ann")
        shield.halt("drill", scope="tool:t")
        restore = store.copy()
        shield.resume(scope="tool:t", by=ANN)
        assert run.check("t", {}).proceeds
        restore()
        store.clock.advance(1_001)
        assert run.check("t", {}).code == "kernel.store_forgot"


def loaded(path: Path) -> Shield:
    """Another process on a file, which remembers what this host does."""
    return Shield.load(BARE, store=path, operators=[KNOWN])


def test_a_file_that_was_removed_under_a_halt_is_missed_by_the_next_process(
    tmp_path: Path,
) -> None:
    """The halt was the only thing that anybody ever did with it."""
    path = tmp_path / "kept" / "state.db"
    with loaded(path) as shield:
        shield.halt("drill")
    for file in path.parent.iterdir():
        file.unlink()
    with loaded(path) as shield:
        decision = shield.run("ann").check("t", {})
        assert (decision.code, [error.code for error in decision.errors]) == (
            "kernel.halted",
            ["kernel.store_forgot"],
        )
        shield.accept_store("it was mine to remove", by=ANN)
    with loaded(path) as shield:
        assert shield.run("ann").check("t", {}).proceeds


def _isolate(shield: Shield) -> None:
    rule = {"use": "rule", "id": "isolate", "when": 'event.tool == "bad"', "action": "quarantine"}
    shield.reload({**BARE, "guards": [rule]})
    shield.run("ann").check("bad", {})
    assert shield.standing().marks["tool:bad"].state == "quarantine"


CHANGES: dict[str, Callable[[Shield], None]] = {
    "halt": lambda shield: shield.halt("drill"),
    "quarantine": lambda shield: shield.quarantine("tool:t"),
    "safe mode": lambda shield: shield.safe_mode(True),
    "resume": lambda shield: shield.resume(scope="tool:bomb", by=ANN),
    "cancel": lambda shield: shield.run("ann", id="r").cancel("drill"),
    "isolated by a guard": _isolate,
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_copy_from_before_a_change_is_noticed_by_the_next_process(
    change: str, tmp_path: Path
) -> None:
    """All within a minute: no mark has risen by itself."""
    path = tmp_path / "kept" / "state.db"
    with loaded(path) as shield:
        assert shield.run("ann").check("t", {}).proceeds
        shield.halt("drill", scope="tool:bomb")
    shutil.copy(path, tmp_path / "old.db")
    with loaded(path) as shield:
        CHANGES[change](shield)
    shutil.copy(tmp_path / "old.db", path)
    with loaded(path) as shield:
        decision = shield.run("ann").check("t", {})
        said = [decision.code, *[finding.code for finding in decision.errors]]
        assert (decision.proceeds, "kernel.store_forgot" in said) == (False, True)
        shield.accept_store("drill", by=ANN)
        assert shield.run("ann").check("t", {}).proceeds


@pytest.mark.parametrize("change", ["halt", "safe mode"])
def test_what_the_host_knew_to_be_refused_is_refused_for_reads(change: str, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with loaded(path) as shield:
        CHANGES[change](shield)
    path.unlink()
    with loaded(path) as shield:
        assert shield.run("ann").check("get", {}).proceeds is False


@pytest.mark.parametrize("scope", ["", "tool:get", "agent:ann", "fleet"])
def test_a_halt_that_the_host_knew_holds_for_reads_of_other_shields(
    scope: str, tmp_path: Path
) -> None:
    path = tmp_path / "kept" / "state.db"
    with loaded(path) as shield:
        shield.halt("drill", scope=scope)
        for file in path.parent.iterdir():
            file.unlink()
        with loaded(path) as second:
            assert second.run("ann").check("get", {}).code == "kernel.halted"
            assert second.run("bob").check("t", {}).proceeds is False
    with loaded(path) as next_one:
        decision = next_one.run("ann").check("get", {})
        assert (decision.code, decision.errors[0].code) == ("kernel.halted", "kernel.store_forgot")
        next_one.accept_store("drill", by=ANN)
    with loaded(path) as accepted:
        assert accepted.run("ann").check("get", {}).proceeds


def test_a_server_that_was_flushed_is_noticed_by_the_next_process() -> None:
    server = redis_server.shared()
    server.ask("FLUSHALL")
    with Shield.load(BARE, store=server.url, tenant="ops") as shield:
        assert shield.run("ann").check("t", {}).proceeds
    server.ask("FLUSHALL")
    with Shield.load(BARE, store=server.url, tenant="ops") as shield:
        assert shield.run("ann").check("t", {}).code == "kernel.store_forgot"
