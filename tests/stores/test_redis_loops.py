"""On an event loop batches follow one another on one connection; troubles are the same as in
threads."""

import asyncio
import gc
import threading
from collections.abc import Iterator

import pytest

from stanchion.kernel.actions import Action
from stanchion.kernel.state import Batch, Line, StoreLost, When, key
from stanchion.stores.redis import RedisStore
from tests.stores import redis_server
from tests.stores.redis_proxy import Proxy
from tests.stores.redis_server import FOREVER_S, Server, hurry

server = redis_server.server

A, B, R = key("t", "a"), key("t", "b"), key("t", "record")
LINES = (Line(A),)
SHORT_S = 0.05
ALWAYS = 1_000_000


@pytest.fixture
def proxy(server: Server) -> Iterator[Proxy]:
    """A proxy before the server."""
    with Proxy(server.socket) as proxy:
        yield proxy


async def recovered(store: RedisStore, batch: Batch) -> object:
    """The reply when the store has recovered."""
    while True:
        try:
            return (await store.acarry(batch)).values
        except StoreLost:
            await asyncio.sleep(0)


def test_many_at_once_go_over_one_connection_and_never_overshoot(proxy: Proxy) -> None:
    store = RedisStore(proxy.url, timeout_s=FOREVER_S)
    bound = (Line(B, when=When.JUDGED), Line(A, ((100, Action.BLOCK),)))
    before = proxy.connections

    async def one(task: int) -> int:
        return sum(
            [(await store.acarry(Batch(f"{task}.{n}", "t", lines=bound))).go for n in range(10)]
        )

    async def all_of_them() -> int:
        return sum(await asyncio.gather(*[one(task) for task in range(50)]))

    assert asyncio.run(all_of_them()) == 100
    assert (store.read(A)[0], store.read(B)[0]) == (100, 500)
    assert proxy.connections == before + 1
    store.close()


def test_answers_go_to_whoever_asked(server: Server) -> None:
    store = RedisStore(server.url, timeout_s=FOREVER_S)
    names = [key("t", str(number)) for number in range(40)]
    for number, name in enumerate(names):
        store.carry(Batch(name, "t", lines=(Line(name),), amounts=(number, 0, 0, 0, 0)))

    async def ask(number: int) -> bool:
        reply = await store.acarry(
            Batch(f"ask{number}", "t", lines=(Line(names[number], when=When.LOOK),))
        )
        return reply.values == (number,)

    async def all_of_them() -> list[bool]:
        waiting = [asyncio.create_task(ask(number)) for number in range(40)]
        for task in waiting[::3]:
            await asyncio.sleep(0)
            task.cancel()
        done = await asyncio.gather(*waiting, return_exceptions=True)
        return [each for each in done if isinstance(each, bool)]

    told = asyncio.run(all_of_them())
    assert len(told) >= 26
    assert all(told)
    store.close()


def test_a_large_batch_is_sent_in_pieces(server: Server) -> None:
    store = RedisStore(server.url, timeout_s=FOREVER_S)
    large = ["x" * 1_000_000] * 8

    async def both() -> None:
        put = Batch("large", "t", puts=((R, large, When.PROCEED, 0, 0),))
        await asyncio.gather(store.acarry(put), store.acarry(Batch("small", "t", lines=LINES)))
        fresh = (await store.acarry(Batch("look", "t", expects=((R, 5, 6),)))).fresh
        assert fresh[0].value == large

    asyncio.run(both())
    assert store.read(A) == (1, None)
    store.close()


def test_the_loop_goes_on_while_the_server_is_stuck(server: Server) -> None:
    store = RedisStore(server.url, timeout_s=FOREVER_S)

    async def wait() -> None:
        await store.acarry(Batch("before", "t", lines=LINES))
        server.freeze()
        waiting = asyncio.create_task(store.acarry(Batch("stuck", "t", lines=LINES)))
        for _ in range(20):
            await asyncio.sleep(0)
            assert not waiting.done()
        server.thaw()
        assert (await waiting).values == (1,)

    asyncio.run(wait())
    store.close()


def test_a_late_answer_is_refused_in_time_and_the_batch_counted_once(proxy: Proxy) -> None:
    store = RedisStore(proxy.url, timeout_s=FOREVER_S)
    hurry(store, SHORT_S)

    async def late() -> None:
        await recovered(store, Batch("before", "t", lines=LINES))
        proxy.answers.clear()
        both = [Batch("late", "t", lines=LINES), Batch("later", "t", lines=LINES)]
        lost = await asyncio.gather(
            *[store.acarry(batch) for batch in both], return_exceptions=True
        )
        assert all("did not answer within 0.05 s: check" in str(each) for each in lost)
        assert not proxy.answers.is_set()
        proxy.answers.set()
        assert [await recovered(store, batch) for batch in both] == [(1,), (2,)]
        assert await recovered(store, Batch("after", "t", lines=LINES)) == (3,)

    asyncio.run(late())
    store.close()


def test_a_connection_that_was_cut_is_made_again_and_nothing_counted_twice(
    server: Server, proxy: Proxy
) -> None:
    store = RedisStore(proxy.url, timeout_s=FOREVER_S)

    async def cut() -> None:
        await store.acarry(Batch("before", "t", lines=LINES))
        for number in range(3):
            server.ask("CLIENT", "KILL", "TYPE", "normal")
            assert (await store.acarry(Batch(f"cut{number}", "t", lines=LINES))).values == (
                number + 1,
            )
        proxy.lose = ALWAYS
        many = [Batch(f"many{number}", "t", lines=LINES) for number in range(5)]
        lost = await asyncio.gather(
            *[store.acarry(batch) for batch in many], return_exceptions=True
        )
        assert all(
            isinstance(each, StoreLost) and "closed the connection" in str(each) for each in lost
        )
        proxy.lose = 0
        for batch in many:
            await recovered(store, batch)

    asyncio.run(cut())
    assert store.read(A) == (9, None)
    store.close()


def test_a_server_that_is_down(server: Server) -> None:
    own = Server("--appendonly", "yes", "--appendfsync", "always")
    store = RedisStore(own.tcp_url)

    async def down() -> None:
        assert (await store.acarry(Batch("up", "t", lines=LINES))).go
        own.kill()
        for number in range(5):
            with pytest.raises(StoreLost, match="cannot be reached, nothing listens there"):
                await store.acarry(Batch(f"down{number}", "t", lines=LINES))
        own.start()
        assert await recovered(store, Batch("again", "t", lines=LINES)) == (1,)

    asyncio.run(down())
    store.close()
    own.stop()


def test_a_script_that_the_server_forgot_is_sent_again(server: Server) -> None:
    store = RedisStore(server.url, timeout_s=FOREVER_S)

    async def forgotten() -> list[tuple[int, ...]]:
        server.ask("SCRIPT", "FLUSH")
        many = [Batch(f"b{number}", "t", lines=LINES) for number in range(5)]
        return [
            reply.values for reply in await asyncio.gather(*[store.acarry(batch) for batch in many])
        ]

    assert sorted(asyncio.run(forgotten())) == [(number,) for number in range(5)]
    store.close()


def test_loops_of_many_threads_one_after_the_other_and_at_once(server: Server) -> None:
    store = RedisStore(server.url, timeout_s=FOREVER_S)

    async def some(name: str) -> None:
        await asyncio.gather(
            *[store.acarry(Batch(f"{name}.{number}", "t", lines=LINES)) for number in range(20)]
        )

    def run(name: str) -> None:
        for turn in range(3):
            asyncio.run(some(f"{name}.{turn}"))

    threads = [threading.Thread(target=run, args=(str(number),)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.read(A) == (240, None)
    store.close()
    gc.collect()


def test_closing_while_a_loop_runs(server: Server) -> None:
    store = RedisStore(server.url, timeout_s=FOREVER_S)

    async def closed() -> None:
        await store.acarry(Batch("one", "t", lines=LINES))
        store.close()
        with pytest.raises(StoreLost, match="was closed: open it again"):
            await store.acarry(Batch("two", "t", lines=LINES))

    asyncio.run(closed())


def test_closing_from_another_thread_ends_what_waits(server: Server) -> None:
    store = RedisStore(server.url, timeout_s=FOREVER_S)

    async def waits() -> None:
        await store.acarry(Batch("one", "t", lines=LINES))
        server.freeze()
        waiting = asyncio.create_task(store.acarry(Batch("two", "t", lines=LINES)))
        await asyncio.sleep(0)
        await asyncio.to_thread(store.close)
        server.thaw()
        with pytest.raises(StoreLost, match="was closed: open it again"):
            await waiting

    asyncio.run(waits())


def test_a_loop_that_cannot_watch_sockets_uses_threads(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = RedisStore(server.url, timeout_s=FOREVER_S)

    def cannot(*_: object) -> None:
        raise NotImplementedError

    async def two() -> None:
        monkeypatch.setattr(asyncio.get_running_loop(), "add_reader", cannot)
        for number in range(2):
            assert (await store.acarry(Batch(f"b{number}", "t", lines=LINES))).values == (number,)

    asyncio.run(two())
    store.close()
