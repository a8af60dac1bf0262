"""A trail that lost what the store has seen of it stays a fault, however many processes go on
beside it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from stanchion import Shield
from stanchion.audit.anchors import anchors_of
from stanchion.audit.keys import make_key
from stanchion.audit.layout import chains
from stanchion.audit.verify import Deed, Report, verify
from stanchion.stores.open_store import open_store

POLICY = {"name": "p", "guards": [{"use": "step_limit", "max_steps": 1_000}]}


def work(at: Path, run: str, steps: int) -> None:
    with (
        Shield.load(POLICY, store=at / "state.db", journal=at / "trail") as shield,
        shield.run("ann", id=run) as one,
    ):
        for number in range(steps):
            assert one.check("bash", {"n": number}).proceeds


def verified(at: Path, key: Path | None = None) -> Report:
    store = open_store(str(at / "state.db"))
    try:
        cells = [(cell.key, cell.value) for cell in store.look()]
    finally:
        store.close()
    return verify(at / "trail", key, anchors=anchors_of(cells, at / "trail", chains(at / "trail")))


@pytest.mark.parametrize("steps", [1, 40])
def test_a_folder_that_was_put_back_is_found_after_others_went_on_in_it(
    tmp_path: Path, steps: int
) -> None:
    work(tmp_path, "first", 5)
    shutil.copytree(tmp_path / "trail", tmp_path / "earlier")
    work(tmp_path, "evil", 20)
    assert verified(tmp_path).whole
    shutil.rmtree(tmp_path / "trail")
    (tmp_path / "earlier").rename(tmp_path / "trail")
    (cut,) = chains(tmp_path / "trail")
    for run in ("after", "later"):
        work(tmp_path, run, steps)
        found = verified(tmp_path)
        assert [(fault.chain, fault.deed) for fault in found.faults] == [(cut, Deed.TRUNCATED)]
    assert len(chains(tmp_path / "trail")) == 2, "those that come later share one chain"
    alone = verify(tmp_path / "trail")
    assert not alone.whole, (
        "the next chain names what the store has seen, also where nobody asks the store"
    )


def test_what_the_store_has_seen_is_gone_on_with(tmp_path: Path) -> None:
    for number in range(4):
        work(tmp_path, f"run-{number}", 3)
    assert verified(tmp_path).whole
    assert len(chains(tmp_path / "trail")) == 1


def test_epochs_that_are_nowhere_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has a later key can put records in the place of earlier ones; that theirs are missing
    is said."""
    proof = make_key(tmp_path / "audit.key")
    monkeypatch.setenv("STANCHION_AUDIT_KEY", str(tmp_path / "audit.key"))
    for number in range(3):
        work(tmp_path, f"run-{number}", 1)
    assert not [said for said in verified(tmp_path, proof).remarks if "epoch" in said.sentence]
    shutil.rmtree(tmp_path / "trail")
    work(tmp_path, "anew", 1)
    said = [remark.sentence for remark in verify(tmp_path / "trail", proof).remarks]
    assert any("epochs 0 to 2 of the key are nowhere in this trail" in one for one in said)


def test_a_key_that_was_put_back_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = tmp_path / "audit.key"
    proof = make_key(key)
    before = key.read_bytes()
    monkeypatch.setenv("STANCHION_AUDIT_KEY", str(key))
    work(tmp_path, "first", 1)
    key.write_bytes(before)
    work(tmp_path, "second", 1)
    said = [remark.sentence for remark in verified(tmp_path, proof).remarks]
    assert any(
        "the key was put back to an earlier one, because epoch 0 begins more than once" in one
        for one in said
    )


def test_a_link_to_a_key_stays_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proof = make_key(tmp_path / "audit.key")
    (tmp_path / "link").symlink_to(tmp_path / "audit.key")
    monkeypatch.setenv("STANCHION_AUDIT_KEY", str(tmp_path / "link"))
    work(tmp_path, "first", 1)
    assert (tmp_path / "link").is_symlink()
    monkeypatch.setenv("STANCHION_AUDIT_KEY", str(tmp_path / "audit.key"))
    work(tmp_path, "second", 1)
    assert verified(tmp_path, proof).whole
