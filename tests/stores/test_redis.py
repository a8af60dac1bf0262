"""The Redis store passes the store suite, makes one round trip for each batch, and keeps what it is
given."""

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from stanchion.kernel.actions import Action
from stanchion.kernel.state import CLOCK, IDLE_S, STANDING, Batch, Line, StoreLost, When, key
from stanchion.kernel.units import LARGEST, Unit
from stanchion.stores.leasing import LeasingStore
from stanchion.stores.open_store import open_store
from stanchion.stores.protocol import StoreError
from stanchion.stores.redis import RedisStore
from stanchion.testing.clock import FakeClock
from stanchion.testing.store_suite import CASES, Case
from tests.ports import Port
from tests.stores import redis_server
from tests.stores.redis_proxy import Proxy
from tests.stores.redis_server import Server, make
from tests.stores.several import TakingTurns

server = redis_server.server

A, B, R = key("t", "a"), key("t", "b"), key("t", "record")
EXACT = 1 << 53


def taking_turns(server: Server, clock: Callable[[], int]) -> TakingTurns:
    """Two stores on one server, by two ways to it."""
    server.ask("FLUSHALL")
    return TakingTurns([RedisStore(url, clock=clock) for url in (server.url, server.tcp_url)])


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_store_suite(case: Case, server: Server) -> None:
    case.check(make(server))


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_store_suite_on_two_that_take_turns(case: Case, server: Server) -> None:
    case.check(lambda clock: taking_turns(server, clock))


def test_a_batch_is_one_round_trip_whatever_is_in_it(server: Server) -> None:
    with Proxy(server.socket) as proxy:
        store = RedisStore(proxy.url)
        store.carry(Batch("first", "t", lines=(Line(A),)))
        proxy.commands.clear()
        server.ask("CONFIG", "RESETSTAT")
        lines = (
            Line(A, hold_ms=1_000),
            Line(B, ((0, Action.BLOCK),), window_ms=16_000, hold_ms=5, keep=False),
        )
        for number in range(50):
            settles = ((f"b{number - 1}", (0, 0, 0, 0, 0)), ("nobody", None))
            expects = ((R, 0, 1 << 40), (CLOCK, 0, 1 << 60), (A, 0, number % 7 + 10))
            puts = ((R, [number], When.JUDGED, 0, 0),)
            store.carry(
                Batch(f"b{number}", "t", number % 5 > 0, expects, settles, lines, puts=puts)
            )
        assert [command[0] for command in proxy.commands if command[0] != b"INFO"] == [
            b"EVALSHA"
        ] * 50
        assert (server.calls("evalsha"), server.calls("eval")) == (50, 0)
        store.close()


def test_the_host_s_time_is_never_sent(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with Proxy(server.socket) as proxy:
        store, other = RedisStore(proxy.url), RedisStore(proxy.url)
        batch = Batch("same", "t", lines=(Line(A, hold_ms=1_000),), expects=((CLOCK, 0, 1 << 60),))
        store.carry(batch)
        monkeypatch.setattr("time.time", lambda: 70.0)
        monkeypatch.setattr("time.time_ns", lambda: 70_000_000_000)
        other.carry(batch)
        first, second = proxy.asked_for(b"EVALSHA")
        assert first == second
        store.close()
        other.close()


def test_the_server_s_clock_rules(server: Server) -> None:
    store = RedisStore(server.url)
    before = _server_ms(server)
    now = store.carry(Batch("one", "t")).now
    assert before <= now <= _server_ms(server)
    assert before <= store.read(CLOCK)[0]
    store.close()


def test_a_tenant_s_time_never_runs_backwards_whatever_the_server_s_does(server: Server) -> None:
    """The server's clock cannot be set in a test, but the tenant's time can be ahead of it."""
    ahead, store = RedisStore(server.url, clock=lambda: 1 << 45), RedisStore(server.url)
    assert ahead.carry(Batch("ahead", "t")).now == 1 << 45
    assert store.carry(Batch("behind", "t")).now == 1 << 45
    assert store.carry(Batch("stale", "t", expects=((CLOCK, 0, 1),))).now == 1 << 45
    assert store.carry(Batch("other", "another")).now < 1 << 45
    ahead.close()
    store.close()


def test_totals_are_exact_below_2_53_and_refused_from_there(server: Server) -> None:
    store = RedisStore(server.url, clock=FakeClock())
    for number in range(9):
        store.carry(
            Batch(
                f"b{number}",
                "t",
                lines=(Line(A, hold_ms=1_000),),
                amounts=(LARGEST - 1, 0, 0, 0, 0),
            )
        )
    short = EXACT - 1 - 9 * (LARGEST - 1)
    store.carry(Batch("almost", "t", lines=(Line(A),), amounts=(short - 1, 0, 0, 0, 0)))
    assert store.read(A) == (EXACT - 2, None)
    assert store.carry(
        Batch("full", "t", lines=(Line(A, ((EXACT - 1, Action.BLOCK),)),))
    ).values == (EXACT - 2,)
    assert store.read(A) == (EXACT - 1, None)
    more = Batch("more", "t", lines=(Line(B), Line(A)), puts=((R, 1, When.PROCEED, 0, 0),))
    with pytest.raises(
        StoreLost, match=f"cannot count `stanchion:{A}` exactly up to 2\\^53: begin another counter"
    ):
        store.carry(more)
    settle = Batch(
        "settle", "t", settles=(("b3", (LARGEST - 1 + 1, 0, 0, 0, 0)),), lines=(Line(B),)
    )
    with pytest.raises(StoreLost, match=r"exactly up to 2\^53"):
        store.carry(settle)
    assert (store.read(A)[0], store.read(B)[0], store.read(R)[0]) == (EXACT - 1, 0, 0)
    assert [hold.id for hold in store.holds()] == [f"b{number}" for number in range(9)]
    assert store.carry(Batch("less", "t", settles=(("b3", (1, 0, 0, 0, 0)),))).settled == (
        "settled",
    )
    assert store.carry(more).values == (0, EXACT - LARGEST + 1)
    assert store.read(A)[0] == EXACT - LARGEST + 2
    store.close()


def test_a_refused_line_may_go_beyond(server: Server) -> None:
    store = RedisStore(server.url)
    store.carry(Batch("one", "t", lines=(Line(A),), amounts=(EXACT - 1, 0, 0, 0, 0)))
    reply = store.carry(
        Batch("two", "t", lines=(Line(A, ((EXACT - 1, Action.BLOCK),)),), amounts=(5, 0, 0, 0, 0))
    )
    assert (reply.values, reply.actions) == ((EXACT - 1,), (Action.BLOCK,))
    store.close()


def test_a_record_is_bytes_to_the_server(server: Server) -> None:
    """Values that Lua's decoders would change come back as they were."""
    store = RedisStore(server.url)
    value = {
        "empty": [],
        "map": {},
        "big": (1 << 63) - 1,
        "float": 0.1,
        "none": None,
        "text": "ü\0",
        "bytes": b"\xff\0",
    }
    store.carry(Batch("put", "t", puts=((R, value, When.PROCEED, 0, 0),)))
    assert store.read(R) == (1, value)
    assert store.carry(Batch("look", "t", expects=((R, 9, 10),))).fresh[0].value == value
    store.close()


def test_what_no_server_can_hold_is_refused_and_changes_nothing(server: Server) -> None:
    store = RedisStore(server.url)
    for number, batch in enumerate(
        [
            Batch("\ud800", "t", lines=(Line(A),)),
            Batch("object", "t", lines=(Line(A),), puts=((R, object(), When.PROCEED, 0, 0),)),
            Batch("many", "t", lines=(Line(A, follows=70_000),)),
            Batch("long", "t", lines=(Line(A),), amounts=(10**400, 0, 0, 0, 0)),
        ]
    ):
        with pytest.raises(StoreLost, match="has values that the server cannot store"):
            store.carry(batch)
        assert store.carry(Batch(f"next{number}", "t", lines=(Line(B),))).values == (number,)
    assert store.read(A) == (0, None)
    store.close()


def test_idle_cells_are_garbage_to_the_server_too_and_never_before_they_are_forgotten(
    server: Server,
) -> None:
    store = RedisStore(server.url, clock=FakeClock())
    shield = key("t", "x") + STANDING
    lines = (Line(A, idle_s=10, hold_ms=5_000), Line(B, idle_s=0))
    store.carry(
        Batch(
            "one",
            "t",
            lines=lines,
            puts=((R, 1, When.PROCEED, 0, 0), (shield, 1, When.PROCEED, 0, 0)),
        )
    )
    assert 15_000 < server.ask("PTTL", f"stanchion:{A}") < 200_000
    assert IDLE_S * 1000 < server.ask("PTTL", f"stanchion:{R}") < 2 * IDLE_S * 1000
    assert (server.ask("PTTL", f"stanchion:{B}"), server.ask("PTTL", f"stanchion:{shield}")) == (
        -1,
        -1,
    )
    store.close()


def test_a_cell_in_use_is_kept_by_the_server(server: Server) -> None:
    """The server's own deadline moves on with the cell, though not with every batch."""
    clock = FakeClock(0)
    store = RedisStore(server.url, clock=clock)
    line = Line(A, idle_s=1_000)
    for number in range(9):
        clock.advance(200_000)
        server.ask("PEXPIRE", f"stanchion:{A}", "5000")
        store.carry(Batch(f"b{number}", "t", lines=(line,)))
        crosses = clock() // 250_000 != (clock() - 200_000) // 250_000
        assert (server.ask("PTTL", f"stanchion:{A}") > 1_000_000) == (crosses or number == 0)
    store.carry(Batch("longer", "t", lines=(Line(A, idle_s=0),)))
    assert server.ask("PTTL", f"stanchion:{A}") == -1
    store.carry(Batch("shorter", "t", lines=(line,)))
    assert (server.ask("PTTL", f"stanchion:{A}"), store.read(A)) == (-1, (11, None))
    store.close()


def test_a_cell_that_was_forgotten_stays_forgotten(server: Server) -> None:
    clock = FakeClock()
    store = RedisStore(server.url, clock=clock)
    store.carry(
        Batch("one", "t", lines=(Line(A, idle_s=1), Line(B, idle_s=1)), amounts=(5, 0, 0, 0, 0))
    )
    clock.advance(1_000)
    reply = store.carry(Batch("two", "t", lines=(Line(A, idle_s=1),), expects=((B, 0, 1),)))
    assert (reply.stale, reply.values, store.read(A), store.read(B)) == (
        False,
        (0,),
        (1, None),
        (0, None),
    )
    assert [cell.key for cell in store.look()] == [A]
    store.close()


def test_answers_are_remembered_for_a_stated_time_and_holds_until_they_lapsed_long_ago(
    server: Server,
) -> None:
    clock = FakeClock()
    store = RedisStore(server.url, clock=clock, remember_s=77)
    spend, permit = Line(A, hold_ms=5_000), Line(B, hold_ms=5_000, keep=False)
    week = 604_800_000
    for name, lines in (("plain", ()), ("spend", (spend,)), ("permit", (spend, permit))):
        store.carry(Batch(name, "t", lines=lines))

    def left(name: str) -> int:
        return int(server.ask("PTTL", f"stanchion#{{t}}{name}"))

    assert 70_000 < left("plain") <= 77_000
    assert week < left("spend") <= week + 5_000
    assert left("permit") == -1
    clock.advance(5_000)
    store.carry(Batch("later", "t"))
    assert week - 5_000 < left("permit") <= week
    store.carry(Batch("settle", "t", settles=(("spend", None), ("permit", None))))
    assert 70_000 < left("spend") <= 77_000
    assert 70_000 < left("permit") <= 77_000
    store.close()


def test_permits_of_many_holds_come_back_at_once(server: Server) -> None:
    clock = FakeClock()
    store = RedisStore(server.url, clock=clock)
    for number in range(500):
        store.carry(
            Batch(f"b{number}", "t", lines=(Line(A, hold_ms=1_000 + number % 2, keep=False),))
        )
    clock.advance(1_000)
    assert store.carry(Batch("half", "t", lines=(Line(A, when=When.LOOK),))).values == (250,)
    clock.advance(1)
    assert store.carry(Batch("all", "t", lines=(Line(A, when=When.LOOK),))).values == (0,)
    assert server.ask("ZCARD", "stanchion+{t}") == 0
    store.close()


def test_what_was_settled_is_not_watched_any_more(server: Server) -> None:
    store = RedisStore(server.url, clock=FakeClock())
    store.carry(Batch("held", "t", lines=(Line(A, hold_ms=1_000, keep=False),)))
    assert server.ask("ZCARD", "stanchion+{t}") == 1
    store.carry(Batch("settle", "t", settles=(("held", None),)))
    assert server.ask("ZCARD", "stanchion+{t}") == 0
    store.close()


def test_two_lines_of_a_batch_take_from_one_counter(server: Server) -> None:
    """Each sees it as it was before the batch, and both are written."""
    store = RedisStore(server.url, clock=FakeClock())
    lines = (
        Line(A, ((3, Action.WARN),)),
        Line(A, unit=Unit.TOKENS, hold_ms=1_000),
        Line(B, window_ms=16_000),
        Line(B, unit=Unit.TOKENS, window_ms=16_000),
    )
    replies = [
        store.carry(Batch(name, "t", lines=lines, amounts=(1, 10, 0, 0, 0)))
        for name in ("one", "two")
    ]
    assert [reply.values for reply in replies] == [(0, 0, 0, 0), (11, 11, 11, 11)]
    assert [(cell.number, cell.live) for cell in store.look()] == [(22, None), (22, 22)]
    store.close()


def test_two_prefixes_are_two_stores(server: Server) -> None:
    first, second = RedisStore(server.url, prefix="one"), RedisStore(server.url + "?prefix=two")
    first.carry(Batch("same", "t", lines=(Line(A, hold_ms=1_000),)))
    assert second.carry(Batch("same", "t", lines=(Line(A),))).values == (0,)
    assert (len(list(first.holds())), len(list(second.holds()))) == (1, 0)
    assert server.ask("KEYS", "stanchion*") == []
    first.close()
    second.close()


def test_what_is_not_a_cell_s_is_said(server: Server) -> None:
    store = RedisStore(server.url)
    server.ask("SET", f"stanchion:{A}", "x")
    server.ask("SET", "stanchion#{t}hold", "h")
    for attempt in (lambda: store.read(A), lambda: list(store.look()), lambda: list(store.holds())):
        with pytest.raises(
            StoreLost, match=r"has data under `stanchion.*` that no store wrote: remove that key"
        ):
            attempt()
    with pytest.raises(StoreLost, match="data string too short"):
        store.carry(Batch("one", "t", lines=(Line(A),)))
    store.close()


def test_looking_on_while_others_write(server: Server) -> None:
    store, reader = RedisStore(server.url), RedisStore(server.url)
    names = [key("t", f"{number:04}") for number in range(600)]
    for name in names:
        store.carry(Batch(name, "t", lines=(Line(name),)))
    seen = []
    for cell in reader.look():
        seen.append(cell.key)
        store.carry(Batch(f"again {cell.key}", "t", lines=(Line(cell.key),)))
    assert seen == names
    assert {cell.number for cell in reader.look()} == {2}
    store.close()
    reader.close()


def test_a_prefix_is_no_pattern(server: Server) -> None:
    store = RedisStore(server.url)
    names = [key("t", name) for name in ("a*", "ab", "a?", "a[b]", "a\\b", "a")]
    store.carry(Batch("one", "t", lines=tuple(Line(name) for name in names)))
    for name in names[:5]:
        assert [cell.key for cell in store.look(name)] == [name]
    store.close()


def test_a_closed_store_says_so(server: Server) -> None:
    store = RedisStore(server.url)
    store.close()
    store.close()
    for attempt in (
        lambda: store.carry(Batch("one", "t")),
        lambda: store.read(A),
        lambda: list(store.look()),
    ):
        with pytest.raises(StoreLost, match=f"the store `{server.url}` was closed: open it again"):
            attempt()


WITHOUT = """
import sys
sys.modules["hiredis"] = None
from stanchion.stores.protocol import StoreError
try:
    from stanchion.stores.redis import RedisStore
except StoreError as error:
    print(error)
"""


def test_without_hiredis_it_says_what_to_install() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True, env=os.environ
    )
    assert (
        done.stdout.strip()
        == "a Redis store needs the package `hiredis`: install the extra `redis`"
    )


def test_opening_what_is_not_there_is_an_error(server: Server) -> None:
    port = Port()
    for url, says in (
        (f"redis://127.0.0.1:{port.number}", "nothing listens there: start the server"),
        (f"unix://{server.folder}/none.sock", "there is no such socket: start the server"),
        ("redis://no.such.host.invalid", "its host is not known: correct the URL"),
    ):
        with pytest.raises(StoreError, match=says):
            RedisStore(url)
    port.release()


def _server_ms(server: Server) -> int:
    seconds, micros = server.ask("TIME")
    return int(seconds) * 1000 + int(micros) // 1000


def test_a_url_names_it(server: Server) -> None:
    for url in (server.url, server.tcp_url):
        store = open_store(url)
        assert isinstance(store, LeasingStore)
        assert isinstance(store.inner, RedisStore)
        assert store.carry(Batch(f"by {url}", "t")).go
        store.close()
