"""Whatever happens to the server: a batch is refused in time, counts once, and the store works
again by itself."""

import asyncio
import re
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

import pytest

from stanchion.kernel.state import Batch, Crowded, Line, Reply, StoreLost, When, key
from stanchion.stores.postgres import PostgresStore
from stanchion.stores.protocol import StoreError
from stanchion.stores.queue import FIRST_S, LONGEST_S, ServerCircuit, Visit as Held
from tests.stores.postgres_proxy import Mode, Proxy, proxy_before
from tests.stores.servers import PASSWORD, Place, place, until_open
from tests.stores.test_postgres_locking import Carried

__all__ = ["place"]

A, B, R = key("t", "a"), key("t", "b"), key("t", "record")
LINES = (Line(A),)

END_THEM = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'stanchion'"
)


@pytest.fixture
def proxy(place: Place) -> Iterator[Proxy]:
    """A proxy before the server."""
    with proxy_before(place.server.port) as made:
        yield made


def through(proxy: Proxy, place: Place, timeout_s: float = 60) -> PostgresStore:
    """A store that reaches the server through the proxy."""
    return until_open(
        lambda: place.open(url=place.server.tcp(proxy.port), timeout_s=timeout_s, pool_size=2)
    )


def given_up(carry: Callable[[], object]) -> str:
    """What is said of a batch that the server gave up: where that comes late, the store gave up
    before, and tries again."""
    end = monotonic() + 60
    while True:
        with pytest.raises(StoreLost) as caught:
            carry()
        if "did not answer" not in str(caught.value) or monotonic() > end:
            return str(caught.value)


def until_it_works(store: PostgresStore, batch: Batch) -> Reply:
    """Send a batch as often as it takes: nothing but time must be needed for the store to
    recover."""
    end = monotonic() + 60
    while True:
        try:
            return store.carry(batch)
        except StoreLost:
            assert monotonic() < end


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Complain where it takes longer."""
    began = monotonic()
    yield
    assert monotonic() - began < seconds


def test_one_trip_for_each_batch(place: Place, proxy: Proxy) -> None:
    store = through(proxy, place)
    held = (Line(A, hold_ms=9_000), Line(B, hold_ms=9_000, keep=False, window_ms=16_000))
    batches = [
        Batch("empty"),
        Batch("new cells", lines=held, puts=((R, [1], When.PROCEED, 0, 0),)),
        Batch("stale", lines=held, expects=((R, 0, 1),)),
        Batch(
            "settle", settles=(("new cells", (3, 0, 0, 0, 0)),), lines=held, expects=((R, 1, 2),)
        ),
        Batch("settle", lines=LINES),
        Batch("refused", go=False, lines=held, settles=(("nobody", None), ("settle", None))),
    ]
    store.carry(Batch("first"))
    before = proxy.trips
    for batch in batches:
        store.carry(batch)
    assert proxy.trips - before == len(batches)
    asyncio.run(store.acarry(Batch("async", lines=held)))
    assert proxy.trips - before == len(batches) + 1


def test_the_time_of_the_host_is_never_sent(place: Place, proxy: Proxy) -> None:
    """So hosts whose clocks differ by any amount agree: the only clock is the server's."""
    store, other = through(proxy, place), place.open()
    proxy.said.clear()
    replies = [store.carry(Batch("one", lines=LINES)), other.carry(Batch("two", lines=LINES))]
    ((bind,),) = [[data] for data in proxy.said if data[:1] == b"B"]
    arguments = bind[bind.index(b"carry\0") + 6 :]
    formats = int.from_bytes(arguments[:2], "big")
    values = arguments[2 + 2 * formats + 2 :]
    assert values[:7] == b"\0\0\0\3one"
    # Behind the batch that must be known, of which there is none yet, stands the time.
    assert values[7:15] == b"\0\0\0\0" + b"\xff\xff\xff\xff"
    (told,) = place.server.do("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")[0]
    assert replies[0].now <= replies[1].now <= told
    assert told - replies[0].now < 60_000


def test_an_answer_is_lost_with_its_connection(place: Place, proxy: Proxy) -> None:
    """The server carried the batch out; the store sends it again by itself."""
    store = through(proxy, place)
    store.carry(Batch("one", lines=LINES))
    proxy.mode = Mode.CUT
    assert store.carry(Batch("two", lines=(Line(A, hold_ms=9_000),))).values == (1,)
    assert (proxy.mode, store.read(A)) == (Mode.PASS, (2, None))
    proxy.mode = Mode.CUT
    assert store.carry(Batch("three", settles=(("two", (5, 0, 0, 0, 0)),))).settled == ("settled",)
    assert store.read(A) == (6, None)
    proxy.mode = Mode.CUT
    assert asyncio.run(store.acarry(Batch("four", lines=LINES))).values == (6,)
    assert store.read(A) == (7, None)
    proxy.mode = Mode.CUT
    assert store.read(A) == (7, None)


def test_an_answer_is_lost_and_the_connection_stays(place: Place, proxy: Proxy) -> None:
    """The server carried the batch out and nobody hears of it; whoever sends it again gets its
    first answer."""
    store = through(proxy, place, timeout_s=0.3)
    until_it_works(store, Batch("one", lines=LINES))
    proxy.mode = Mode.SWALLOW
    with pytest.raises(StoreLost, match=r"did not answer within 0\.3 s"), within(30):
        store.carry(Batch("two", lines=LINES))
    proxy.mode = Mode.PASS
    assert until_it_works(store, Batch("two", lines=LINES)).values == (1,)
    assert through(proxy, place).read(A) == (2, None)


def test_while_the_server_is_frozen_nobody_waits_again(place: Place, proxy: Proxy) -> None:
    store = through(proxy, place, timeout_s=1)
    until_it_works(store, Batch("one", lines=LINES))
    proxy.frozen, proxy.mode = True, Mode.SWALLOW
    with pytest.raises(StoreLost, match="did not answer within 1 s"):
        store.carry(Batch("two", lines=LINES))
    began = monotonic()
    for number in range(50):
        with pytest.raises(StoreLost, match="did not answer within 1 s"):
            store.carry(Batch(f"refused{number}", lines=LINES))
        with pytest.raises(StoreLost, match="did not answer within 1 s"):
            asyncio.run(store.acarry(Batch(f"refused{number}", lines=LINES)))
    assert monotonic() - began < 50
    proxy.frozen, proxy.mode = False, Mode.PASS
    assert until_it_works(store, Batch("three", lines=LINES)).go


def test_all_sessions_are_ended_in_the_middle_of_a_run(place: Place) -> None:
    stores = [place.open(timeout_s=60) for _ in range(2)]
    for number in range(30):
        if number % 5 == 4:
            place.server.do(END_THEM)
        assert stores[number % 2].carry(Batch(f"b{number}", lines=LINES)).values == (number,)


def test_a_session_is_ended_in_the_middle_of_a_batch(place: Place) -> None:
    store = place.open(timeout_s=60)
    store.carry(Batch("one", lines=LINES))
    with place.holding_row(A) as db:
        carried = Carried(store, Batch("two", lines=LINES))
        waiting = (
            "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND "
            "application_name = 'stanchion'"
        )
        while not (found := db.execute(waiting).fetchall()):
            assert carried.is_alive()
        db.execute("SELECT pg_terminate_backend(%s)", found[0])
        while db.execute(waiting).fetchall() == found:
            assert carried.is_alive()
    assert carried.result().values == (1,)
    assert store.read(A) == (2, None)


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_the_server_is_stopped_and_started(mode: str, place: Place) -> None:
    """Also by a crash: what was answered is there, each batch once."""
    store = place.open(url=place.server.tcp(query="&options=-csynchronous_commit%3Don"))
    held = store.carry(Batch("held", lines=(Line(A, hold_ms=9_000_000),)))
    place.server.stop(mode)
    try:
        for number in range(5):
            with (
                pytest.raises(StoreLost, match=r"cannot be reached .*: check that it is running"),
                within(60),
            ):
                store.carry(Batch(f"lost{number}", lines=LINES))
        with pytest.raises(StoreLost, match="cannot be reached"):
            store.read(A)
        with pytest.raises(StoreError, match="cannot be reached"):
            place.open()
    finally:
        place.server.start()
    assert until_it_works(store, Batch("held")) == held
    assert store.carry(Batch("lost0", lines=LINES)).values == (1,)
    assert store.carry(Batch("settle", settles=(("held", (4, 0, 0, 0, 0)),))).settled == (
        "settled",
    )
    assert store.read(A) == (5, None)


def test_somebody_else_holds_a_cell(place: Place) -> None:
    """That batch is refused in time; others go on, for the server is there."""
    store = until_open(lambda: place.open(timeout_s=1.5))
    until_it_works(store, Batch("one", lines=LINES))
    with place.holding_row(A):
        said = given_up(lambda: store.carry(Batch("two", lines=LINES)))
        assert re.search(r"did not carry out the batch within 1\.35 s.*try again", said)
        assert until_it_works(store, Batch("three", lines=(Line(B),))).go
        said = given_up(lambda: asyncio.run(store.acarry(Batch("two", lines=LINES))))
        assert "did not carry out the batch" in said
    assert until_it_works(store, Batch("two", lines=LINES)).values == (1,)


def test_all_connections_are_in_use(place: Place) -> None:
    """Nothing is wrong with the server then: it is said that it is crowded, and nobody leaves the
    server alone."""
    store = place.open(timeout_s=60, pool_size=1, patience_s=0.05)
    pool = store._carrying._pool
    taken = Held()
    pool.enter(taken)
    for _ in range(2):
        with pytest.raises(
            Crowded,
            match=r"^0 other calls in this process wait for .*, and this one has waited [\d.]+ s",
        ):
            store.carry(Batch("one", lines=LINES))
        with pytest.raises(
            Crowded,
            match=r"^0 other calls in this process wait for .*, and this one has waited [\d.]+ s",
        ):
            asyncio.run(store.acarry(Batch("one", lines=LINES)))
    pool.leave(taken)
    assert store.carry(Batch("one", lines=LINES)).values == (0,)


def test_a_server_that_cannot_be_written(place: Place) -> None:
    place.open()
    standby = place.open(url=place.server.url + "&options=-cdefault_transaction_read_only%3Don")
    with pytest.raises(
        StoreLost, match="accepts no writes, so it is a standby: put the primary server"
    ):
        standby.carry(Batch("one", lines=LINES))


SECRETS = (PASSWORD, "s3cr3t", "s3cr3t%26word")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://postgres:s3cr3t%26wrong@127.0.0.1:{port}/postgres?sslmode=disable",
        "postgresql://postgres:s3cr3t%26word@127.0.0.1:{port}/nothing?sslmode=disable",
        "postgresql://nobody_here:s3cr3t%26word@127.0.0.1:{port}/postgres?sslmode=disable",
        "postgresql://postgres:s3cr3t%26word@127.0.0.1:{port}/postgres?sslmode=require",
        "postgresql://postgres:s3cr3t%26word@127.0.0.1:1/postgres",
        "postgresql://postgres:s3cr3t%26word@nowhere.invalid/postgres",
        "postgresql://postgres:s3cr3t/word@127.0.0.1:{port}/postgres",
        "postgresql://postgres:s3cr3t?word=1@127.0.0.1:{port}/postgres",
        "postgresql://postgres:s3cr3t%2@127.0.0.1:{port}/postgres",
        "postgresql://postgres:s3cr3t%26word@127.0.0.1:{port}/postgres?no_such_option=1",
        "postgresql://postgres:s3cr3t%26word@127.0.0.1:{port}/postgres?connect_timeout=soon",
        "postgresql://postgres:s3cr3t@word@127.0.0.1:{port}/postgres",
        "postgresql://postgres:s3cr3t#word@127.0.0.1:{port}/postgres",
        "postgresql://s3cr3t\ud800",
    ],
)
def test_no_secret_is_ever_said(url: str, place: Place) -> None:
    with pytest.raises(StoreError) as caught:
        PostgresStore(url.format(port=place.server.port), schema=place.schema)
    told = "".join(traceback.format_exception(caught.value, chain=True))
    told = "\n".join(line for line in told.splitlines() if "PostgresStore(url" not in line)
    assert not [secret for secret in SECRETS if secret in str(caught.value) or secret in told]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            "s3cr3t%26wrong@127.0.0.1:{port}/postgres?sslmode=disable",
            "does not accept this password: correct it",
        ),
        (
            "s3cr3t%26word@127.0.0.1:{port}/nothing?sslmode=disable",
            "has no such database: create it",
        ),
        ("s3cr3t%26word@127.0.0.1:{port}/postgres?sslmode=require", "server does not support SSL"),
        (
            "s3cr3t%26word@127.0.0.1:1/postgres",
            "`127.0.0.1:1/postgres` cannot be reached .*: check that it is running",
        ),
        (
            "s3cr3t%26word@127.0.0.1:{port}/postgres?no_such_option=1",
            "there is no option `no_such_option`: write `post",
        ),
        (
            "s3cr3t/word@127.0.0.1:{port}/postgres",
            "cannot be read: write `postgresql://user:password@host:5432/",
        ),
    ],
)
def test_what_is_wrong_with_a_url(change: str, says: str, place: Place) -> None:
    with pytest.raises(StoreError, match=says):
        PostgresStore(
            "postgresql://postgres:" + change.format(port=place.server.port), schema=place.schema
        )


def test_a_password_that_is_also_a_name_hides_no_reason(place: Place) -> None:
    place.server.do("ALTER ROLE postgres VALID UNTIL '2000-01-01'")
    try:
        with pytest.raises(StoreError, match="does not accept this password"):
            PostgresStore(
                f"postgresql://postgres:postgres@127.0.0.1:{place.server.port}/"
                f"postgres?sslmode=disable"
            )
    finally:
        place.server.do("ALTER ROLE postgres VALID UNTIL 'infinity'")


def test_a_circuit_tries_less_and_less_often() -> None:
    now = 0.0
    circuit = ServerCircuit(lambda: now)
    assert circuit.may_try()
    assert circuit.may_try()
    pause = FIRST_S
    for _ in range(8):
        circuit.failed("why")
        assert circuit.why
        now += pause * 0.99
        assert not circuit.may_try()
        now += pause * 0.02
        assert [circuit.may_try() for _ in range(3)] == [True, False, False]
        pause = min(2 * pause, LONGEST_S)
    circuit.failed("why")
    circuit.failed("another, of an attempt that began earlier")
    now += LONGEST_S
    assert circuit.may_try()
    circuit.worked()
    assert not circuit.why
    circuit.failed("again")
    now += FIRST_S
    assert circuit.may_try()
