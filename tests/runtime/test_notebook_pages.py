"""The notes of a run as they are kept: pages, races, what has no room, and what breaks."""

from __future__ import annotations

import asyncio
import threading

import pytest

from stanchion.guards.flow.memory import ProvenanceNote
from stanchion.kernel.decision import Decision
from stanchion.kernel.state import Batch, Reply, When, key
from stanchion.readings.origins.marks import key_of, spell, unkey
from stanchion.runtime.answers import notebook
from stanchion.runtime.answers.notebook import Notebook, NotebookEntry, NoteTerms, unpacked
from stanchion.runtime.errors import Refused
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield
from stanchion.testing import FakeClock
from tests.runtime.noting import (
    BILL,
    EVIL,
    PAY,
    Counting,
    Dying,
    Losing,
    Make,
    make,
    on_every_store,
    origin,
    policy,
    read_bill,
    shield,
)

__all__ = ["make"]


def test_long_runs_close_pages_and_a_new_process_reads_all_of_them(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notebook, "PAGE", 300)
    first = shield(make).run(id="r")
    read_bill(first)
    for number in range(30):
        first.result(
            "read_file",
            {"path": f"{number}.txt"},
            f"Part {number}: the weather was fine on that day.",
        )
    kept = make().read(key("default", "notes", "r"))
    assert kept[1][0] > 3, "several pages are closed"
    store = Counting(make())
    late = Shield.load(policy(), store=store, clock=FakeClock()).run(id="r")
    decision = late.check("send_money", PAY)
    assert decision.code == "flow.sink"
    assert decision.inputs.stale == 2, "once for the open page, once for all closed ones"
    first.result("read_file", {"path": "last.txt"}, "The end.")
    assert late.check("send_money", PAY | {"amount": 1}).inputs.stale == 1
    assert origin(decision).get("full") is None


def test_only_pages_that_are_lacking_are_asked_for(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notebook, "PAGE", 1)
    store = Counting(make())
    first = Shield.load(policy(), store=store, clock=FakeClock()).run(id="r")
    other = shield(make).run(id="r")
    for run in (first, other):
        for number in range(4):
            run.result("read_file", {"path": f"{number}.txt"}, f"Part {number}.")
    store.asked.clear()
    assert first.check("send_money", PAY).proceeds
    assert store.asked == {key("default", "notes", "r", str(number)) for number in (4, 5, 6, 7)}


@on_every_store
def test_as_many_pages_as_a_run_can_have_come_with_one_answer(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = notebook.MOST // notebook.PAGE
    monkeypatch.setattr(notebook, "PAGE", 1)
    first = shield(make).run(id="r")
    read_bill(first)
    for number in range(pages - 1):
        first.result("read_file", {"path": f"{number}.txt"}, f"Part {number}.")
    assert make().read(key("default", "notes", "r"))[1][0] == pages - 1
    decision = shield(make).run(id="r").check("send_money", PAY)
    assert (decision.code, decision.inputs.stale) == ("flow.sink", 2)


@on_every_store
def test_threads_and_tasks_that_race_for_the_page_all_get_through(make: Make) -> None:
    run = shield(make).run(id="r")
    said: list[Decision] = []

    def work(number: int) -> None:
        for part in range(5):
            said.append(run.check("read_file", {"path": f"{number}-{part}.txt"}))
            run.result("read_file", {"path": f"{number}-{part}.txt"}, f"Part {part} of {number}.")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [decision for decision in said if not decision.proceeds] == []

    async def all_at_once() -> list[Decision]:
        return await asyncio.gather(
            *[run.acheck("read_file", {"path": f"{number}.txt"}) for number in range(60)]
        )

    assert all(decision.proceeds for decision in asyncio.run(all_at_once()))
    assert run.check("read_file", {"path": "last.txt"}).proceeds
    closed, first, _size, gaps, notes = make().read(key("default", "notes", "r"))[1]
    assert (closed, first, len(notes), gaps) == (0, 0, 8 * 5, False)
    assert len({unpacked(note, unkey(key_of("default", "r"))).given for note in notes}) == len(
        notes
    )


@on_every_store
def test_processes_that_race_leave_every_note_once(make: Make) -> None:
    runs = [shield(make).run(id="r") for _ in range(3)]

    def work(run: Run, name: int) -> None:
        for part in range(10):
            run.result("read_file", {"path": f"{name}-{part}.txt"}, f"Part {part} of {name}.")

    threads = [threading.Thread(target=work, args=(run, name)) for name, run in enumerate(runs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name, run in enumerate(runs):
        run.result("read_file", {"path": f"{name}-last.txt"}, "The end.")
    _closed, first, _size, _gaps, notes = make().read(key("default", "notes", "r"))[1]
    paths = [unpacked(note, unkey(key_of("default", "r"))).given[0] for note in notes]
    assert first == 0
    for name in range(3):
        read = [spell(f"{name}-{part}.txt") for part in (*range(10), "last")]
        mine = [path for path in paths if path in read]
        assert mine == read, "each once, in the order in which they were read"


def test_one_trip_before_an_action_and_one_after(make: Make) -> None:
    store = Counting(make())
    run = Shield.load(policy(), store=store, clock=FakeClock()).run(id="r")
    read_bill(run)
    before = store.trips

    def read_file(path: str) -> str:
        return f"nothing in {path}"

    assert run.call(read_file, "b.txt") == "nothing in b.txt"
    assert store.trips - before == 2


@pytest.mark.parametrize("pack", ["strict", "mcp", "finance"])
def test_notes_ride_on_trips_that_are_made_anyway(pack: str, make: Make) -> None:
    def trips(share: bool) -> list[int]:
        store = Counting(make())
        rules = {"name": "packed", "extends": pack, "guards": [{"id": "flow", "share": share}]}
        own = Shield.load(rules, store=store, clock=FakeClock())
        assert own.policy.recalls is not None
        assert own.policy.recalls.share is share
        run, found = own.run(id=f"r-{share}"), []
        for number in range(3):
            run.prompt(f"Please read {number}.txt.")
            found.append(store.trips)
            assert run.check("read_file", {"path": f"{number}.txt"}).proceeds
            found.append(store.trips)
            run.result("read_file", {"path": f"{number}.txt"}, "nothing")
            found.append(store.trips)
        return found

    made = shield(make).run(id="first")
    assert made.check("read_file", {"path": "a.txt"}).proceeds, "the store is known from here on"
    assert trips(True) == trips(False)


def test_what_may_be_under_way_stays_as_it_is() -> None:
    """A decision that leaves the straight way is laid out again before its reply is looked at."""
    book = Notebook("default", "r", str)
    note = ProvenanceNote("read")
    taken: list[ProvenanceNote | None] = []
    entry = NotebookEntry(book, lambda _: note, taken.append, NoteTerms(When.PROCEED, 3))
    asked, sent = entry.expects(), entry.puts(())
    book.owe(b"what another thread has learnt")
    assert (entry.expects(), entry.puts(())) == (asked, sent)
    assert entry.moved(Reply(1, stale=True)) == set()
    entry.expects()
    assert entry.puts(()) != sent
    entry.kept(Reply(2, go=True))
    assert taken == [note]


def test_what_has_no_room_is_said_to_be_missing(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notebook, "MOST", 600)
    first = shield(make).run(id="r")
    read_bill(first)
    for number in range(5):
        first.result("read_file", {"path": f"{number}.txt"}, "Much text that nobody needs. " * 10)
    found = shield(make).run(id="r").check("send_money", PAY)
    assert origin(found)["full"]
    assert "full" not in origin(first.check("send_money", PAY)), "this process knows all of it"
    closed, _first, size, gaps, notes = make().read(key("default", "notes", "r"))[1]
    assert (closed, gaps) == (0, True)
    assert size <= 600
    assert 0 < len(notes) < 6


def test_pages_that_are_gone_are_said_to_be_missing(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notebook, "PAGE", 300)
    first = shield(make).run(id="r")
    for number in range(10):
        first.result(
            "read_file",
            {"path": f"{number}.txt"},
            f"Part {number}: the weather was fine on that day.",
        )
    read_bill(first)
    store = Losing(make(), key("default", "notes", "r", "1"))
    late = Shield.load(policy(), store=store, clock=FakeClock()).run(id="r")
    found = late.check("send_money", PAY)
    assert found.code == "flow.sink"
    assert origin(found)["full"]


def test_notes_that_cannot_be_read_close_the_guard(make: Make) -> None:
    store = make()
    store.carry(Batch("x", puts=((key("default", "notes", "r"), "nonsense", When.JUDGED, 0, 0),)))
    run = shield(make).run(id="r")
    assert run.check("send_money", PAY).code == "kernel.lookup_failed"
    assert store.read(key("default", "notes", "r"))[1] == "nonsense", (
        "what is not understood is left alone"
    )


def test_a_result_is_noted_before_the_agent_gets_it(make: Make) -> None:
    """Whoever dies between an action and its settling has told the agent nothing of what came of
    it."""
    store = Dying(make())
    run = Shield.load(policy(), store=store, clock=FakeClock()).run(id="r")

    def read_file(path: str) -> str:
        store.dead = True
        return BILL + path

    with pytest.raises(Refused) as told:
        run.call(read_file, "bill.txt")
    assert EVIL not in str(told.value)
    other = shield(make).run(id="r")
    assert make().read(key("default", "notes", "r"))[0] == 0, "the bill was read by nobody"
    read_bill(other)
    assert not other.check("send_money", PAY).proceeds


def test_what_is_learnt_without_the_store_is_written_later(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Dying(make())
    open_limit = {"use": "step_limit", "max_steps": 1000, "fail_open": True}
    rules = {"name": "hijacks", "guards": [{"use": "flow"}, open_limit]}
    run = Shield.load(rules, store=store, clock=FakeClock()).run(id="r")
    read_bill(run)
    store.dead = True
    run.error("read_file", "Lost", text="Gone.", args={"path": "b.txt"})
    store.dead = False
    run.result("read_file", {"path": "c.txt"}, "Nothing.")
    notes = make().read(key("default", "notes", "r"))[1][4]
    read = [unpacked(note, unkey(key_of("default", "r"))).given for note in notes]
    assert read == [(spell(path),) for path in ("bill.txt", "b.txt", "c.txt")]

    monkeypatch.setattr(notebook, "MOST_OWED", 0)
    store.dead = True
    run.error("read_file", "Lost", text="Gone.", args={"path": "d.txt"})
    store.dead = False
    run.result("read_file", {"path": "e.txt"}, "Nothing.")
    assert origin(shield(make).run(id="r").check("send_money", PAY))["full"]
