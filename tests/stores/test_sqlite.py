"""The SQLite store passes the store suite, keeps what it is given, and looks after its file."""

import asyncio
import os
import stat
import threading
from pathlib import Path

import pytest

from stanchion.kernel.actions import Action
from stanchion.kernel.holds import REMEMBERED
from stanchion.kernel.state import CLOCK, STANDING, Batch, Line, StoreForgot, StoreLost, When, key
from stanchion.runtime.shield import Shield
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import StoreError
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing.clock import FakeClock
from stanchion.testing.store_suite import CASES, Case
from tests.stores.several import TakingTurns, two

A, B, R = key("t", "a"), key("t", "b"), key("t", "record")


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_store_suite(case: Case, tmp_path: Path) -> None:
    case.check(lambda clock: SqliteStore(tmp_path / "state.db", clock))


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_store_suite_on_two_that_take_turns(case: Case, tmp_path: Path) -> None:
    case.check(lambda clock: TakingTurns(two(tmp_path / "state.db", clock)))


def test_everything_is_there_again_after_closing(tmp_path: Path) -> None:
    clock = FakeClock()
    store = SqliteStore(tmp_path / "state.db", clock)
    first = store.carry(
        Batch(
            "one",
            lines=(Line(A, hold_ms=9_000), Line(B, window_ms=16_000)),
            amounts=(4, 0, 0, 0, 0),
        )
    )
    store.carry(Batch("two", puts=((R, {"open": [1, None]}, When.PROCEED, 0, 0),)))
    seen, holds = list(store.look()), list(store.holds())
    store.close()

    again = SqliteStore(tmp_path / "state.db", clock)
    assert (list(again.look()), list(again.holds())) == (seen, holds)
    clock.advance(-60_000)
    assert again.carry(Batch("one")) == first
    assert again.carry(Batch("three", settles=(("one", (1, 0, 0, 0, 0)),))).settled == ("settled",)
    assert again.carry(Batch("four", lines=(Line(A), Line(B, window_ms=16_000)))).values == (1, 4)
    assert (
        again.carry(Batch("five", expects=((R, 1, 2), (CLOCK, first.now, first.now + 1)))).stale
        is False
    )
    assert again.read(R) == (1, {"open": [1, None]})
    again.close()


def test_the_time_of_a_stale_answer_is_kept_too(tmp_path: Path) -> None:
    clock = FakeClock()
    store, other = (
        SqliteStore(tmp_path / "state.db", clock),
        SqliteStore(tmp_path / "state.db", clock),
    )
    permit = Line(A, ((1, Action.BLOCK),), hold_ms=1_000, keep=False)
    store.carry(Batch("held", lines=(permit,)))
    clock.advance(1_000)
    stale = store.carry(Batch("stale", expects=((R, 5, 6), (A, 1, 2))))
    assert [(fresh.key, fresh.number) for fresh in stale.fresh] == [(R, 0), (A, 0)]
    clock.advance(-1_000)
    assert other.carry(Batch("after", lines=(permit,))) == other.carry(Batch("after"))
    assert other.carry(Batch("after")).now == stale.now
    assert other.carry(Batch("after")).go
    store.close()
    other.close()


def test_an_id_is_known_to_a_store_that_never_saw_it(tmp_path: Path) -> None:
    clock = FakeClock()
    store, other = (
        SqliteStore(tmp_path / "state.db", clock),
        SqliteStore(tmp_path / "state.db", clock),
    )
    held = store.carry(Batch("held", lines=(Line(A, hold_ms=1_000),)))
    done = store.carry(Batch("done", lines=(Line(A),)))
    assert other.carry(Batch("held", lines=(Line(A),))) == held
    assert other.carry(Batch("done", lines=(Line(A),))) == done
    assert other.carry(Batch("done", expects=((A, 99, 100),))) == done
    assert other.carry(Batch("next", lines=(Line(A),))).values == (2,)
    assert store.read(A) == other.read(A) == (3, None)
    store.close()
    other.close()


def test_at_least_so_many_answers_are_remembered_and_old_ones_are_not_kept(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "state.db", FakeClock())
    line = (Line(A),)
    held = store.carry(Batch("held", lines=(Line(B, hold_ms=1_000),)))
    replies = [
        store.carry(Batch(f"b{number}", lines=line)) for number in range(2 * REMEMBERED + 700)
    ]
    store.carry(Batch("settles", settles=(("held", None),)))
    replies += [
        store.carry(Batch(f"b{number}", lines=line))
        for number in range(len(replies), len(replies) + 600)
    ]
    store.close()
    again = SqliteStore(tmp_path / "state.db", FakeClock())
    newest = range(len(replies) - REMEMBERED, len(replies))
    assert all(again.carry(Batch(f"b{number}")) == replies[number] for number in newest)
    for number in range(300):
        again.carry(Batch(f"more{number}"))
    assert again.carry(Batch("held")) == held
    assert again.carry(Batch("settles again", settles=(("held", None),))).settled == ("again",)
    assert again.carry(Batch("b0", lines=line)).values == (len(replies),)
    again.close()


def test_idle_cells_and_holds_that_lapsed_long_ago_leave_the_file(tmp_path: Path) -> None:
    clock = FakeClock()
    stores = [SqliteStore(tmp_path / "state.db", clock) for _ in range(2)]
    shield, kept = key("t", "x") + STANDING, key("t", "kept")
    stores[0].carry(
        Batch("kept", lines=(Line(kept, idle_s=0),), puts=((shield, 1, When.PROCEED, 0, 0),))
    )
    names = [key("t", "many", str(number)) for number in range(REMEMBERED + 900)]
    for number, name in enumerate(names):
        half = stores[number > REMEMBERED // 2]
        half.carry(Batch(name, lines=(Line(name, idle_s=1, hold_ms=500),)))
        clock.advance(10)
    store = stores[1]
    ((rows,),) = store._link.rows("SELECT count(*) FROM kept", ())
    assert 152 <= rows < 1_000
    clock.advance(10_000)
    for number in range(1_000):
        store.carry(Batch(f"after{number}"))
    assert [cell.key for cell in store.look()] == [kept, shield]
    assert store._link.rows("SELECT count(*) FROM kept", ()) == [(2,)]
    assert len(list(store.holds())) == REMEMBERED
    settled = store.carry(Batch("late", settles=((names[-1], None), (names[0], None)))).settled
    assert settled == ("late", "unknown")
    for each in stores:
        each.close()


def test_a_cell_that_was_swept_begins_anew(tmp_path: Path) -> None:
    clock = FakeClock()
    store = SqliteStore(tmp_path / "state.db", clock)
    line = (Line(A, idle_s=1),)
    values: list[int] = []
    for number in range(1_200):
        if number in (0, 1, 600, 601):
            values += store.carry(Batch(f"take{number}", lines=line)).values
        store.carry(Batch(f"b{number}"))
        clock.advance(10)
    assert values == [0, 1, 0, 1]
    store.close()


def test_a_counter_is_kept_for_as_long_as_who_takes_from_it_says(tmp_path: Path) -> None:
    clock = FakeClock()
    store = SqliteStore(tmp_path / "state.db", clock)
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
    store.close()


def test_a_record_is_what_everybody_reads_back(tmp_path: Path) -> None:
    store, other = (
        SqliteStore(tmp_path / "state.db", FakeClock()),
        SqliteStore(tmp_path / "state.db", FakeClock()),
    )
    value = {"pair": (1, 2), "many": [1]}
    store.carry(Batch("put", puts=((R, value, When.PROCEED, 0, 0),)))
    value["many"].append(2)  # type: ignore[attr-defined]
    fresh = [
        each.carry(Batch("look", expects=((R, 9, 10),))).fresh[0].value for each in (store, other)
    ]
    assert fresh == [{"pair": [1, 2], "many": [1]}] * 2
    store.close()
    other.close()


def test_only_this_user_may_read_the_file(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "made" / "for" / "it" / "state.db")
    store.carry(Batch("one", lines=(Line(A),)))
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "made").rglob("*")
    }
    assert modes == {
        "for": 0o700,
        "it": 0o700,
        "state.db": 0o600,
        "state.db-wal": 0o600,
        "state.db-shm": 0o600,
    }
    assert stat.S_IMODE((tmp_path / "made").stat().st_mode) == 0o700
    store.close()


def test_a_relative_path_stays_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = SqliteStore("odd ?#% name.db")
    monkeypatch.chdir("/")
    assert store.path == tmp_path / "odd ?#% name.db"
    store.carry(Batch("one", lines=(Line(A),)))
    assert [path.name for path in tmp_path.glob("*.db")] == ["odd ?#% name.db"]
    store.close()


def test_reading_never_makes_nor_changes_a_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="does not exist"):
        SqliteStore(tmp_path / "none.db", reading=True)
    assert list(tmp_path.iterdir()) == []
    store = SqliteStore(tmp_path / "state.db")
    store.carry(Batch("one", lines=(Line(A),)))
    reader = SqliteStore(tmp_path / "state.db", reading=True)
    with pytest.raises(StoreLost, match="open read-only"):
        reader.carry(Batch("two", lines=(Line(A),)))
    assert (reader.read(A), [cell.key for cell in reader.look()], list(reader.holds())) == (
        (1, None),
        [A],
        [],
    )
    store.carry(Batch("three", lines=(Line(A),)))
    assert reader.read(A) == (2, None)
    store.close()
    reader.close()


def test_looking_on_while_others_write(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "state.db", FakeClock(), busy_s=0.05)
    names = [key("t", f"{number:04}") for number in range(1_000)]
    for name in names:
        store.carry(Batch(name, lines=(Line(name),)))
    reader = SqliteStore(tmp_path / "state.db", reading=True)
    seen = []
    for cell in reader.look():
        seen.append(cell.key)
        store.carry(Batch(f"again {cell.key}", lines=(Line(cell.key),)))
    assert seen == names
    assert {store.read(name)[0] for name in names} == {2}
    reader.close()
    store.close()


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "state.db")
    store.close()
    store.close()
    with pytest.raises(StoreLost, match="was closed: open it again"):
        store.carry(Batch("one"))
    with pytest.raises(StoreLost, match="was closed"):
        store.read(A)


def test_the_loop_goes_on_while_the_file_is_locked(tmp_path: Path) -> None:
    """The batch waits in a thread; what lets go of the file is another task of the same loop."""
    store, other = SqliteStore(tmp_path / "state.db", busy_s=60), SqliteStore(tmp_path / "state.db")

    async def both() -> None:
        assert other._link.begin(0)
        waiting = asyncio.create_task(store.acarry(Batch("waits", lines=(Line(A),))))
        for _ in range(20):
            await asyncio.sleep(0)
            assert not waiting.done()
        other._link.undo()
        assert (await waiting).go

    asyncio.run(both())
    assert store.read(A) == (1, None)
    store.close()
    other.close()


def test_the_loop_is_spared_what_takes_longer_than_a_batch(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "state.db")
    ran: dict[int, list[str]] = {}
    cursor = store._link.ready()
    cursor.connection.set_trace_callback(
        lambda sql: ran.setdefault(threading.get_ident(), []).append(sql)
    )

    async def many() -> None:
        for number in range(600):
            await store.acarry(Batch(f"b{number}", lines=(Line(A),)))

    asyncio.run(many())
    here = ran.pop(threading.get_ident())
    elsewhere = [sql for statements in ran.values() for sql in statements]
    assert here.count("COMMIT") > 590
    assert not [sql for sql in here if "checkpoint" in sql or sql.startswith("DELETE")]
    assert len([sql for sql in elsewhere if "checkpoint" in sql]) == 2
    store.close()


def test_a_file_that_was_replaced_is_left(tmp_path: Path) -> None:
    clock = FakeClock()
    store = SqliteStore(tmp_path / "state.db", clock)
    store.carry(Batch("one", lines=(Line(A),)))
    for file in tmp_path.iterdir():
        os.unlink(file)
    clock.advance(2_000)
    with pytest.raises(StoreForgot):
        store.carry(Batch("two", lines=(Line(A),)))
    assert store.carry(Batch("three", puts=((R, 1, When.JUDGED, 0, 0),))).go
    other = SqliteStore(tmp_path / "state.db", clock)
    assert (other.read(A), other.read(R)) == ((0, None), (1, 1))
    other.close()
    store.close()


def test_what_no_file_can_hold_is_refused_and_forgotten(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "state.db", FakeClock())
    store.carry(Batch("one", lines=(Line(A),)))
    with pytest.raises(StoreLost, match="smaller amounts"):
        store.carry(Batch("huge", lines=(Line(A),), amounts=(1 << 64, 0, 0, 0, 0)))
    with pytest.raises(StoreLost, match="other names"):
        store.carry(Batch("odd", lines=(Line(A), Line("\ud800"))))
    with pytest.raises(TypeError):
        store.carry(Batch("object", lines=(Line(A),), puts=((R, object(), When.PROCEED, 0, 0),)))
    assert store.carry(Batch("two", lines=(Line(A),))).values == (1,)
    store.close()


def test_a_decision_writes_a_row_for_its_run_one_for_its_tool_and_its_answer(
    tmp_path: Path,
) -> None:
    """Under `default` a check changes one row of cells and a result two; each adds its answer."""
    store = SqliteStore(tmp_path / "state.db")
    statements: list[str] = []
    checked: list[str] = []
    ended: list[str] = []
    with Shield.load("default", store=store, journal="memory:") as shield:
        run = shield.run("ann", "work")
        for number in range(4):
            statements.clear()
            assert store._link._db is not None
            store._link._db.set_trace_callback(statements.append)
            args = {"query": f"weather in city {number}"}
            call = run.check("search", args)
            checked = _writes(statements)
            run.result("search", args, f"{number} degrees", call=call.id)
            ended = _writes(statements)[len(checked) :]
    assert checked == ["UPDATE kept", "INSERT INTO batch"]
    assert ended == ["UPDATE kept", "UPDATE kept", "INSERT INTO batch"]


def _writes(statements: list[str]) -> list[str]:
    written = [one for one in statements if one.startswith(("UPDATE", "INSERT", "DELETE"))]
    return [one.partition(" SET")[0].partition(" (")[0] for one in written]


@pytest.mark.parametrize(
    "prefix", ["", "{", "{t}", "{t}er", "{t}errors:", "{t}health:s", "{u}", "~"]
)
def test_cells_that_share_a_row_are_listed_among_the_others(tmp_path: Path, prefix: str) -> None:
    names = [
        key("t", "a"),
        key("t", "errors", "run", "r1"),
        key("t", "errors", "tool", "search"),
        key("t", "health", "search"),
        key("t", "loops", "run", "r2"),
        key("t", "error"),
        key("u", "steps", "limit", "run", "r1"),
        "~" + key("t", "health", "search"),
        "@{t}run:r1",
    ]
    clock = FakeClock()
    store, memory = SqliteStore(tmp_path / "state.db", clock), MemoryStore(clock)
    for each in (store, memory):
        for name in names:
            each.carry(Batch(name, lines=(Line(name),)))
    assert list(store.look(prefix)) == list(memory.look(prefix))
    assert [store.read(name) for name in names] == [(1, None)] * len(names)
    store.close()


def test_who_takes_a_run_over_knows_what_it_nearly_repeats(tmp_path: Path) -> None:
    """Two shields that take turns on a run say of each call what one says alone."""

    def play(path: Path, shields: int) -> list[str]:
        opened = [Shield.load("default", store=path, journal="memory:") for _ in range(shields)]
        runs, said = [shield.run("ann", "work", id="r1") for shield in opened], []
        for number in range(8):
            run, args = runs[number % shields], {"query": "weather in Paris today" + " " * number}
            args["query"] += "please" * (number % 2)
            call = run.check("search", args)
            said += [call.code, run.result("search", args, "sunny", call=call.id).code]
        for shield in opened:
            shield.close()
        return said

    alone = play(tmp_path / "alone.db", 1)
    assert "loops.near" in alone
    assert play(tmp_path / "two.db", 2) == alone
