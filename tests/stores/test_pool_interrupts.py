"""Whatever is cut off on its way to a server leaves its place, and the next one gets an answer, its
own."""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from stanchion.kernel.state import Batch, Line, StoreLost, When, key
from stanchion.stores.postgres import PostgresStore
from stanchion.stores.queue import VisitQueue
from stanchion.stores.redis import RedisStore
from tests.interrupts import everywhere, files
from tests.stores import redis_server
from tests.stores.redis_server import FOREVER_S, Server
from tests.stores.servers import Place, place

__all__ = ["place"]

server = redis_server.server
A = key("t", "a")
numbers = itertools.count(1)
PARTS = files(
    "locks",
    "stores/queue.py",
    "stores/redis/pool.py",
    "stores/redis/loops.py",
    "stores/redis/loops.py",
)
POSTGRES = files("locks", "stores/queue.py", "stores/postgres/pool.py", "stores/postgres/carry.py")

pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


def counted(name: str) -> Batch:
    """A batch that takes a number of its own, so that its answer is nobody else's."""
    number = next(numbers)
    return Batch(
        f"{name}{number}", "t", lines=(Line(A), Line(key("t", f"own{number}"), when=When.LOOK))
    )


def answered(carry: Callable[[Batch], Any], queue: Callable[[], VisitQueue]) -> None:
    """A batch is answered at once, and nobody is left in the queue."""
    number = next(numbers)
    own = key("t", f"known{number}")
    assert carry(
        Batch(f"put{number}", "t", lines=(Line(own),), amounts=(number, 0, 0, 0, 0))
    ).values == (0,)
    assert carry(Batch(f"look{number}", "t", lines=(Line(own, when=When.LOOK),))).values == (
        number,
    )
    assert not queue().seated
    assert not queue().room.waiting


def again(carry: Callable[[Batch], Any]) -> Callable[[Batch], Any]:
    """Carry a batch out as often as it takes while the server is left alone for a moment."""

    def carried(batch: Batch) -> Any:
        while True:
            try:
                return carry(batch)
            except StoreLost:
                continue

    return carried


def test_threads_on_redis(server: Server) -> None:
    store = RedisStore(server.url, timeout_s=FOREVER_S, connections=1)
    check = lambda: answered(again(store.carry), lambda: store._pool.queue)  # noqa: E731
    assert everywhere(lambda: store.carry(counted("b")), check, PARTS, every=5) > 20
    store.close()


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """A loop that goes on after a task of it was cut off, and says nothing of that."""
    made = asyncio.new_event_loop()
    made.set_exception_handler(lambda *_: None)
    yield made
    made.close()


def test_tasks_on_redis(server: Server, loop: asyncio.AbstractEventLoop) -> None:
    """All on one loop, so that what was cut off and what follows share a connection. Where a loop
    is cut off before it begins with what it was told to do, that is noticed when the server should
    have answered."""
    store = RedisStore(server.url, timeout_s=0.5)

    async def three() -> None:
        await asyncio.gather(
            *[store.acarry(counted("b")) for _ in range(3)], return_exceptions=True
        )

    def carry(batch: Batch) -> Any:
        return asyncio.run(store.acarry(batch))

    def check() -> None:
        assert store._loops is not None
        for own in store._loops._owns.values():
            assert not own.queue.seated
        answered(again(carry), lambda: store._pool.queue)
        if not loop.is_running():
            number = next(numbers)
            own_key = key("t", f"loop{number}")
            put = Batch(f"put{number}", "t", lines=(Line(own_key),), amounts=(number, 0, 0, 0, 0))
            look = Batch(f"look{number}", "t", lines=(Line(own_key, when=When.LOOK),))
            on_loop = again(lambda batch: loop.run_until_complete(store.acarry(batch)))
            assert on_loop(put).values == (0,)
            assert on_loop(look).values == (number,)

    assert everywhere(lambda: loop.run_until_complete(three()), check, PARTS, every=31) > 20
    store.close()


def test_threads_on_postgres(place: Place) -> None:
    store = place.open(timeout_s=FOREVER_S, pool_size=1)
    check = lambda: answered(again(store.carry), lambda: store._carrying._pool.queue)  # noqa: E731
    assert everywhere(lambda: store.carry(counted("b")), check, POSTGRES, every=11) > 20


def test_tasks_on_postgres(place: Place) -> None:
    """Where a loop was cut off in the middle of calling somebody, that one looks for itself when
    its time is over."""
    store: PostgresStore = place.open(timeout_s=FOREVER_S, pool_size=1, patience_s=0.2)

    def carry(batch: Batch) -> Any:
        return asyncio.run(store.acarry(batch))

    async def two() -> None:
        await asyncio.gather(
            store.acarry(counted("b")), store.acarry(counted("b")), return_exceptions=True
        )

    def check() -> None:
        answered(again(carry), lambda: store._carrying._pool.queue)

    assert everywhere(lambda: asyncio.run(two()), check, POSTGRES, every=43) > 10
