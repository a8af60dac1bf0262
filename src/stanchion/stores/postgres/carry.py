"""Carrying batches out on a server: which connection, how long, and what to do when it breaks."""

from __future__ import annotations

from collections.abc import Callable, Generator
from time import monotonic
from typing import Any, Final, TypeVar

from stanchion.kernel.state import IDLE_S, Batch, Reply, StoreLost
from stanchion.stores.postgres.address import AGAIN, PostgresAddress, busy, closed, late
from stanchion.stores.postgres.connection import BrokenLink, Complaint, Exchange, Late, PostgresLink
from stanchion.stores.postgres.connections import (
    CARRY,
    PATIENCE_S,
    SHARE,
    SWEEP,
    Connecting,
    words_for,
)
from stanchion.stores.postgres.pool import PoolWords, PostgresPool
from stanchion.stores.postgres.request import PostgresRequests, reply_of
from stanchion.stores.queue import Room, Visit, finishes
from stanchion.stores.track import Track

TRIES: Final = 20
"""How often a batch is sent while others with the same id, or the same holds, come between."""

EVERY: Final = 256
"""After how many batches a portion of what nobody needs any more is removed."""

PAGES: Final = 32
ANSWERS_S: Final = 3_600
MARGIN_S: Final = 600
"""How large a portion is, how long answers are remembered, and how long cells are kept after they
fell idle: no batch that is under way can see one of them go."""

_PORTION: Final[list[bytes | None]] = [
    PAGES.to_bytes(4, "big"),
    *[(seconds * 1000).to_bytes(8, "big") for seconds in (ANSWERS_S, IDLE_S, MARGIN_S)],
]

Step = tuple[PostgresLink, Exchange] | None
"""What carrying a batch out waits for: a connection, or the end of an exchange on one."""

Clock = Callable[[], int]
T = TypeVar("T")


class PostgresCarrying:
    """The connections of one store, and what is sent over them. One piece of code serves threads
    and tasks."""

    def __init__(
        self,
        address: PostgresAddress,
        schema: str,
        timeout_s: float,
        pool_size: int,
        clock: Clock | None,
        reading: bool,
        room: Callable[[], Room],
    ) -> None:
        self._address: Final = address
        self._timeout_s: Final = timeout_s
        self._clock: Final = clock
        self._requests: Final = PostgresRequests(schema)
        self.track: Final = Track()
        self._carried = 0
        server = address.name
        words = PoolWords(
            busy(server, timeout_s),
            late(server, timeout_s),
            closed(server),
        )
        self._pool: Final = PostgresPool(
            Connecting(address, schema, timeout_s, reading), pool_size, words, room
        )

    def open(self) -> None:
        """Make the first connection, which brings the schema up to date; `StoreLost` says why it
        cannot be."""
        self._placed(self._first)

    @property
    def room(self) -> Room:
        """Where one waits for a connection."""
        return self._pool.queue.room

    def carry(self, batch: Batch) -> Reply | None:
        """Carry a batch out for the calling thread; `None` where the server lacks what this process
        has seen in it."""
        return self._placed(lambda place: self._carry(place, batch))

    async def acarry(self, batch: Batch) -> Reply | None:
        """The same for the running task; the event loop goes on."""
        place = Visit()
        try:
            try:
                reply = await self._acarry(place, batch)
            finally:
                self._pool.leave(place)
        finally:
            self._pool.leave(place)
        return reply

    def ask(
        self, sql: bytes, given: list[bytes | None], kinds: list[int]
    ) -> list[list[bytes | None]]:
        """The rows of one statement that only reads."""
        return self._placed(lambda place: self._ask(place, sql, given, kinds))

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    def _placed(self, work: Callable[[Visit], T]) -> T:
        """Do something at a place of the pool; however it ends, and wherever it is cut off, the
        place is left."""
        place = Visit()
        try:
            try:
                done = work(place)
            finally:
                self._pool.leave(place)
        finally:
            self._pool.leave(place)
        return done  # not from within: a step between the two would belong to neither

    def _first(self, place: Visit) -> None:
        self._pool.enter(place)
        self._pool.take(place, monotonic() + self._timeout_s + PATIENCE_S)
        self._pool.give(place)

    def _carry(self, place: Visit, batch: Batch) -> Reply | None:
        self._pool.enter(place, finishes(batch))
        until = monotonic() + self._timeout_s
        steps = self._steps(place, batch)
        try:
            step = next(steps)
            while True:
                try:
                    got = (
                        self._pool.take(place, until)
                        if step is None
                        else step[0].wait(step[1], until)
                    )
                except (BrokenLink, Late, Complaint) as trouble:
                    step = steps.throw(trouble)
                else:
                    step = steps.send(got)
        except StopIteration as stop:
            reply: Reply | None = stop.value
            return reply
        finally:
            steps.close()

    async def _acarry(self, place: Visit, batch: Batch) -> Reply | None:
        await self._pool.aenter(place, finishes(batch))
        until = monotonic() + self._timeout_s
        steps = self._steps(place, batch)
        try:
            step = next(steps)
            while True:
                try:
                    got = (
                        await self._pool.atake(place, until)
                        if step is None
                        else await step[0].await_(step[1], until)
                    )
                except (BrokenLink, Late, Complaint) as trouble:
                    step = steps.throw(trouble)
                else:
                    step = steps.send(got)
        except StopIteration as stop:
            reply: Reply | None = stop.value
            return reply
        finally:
            steps.close()

    def _ask(
        self, place: Visit, sql: bytes, given: list[bytes | None], kinds: list[int]
    ) -> list[list[bytes | None]]:
        self._pool.enter(place)
        until = monotonic() + self._timeout_s
        for attempt in range(2):
            link = self._pool.take(place, until)
            try:
                answer = link.wait(link.ask(sql, given, kinds), until)
            except Complaint as complaint:
                self._pool.give(place)
                raise self._lost(complaint) from None
            except (BrokenLink, Late) as trouble:
                self._pool.clear()
                self._pool.drop(place)
                if attempt or isinstance(trouble, Late):
                    raise self._lost(trouble) from None
                continue
            self._pool.give(place)
            columns = range(answer.nfields)
            return [
                [answer.get_value(row, column) for column in columns]
                for row in range(answer.ntuples)
            ]
        raise StoreLost(late(self._address.name, self._timeout_s))

    def _steps(self, place: Visit, batch: Batch) -> Generator[Step, Any, Reply | None]:
        """Send a batch until it is answered. What broke is sent once more: its id makes sure that
        it counts once."""
        given = self._arguments(batch)
        broken = False
        for _ in range(TRIES):
            link: PostgresLink = yield None
            began = monotonic()
            try:
                answer = yield link, link.call(CARRY, given)
            except Complaint as complaint:
                self._pool.give(place)
                if complaint.code not in AGAIN:
                    raise self._lost(complaint) from None
            except BrokenLink as trouble:
                self._pool.clear()
                self._pool.drop(place)
                if broken:
                    raise self._lost(trouble) from None
                broken = True
            except Late as trouble:
                lost = self._lost(trouble)
                # A server that is there would have said by now that it gave up.
                if monotonic() - began > self._timeout_s * SHARE:
                    self._pool.clear(lost=str(lost))
                self._pool.drop(place)
                raise lost from None
            else:
                reply = reply_of(answer.get_value(0, 0), lambda: self._requests.names(batch))
                self._carried += 1
                if self._carried % EVERY == 0:
                    yield from self._sweep(place, link)
                else:
                    self._pool.give(place)
                return reply
        raise StoreLost(
            f"batch `{batch.id}` collided with others on its holds {TRIES} times: send it again"
        )

    def _sweep(self, place: Visit, link: PostgresLink) -> Generator[Step, Any, None]:
        """Remove a portion of what nobody needs; what fails here is done another time."""
        try:
            yield link, link.call(SWEEP, _PORTION)
        except Complaint:
            self._pool.give(place)
        except (BrokenLink, Late):
            self._pool.drop(place)
        else:
            self._pool.give(place)

    def _arguments(self, batch: Batch) -> list[bytes | None]:
        try:
            now = None if self._clock is None else self._clock()
            return self._requests.arguments(batch, now, self.track.claim(batch))
        except (OverflowError, UnicodeEncodeError) as error:
            says = (
                f"batch {batch.id!a} has values that the server cannot store ({error}): use other "
                "names, or smaller amounts"
            )
            raise StoreLost(says) from error

    def _lost(self, trouble: BrokenLink | Late | Complaint) -> StoreLost:
        return StoreLost(words_for(trouble, self._address, self._timeout_s))
