"""Servers among hosts: a PostgreSQL and a Redis that listen on the network of the hosts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from tests.stores import redis_server, servers
from tests.stores.hosts import LOOPBACK, Hosts


class Scene(NamedTuple):
    """A server among hosts: how they reach it, how the test does, and what only the server can
    do."""

    hosts: Hosts
    url: str
    near: str
    empty: Callable[[], object]
    clients: Callable[[], int]
    """How many connections over the network the server has still something to do for."""


@contextmanager
def on_postgres(among: Hosts) -> Iterator[Scene]:
    """A PostgreSQL that listens on the network of the hosts."""
    made = servers.Server()
    data = made.folder / "data"
    with open(data / "postgresql.conf", "a", encoding="utf-8") as config:
        config.write(f"listen_addresses = '{among.address}'\n")
    with open(data / "pg_hba.conf", "a", encoding="utf-8") as allowed:
        allowed.write("host all all samenet scram-sha-256\n")

    def clients() -> int:
        rows = made.do("SELECT count(*) FROM pg_stat_activity WHERE client_addr IS NOT NULL")
        return int(rows[0][0])

    try:
        with among.among_servers():
            made.start()
        url = made.tcp().replace(LOOPBACK, among.address)
        yield Scene(
            among,
            url,
            made.url,
            lambda: made.do("DROP SCHEMA IF EXISTS stanchion CASCADE"),
            clients,
        )
    finally:
        made.remove()


@contextmanager
def on_redis(among: Hosts) -> Iterator[Scene]:
    """A Redis that listens on the network of the hosts."""
    with among.among_servers():
        made = redis_server.Server("--bind", among.address, "--protected-mode", "no")

    def clients() -> int:
        listed: str = made.ask("CLIENT", "LIST").decode()
        return len([line for line in listed.splitlines() if " addr=/" not in line])

    try:
        url = made.tcp_url.replace(LOOPBACK, among.address)
        yield Scene(among, url, made.url, lambda: made.ask("FLUSHALL"), clients)
    finally:
        made.stop()


SERVERS: Final = {"postgres": on_postgres, "redis": on_redis}
