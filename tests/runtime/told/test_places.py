"""Real stores and a real trail that are gone: operators hear where they were, and no agent does."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from stanchion import Shield
from stanchion.audit.trail import Trail
from stanchion.stores.redis import RedisStore
from stanchion.stores.sqlite import SqliteStore
from tests.runtime.told.agent import Agent
from tests.runtime.told.life import POLICY
from tests.runtime.told.shapes import shapes_in
from tests.stores.postgres_proxy import proxy_before
from tests.stores.redis_server import Server as RedisServer
from tests.stores.servers import PASSWORD, new_place

TIMEOUT_S: Final = 30
"""No trouble here is noticed by waiting: it is only for a server that is slow."""


def transfer(amount: int) -> int:
    return amount


def pay(amount: int) -> int:
    return amount


def acts(agent: Agent) -> None:
    """Do what needs the store: count, ask, happen once, begin a child, end."""
    agent.tries(pay, 1)
    agent.tries(transfer, 1)
    agent.tries(transfer, 2, once="k")
    agent.does(lambda: agent.run.check("look", {}))
    agent.does(lambda: agent.run.spawn("child", budget={"calls": 1}))
    agent.does(agent.run.close)


@contextmanager
def postgres(_: Path) -> Iterator[tuple[Any, Any, tuple[str, ...]]]:
    """A store on a server that can be cut off, and the names of its place."""
    with new_place() as place, proxy_before(place.server.port) as proxy:
        store = place.open(url=place.server.tcp(proxy.port), timeout_s=TIMEOUT_S, pool_size=2)

        def cut_off() -> None:
            proxy.frozen = True
            proxy.close()

        yield store, cut_off, ("127.0.0.1", str(proxy.port), "postgres", PASSWORD)


@contextmanager
def redis(_: Path) -> Iterator[tuple[Any, Any, tuple[str, ...]]]:
    """The same on Redis, with a password."""
    server = RedisServer("--requirepass", "hunter2hunter2")
    try:
        url = server.tcp_url.replace("redis://", "redis://:hunter2hunter2@")
        yield (
            RedisStore(url, timeout_s=TIMEOUT_S),
            server.kill,
            ("127.0.0.1", url.rpartition(":")[2], "hunter2hunter2"),
        )
    finally:
        server.stop()


@contextmanager
def sqlite(folder: Path) -> Iterator[tuple[Any, Any, tuple[str, ...]]]:
    """A file that somebody breaks: its tables are gone."""
    file = folder / "vault-of-acme" / "state.db"
    file.parent.mkdir()

    def break_it() -> None:
        with closing(sqlite3.connect(file)) as link:
            for (name,) in link.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table'"
            ).fetchall():
                link.execute(f'DROP TABLE "{name}"')
            link.commit()

    yield SqliteStore(file), break_it, (str(file), str(folder), "vault-of-acme")


@pytest.mark.parametrize("kind", [postgres, redis, sqlite])
def test_where_a_lost_store_was_is_told_to_operators_alone(
    kind: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with kind(tmp_path) as (store, lose, names), Shield.load(POLICY, store=store) as shield:
        agent = Agent(shield.run("ann", id="run-of-ann"))
        agent.tries(pay, 7)
        lose()
        with caplog.at_level(logging.WARNING, "stanchion.runtime"):
            acts(agent)
        assert {"kernel.store_lost", "kernel.store_forgot"} & agent.codes
        assert [
            what for text in agent.read for what in shapes_in(text, names=(*names, "run-of-ann"))
        ] == []
        details = [
            finding["args"]
            for kept in shield.journal.kept()
            for finding in found(kept)
            if "_lost" in finding["code"]
        ]
        assert details, "the record has what the agent has not"
        assert any(names[0] in str(args) for args in details)


def found(kept: Any) -> list[dict[str, Any]]:
    """The findings of a record."""
    from stanchion.audit.apart import data_from

    return list(data_from(kept.body, kept.apart).get("findings", ()))


def test_where_a_lost_trail_was_is_told_to_operators_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "vault-of-acme"
    trail = Trail(folder)
    with Shield.load(POLICY, journal=trail) as shield:
        agent = Agent(shield.run("ann", id="run-of-ann"))
        agent.tries(pay, 7)
        trail.close()
        with caplog.at_level(logging.WARNING, "stanchion.runtime"):
            acts(agent)
    assert "kernel.audit_lost" in agent.codes
    assert [
        what for text in agent.read for what in shapes_in(text, names=(str(folder), "run-of-ann"))
    ] == []
    assert "the audit trail cannot be written: the trail is closed" in caplog.text
