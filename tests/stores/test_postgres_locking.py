"""Batches on the same cells come one after the other, in an order without deadlocks, at times that
never run back."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Thread
from typing import Final

import psycopg
import pytest

from stanchion.kernel.state import Batch, Line, Reply, When, key
from stanchion.stores.postgres import PostgresStore
from stanchion.stores.postgres.request import PostgresRequests
from stanchion.testing.clock import FakeClock
from tests.stores.servers import Place, Row, place

__all__ = ["place"]

A, B, R = (key("t", name) for name in ("a", "b", "record"))
ACTUAL: Final = (5, 0, 0, 0, 0)

WAITING: Final = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
HELD: Final = (
    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid <> "
    "pg_backend_pid()"
)


NOW: Final = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"


class Carried:
    """A batch that is carried out by a thread of its own."""

    def __init__(self, store: PostgresStore, batch: Batch) -> None:
        self._store, self._batch = store, batch
        self._reply: Reply | None = None
        self._error: Exception | None = None
        self._thread = Thread(target=self._run)
        self._thread.start()

    def is_alive(self) -> bool:
        """Whether it is under way."""
        return self._thread.is_alive()

    def result(self) -> Reply:
        """The reply, once it is there."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._reply is not None
        return self._reply

    def _run(self) -> None:
        try:
            self._reply = self._store.carry(self._batch)
        except Exception as error:  # noqa: BLE001 - it is raised where the result is asked for
            self._error = error


def all_wait(db: psycopg.Connection[Row], carried: Sequence[Carried]) -> bool:
    """Whether all of them come to wait for a lock; if not, one is carried out."""
    while all(one.is_alive() for one in carried):
        if db.execute(WAITING).fetchone() == (len(carried),):
            return True
    return False


@contextmanager
def locked(on: Place, key: str, shared: bool = False) -> Iterator[psycopg.Connection[Row]]:
    """Somebody else's transaction that has the lock of a key."""
    with on.server.connect() as db, db.transaction():
        db.execute(
            f"SELECT pg_advisory_xact_lock{'_shared' if shared else ''}(%s)",
            (PostgresRequests(on.schema).lock_of(key),),
        )
        yield db


WHO_WAITS: Final = (
    (Batch("takes", lines=(Line(A),)), False, True),
    (Batch("takes", lines=(Line(A),)), True, True),
    (Batch("puts", puts=((A, 1, When.PROCEED, 0, 0),)), True, True),
    (Batch("looks", lines=(Line(A, when=When.LOOK),)), False, True),
    (Batch("looks", lines=(Line(A, when=When.LOOK),)), True, False),
    (Batch("expects", expects=((A, 0, 9),)), False, True),
    (Batch("expects", expects=((A, 0, 9),)), True, False),
    (Batch("expects and takes", expects=((A, 0, 9),), lines=(Line(A),)), True, True),
    (Batch("looks and takes", lines=(Line(A, when=When.LOOK), Line(A))), True, True),
    (Batch("settles", settles=(("held", None),)), True, True),
    (Batch("settles and expects", settles=(("held", None),), expects=((A, 0, 9),)), True, True),
    (Batch("other", lines=(Line(B),)), False, False),
)


@pytest.mark.parametrize(
    ("batch", "shared", "waits"), WHO_WAITS, ids=[f"{one[0].id}-{one[1]}" for one in WHO_WAITS]
)
def test_who_waits_for_whom(batch: Batch, shared: bool, waits: bool, place: Place) -> None:
    store = place.open(timeout_s=60)
    store.carry(Batch("held", lines=(Line(A, hold_ms=60_000),)))
    with locked(place, A, shared) as db:
        carried = Carried(store, batch)
        assert all_wait(db, [carried]) is waits
    assert carried.result().go


def test_time_is_read_after_waiting(place: Place) -> None:
    store = place.open(timeout_s=60)
    store.carry(Batch("one", lines=(Line(A),)))
    with locked(place, A) as db:
        carried = Carried(store, Batch("waits", lines=(Line(A),)))
        assert all_wait(db, [carried])
        later = store.carry(Batch("later", lines=(Line(B),))).now
        while (now := db.execute(NOW).fetchall()[0][0]) <= later:
            assert carried.is_alive()
    assert carried.result().now >= now


def test_what_was_written_while_waiting_is_seen(place: Place) -> None:
    """Ten batches queue for a counter: each finds what the one before it left."""
    store = place.open(timeout_s=60, pool_size=10)
    with locked(place, A) as db:
        carried = [
            Carried(store, Batch(f"b{number}", lines=(Line(A, hold_ms=1_000),)))
            for number in range(10)
        ]
        assert all_wait(db, carried)
    assert sorted(one.result().values[0] for one in carried) == list(range(10))


def test_locks_are_taken_in_one_order(place: Place) -> None:
    """While somebody has the first of its locks, a batch has none of the others, also those of
    holds it settles."""
    store = place.open(timeout_s=60)
    names = [key("t", "many", str(number)) for number in range(8)]
    store.carry(Batch("held", lines=tuple(Line(name, hold_ms=60_000) for name in names[:4])))
    batch = Batch(
        "settles",
        settles=(("held", None),),
        lines=tuple(Line(name) for name in names[4:6]),
        expects=tuple((name, 0, 9) for name in names[6:]),
    )
    with locked(place, min(names, key=PostgresRequests(place.schema).lock_of)) as db:
        carried = Carried(store, batch)
        assert all_wait(db, [carried])
        assert db.execute(HELD).fetchone() == (0,)
    assert carried.result().settled == ("settled",)


def test_schemas_do_not_wait_for_each_other(place: Place) -> None:
    own, another = PostgresRequests(place.schema), PostgresRequests("another")
    assert own.lock_of(A) != another.lock_of(A)
    assert own.lock_of(A) == PostgresRequests(place.schema).lock_of(A)


def test_the_same_batch_at_once_counts_once(place: Place) -> None:
    store = place.open(timeout_s=60, pool_size=4)
    store.carry(Batch("held", lines=(Line(B, hold_ms=60_000),)))
    batch = Batch("same", lines=(Line(A),), settles=(("held", ACTUAL),))
    with locked(place, A) as db:
        carried = [Carried(store, batch) for _ in range(4)]
        assert all_wait(db, carried)
    assert [one.result() for one in carried] == [store.carry(batch)] * 4
    assert (store.read(A), store.read(B)) == ((1, None), (5, None))


def test_the_same_batch_at_once_that_locks_nothing(place: Place) -> None:
    store = place.open(timeout_s=60, pool_size=4)
    carried = [Carried(store, Batch(f"empty{number // 4}")) for number in range(40)]
    assert [one.result() for one in carried] == [
        store.carry(Batch(f"empty{number // 4}")) for number in range(40)
    ]


def test_the_same_batch_at_once_is_not_stale_by_itself(place: Place) -> None:
    """A batch that was sent again meets itself: what it expects is changed by its own first
    sending."""
    store = place.open(timeout_s=60, pool_size=3)
    batch = Batch(
        "same", expects=((R, 0, 1),), lines=(Line(A),), puts=((R, "new", When.PROCEED, 0, 0),)
    )
    with locked(place, A) as db:
        carried = [Carried(store, batch) for _ in range(3)]
        assert all_wait(db, carried)
    first = store.carry(batch)
    assert not first.stale
    assert [one.result() for one in carried] == [first] * 3
    assert (store.read(A), store.read(R)) == ((1, None), (1, "new"))


def test_a_hold_is_settled_once_by_many_at_once(place: Place) -> None:
    store = place.open(timeout_s=60, pool_size=4)
    store.carry(Batch("held", lines=(Line(A, hold_ms=60_000), Line(B, hold_ms=60_000, keep=False))))
    with locked(place, A) as db:
        carried = [
            Carried(store, Batch(f"s{number}", settles=(("held", ACTUAL),))) for number in range(4)
        ]
        assert all_wait(db, carried)
    assert sorted(one.result().settled[0] for one in carried) == ["again"] * 3 + ["settled"]
    assert (store.read(A), store.read(B)) == ((5, None), (0, None))


def test_a_hold_that_is_taken_meanwhile_is_not_unknown(place: Place) -> None:
    """A settlement overtakes the batch that it settles, and waits for its cell: it is sent once
    more."""
    store = place.open(FakeClock(), timeout_s=60)
    with locked(place, A) as db:
        first = Carried(store, Batch("held", lines=(Line(A, hold_ms=60_000),)))
        assert all_wait(db, [first])
        second = Carried(store, Batch("settle", settles=(("held", None),), lines=(Line(A),)))
        assert all_wait(db, [first, second])
    first.result()
    assert (second.result().settled, second.result().values) == (("settled",), (0,))
    assert store.read(A) == (1, None)


def test_the_isolation_level_of_a_role_is_not_used(place: Place) -> None:
    place.do("ALTER ROLE postgres SET default_transaction_isolation = 'serializable'")
    try:
        store = place.open()
        assert store.carry(Batch("one", lines=(Line(A),))).go
        with pytest.raises(psycopg.Error, match="isolation level is `serializable`"):
            place.do(
                "SELECT {}.carry('x', NULL, NULL, '{{1,3,1,0,0,0,0,-1,0}}', "
                + ", ".join(["NULL"] * 9)
                + ")"
            )
    finally:
        place.do("ALTER ROLE postgres RESET default_transaction_isolation")
