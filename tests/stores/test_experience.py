"""Every shelf keeps experience alike: the same batches give the same answers as in memory."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from stanchion.audit.postgres.experience import PostgresShelf
from stanchion.experience.bounded import encoded, fingerprint
from stanchion.experience.incident import DAY_MS, Incident, new_id
from stanchion.experience.shelf import Shelf, ShelfError
from stanchion.experience.sql import PRACTICES
from stanchion.runtime.learning.shelves import IncidentRetention, prune
from stanchion.stores.experience.memory import MemoryShelf
from stanchion.stores.experience.redis import RedisShelf
from stanchion.stores.experience.sqlite import SqliteShelf
from stanchion.stores.redis.address import parse
from stanchion.stores.redis.pool import RedisPool
from tests.stores import redis_server, servers
from tests.stores.redis_server import Server
from tests.stores.servers import Place

server, place = redis_server.server, servers.place

NOW = 1_790_000_000_000
TODAY = NOW // DAY_MS

Made = Callable[[], Any]


@pytest.fixture(params=["memory", "sqlite", "postgres", "redis"])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shelf]:
    """A shelf of each kind, empty."""
    made: Shelf
    if request.param == "memory":
        made = MemoryShelf()
    elif request.param == "sqlite":
        made = SqliteShelf(tmp_path / "state.db-experience")
    elif request.param == "postgres":
        own: Place = request.getfixturevalue("place")
        made = PostgresShelf(own.server.url, own.schema)
    else:
        redis: Server = request.getfixturevalue("server")
        redis.ask("FLUSHALL")
        made = RedisShelf(RedisPool(parse(redis.url), 5.0, 2), "stanchion")
    yield made
    made.close()


def incident(
    number: int, at_ms: int = NOW, tenant: str = "acme", tool: str = "pay", **more: Any
) -> Incident:
    """An incident whose arguments are its number."""
    data = encoded({"n": number})
    given = {"success": True, **more}
    ident = new_id(at_ms, number.to_bytes(10, "big"))
    return Incident(
        ident, tenant, "run-1", tool, fingerprint(tool, data), at_ms=at_ms, call_data=data, **given
    )


def test_what_is_written_is_known(shelf: Shelf) -> None:
    shelf.write(
        [incident(1), incident(2, success=False, error_reason="no"), incident(3, known_good=False)]
    )
    known = shelf.known("acme", "pay", TODAY)
    assert (known.tally.successes, known.tally.failures, known.tally.days) == (
        2,
        1,
        {TODAY: (2, 1)},
    )
    assert [one.args for one in known.practices] == [{"n": 1}]
    assert shelf.tools("acme") == ["pay"]
    assert [one.error_reason for one in shelf.newest("acme", "pay", 10)] == ["", "no", ""]


def test_an_incident_counts_once_however_often_it_is_written(shelf: Shelf) -> None:
    """The answer to a batch may be lost, and then it is written again."""
    for _ in range(3):
        shelf.write([incident(1), incident(2)])
    shelf.write([incident(2), incident(3)])
    assert shelf.known("acme", "pay", TODAY).tally.successes == 3
    assert shelf.count() == 3


def test_tenants_and_tools_are_kept_apart(shelf: Shelf) -> None:
    shelf.write([incident(1), incident(2, tenant="other"), incident(3, tool="get")])
    assert shelf.known("acme", "pay", TODAY).tally.successes == 1
    assert shelf.known("other", "pay", TODAY).practices[0].args == {"n": 2}
    assert shelf.known("nobody", "pay", TODAY).tally.successes == 0
    assert {one.tenant for one in shelf.newest("acme", "", 10)} == {"acme"}
    assert shelf.tools("other") == ["pay"]


@pytest.mark.parametrize(
    "name", ["'; DROP TABLE incidents; --", "a:b{c}%", '"quoted"', "日本 ", "%s $1 {schema}"]
)
def test_names_are_data(shelf: Shelf, name: str) -> None:
    shelf.write([incident(1, tenant=name, tool=name, error_reason=name), incident(2)])
    assert shelf.tools(name) == [name]
    assert shelf.known(name, name, TODAY).tally.successes == 1
    (found,) = shelf.newest(name, name, 5)
    assert found == incident(1, tenant=name, tool=name, error_reason=name)
    assert shelf.forget([found]) == 1
    assert shelf.count() == 1


def test_all_shelves_answer_as_memory_does(shelf: Shelf) -> None:
    """Random batches with repeats, late ones and failures."""
    chance, model = random.Random(7), MemoryShelf()
    written: list[Incident] = []
    for step in range(30):
        batch = [
            incident(
                chance.randrange(5), NOW - chance.randrange(90) * DAY_MS - step,
                chance.choice("ab"), chance.choice(["pay", "get"]), success=chance.random() < 0.7,
                known_good=chance.random() < 0.9,
            )
            for _ in range(chance.randrange(1, 8))
        ]  # fmt: skip
        batch += chance.sample(written, min(len(written), 2))
        written += batch
        shelf.write(batch)
        model.write(batch)
    for tenant in "ab":
        for tool in ("pay", "get", "none"):
            mine, its = model.known(tenant, tool, TODAY), shelf.known(tenant, tool, TODAY)
            assert (mine.tally.successes, mine.tally.failures) == (
                its.tally.successes,
                its.tally.failures,
            )
            assert mine.practices == its.practices
        assert model.tools(tenant) == shelf.tools(tenant)
    assert model.count() == shelf.count()
    kept = [one.id for one in model.oldest(NOW - 30 * DAY_MS, 20)]
    assert kept == [one.id for one in shelf.oldest(NOW - 30 * DAY_MS, 20)]


def test_old_incidents_leave_and_counters_stay(shelf: Shelf) -> None:
    old = [incident(number, NOW - 40 * DAY_MS) for number in range(5)]
    shelf.write([*old, incident(9)])
    assert shelf.forget(shelf.oldest(NOW - DAY_MS, 2)) == 2
    assert shelf.forget(old) == 3
    assert shelf.count() == 1
    assert shelf.known("acme", "pay", TODAY).tally.successes == 6


def test_old_incidents_leave_in_portions_without_being_read(shelf: Shelf) -> None:
    shelf.write([*[incident(number, NOW - 40 * DAY_MS) for number in range(5)], incident(9)])
    gone = 0
    while more := shelf.forget_before(NOW - 30 * DAY_MS, 2):
        gone += more
    assert (gone, shelf.count()) == (5, 1)


def test_practices_that_have_not_worked_for_long_leave(shelf: Shelf) -> None:
    shelf.write([incident(1, NOW - 100 * DAY_MS), incident(2)])
    assert shelf.forget_practices(NOW - 30 * DAY_MS, 100) == 1
    assert [one.args for one in shelf.known("acme", "pay", TODAY).practices] == [{"n": 2}]


def test_many_practices_are_looked_at_by_a_bound(shelf: Shelf) -> None:
    shelf.write([incident(number, NOW + number) for number in range(100)])
    shelf.write([incident(3, NOW + 1_000), incident(3, NOW + 1_001)])
    known = shelf.known("acme", "pay", TODAY)
    assert len(known.practices) <= 16
    assert {"n": 3} in [one.args for one in known.practices]
    assert {"n": 99} in [one.args for one in known.practices]


def test_a_closed_shelf_says_so(tmp_path: Path) -> None:
    shelf = SqliteShelf(tmp_path / "x")
    shelf.close()
    with pytest.raises(ShelfError, match="was closed"):
        shelf.count()


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "x")) as db:
        db.execute("CREATE TABLE mine (a)")
    shelf = SqliteShelf(tmp_path / "x")
    with pytest.raises(ShelfError, match="not Stanchion's"):
        shelf.write([incident(1)])
    shelf.close()


def test_several_make_the_file_at_once(tmp_path: Path) -> None:
    for number in range(20):
        path, ready = tmp_path / f"{number}.db", Barrier(6)

        def asked(path: Path = path, ready: Barrier = ready) -> int:
            with closing(SqliteShelf(path)) as own:
                ready.wait()
                return own.known("acme", "pay", TODAY).tally.successes

        with ThreadPoolExecutor(6) as pool:
            assert [one.result() for one in [pool.submit(asked) for _ in range(6)]] == [0] * 6


def test_postgres_drops_whole_months_and_shows_the_columns_of_the_specification(
    place: Place,
) -> None:
    shelf = PostgresShelf(place.server.url, place.schema)
    shelf.write([incident(1)])
    old = 1_700_000_000_000
    place.do("SELECT {}.make_month('incident', '2023-11-01Z')")
    shelf.write([incident(number, old) for number in range(50)])
    assert place.do("SELECT count(*) FROM {}.incident_2023_11") == [(50,)]
    assert shelf.forget_before(old + 40 * DAY_MS, 3) == 50
    assert place.do("SELECT to_regclass('{}.incident_2023_11')") == [(None,)]
    said = (
        "SELECT session_id, tool_name, success, timestamp, error_reason, context_hint, "
        "call_data FROM {}.incidents"
    )
    assert place.do(said) == [("run-1", "pay", True, NOW / 1000, "", "", '{"n":1}')]
    shelf.close()


def test_postgres_finds_practices_by_an_index_however_many_there_are(place: Place) -> None:
    """What it reads is counted: as many rows with 20,000 incidents as with 20."""
    shelf = PostgresShelf(place.server.url, place.schema)
    reads = []
    for size in (20, 20_000):
        for start in range(0, size, 5_000):
            shelf.write(
                [
                    incident(number, NOW + number)
                    for number in range(start, min(size, start + 5_000))
                ]
            )
        found = []
        for said in PRACTICES:
            explained = b"EXPLAIN (ANALYZE, FORMAT JSON) " + shelf.said(said)
            rows = shelf._use(lambda db, s=explained: db.execute(s, ("acme", "pay", 8)).fetchall())  # type: ignore[misc]
            found.append(_read_rows(rows[0][0][0]["Plan"]))
        reads.append(found)
    assert reads[1] == reads[0]
    shelf.close()


def _read_rows(plan: Any) -> list[tuple[str, float]]:
    """The steps of a plan that read a table, and how many rows each reads."""
    own = [(plan["Node Type"], plan["Actual Rows"])] if "Relation Name" in plan else []
    return own + [row for inner in plan.get("Plans", ()) for row in _read_rows(inner)]


def test_a_month_that_an_archive_has_emptied_is_dropped(place: Place, tmp_path: Path) -> None:
    shelf = PostgresShelf(place.server.url, place.schema)
    shelf.write([incident(1)])
    old = 1_700_000_000_000
    place.do("SELECT {}.make_month('incident', '2023-11-01Z')")
    shelf.write([incident(number, old) for number in range(5)])
    assert prune(shelf, IncidentRetention(90, 1_000), NOW, tmp_path / "a.jsonl").incidents == 5
    assert len((tmp_path / "a.jsonl").read_text("utf-8").splitlines()) == 5
    assert place.do("SELECT to_regclass('{}.incident_2023_11')") == [(None,)]
    shelf.close()
