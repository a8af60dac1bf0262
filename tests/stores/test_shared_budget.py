"""Threads of several processes spend one budget: exactly what it holds, on every store that can be
shared."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stores import redis_server
from tests.stores.redis_server import Server
from tests.stores.servers import Place, place

ROOT = Path(__file__).resolve().parents[2]
SOAK = bool(os.environ.get("STANCHION_SOAK"))
PROCESSES, THREADS, LIMIT, ROUNDS = (8, 8, 200, 200) if SOAK else (3, 6, 40, 1)

server = redis_server.server
__all__ = ["place", "server"]


def spend(store: str, task: str) -> list[int]:
    """What each of the processes was allowed to spend."""
    command = [sys.executable, "-m", "tests.stores.spender", store, task, str(LIMIT), str(THREADS)]
    hosts = [
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for _ in range(PROCESSES)
    ]
    return [int(host.communicate()[0]) for host in hosts]


@pytest.fixture
def database(place: Place) -> Iterator[str]:
    """A PostgreSQL whose shared schema is removed afterwards."""
    yield place.server.url
    with place.server.connect() as db:
        db.execute("DROP SCHEMA IF EXISTS stanchion CASCADE")


def test_on_sqlite(tmp_path: Path) -> None:
    for number in range(ROUNDS):
        assert sum(spend(str(tmp_path / "state.db"), f"task-{number}")) == LIMIT


def test_on_postgres(database: str) -> None:
    for number in range(ROUNDS):
        assert sum(spend(database, f"task-{number}")) == LIMIT


def test_on_redis(server: Server) -> None:
    for number in range(ROUNDS):
        assert sum(spend(server.url, f"task-{number}")) == LIMIT
