"""Several processes on one folder: each writes a chain of its own, and nothing is lost between
them."""

from __future__ import annotations

from pathlib import Path

from stanchion.audit.trail import Trail
from tests.audit.workers import finish, hear, start, tell
from tests.audit.written import allowed, ids, moment, of_kind, whole


def test_processes_at_once_write_a_chain_each(tmp_path: Path) -> None:
    """Every record is there, in order; and when they are gone their chains are taken up again."""
    workers = [start("writes", str(tmp_path), f"w{number}", "200") for number in range(3)]
    assert [hear(worker) for worker in workers] == ["ready"] * 3
    for worker in workers:
        tell(worker)
    names = [hear(worker) for worker in workers]
    assert len(set(names)) == 3
    late = start("writes", str(tmp_path), "late", "5")
    assert hear(late) == "ready"
    for worker in workers:
        tell(worker)
        finish(worker)
    again = start("writes", str(tmp_path), "again", "5")
    assert hear(again) == "ready"
    for worker in (late, again):
        tell(worker)
    fourth, resumed = hear(late), hear(again)
    for worker in (late, again):
        tell(worker)
        finish(worker)
    assert fourth not in names
    assert resumed in names
    found = whole(tmp_path)
    assert len(found) == 4
    for number, name in enumerate(names):
        own = [
            record["id"]
            for record in of_kind(found[name], "intent")
            if record["id"].startswith(f"w{number}.")
        ]
        assert own == [f"w{number}.{each}" for each in range(200)]
    assert len(ids(tmp_path)) == 3 * 200 + 10
    opened = [record["pid"] for record in of_kind(found[resumed], "open")]
    assert len(set(opened)) == 2


def test_a_forked_process_goes_on_with_a_chain_of_its_own(tmp_path: Path) -> None:
    """Also where another thread was in the middle of a record; and the parent goes on with its
    own."""
    worker = start("forks", str(tmp_path))
    names = dict(said.split("=") for said in finish(worker))
    assert set(names) == {"parent", "child", "grandchild"}
    assert names["parent"] not in (names["child"], names["grandchild"])
    assert names["child"] != names["grandchild"]
    found = whole(tmp_path)
    for who, name in names.items():
        own = [
            record["id"]
            for record in of_kind(found[name], "intent")
            if record["id"].startswith(f"{who}.")
        ]
        assert own == [f"{who}.{number}" for number in range(20)]
    busy = [
        record["id"]
        for each in found.values()
        for record in of_kind(each, "intent")
        if "busy" in record["id"]
    ]
    assert busy == [f"busy.{number}" for number in range(len(busy))]
    assert len(busy) >= 50


def test_a_child_that_outlives_its_parent_does_not_keep_its_chain(tmp_path: Path) -> None:
    """The next process goes on with it."""
    worker = start("leaves", str(tmp_path))
    name = hear(worker)
    worker.wait()
    trail = Trail(tmp_path)
    about = moment("next")
    trail.write(about, allowed(about), 0)
    trail.close()
    assert trail.name == name
    assert ids(tmp_path) == ["parent", "next"]
    finish(worker)
