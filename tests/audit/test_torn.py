"""What a crash leaves, and what somebody else does: a torn end is cut off and kept, damage is left
as evidence."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from stanchion.audit.apart import encode
from stanchion.audit.chain import OpenChain
from stanchion.audit.record import entry_of
from stanchion.audit.trail import Trail
from stanchion.audit.verify import verify
from tests.audit.written import AT, allowed, moment, of_kind, records, whole

NAME = "a" * 16
OTHER = "b" * 16


def crashed(trail: Path, behind: int = 3, before: int = 2) -> Path:
    """A trail whose writer died: so many records up to its head, and so many behind. Gives its only
    segment."""
    chain = OpenChain.begin(trail, NAME, None, lambda: AT)
    for number in range(before + behind):
        if number == before:
            chain.sync()
            chain.seal(chain.position())
        append(chain, f"e{number}")
    chain.abandon()
    segment = trail / NAME / "00000001.jsonl"
    put(segment, segment.read_bytes().rstrip(b"\0"))
    return segment


def append(chain: OpenChain, name: str) -> None:
    """Write a decision."""
    about = moment(name)
    parts = encode(entry_of(about, allowed(about), chain.seq, chain.head, chain.id))
    chain.append(parts.body, 7, kept=parts.kept)


def reopened(trail: Path, name: str = "next") -> Trail:
    """The trail as the next process writes it."""
    found = Trail(trail, clock=lambda: AT, names=lambda: OTHER)
    about = moment(name)
    found.write(about, allowed(about), 0)
    found.close()
    return found


def put(path: Path, data: bytes) -> None:
    """Give a file other bytes."""
    with path.open("r+b") as file:
        file.write(data)
        file.truncate()


def test_an_end_torn_at_any_byte_is_cut_off_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exactly the rest of the record that is not whole; those before it stay."""
    monkeypatch.setattr("stanchion.audit.layout._sync", lambda _file: None)
    segment = crashed(tmp_path, behind=2)
    data, sealed = segment.read_bytes(), json.loads((tmp_path / NAME / "head").read_bytes())
    ends = [at + 1 for at, byte in enumerate(data) if byte == ord("\n")]
    for size in range(sealed["offset"], len(data) + 1):
        put(segment, data[:size])
        kept = max(end for end in ends if end <= size)
        chain = OpenChain.resume(tmp_path, NAME, None, lambda: AT)
        assert chain is not None
        assert (chain.offset, chain.cut, chain.seq) == (kept, size - kept, data[:kept].count(b"\n"))
        assert segment.read_bytes() == data[:kept]
        cut = tmp_path / NAME / f"cut.{chain.seq}"
        chain.abandon()
        assert size == kept or cut.read_bytes() == data[kept:size]
    assert len(ends) == 5


@pytest.mark.parametrize("missing", [0, 1, 2, 3, 100, 300, 420, 700])
def test_the_next_process_goes_on_and_says_what_it_cut(tmp_path: Path, missing: int) -> None:
    """The chain is whole again, and tells how many bytes are kept aside."""
    segment = crashed(tmp_path, behind=2)
    data = segment.read_bytes()
    put(segment, data[: len(data) - missing])
    kept = data.rfind(b"\n", 0, len(data) - missing) + 1
    assert reopened(tmp_path).name == NAME
    found = whole(tmp_path)[NAME]
    assert segment.read_bytes()[:kept] == data[:kept]
    opened = found[data[:kept].count(b"\n")]
    assert (opened["kind"], opened.get("cut", 0)) == ("open", len(data) - missing - kept)
    cuts = {path.name: path.read_bytes() for path in (tmp_path / NAME).glob("cut.*")}
    torn = data[kept : len(data) - missing]
    assert cuts == ({f"cut.{opened['seq']}": torn} if torn else {})


def test_a_cut_is_said_even_where_nothing_follows(tmp_path: Path) -> None:
    """A process that only opens the trail after a crash leaves its record of the cut, too."""
    segment = crashed(tmp_path)
    segment.write_bytes(segment.read_bytes()[:-9])
    Trail(tmp_path).close()
    assert [record["cut"] for record in whole(tmp_path)[NAME] if "cut" in record] != []
    assert len(list((tmp_path / NAME).glob("cut.*"))) == 1


@pytest.mark.parametrize("torn", [b"", b'{"hash":"'])
def test_a_segment_that_had_just_begun(tmp_path: Path, torn: bytes) -> None:
    """Whatever there is of its first line, the next process begins it anew."""
    chain = OpenChain.begin(tmp_path, NAME, None, lambda: AT)
    append(chain, "e0")
    chain.checkpoint({})
    chain.sync()
    chain.seal(chain.position())
    chain.abandon()
    os.truncate(tmp_path / NAME / "00000001.jsonl", chain.offset)
    (tmp_path / NAME / "00000002.jsonl").write_bytes(torn)
    reopened(tmp_path)
    found = records(tmp_path / NAME)
    assert [record["kind"] for record in found] == [
        "segment",
        "intent",
        "checkpoint",
        "segment",
        "open",
        "intent",
        "checkpoint",
    ]
    assert found[3]["number"] == 2
    assert found[4].get("cut", 0) == len(torn)
    assert verify(tmp_path).faults == ()


def _edit(at: int) -> Callable[[Path], None]:
    """Change a byte of a line."""

    def damage(chain: Path) -> None:
        segment = chain / "00000001.jsonl"
        found = segment.read_bytes().split(b"\n")
        found[at] = (
            found[at].replace(b"a.txt", b"b.txt")
            if b"a.txt" in found[at]
            else found[at][:-1] + b"]"
        )
        segment.write_bytes(b"\n".join(found))

    return damage


def _shorten(chain: Path) -> None:
    segment = chain / "00000001.jsonl"
    head = json.loads((chain / "head").read_bytes())
    segment.write_bytes(segment.read_bytes()[: head["offset"] - 1])


def _no_segment(chain: Path) -> None:
    (chain / "00000001.jsonl").rename(chain / "00000002.jsonl")


def _no_head(chain: Path) -> None:
    (chain / "head").unlink()


def _empty_head(chain: Path) -> None:
    (chain / "head").write_text("{}")


def _anothers_head(chain: Path) -> None:
    (chain / "head").write_text((chain / "head").read_text().replace(NAME, OTHER))


DAMAGE: dict[str, Callable[[Path], None]] = {
    "the record that the head names was edited": _edit(2),
    "the record that the head names is gone": _shorten,
    "the segment is gone": _no_segment,
    "the head is gone": _no_head,
    "the head is not a head": _empty_head,
    "the head is another chain's": _anothers_head,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_chain_is_left_alone_and_another_begins(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    """Nobody goes on with it, so that what was done to it stays to be seen; the new chain names
    it."""
    crashed(tmp_path)
    damage(tmp_path / NAME)
    before = {path.name: path.read_bytes() for path in (tmp_path / NAME).iterdir()}
    assert reopened(tmp_path).name == OTHER
    assert {path.name: path.read_bytes() for path in (tmp_path / NAME).iterdir()} == before
    (opened,) = of_kind(records(tmp_path / OTHER), "open")
    assert opened["unfit"] == [NAME]
    assert {fault.chain for fault in verify(tmp_path).faults} == {NAME}
    assert reopened(tmp_path, "later").name == OTHER


def test_something_added_to_a_closed_chain(tmp_path: Path) -> None:
    """A chain that was closed has nothing behind its head, whole or not."""
    crashed(tmp_path)
    reopened(tmp_path)
    segment = tmp_path / NAME / "00000001.jsonl"
    segment.write_bytes(segment.read_bytes() + b"{")
    assert reopened(tmp_path).name == OTHER


def test_a_whole_record_behind_the_head_that_does_not_fit_stays_as_evidence(tmp_path: Path) -> None:
    """No crash changes a byte of a whole line: nobody goes on with the chain, and nothing of it is
    cut off."""
    segment = crashed(tmp_path, behind=3)
    found = segment.read_bytes().split(b"\n")
    found[4] = found[4].replace(b"a.txt", b"b.txt")
    segment.write_bytes(b"\n".join(found))
    reopened(tmp_path)
    assert segment.read_bytes() == b"\n".join(found)
    assert not list((tmp_path / NAME).glob("cut.*"))
    assert len(list(tmp_path.iterdir())) == 2
    assert not verify(tmp_path).whole
