"""Experience is kept beside whatever store a shield has, and is there for the next process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stanchion import Shield
from stanchion.experience.shelf import ShelfError
from stanchion.runtime.learning.keeper import PROCESS
from stanchion.runtime.learning.shelves import place_of, shelf_of
from stanchion.stores.memory import MemoryStore
from stanchion.stores.open_store import open_store
from tests.stores import redis_server, servers
from tests.stores.redis_server import Server
from tests.stores.servers import Place

server, place = redis_server.server, servers.place

POLICY = {"name": "x", "experience": {"tier": "persistent"}}


@pytest.fixture(params=["sqlite", "postgres", "redis"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The name of a store of each kind that outlives its process."""
    if request.param == "sqlite":
        return str(tmp_path / "state.db")
    if request.param == "postgres":
        own: Place = request.getfixturevalue("place")
        return own.server.url
    redis: Server = request.getfixturevalue("server")
    return redis.url


def test_what_one_shield_learns_the_next_one_knows(url: str) -> None:
    tenant = f"t-{os.urandom(6).hex()}"
    with Shield.load(POLICY, store=url, journal="memory:", tenant=tenant) as shield:
        run = shield.run("a")
        run.result("pay", {"to": "ann"}, "ok")
        run.error("pay", ValueError("no"), args={"to": "bob"})
        name = place_of(shield.store)
    PROCESS._entries.clear()  # as in another process
    with Shield.load(POLICY, store=url, journal="memory:", tenant=tenant) as shield:
        assert place_of(shield.store) == name
        assert shield.reliability("pay").rate == 0.5
        assert shield.similar("pay", {"to": "bob"})[0].args == {"to": "ann"}
        assert shield.reliability("pay", tenant="another").rate is None
        shelf = shelf_of(shield.store)
        assert [one.tool_name for one in shelf.newest(tenant, "", 5)] == ["pay", "pay"]
        shelf.close()


def test_a_store_that_is_only_read_shows_what_is_there(url: str, tmp_path: Path) -> None:
    tenant = f"t-{os.urandom(6).hex()}"
    with Shield.load(POLICY, store=url, journal="memory:", tenant=tenant) as shield:
        shield.run("a").result("pay", {}, "ok")
    store = open_store(url, reading=True)
    shelf = shelf_of(store, reading=True)
    assert shelf.tools(tenant) == ["pay"]
    shelf.close()
    store.close()


def test_a_server_that_is_gone_is_named_without_its_password() -> None:
    from stanchion.audit.postgres.experience import PostgresShelf

    shelf = PostgresShelf("postgresql://ann:s3cr3t-word@127.0.0.1:1/none")
    with pytest.raises(ShelfError, match=r"127\.0\.0\.1:1/none") as raised:
        shelf.count()
    assert "s3cr3t" not in str(raised.value)


def test_stores_in_memory_have_each_their_own() -> None:
    one, other = MemoryStore(), MemoryStore()
    assert shelf_of(one) is shelf_of(one)
    assert shelf_of(one) is not shelf_of(other)
