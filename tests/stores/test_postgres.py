"""The PostgreSQL store passes the store suite, keeps what it is given, and is there for threads and
tasks alike."""

import asyncio
import math
import os
from typing import Any

import pytest

from stanchion.kernel.actions import Action
from stanchion.kernel.state import CLOCK, STANDING, Batch, Line, Reply, StoreLost, When, key
from stanchion.stores.open_store import open_store
from stanchion.stores.postgres import PostgresStore
from stanchion.stores.postgres.carry import ANSWERS_S, EVERY, MARGIN_S
from stanchion.stores.protocol import StoreError
from stanchion.testing.clock import FakeClock
from stanchion.testing.store_suite import CASES, Case
from tests.stores.servers import Place, place
from tests.stores.several import TakingTurns

__all__ = ["place"]

A, B, R = key("t", "a"), key("t", "b"), key("t", "record")


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_store_suite(case: Case, place: Place) -> None:
    case.check(place.open)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_store_suite_on_two_that_take_turns(case: Case, place: Place) -> None:
    case.check(lambda clock: TakingTurns([place.open(clock), place.open(clock)]))


def test_everything_is_there_again_after_closing(place: Place) -> None:
    clock = FakeClock()
    store = place.open(clock)
    lines = (Line(A, hold_ms=9_000), Line(B, window_ms=16_000))
    first = store.carry(Batch("one", lines=lines, amounts=(4, 0, 0, 0, 0)))
    store.carry(Batch("two", puts=((R, {"open": [1, None]}, When.PROCEED, 0, 0),)))
    seen, holds = list(store.look()), list(store.holds())
    store.close()

    again = place.open(clock)
    assert (list(again.look()), list(again.holds())) == (seen, holds)
    clock.advance(-60_000)
    assert again.carry(Batch("one")) == first
    assert again.carry(Batch("three", settles=(("one", (1, 0, 0, 0, 0)),))).settled == ("settled",)
    assert again.carry(Batch("four", lines=(Line(A), Line(B, window_ms=16_000)))).values == (1, 4)
    assert (
        again.carry(Batch("five", expects=((R, 1, 2), (CLOCK, first.now, first.now + 1)))).stale
        is False
    )
    assert (again.read(R), again.read(CLOCK)) == ((1, {"open": [1, None]}), (first.now, None))


def test_the_time_of_a_stale_answer_is_kept_too(place: Place) -> None:
    clock = FakeClock()
    store, other = place.open(clock), place.open(clock)
    permit = Line(A, ((1, Action.BLOCK),), hold_ms=1_000, keep=False)
    store.carry(Batch("held", lines=(permit,)))
    clock.advance(1_000)
    stale = store.carry(Batch("stale", expects=((R, 5, 6), (A, 1, 2))))
    assert [(fresh.key, fresh.number) for fresh in stale.fresh] == [(R, 0), (A, 0)]
    clock.advance(-1_000)
    after = other.carry(Batch("after", lines=(permit,)))
    assert (after.now, after.go) == (stale.now, True)


def test_an_id_is_known_to_a_store_that_never_saw_it(place: Place) -> None:
    store, other = place.open(FakeClock()), place.open(FakeClock())
    held = store.carry(Batch("held", lines=(Line(A, hold_ms=1_000),)))
    done = store.carry(Batch("done", lines=(Line(A),)))
    assert other.carry(Batch("held", lines=(Line(A),))) == held
    assert other.carry(Batch("done", lines=(Line(A),))) == done
    assert other.carry(Batch("done", expects=((A, 99, 100),))) == done
    assert other.carry(Batch("next", lines=(Line(A),))).values == (2,)
    assert store.read(A) == other.read(A) == (3, None)


def test_a_record_comes_back_equal(place: Place) -> None:
    store, other = place.open(FakeClock()), place.open(FakeClock())
    value = {
        "text": "ü\0\U0001f600",
        "bytes": b"\0\xff",
        1: [1.5, -0.0, 2**63, -(2**63), None, True],
        "deep": [[[{}]]],
    }
    store.carry(
        Batch("put", puts=((R, value, When.PROCEED, 0, 0), (A, math.inf, When.PROCEED, 0, 0)))
    )
    fresh = other.carry(Batch("look", expects=((R, 9, 10), (A, 9, 10)))).fresh
    assert [each.value for each in fresh] == [value, math.inf]
    assert store.read(R) == (1, value)


def test_a_record_of_any_size_goes_both_ways(place: Place) -> None:
    """More than a socket takes at once, to be sent and to be read."""
    store = place.open(url=place.server.tcp())
    large = "x" * 5_000_000
    store.carry(Batch("sync", puts=((R, large, When.PROCEED, 0, 0),)))
    asyncio.run(store.acarry(Batch("async", puts=((A, large, When.PROCEED, 0, 0),))))
    stale = Batch("stale", expects=((R, 0, 1), (A, 0, 1)))
    for reply in (store.carry(stale), asyncio.run(store.acarry(stale))):
        assert [(fresh.number, fresh.value == large) for fresh in reply.fresh] == [(1, True)] * 2


def test_what_is_idle_is_forgotten_whether_or_not_it_is_swept(place: Place) -> None:
    clock = FakeClock()
    store = place.open(clock)
    line = Line(A, idle_s=10)
    permit = Line(B, idle_s=10, hold_ms=1_000, keep=False)
    store.carry(Batch("one", lines=(line, permit)))
    clock.advance(10_999)
    assert store.carry(
        Batch("two", lines=(line._replace(when=When.LOOK), permit._replace(when=When.LOOK)))
    ).values == (
        0,
        0,
    )
    assert [cell.key for cell in store.look()] == [B]
    clock.advance(1)
    assert store.carry(Batch("three", lines=(line, permit))).values == (0, 0)
    clock.advance(1_000)
    assert store.carry(Batch("four", lines=(line, permit))).values == (1, 0)


def test_a_counter_is_kept_for_as_long_as_who_takes_from_it_says(place: Place) -> None:
    clock = FakeClock()
    store = place.open(clock)
    store.carry(Batch("look", lines=(Line(A, when=When.LOOK, idle_s=1),)))
    store.carry(
        Batch("take", lines=(Line(A, idle_s=1, hold_ms=3_600_000),), amounts=(9, 0, 0, 0, 0))
    )
    clock.advance(60_000)
    store.carry(Batch("short", lines=(Line(A, idle_s=1),)))
    clock.advance(3_000_000)
    assert store.carry(Batch("settle", settles=(("take", (2, 0, 0, 0, 0)),))).settled == (
        "settled",
    )
    assert store.carry(Batch("then", lines=(Line(A, when=When.LOOK),))).values == (3,)


def test_what_nobody_needs_leaves_the_tables(place: Place) -> None:
    clock = FakeClock()
    store = place.open(clock)
    shield, kept = key("t", "x") + STANDING, key("t", "kept")
    store.carry(
        Batch("kept", lines=(Line(kept, idle_s=0),), puts=((shield, 1, When.PROCEED, 0, 0),))
    )
    for number in range(EVERY):
        line = Line(key("t", "many", str(number)), idle_s=1, hold_ms=500, keep=number % 2 == 0)
        store.carry(Batch(f"many{number}", lines=(line,)))
    clock.advance(ANSWERS_S * 1_000 + 1)
    for number in range(EVERY):
        store.carry(Batch(f"after{number}"))
    assert [row[0] for row in place.do("SELECT key FROM {}.cell ORDER BY key")] == [kept, shield]
    assert place.do("SELECT count(*), count(due) FROM {}.batch") == [(2 * EVERY, EVERY)]
    assert place.do("SELECT count(*) FROM {}.permit") == [(0,)]
    late = Batch("late", settles=(("many0", (7, 0, 0, 0, 0)), ("kept", None)))
    assert store.carry(late).settled == ("late", "unknown")
    clock.advance(8 * 86_400_000)
    for number in range(EVERY):
        store.carry(Batch(f"more{number}"))
    assert place.do("SELECT count(due) FROM {}.batch") == [(0,)]
    assert [cell.key for cell in store.look()] == [kept, shield]


def test_a_permit_leaves_with_its_cell(place: Place) -> None:
    """Another line of the batch holds for longer than the cell of the permit is kept."""
    clock = FakeClock()
    store = place.open(clock)
    permit, spend = (
        Line(A, idle_s=1, hold_ms=1, keep=False),
        Line(B, idle_s=0, hold_ms=1_000_000_000),
    )
    store.carry(Batch("one", lines=(permit, spend)))
    assert place.do("SELECT count(*) FROM {}.permit") == [(1,)]
    clock.advance((MARGIN_S + 2) * 1_000)
    for number in range(EVERY):
        store.carry(Batch(f"b{number}"))
    assert place.do("SELECT key FROM {}.cell") == [(B,)]
    assert place.do("SELECT count(*) FROM {}.permit") == [(0,)]
    assert store.carry(Batch("two", settles=(("one", (4, 0, 0, 0, 0)),))).settled == ("settled",)
    assert (store.read(A), store.read(B)) == ((0, None), (4, None))


def test_sweeping_waits_for_nobody(place: Place) -> None:
    """Another session has the row of an idle cell: it is left for the next time."""
    clock = FakeClock()
    store = place.open(clock, timeout_s=60)
    store.carry(Batch("one", lines=(Line(A, idle_s=1), Line(B, idle_s=1))))
    clock.advance(1_000_000)
    with place.holding_row(A):
        for number in range(EVERY):
            store.carry(Batch(f"b{number}"))
        assert place.do("SELECT key FROM {}.cell") == [(A,)]


def test_reading_never_makes_nor_changes_a_schema(place: Place) -> None:
    with pytest.raises(StoreError, match=f"the schema `{place.schema}` on .* does not exist"):
        place.open(reading=True)
    assert place.do("SELECT FROM pg_namespace WHERE nspname = 'no such schema'") == []
    store = place.open()
    store.carry(Batch("one", lines=(Line(A),)))
    reader = place.open(reading=True)
    with pytest.raises(StoreLost, match="open read-only"):
        reader.carry(Batch("two", lines=(Line(A),)))
    assert (reader.read(A), [cell.key for cell in reader.look()], list(reader.holds())) == (
        (1, None),
        [A],
        [],
    )
    store.carry(Batch("three", lines=(Line(A),)))
    assert reader.read(A) == (2, None)


def test_looking_on_while_others_write(place: Place) -> None:
    store = place.open(FakeClock())
    names = [key("t", f"{number:04}") for number in range(700)]
    for at in range(0, len(names), 50):
        store.carry(Batch(f"b{at}", lines=tuple(Line(name) for name in names[at : at + 50])))
    reader = place.open(FakeClock(), pool_size=1)
    seen = []
    for cell in reader.look():
        seen.append(cell.key)
        if len(seen) % 50 == 1:
            store.carry(Batch(f"again {cell.key}", lines=(Line(cell.key),)))
            reader.carry(Batch(f"mine {cell.key}", lines=(Line(cell.key),)))
    assert seen == names
    assert {store.read(name)[0] for name in names[::50]} == {3}


def test_a_closed_store_says_so(place: Place) -> None:
    store = place.open()
    store.close()
    store.close()
    for attempt in (
        lambda: store.carry(Batch("one")),
        lambda: store.read(A),
        lambda: list(store.look()),
    ):
        with pytest.raises(StoreLost, match="was closed: open it again"):
            attempt()


def test_many_tasks_share_few_connections_and_the_loop_goes_on(place: Place) -> None:
    """While somebody else holds a cell the tasks wait; what lets go of it is another task of the
    same loop."""
    store = place.open(pool_size=2, timeout_s=60)
    store.carry(Batch("made", lines=(Line(A),)))

    async def all_at_once() -> list[Reply]:
        with place.holding_row(A) as db:
            tasks = [
                asyncio.create_task(store.acarry(Batch(f"b{n}", lines=(Line(A),))))
                for n in range(20)
            ]
            waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'advisory'"
            while db.execute(waiting).fetchone() == (0,):
                await asyncio.sleep(0)
            assert not any(task.done() for task in tasks)
        return await asyncio.gather(*tasks)

    replies = asyncio.run(all_at_once())
    assert sorted(reply.values[0] for reply in replies) == list(range(1, 21))
    assert asyncio.run(store.acarry(Batch("another loop", lines=(Line(A),)))).values == (21,)
    application = place.do(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'stanchion'"
    )
    assert application[0][0] <= 2


def test_a_task_that_is_cancelled_leaves_the_store_whole(place: Place) -> None:
    store = place.open(pool_size=1, timeout_s=60)
    store.carry(Batch("made", lines=(Line(A),)))

    async def cancel_two() -> None:
        with place.holding_row(A) as db:
            tasks = [
                asyncio.create_task(store.acarry(Batch(f"b{n}", lines=(Line(A),))))
                for n in range(3)
            ]
            waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
            while db.execute(waiting).fetchone() == (0,):
                await asyncio.sleep(0)
            for task in tasks[:2]:
                task.cancel()
            await asyncio.wait(tasks[:2])
            assert all(task.cancelled() for task in tasks[:2])
        await tasks[2]

    asyncio.run(cancel_two())
    assert store.carry(Batch("b0", lines=(Line(A),))).go
    assert store.carry(Batch("b1", lines=(Line(A),))).go
    assert store.read(A) == (4, None)


def test_what_no_server_can_hold_is_refused_and_forgotten(place: Place) -> None:
    store = place.open(FakeClock())
    store.carry(Batch("one", lines=(Line(A),)))
    with pytest.raises(StoreLost, match="smaller amounts"):
        store.carry(Batch("huge", lines=(Line(A),), amounts=(1 << 63, 0, 0, 0, 0)))
    with pytest.raises(StoreLost, match="smaller amounts"):
        store.carry(Batch("sum", lines=(Line(A),), amounts=((1 << 63) - 1, 0, 0, 0, 0)))
    for odd in ("\ud800", "nul\0"):
        with pytest.raises(StoreLost, match="other names"):
            store.carry(Batch("odd", lines=(Line(A), Line(odd))))
    with pytest.raises(TypeError):
        store.carry(Batch("object", lines=(Line(A),), puts=((R, object(), When.PROCEED, 0, 0),)))
    assert store.carry(Batch("two", lines=(Line(A),))).values == (1,)


@pytest.mark.parametrize("options", [{"timeout_s": 0}, {"pool_size": 0}])
def test_limits_that_are_none(options: dict[str, Any], place: Place) -> None:
    with pytest.raises(StoreError, match="must be above zero"):
        place.open(**options)


def test_its_name_has_no_secret(place: Place) -> None:
    store = PostgresStore(place.server.tcp(), schema=place.schema)
    assert repr(store) == f"PostgresStore(127.0.0.1:{place.server.port}/postgres)"
    store.close()


def test_a_url_names_it(place: Place) -> None:
    """In the schema that everybody shares, which is made where it is not there; looking makes
    nothing."""
    with place.server.connect() as db:
        db.execute("DROP SCHEMA IF EXISTS stanchion CASCADE")
    with pytest.raises(StoreError, match="does not exist"):
        open_store(place.server.url, reading=True)
    store = open_store(place.server.url)
    try:
        assert store.carry(Batch(f"by-url-{os.getpid()}", "t")).go
        looking = open_store(place.server.url, reading=True)
        assert list(looking.look("{nobody}")) == []
        looking.close()
    finally:
        store.close()
        with place.server.connect() as db:
            db.execute("DROP SCHEMA stanchion CASCADE")
