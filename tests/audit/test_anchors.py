"""Anchors: the store knows how far a trail had come, so a missing end is missed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.audit.anchors import Anchor, anchors_of, place_of, put_of
from stanchion.audit.options import Options
from stanchion.audit.trail import Trail
from stanchion.audit.verify import Deed, verdict, verify
from stanchion.cli.main import main
from stanchion.kernel.state import Batch
from stanchion.runtime.standing.store_door import EVERY_S, Anchoring
from stanchion.stores.memory import MemoryStore
from stanchion.stores.open_store import open_store
from tests.audit.written import allowed, moment

POLICY: dict[str, Any] = {
    "name": "anchored",
    "tools": {"low": {"risk": "low"}, "high": {"risk": "high"}},
    "guards": [{"use": "step_limit", "max_steps": 1_000, "per": "run", "counter": "steps"}],
}


def anchors(store: Any, folder: Path) -> list[tuple[str, int, str]]:
    """What a store has seen of the trail in a folder."""
    there = [path.name for path in folder.iterdir()] if folder.exists() else []
    return anchors_of(((cell.key, cell.value) for cell in store.look()), folder, there)


def written(folder: Path, calls: int) -> tuple[Any, str]:
    """A store and the chain that a shield wrote which was closed properly."""
    store = open_store(str(folder / "state.db"))
    shield = Shield.load(POLICY, store=store, journal=Trail(folder / "trail", Options(sync_ms=0.1)))
    with shield.run(id="r1") as run:
        for number in range(calls):
            assert run.check("high", {"number": number}).proceeds
    name = shield.journal.name
    shield.close()
    return open_store(str(folder / "state.db")), name


def test_batches_that_go_anyway_tell_the_store_how_far_the_trail_is(tmp_path: Path) -> None:
    """While it is written, and once more when it is closed."""
    store = open_store(str(tmp_path / "state.db"))
    shield = Shield.load(
        POLICY, store=store, journal=Trail(tmp_path / "trail", Options(sync_ms=0.1))
    )
    with shield.run(id="r1") as run:
        for number in range(3):
            assert run.check("high", {"number": number}).proceeds
        ((chain, seq, _),) = anchors(store, tmp_path / "trail")
        assert chain == shield.journal.name
        assert 0 < seq <= shield.journal.head[0]
    shield.close()
    store = open_store(str(tmp_path / "state.db"))
    head = json.loads((tmp_path / "trail" / chain / "head").read_bytes())
    assert (chain, head["seq"], head["hash"]) in anchors(store, tmp_path / "trail")
    report = verify(tmp_path / "trail", anchors=anchors(store, tmp_path / "trail"))
    assert (report.whole, report.end_proven) == (True, True)
    assert verdict(report) == f"whole: {head['seq'] + 1} records in 1 chain"
    store.close()


def test_a_cut_that_nothing_in_the_folder_tells_is_found(tmp_path: Path) -> None:
    """The tail of a closed chain, with a head that was made to fit."""
    store, name = written(tmp_path, 8)
    chain = tmp_path / "trail" / name
    lines = (chain / "00000001.jsonl").read_bytes().splitlines(keepends=True)
    kept = lines[:5]
    (chain / "00000001.jsonl").write_bytes(b"".join(kept))
    last = json.loads(kept[-1])
    head = {
        "chain": name,
        "closed": False,
        "hash": last["hash"],
        "offset": sum(map(len, kept)),
        "segment": 1,
        "seq": 4,
    }
    (chain / "head").write_bytes(json.dumps(head, separators=(",", ":")).encode())
    assert verify(tmp_path / "trail").whole
    (fault,) = verify(tmp_path / "trail", anchors=anchors(store, tmp_path / "trail")).faults
    assert fault.deed is Deed.TRUNCATED
    assert (
        f"the store has seen record {len(lines) - 1}, and the chain ends with record 4"
        in fault.sentence
    )
    store.close()


def test_a_whole_trail_that_is_gone_is_missed(tmp_path: Path) -> None:
    """Or stands there anew."""
    store, name = written(tmp_path, 2)
    shutil.rmtree(tmp_path / "trail")
    trail = Trail(tmp_path / "trail")
    about = moment("e1")
    trail.write(about, allowed(about), 0)
    trail.close()
    assert verify(tmp_path / "trail").whole
    (fault,) = verify(tmp_path / "trail", anchors=anchors(store, tmp_path / "trail")).faults
    assert (fault.chain, fault.deed) == (name, Deed.DELETED)
    store.close()


def test_another_hosts_trail_in_the_same_store_is_no_fault_of_this_one(tmp_path: Path) -> None:
    """Only what was written in this folder, or where the chains that are there were written, has to
    be there."""
    store = MemoryStore()
    own, there, far = "a" * 16, "b" * 16, "c" * 16
    here = place_of(tmp_path)
    for number, anchor in enumerate(
        [
            Anchor(own, 4, "0" * 64, here),
            Anchor(there, 5, "1" * 64, "elsewhere"),
            Anchor(far, 6, "2" * 64, "far away"),
        ]
    ):
        store.carry(Batch(str(number), "acme", puts=(put_of("acme", anchor),)))
    cells = [(cell.key, cell.value) for cell in store.look()]
    assert anchors_of(cells, tmp_path, []) == [(own, 4, "0" * 64)]
    assert anchors_of(cells, tmp_path, [there]) == [(own, 4, "0" * 64), (there, 5, "1" * 64)]
    assert (
        anchors_of(
            [("{acme}steps", [1, "x", here]), ("{acme}" + far + ":@trail", "odd")], tmp_path, [far]
        )
        == []
    )


class Counting(MemoryStore):
    """A store that keeps what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[Batch] = []

    def carry(self, batch: Batch) -> Any:
        self.given.append(batch)
        return super().carry(batch)


def test_an_anchor_goes_along_when_it_has_moved_and_not_too_often(tmp_path: Path) -> None:
    """A batch is as it was where there is nothing new to say."""
    store, now, trail = Counting(), [0.0], Trail(tmp_path)
    anchoring = Anchoring(store, trail, lambda: now[0])

    def write(name: str) -> None:
        about = moment(name)
        trail.sync(trail.write(about, allowed(about), 0))

    for number, (step_s, writes) in enumerate(
        ((0.0, 0), (0.0, 1), (0.0, 1), (EVERY_S, 0), (EVERY_S, 0), (EVERY_S, 1))
    ):
        now[0] += step_s
        if writes:
            write(f"e{number}")
        store.carry(anchoring.with_anchor(Batch(f"b{number}")))
    trail.close()
    assert [len(batch.puts) for batch in store.given] == [0, 1, 0, 1, 0, 1]


def test_the_command_asks_the_projects_own_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And another one where it is named; without one it says that the end is not proven."""
    monkeypatch.setenv("STANCHION_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.delenv("STANCHION_AUDIT", raising=False)
    monkeypatch.delenv("STANCHION_STORE", raising=False)
    with Shield.load(POLICY) as shield, shield.run(id="r1") as run:
        assert run.check("high", {}).proceeds
    assert main(["audit", "verify"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "whole: 6 records in 1 chain"
    trail, store = str(tmp_path / "copy"), str(tmp_path / "state" / "state.db")
    shutil.copytree(tmp_path / "state" / "trail", trail)
    assert main(["audit", "verify", trail]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "whole: 6 records in 1 chain; end not proven"
    assert main(["audit", "verify", trail, "--store", store, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["end_proven"] is True
    shutil.rmtree(tmp_path / "state" / "trail")
    (tmp_path / "state" / "trail").mkdir()
    assert main(["audit", "verify"]) == 1
    assert "is gone: the store lists it" in capsys.readouterr().out.replace("\n             ", " ")
