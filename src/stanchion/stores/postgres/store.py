"""The PostgreSQL store: each batch is one call of one function in the server."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Iterator
from typing import Any, Final

from stanchion.kernel.state import Batch, Reply, StoreLost
from stanchion.stores.protocol import StoreError
from stanchion.stores.queue import MOST, PATIENCE_S, Room
from stanchion.stores.seen import Hold, SeenCell


class PostgresStore:
    """State in one schema of a database, shared by any number of hosts; the server's clock rules.

    The store is opened at once: `StoreError` says what is wrong. Later a batch that cannot be
    carried out within `timeout_s` raises `StoreLost`; while the server is lost batches are refused
    at once and one at a time tries again, so that the store works again by itself. A batch that was
    lost can be sent again: its id counts once.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout_s: float = 2.0,
        schema: str = "stanchion",
        pool_size: int = 8,
        clock: Callable[[], int] | None = None,
        reading: bool = False,
        queue: int = MOST,
        patience_s: float = PATIENCE_S,
    ) -> None:
        """Open the schema, and make it where there is none.

        `url` is a libpq URL with all its options (`sslmode`, `target_session_attrs` …). `pool_size`
        is how many connections are open at the most. `clock` replaces the server's clock in tests.
        With `reading` the store is for looking only: it makes no schema and carries nothing out.
        Where there are more at once than connections, up to `queue` of them wait in this process
        for `patience_s`; the others are told that it is `Crowded`.
        """
        if timeout_s <= 0 or pool_size < 1:
            raise StoreError(
                f"timeout_s is `{timeout_s}` and pool_size `{pool_size}`: both must be above zero"
            )
        try:
            from stanchion.stores.postgres.address import PostgresAddress
            from stanchion.stores.postgres.carry import PostgresCarrying
            from stanchion.stores.postgres.connections import checked
            from stanchion.stores.postgres.contents import PostgresListing
        except ImportError as error:
            raise StoreError(
                f"the PostgreSQL store needs psycopg ({error}): install the extra `postgres`"
            ) from error
        address = PostgresAddress(url, timeout_s)
        self._name, self._schema = address.name, schema
        self.conninfo: Final = address.conninfo
        """Everything the driver needs to reach the same database, secrets included."""
        self._reading = reading

        def room() -> Room:
            return Room(address.name, queue, patience_s)

        self._carrying = PostgresCarrying(
            address, checked(schema), timeout_s, pool_size, clock, reading, room
        )
        self._listing = PostgresListing(self._carrying.ask, schema, clock)
        try:
            self._carrying.open()
        except StoreLost as lost:
            self._carrying.close()
            raise StoreError(str(lost)) from None

    def __repr__(self) -> str:
        return f"PostgresStore({self._name})"

    @property
    def place(self) -> str:
        """Server, database and schema."""
        return f"postgresql://{self._name}#{self._schema}"

    @property
    def room(self) -> Room:
        """Where one waits for it."""
        return self._carrying.room

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out; `StoreLost` where the server did not answer in time."""
        self._check()
        reply = self._carrying.carry(batch)
        if reply is None:
            self._carrying.track.give_up(self, batch)
            return self.carry(batch)
        return self._carrying.track.keep(batch, reply)

    async def acarry(self, batch: Batch) -> Reply:
        """Carry a batch out; the event loop goes on meanwhile."""
        self._check()
        reply = await self._carrying.acarry(batch)
        if reply is None:
            await to_thread(self._carrying.track.give_up, self, batch)
            return await self.acarry(batch)
        return self._carrying.track.keep(batch, reply)

    def read(self, key: str) -> tuple[int, Any]:
        """A cell's number and value."""
        return self._listing.one(key)

    def look(self, prefix: str = "") -> Iterator[SeenCell]:
        """Every cell whose key begins so, in the order of their keys."""
        return self._listing.cells(prefix)

    def holds(self) -> Iterator[Hold]:
        """Every hold that is not settled."""
        return self._listing.holds()

    def held(self, tenant: str, hold_id: str) -> Hold | None:
        """The hold with that id."""
        return self._listing.hold(hold_id)

    def close(self) -> None:
        """Close the connections."""
        self._carrying.close()

    def _check(self) -> None:
        if self._reading:
            raise StoreLost(
                f"the store on `{self._name}` is open read-only: nothing can be written"
            )
