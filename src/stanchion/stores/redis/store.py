"""The Redis store: every batch is one script that the server carries out, sent by its hash."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Iterator
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from stanchion.kernel.state import Batch, Reply, StoreLost
from stanchion.locks import Lock
from stanchion.stores.protocol import StoreError
from stanchion.stores.queue import MOST, PATIENCE_S, Room, finishes
from stanchion.stores.redis.address import answered, check_prefix, parse, plain, uncopied
from stanchion.stores.redis.connection import LOOK, check_look, command
from stanchion.stores.redis.contents import RedisListing
from stanchion.stores.redis.packed import (
    SERVER_TIME,
    UNWRITABLE,
    Packing,
    RedisKeys,
    Script,
    source,
    stale_reply,
    unpack_reply,
)
from stanchion.stores.redis.pool import RedisPool
from stanchion.stores.seen import Hold, SeenCell
from stanchion.stores.track import Track

if TYPE_CHECKING:
    from stanchion.stores.redis.loops import RedisLoops

PREFIX: Final = "stanchion"
LOOK_S: Final = 1.0
"""How often it is looked whether the server drops keys by now."""
FORGOT: Final = 2
"""The length of the answer of a server that has lost what it held; a stale one has three for each
cell, and the time."""


class RedisStore:
    """State in one Redis or Valkey server, shared by threads, processes and hosts; the server's
    clock rules.

    The server is greeted at once: `StoreError` says what is wrong with it. Later a batch that
    cannot be carried out raises `StoreLost` within `timeout_s`; when the trouble is over the store
    works again by itself. A batch whose answer was lost can be sent again under its id: it counts
    once.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout_s: float = 1.0,
        clock: Callable[[], int] | None = None,
        connections: int = 16,
        remember_s: int = 3_600,
        wait_replicas: int = 0,
        prefix: str = PREFIX,
        queue: int = MOST,
        patience_s: float = PATIENCE_S,
    ) -> None:
        """Open a server by its URL, which can also give `timeout_s`, `wait_replicas` and `prefix`.

        Threads share up to that many `connections`. An answer is remembered for `remember_s`, a
        hold until it is settled or has lapsed for a week. With `wait_replicas` a batch waits for
        that many replicas to have it. `clock` is for tests: the time is what it says. Where there
        are more at once than the server can take, up to `queue` of them wait in this process for
        `patience_s`; the others are told that it is `Crowded`.
        """
        self.address: Final = parse(url)
        """Where the server is."""
        address = self.address
        timeout_s = timeout_s if address.timeout_s is None else address.timeout_s
        if not timeout_s > 0 or connections < 1 or remember_s < 1:
            raise StoreError(
                "`timeout_s`, `connections` and `remember_s` of a store must be above 0: correct "
                "them, or leave them out"
            )
        self._replicas = wait_replicas if address.wait_replicas is None else address.wait_replicas
        self._wait = _wait(self._replicas, timeout_s) if self._replicas else b""
        self._answers = 2 if self._replicas else 1
        self._clock = clock
        keys = RedisKeys(check_prefix(prefix) if address.prefix is None else address.prefix)
        self._packing = Packing(keys, Script(source(), remember_s, self._replicas > 0))
        self.prefix: Final = keys.prefix
        """What its keys begin with."""
        self.timeout_s: Final = timeout_s
        """How long the server has for an answer."""
        self._pool = RedisPool(address, timeout_s, connections, queue, patience_s)
        self._listing = RedisListing(self._pool, keys, clock)
        self._track = Track(remember_s / 2)
        self._look_at = monotonic() + LOOK_S if address.checks_eviction else inf
        self._loops: RedisLoops | None = None
        self._lock = Lock()
        try:
            self._pool.ask(command("PING"))
        except StoreLost as lost:
            raise StoreError(lost.why) from None

    @property
    def place(self) -> str:
        """Server, database and prefix."""
        return f"{self.address.name}#{self.prefix}"

    @property
    def room(self) -> Room:
        """Where one waits for it."""
        return self._pool.room

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out; `StoreLost` where the server cannot."""
        data, count = self._sent(batch)
        answer = self._heard(self._pool.ask(data, count, finishes(batch)), count)
        if _knows_not(answer):
            whole = self._pack(batch, whole=True)
            answer = self._pool.ask(whole, self._answers, finishes(batch))
        reply = self._reply(batch, answer)
        if reply is None:
            self._track.give_up(self, batch)
            return self.carry(batch)
        return self._track.keep(batch, reply)

    async def acarry(self, batch: Batch) -> Reply:
        """Carry a batch out; the batches of an event loop follow one another on one connection."""
        loops = self._loops or self._first_loop()
        data, count = self._sent(batch)
        answer = self._heard(await loops.ask(data, count, finishes(batch)), count)
        if _knows_not(answer):
            whole = self._pack(batch, whole=True)
            answer = await loops.ask(whole, self._answers, finishes(batch))
        reply = self._reply(batch, answer)
        if reply is None:
            await to_thread(self._track.give_up, self, batch)
            return await self.acarry(batch)
        return self._track.keep(batch, reply)

    def read(self, key: str) -> tuple[int, Any]:
        """A cell's number and value."""
        return self._listing.one(key)

    def look(self, prefix: str = "") -> Iterator[SeenCell]:
        """Every cell whose key begins so, in the order of their keys; of a cluster, those of the
        node that is asked."""
        return self._listing.cells(prefix)

    def holds(self) -> Iterator[Hold]:
        """Every hold that is not settled; of a cluster, those of the node that is asked."""
        return self._listing.holds()

    def held(self, tenant: str, hold_id: str) -> Hold | None:
        """The hold with that id."""
        return self._listing.hold(tenant, hold_id)

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()
        if self._loops is not None:
            self._loops.close()

    def _first_loop(self) -> RedisLoops:
        from stanchion.stores.redis.loops import RedisLoops

        with self._lock:
            self._loops = self._loops or RedisLoops(self._pool)
            return self._loops

    def _sent(self, batch: Batch) -> tuple[bytes, int]:
        """What is sent for a batch, and how many answers there are to it: every second it is asked
        along with it whether the server drops keys by now."""
        data, count = self._pack(batch), self._answers
        return (data, count) if monotonic() < self._look_at else (data + LOOK, count + 1)

    def _heard(self, answer: Any, count: int) -> Any:
        """The answers to a batch, without the one that says whether keys are dropped; `StoreLost`
        where they are, until they are no longer."""
        if count == self._answers:
            return answer
        check_look(self.address, answer.pop())
        self._look_at = monotonic() + LOOK_S
        return answer if self._answers > 1 else answer[0]

    def _pack(self, batch: Batch, whole: bool = False) -> bytes:
        now = SERVER_TIME if self._clock is None else self._clock()
        try:
            packed = self._packing.pack(batch, now, whole, self._track.claim(batch))
        except UNWRITABLE as error:
            says = (
                f"batch {batch.id!a} has values that the server cannot store ({error}): use other "
                "names, or smaller amounts"
            )
            raise StoreLost(says) from error
        return packed + self._wait if self._wait else packed

    def _reply(self, batch: Batch, answer: Any) -> Reply | None:
        """What an answer says; `None` where the server has lost what this process has seen."""
        if type(answer) is bytes:
            return unpack_reply(answer)
        if self._replicas and isinstance(answer, list):
            answer, copies = answer
            if type(copies) is not int or copies < self._replicas:
                raise StoreLost(uncopied(self.address.name, self._replicas))
        if type(answer) is bytes:
            return unpack_reply(answer)
        if isinstance(answer, list):
            return stale_reply(batch, answer) if len(answer) != FORGOT else None
        if plain(str(answer)).startswith("READONLY"):
            self._pool.let_go()
            if self._loops is not None:
                self._loops.close()
        raise StoreLost(answered(self.address, str(answer)))


def _knows_not(answer: Any) -> bool:
    """Whether the server does not know the script, because it was started or told to forget it
    since."""
    first = answer[0] if isinstance(answer, list) else answer
    return isinstance(first, Exception) and str(first).startswith("NOSCRIPT")


def _wait(replicas: int, timeout_s: float) -> bytes:
    """The command that waits for replicas; it gives up before the store does, though a server is
    late with that."""
    return command("WAIT", str(replicas), str(max(1, int(timeout_s * 800))))
