"""A store that loses its memory under live processes gives no budget out twice."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from stanchion import Shield
from stanchion.testing import FakeClock, shield_for
from tests.stores import redis_server, servers
from tests.stores.loser import LIMIT, POLICY

ROOT = Path(__file__).resolve().parents[2]
PROCESSES = 8
FORGOT = "kernel.store_forgot"

Loss = Callable[[], None]


class Hosts:
    """Processes on one store, each of which tries when it is told to."""

    def __init__(self, store: str, folder: Path) -> None:
        command = [sys.executable, "-m", "tests.stores.loser", store]
        environ = {**os.environ, "XDG_STATE_HOME": str(folder)}
        self._all = [
            subprocess.Popen(
                command,
                cwd=ROOT,
                env=environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(PROCESSES)
        ]
        self.heard: Counter[str] = Counter()
        assert [self._hear(host) for host in self._all] == ["ready"] * PROCESSES
        self.heard.clear()

    def all_try(self, times: int = 1) -> None:
        """Have all of them try at once, so many times each."""
        for host in self._all:
            assert host.stdin is not None
            host.stdin.write("try\n" * times)
            host.stdin.flush()
        for host in self._all:
            for _ in range(times):
                self._hear(host)

    def _hear(self, host: subprocess.Popen[str]) -> str:
        assert host.stdout is not None
        word = host.stdout.readline().strip()
        self.heard[word] += 1
        return word

    def close(self) -> None:
        """End them."""
        for host in self._all:
            with suppress(OSError):
                host.communicate(timeout=60)


@contextmanager
def sqlite_losses(folder: Path) -> Iterator[tuple[str, dict[str, Callable[[], Loss]]]]:
    """A file, and what can happen to it: each is prepared, and then done."""
    path, backup = folder / "state.db", folder / "backup.db"
    files = [path, path.with_name("state.db-wal"), path.with_name("state.db-shm")]

    def remove() -> None:
        for file in files:
            file.unlink(missing_ok=True)

    def wiped() -> Loss:
        return remove

    def zeroed() -> Loss:
        def zero() -> None:
            for file in files[:2]:
                os.truncate(file, 0)

        return zero

    def restored() -> Loss:
        with closing(sqlite3.connect(path)) as now, closing(sqlite3.connect(backup)) as copy:
            now.backup(copy)

        def restore() -> None:
            remove()
            shutil.copy(backup, path)

        return restore

    def deleted() -> Loss:
        def delete() -> None:
            with closing(sqlite3.connect(path)) as db, db:
                db.execute("DELETE FROM kept WHERE owner LIKE '%budget%'")

        return delete

    yield str(path), {"wiped": wiped, "zeroed": zeroed, "restored": restored, "deleted": deleted}


@contextmanager
def postgres_losses(_folder: Path) -> Iterator[tuple[str, dict[str, Callable[[], Loss]]]]:
    """A schema of a real server."""
    with servers.new_place() as place:

        def do(statement: str) -> None:
            with place.server.connect() as db:
                db.execute(statement)

        def truncated() -> Loss:
            return lambda: do("TRUNCATE stanchion.cell, stanchion.batch, stanchion.permit")

        def emptied() -> Loss:
            return lambda: do("TRUNCATE stanchion.cell")

        def deleted() -> Loss:
            return lambda: do("DELETE FROM stanchion.cell WHERE key LIKE '%budget%'")

        def restored() -> Loss:
            tables = ("cell", "batch", "permit")
            for table in tables:
                do(f"CREATE TABLE stanchion.old_{table} AS TABLE stanchion.{table}")

            def restore() -> None:
                do(
                    "BEGIN; TRUNCATE stanchion.cell, stanchion.batch, stanchion.permit;"
                    "INSERT INTO stanchion.cell SELECT * FROM stanchion.old_cell;"
                    "INSERT INTO stanchion.batch OVERRIDING SYSTEM VALUE"
                    " SELECT * FROM stanchion.old_batch;"
                    "INSERT INTO stanchion.permit SELECT * FROM stanchion.old_permit; COMMIT"
                )

            return restore

        do("DROP SCHEMA IF EXISTS stanchion CASCADE")
        try:
            yield (
                place.server.url,
                {
                    "wiped": truncated,
                    "emptied": emptied,
                    "deleted": deleted,
                    "restored": restored,
                },
            )
        finally:
            do("DROP SCHEMA IF EXISTS stanchion CASCADE")


@contextmanager
def redis_losses(_folder: Path) -> Iterator[tuple[str, dict[str, Callable[[], Loss]]]]:
    """A real server."""
    server = redis_server.shared()
    server.ask("FLUSHALL")

    def wiped() -> Loss:
        return lambda: server.ask("FLUSHDB")

    def deleted() -> Loss:
        def delete() -> None:
            for key in server.ask("KEYS", "*budget*"):
                server.ask("DEL", key)

        return delete

    def restored() -> Loss:
        held = {key: server.ask("DUMP", key) for key in server.ask("KEYS", "*")}

        def restore() -> None:
            words = [b"local n = #ARGV; redis.call('FLUSHDB'); for i = 1, n, 2 do"]
            words.append(b" redis.call('RESTORE', ARGV[i], 0, ARGV[i + 1]) end")
            pairs = [part for pair in held.items() for part in pair]
            server.ask("EVAL", b"".join(words), "0", *pairs)

        return restore

    def evicted() -> Loss:
        def evict() -> None:
            server.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-random")
            server.ask("CONFIG", "SET", "maxmemory", "1")
            server.ask("SET", "one", "more")

        return evict

    losses = {"wiped": wiped, "deleted": deleted, "restored": restored, "evicted": evicted}
    try:
        yield server.url, losses
    finally:
        server.ask("CONFIG", "SET", "maxmemory", "0")
        server.ask("CONFIG", "SET", "maxmemory-policy", "noeviction")


STORES = {"sqlite": sqlite_losses, "postgres": postgres_losses, "redis": redis_losses}
CASES = [
    *[("sqlite", loss) for loss in ("wiped", "zeroed", "restored", "deleted")],
    *[("postgres", loss) for loss in ("wiped", "emptied", "deleted", "restored")],
    *[("redis", loss) for loss in ("wiped", "deleted", "restored", "evicted")],
]


class Shields:
    """Shields of one process on one store, each with connections and a knowledge of its own."""

    def __init__(self, store: str) -> None:
        self._all = [
            Shield.load(POLICY, tenant="losers", store=store, journal="memory:")
            for _ in range(PROCESSES)
        ]
        self.heard: Counter[str] = Counter()

    def all_try(self, times: int = 1) -> None:
        """Have each of them try so many times."""
        for _ in range(times):
            for shield in self._all:
                decision = shield.run("loser").check("spend", {})
                self.heard[decision.code if decision.code else "went"] += 1

    def close(self) -> None:
        """Close them."""
        for shield in self._all:
            shield.close()


@pytest.mark.parametrize(("kind", "loss"), CASES)
def test_no_budget_is_given_out_twice(
    kind: str, loss: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight hosts, one effect each before and after a copy is made, then the loss, then more than
    there ever was."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    play(kind, loss, tmp_path, Shields)


@pytest.mark.parametrize(("kind", "loss"), CASES)
def test_no_budget_is_given_out_twice_to_processes(kind: str, loss: str, tmp_path: Path) -> None:
    """The same with eight processes that try at once."""
    play(kind, loss, tmp_path, lambda store: Hosts(store, tmp_path))


def play(kind: str, loss: str, folder: Path, begin: Callable[[str], Shields | Hosts]) -> None:
    """Let a store lose what it held while hosts spend."""
    with STORES[kind](folder) as (store, losses):
        hosts = begin(store)
        try:
            hosts.all_try()
            lose = losses[loss]()
            hosts.all_try()
            assert hosts.heard == {"went": 16}
            lose()
            hosts.all_try(4)
        finally:
            hosts.close()
        assert hosts.heard["went"] <= LIMIT
        assert set(hosts.heard) <= {"went", FORGOT, "kernel.store_lost", "budget.exceeded"}


def test_threads_on_a_store_in_memory() -> None:
    """It ends with its process: there is nothing to lose, and the limit holds."""
    shield = shield_for(POLICY, clock=FakeClock())
    went: list[bool] = []

    def spend() -> None:
        for _ in range(LIMIT):
            went.append(shield.run("loser").check("spend", {}).proceeds)

    threads = [threading.Thread(target=spend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(went) == LIMIT
