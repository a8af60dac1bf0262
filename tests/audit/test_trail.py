"""The trail: every record is there, bound to the one before, in files of its own that nobody else
can read."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from stanchion.audit.apart import encode
from stanchion.audit.chain import OpenChain
from stanchion.audit.errors import AuditLost, TrailError
from stanchion.audit.journal import Fact, Finish, Start
from stanchion.audit.open_trail import open_trail
from stanchion.audit.options import TrailOptions
from stanchion.audit.record import entry_of
from stanchion.audit.retention import Keep
from stanchion.audit.trail import Trail
from stanchion.audit.verify import verify
from tests.audit.written import AT, RUN, allowed, ids, moment, of_kind, one, outcome, whole

ROOT = Path(__file__).resolve().parents[2]


def write(trail: Trail, *names: str) -> int:
    """Write a decision under each name."""
    mark = 0
    for name in names:
        about = moment(name)
        mark = trail.write(about, allowed(about), 7)
    return mark


def test_a_chain_from_its_first_record_to_its_last(tmp_path: Path) -> None:
    """It says who writes, what was decided, and that its writer ended properly."""
    trail = Trail(tmp_path / "trail", clock=lambda: AT)
    trail.begin(Start(RUN, AT, "policy"))
    write(trail, "e1")
    about = outcome("e2", "e1")
    trail.write(about, allowed(about), 9, ("noted",))
    trail.end(Finish(RUN, AT, "kernel.ended", "closed", {"ALLOW": 2}))
    name, head = trail.name, trail.head
    trail.close()
    found = one(tmp_path / "trail")
    kinds = ["segment", "open", "run", "intent", "outcome", "end", "checkpoint"]
    assert [record["kind"] for record in found] == kinds
    assert {record["v"] for record in found} == {3}
    assert found[0]["number"] == 1
    assert found[1]["pid"] == os.getpid()
    assert (found[4]["call"], found[4]["notes"]) == ("e1", ["noted"])
    assert {record["chain"] for record in found} == {name}
    assert head[0] == found[5]["seq"]


def test_records_are_with_the_system_when_write_returns(tmp_path: Path) -> None:
    """Whoever reads the files then finds them, synced or not."""
    trail = Trail(tmp_path, TrailOptions(sync_ms=60_000))
    write(trail, "e1")
    assert ids(tmp_path) == ["e1"]
    write(trail, "e2", "e3")
    assert ids(tmp_path) == ["e1", "e2", "e3"]
    trail.close()


def test_many_threads_write_one_chain(tmp_path: Path) -> None:
    """Every record is there once, and the numbers have no gap."""
    trail = Trail(tmp_path, TrailOptions(checkpoint_records=100, segment_bytes=50_000, sync_ms=0.1))
    start = threading.Barrier(6)

    def work(worker: int) -> None:
        start.wait()
        for number in range(100):
            mark = write(trail, f"{worker}.{number}")
            if number % 20 == 0:
                trail.sync(mark)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    trail.close()
    found = of_kind(one(tmp_path), "intent")
    assert sorted(record["id"] for record in found) == sorted(
        f"{w}.{n}" for w in range(6) for n in range(100)
    )
    for worker in range(6):
        own = [record["id"] for record in found if record["id"].startswith(f"{worker}.")]
        assert own == [f"{worker}.{number}" for number in range(100)]


def test_two_trails_in_one_folder_write_two_chains_and_the_next_goes_on_with_the_first(
    tmp_path: Path,
) -> None:
    """A chain has one writer at a time; one that nobody writes is taken up again."""
    first, second = Trail(tmp_path, names=lambda: "a" * 16), Trail(tmp_path, names=lambda: "b" * 16)
    write(first, "e1")
    write(second, "e2")
    assert (first.name, second.name) == ("a" * 16, "b" * 16)
    first.close()
    third = Trail(tmp_path)
    write(third, "e3")
    assert third.name == "a" * 16
    second.close()
    third.close()
    found = whole(tmp_path)
    assert [record["id"] for record in of_kind(found["a" * 16], "intent")] == ["e1", "e3"]
    assert [record["kind"] for record in found["a" * 16]] == [
        "segment", "open", "intent", "checkpoint", "open", "intent", "checkpoint",
    ]  # fmt: skip


def test_a_trail_that_nothing_was_written_to_says_nothing(tmp_path: Path) -> None:
    """Opening and closing leaves a chain as it was; the first record opens it."""
    trail = Trail(tmp_path)
    write(trail, "e1")
    trail.close()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    Trail(tmp_path).close()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_closed_trail_takes_nothing_more(tmp_path: Path) -> None:
    """And closing it again is nothing."""
    trail = Trail(tmp_path)
    write(trail, "e1")
    trail.close()
    trail.close()
    with pytest.raises(AuditLost, match="the trail is closed"):
        write(trail, "e2")
    with pytest.raises(AuditLost, match="the trail is closed"):
        trail.probe()
    assert ids(tmp_path) == ["e1"]


def test_closing_brings_everything_to_the_disk_and_says_so(tmp_path: Path) -> None:
    """Whoever waits for a record does not wait for a thread that is gone."""
    trail = Trail(tmp_path, TrailOptions(sync_ms=60_000, wait_s=0))
    mark = write(trail, "e1")
    trail.close()
    trail.sync(mark)
    with pytest.raises(AuditLost, match="did not answer"):
        trail.sync(mark + 1)


def test_files_are_private(tmp_path: Path) -> None:
    """Whatever the user's mask is, nobody else reads what agents do."""
    old = os.umask(0)
    try:
        trail = Trail(tmp_path / "trail", TrailOptions(segment_bytes=1_000))
        for number in range(10):
            trail.sync(write(trail, f"e{number}"))
        segment = tmp_path / "trail" / trail.name / "00000001.jsonl"
        assert segment.exists()
        trail.close()
        (tmp_path / "trail" / trail.name / "head").write_text("{}")
        Trail(tmp_path / "trail").close()
    finally:
        os.umask(old)
    modes = {
        path.relative_to(tmp_path): path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")
    }
    assert {path.suffix for path in modes} >= {"", ".jsonl"}
    assert {mode for path, mode in modes.items() if (tmp_path / path).is_dir()} == {0o700}
    files = {path: mode for path, mode in modes.items() if (tmp_path / path).is_file()}
    assert {path: mode for path, mode in files.items() if mode != 0o600} == {}


def test_nothing_is_written_on_import_nor_into_the_working_directory(tmp_path: Path) -> None:
    """Where state goes is said by whoever uses it, or by the environment."""
    here, state = tmp_path / "here", tmp_path / "state"
    here.mkdir()
    own = {
        "STANCHION_STATE_DIR": str(state),
        "PYTHONPATH": str(ROOT / "src"),
        "HOME": str(tmp_path / "home"),
    }
    environ = {**{k: v for k, v in os.environ.items() if not k.startswith("STANCHION_")}, **own}
    for code, made in (
        (
            (
                "import stanchion, stanchion.audit.trail, stanchion.audit.open_trail, "
                "stanchion.runtime.standing.places"
            ),
            set(),
        ),
        (
            "from stanchion import Shield; Shield.load({'name': 'x'}).run().check('read', {})",
            {"state"},
        ),
    ):
        subprocess.run([sys.executable, "-B", "-c", code], cwd=here, env=environ, check=True)
        assert list(here.iterdir()) == []
        assert {path.name for path in tmp_path.iterdir()} - {"here"} == made
    assert len(ids(state / "trail")) == 1


def test_a_folder_that_cannot_be_used_is_a_clear_error(tmp_path: Path) -> None:
    """It names the folder and says what to do."""
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    with pytest.raises(
        TrailError, match=r"`.*/file` cannot be opened: file exists; use another folder"
    ):
        Trail(in_the_way)
    with pytest.raises(TrailError, match=r"cannot be opened: not a directory"):
        Trail(in_the_way / "trail")
    nowhere = Path("/proc/stanchion")
    with pytest.raises(
        TrailError, match=r"`/proc/stanchion` cannot be opened: .+; use another folder"
    ):
        Trail(nowhere)


def test_shields_that_name_one_folder_share_one_chain(tmp_path: Path) -> None:
    """The last one that closes it ends the chain; another key or retention is another chain."""
    first, second = open_trail(tmp_path / "t"), open_trail(tmp_path / "." / "t")
    other = open_trail(tmp_path / "t", keep=Keep(days=3))
    assert first is second
    assert other is not first
    first.close()
    write(second, "e1")
    second.close()
    with pytest.raises(AuditLost):
        write(second, "e2")
    again = open_trail(tmp_path / "t")
    assert again is not first
    write(again, "e3")
    again.close()
    other.close()
    assert ids(tmp_path / "t") == ["e1", "e3"]


@pytest.mark.parametrize("long", [1 << 20, 5 << 20])
def test_a_chain_whose_head_names_a_very_long_record_is_gone_on_with(
    tmp_path: Path, long: int
) -> None:
    """Nobody makes a chain unfit by asking for a tool with an endless name."""
    about = moment("x" * long)
    chain = OpenChain.begin(tmp_path, "a" * 16, None, lambda: AT)
    parts = encode(entry_of(about, allowed(about), chain.seq, chain.head, chain.id))
    chain.append(parts.body, kept=parts.kept)
    chain.sync()
    chain.seal(chain.position())
    chain.abandon()
    trail = Trail(tmp_path)
    write(trail, "e2")
    trail.close()
    assert trail.name == "a" * 16
    assert ids(tmp_path) == ["x" * long, "e2"]


def test_a_fact_is_written_like_any_record_and_without_its_secrets(tmp_path: Path) -> None:
    """It stands in the chain, the verifier is content, and readers find what it says."""
    trail = Trail(tmp_path)
    trail.tell(
        Fact(
            AT,
            "ticket.approved",
            "t-1",
            "acme",
            "r1",
            "ann",
            "fine",
            {"password": "hunter2", "tool": "pay"},
        )
    )
    trail.close()
    fact = next(record for record in one(tmp_path) if record["kind"] == "fact")
    said = {name: fact[name] for name in ("at", "what", "about", "tenant", "run", "by", "why")}
    assert list(said.values()) == [AT, "ticket.approved", "t-1", "acme", "r1", "ann", "fine"]
    assert fact["data"]["tool"] == "pay"
    assert "hunter2" not in str(fact)
    assert verify(tmp_path).faults == ()
