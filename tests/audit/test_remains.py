"""What lies beside records: whatever may hold words that are erased is found, removed where it is
ours, or named."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from stanchion.audit.erasure import Meant, cut_off, meant_in, remove
from stanchion.audit.layout import segment_file
from stanchion.audit.options import TrailOptions
from stanchion.audit.reader import TrailReader
from stanchion.audit.remains import (
    DAMAGED,
    STRANGER,
    UNFIT,
    UNSEEN,
    WRITTEN,
    damaged,
    held_fast,
    pieces,
    strangers,
    tails,
)
from stanchion.audit.trail import Trail
from stanchion.audit.verify import verify
from stanchion.kernel.events import RunInfo
from stanchion.kernel.names import names
from tests.audit.written import AT, allowed, moment

ADDRESS = "ann@example.org"
ANN, BOB = RunInfo("r1", "ann", task="t1"), RunInfo("r2", "bob", task="t2", tenant="acme")

OF_ANN = {
    "run": Meant(run=names(["r1"])),
    "agent": Meant(agent=names(["a*"])),
    "task": Meant(task=names(["t1"])),
    "tenant": Meant(tenant=names(["default"])),
    "text": Meant(containing=ADDRESS),
    "both": Meant(containing=ADDRESS, agent=names(["ann"])),
}
OF_BOB = {
    "run": Meant(run=names(["r2"])),
    "agent": Meant(agent=names(["bob", "c*"])),
    "task": Meant(task=names(["t2"])),
    "tenant": Meant(tenant=names(["acme"])),
    "text": Meant(containing="bob@example.org"),
}


def written(folder: Path, name: str = "a" * 16) -> Path:
    """The segment of a chain in which ann's words come last, as a killed process leaves it."""
    trail = Trail(folder, TrailOptions(head_ms=1e12), clock=lambda: AT, names=lambda: name)
    for number, (run, text) in enumerate(((BOB, "nothing"), (ANN, f"mail {ADDRESS}, twice"))):
        about = moment(f"{run.id}.{number}", {"to": text}, run=run)
        trail.write(about, allowed(about), 5)
    segment = segment_file(folder / trail.name, 1)
    whole, head = segment.read_bytes(), (segment.parent / "head").read_bytes()
    trail.close()
    segment.write_bytes(whole)
    (segment.parent / "head").write_bytes(head)
    return segment


def last(segment: Path) -> tuple[bytes, bytes]:
    """What stands before the last line of a segment, and that line without its end."""
    data = segment.read_bytes().rstrip(b"\n")
    at = data.rindex(b"\n") + 1
    return data[:at], data[at:]


def test_words_that_were_torn_anywhere_are_found_and_go(tmp_path: Path) -> None:
    """Wherever the crash came: whoever opens the chain makes a file of it, and that goes."""
    segment = written(tmp_path)
    before, line = last(segment)
    kept = line.index(b',"kept":')
    for at in range(kept + 60, len(line)):
        segment.write_bytes(before + line[:at])
        said = ADDRESS.encode() in line[:at]
        for how, meant in OF_ANN.items():
            (found,) = tails(tmp_path, meant) if how not in ("text", "both") or said else (None,)
            assert found is None or (found.chain, found.number, found.offset) == (
                "a" * 16,
                1,
                len(before),
            )
        for meant in OF_BOB.values():
            assert tails(tmp_path, meant) == []
    segment.write_bytes(before + line[:-5])
    assert ADDRESS.encode() in line[:-5]
    cut_off(tmp_path, ["a" * 16], None, lambda: AT)
    (cut,) = tmp_path.rglob("cut.*")
    assert cut.read_bytes() == line[:-5]
    for meant in OF_ANN.values():
        assert (tails(tmp_path, meant), pieces(tmp_path, meant)) == ([], [cut])
    for meant in OF_BOB.values():
        assert pieces(tmp_path, meant) == []
    remove([cut])
    assert not any(
        ADDRESS.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()
    )
    assert verify(tmp_path).faults == ()


@pytest.mark.parametrize("size", range(3, len(ADDRESS)))
def test_the_beginning_of_a_text_at_the_end_of_a_piece_is_part_of_it(
    tmp_path: Path, size: int
) -> None:
    segment = written(tmp_path)
    before, line = last(segment)
    segment.write_bytes(before + line[: line.index(ADDRESS.encode()) + size])
    assert len(tails(tmp_path, Meant(containing=ADDRESS))) == 1
    assert tails(tmp_path, Meant(containing="bob@example.org")) == []


def test_what_stands_behind_a_hole_is_found(tmp_path: Path) -> None:
    """What is cut off behind pages of zeros may be whole records."""
    segment = written(tmp_path)
    cut = segment.parent / "cut.7"
    _, line = last(segment)
    for torn in (
        bytes(64) + b"\n" + line + b"\n",
        bytes(64) + line + b"\n{",
        line[:100] + bytes(64) + line[200:] + b"\n",
    ):
        cut.write_bytes(torn)
        assert pieces(tmp_path, OF_ANN["run"]) == [cut]


def test_a_head_that_got_no_name_holds_nothing(tmp_path: Path) -> None:
    segment = written(tmp_path)
    new = segment.parent / "head.new"
    for head in (
        (segment.parent / "head").read_bytes(),
        (segment.parent / "head").read_bytes()[:40],
        b"",
    ):
        new.write_bytes(head)
        assert [pieces(tmp_path, meant) for meant in (*OF_ANN.values(), *OF_BOB.values())] == [
            []
        ] * 11
    new.write_bytes(last(segment)[1])
    assert pieces(tmp_path, OF_ANN["text"]) == [new]


def test_a_chain_that_cannot_be_cut_is_named(tmp_path: Path) -> None:
    segment = written(tmp_path)
    before, line = last(segment)
    segment.write_bytes(before + line[:-5])
    place = f"{'a' * 16}/00000001.jsonl from byte {len(before)}"
    holder = Trail(tmp_path, clock=lambda: AT)
    holder.close()
    (cut,) = tmp_path.rglob("cut.*")
    segment.write_bytes(segment.read_bytes() + cut.read_bytes())
    size = len(segment.read_bytes()) - len(cut.read_bytes())
    cut_off(tmp_path, ["a" * 16], None, lambda: AT)
    (left,) = held_fast(tmp_path, OF_ANN["run"])
    assert (left.place, left.what) == (place.replace(str(len(before)), str(size)), UNFIT)


def test_a_chain_that_is_written_is_left_to_its_writer(tmp_path: Path) -> None:
    trail = Trail(tmp_path, clock=lambda: AT, names=lambda: "b" * 16)
    about = moment("r1.1", {"to": ADDRESS}, run=ANN)
    trail.write(about, allowed(about), 5)
    segment = segment_file(tmp_path / trail.name, 1)
    whole = segment.read_bytes()
    with segment.open("ab") as file:
        file.write(last(segment)[1][:-5])
    cut_off(tmp_path, [trail.name], None, lambda: AT)
    assert [one.what for one in held_fast(tmp_path, OF_ANN["run"])] == [WRITTEN]
    segment.write_bytes(whole)
    trail.close()


def test_damaged_lines_are_named_by_their_place(tmp_path: Path) -> None:
    """One byte anywhere in what was said: what the line says is not known, and whose it is may
    be."""
    segment = written(tmp_path)
    before, line = last(segment)
    for at in range(line.index(b',"kept":') + 8, len(line) - 1, 7):
        segment.write_bytes(before + line[:at] + b"\xff" + line[at + 1 :] + b"\n")
        reader = TrailReader(tmp_path)
        meant_in(reader, OF_ANN["run"])
        for meant in OF_ANN.values():
            (found,) = damaged(reader, meant)
            assert (found.place, found.what) == (
                f"{'a' * 16}/00000001.jsonl from byte {len(before)}",
                DAMAGED,
            )
        assert [damaged(reader, OF_BOB[how]) for how in ("run", "agent", "task", "tenant")] == [
            []
        ] * 4


def test_files_that_somebody_left_are_named(tmp_path: Path) -> None:
    segment = written(tmp_path)
    whole = segment.read_bytes()
    left = {
        f"{'a' * 16}/00000001.jsonl.bak": whole,
        f"{'a' * 16}/1.jsonl": whole,
        f"{'a' * 16}.bak/00000001.jsonl": whole,
        "notes.txt": f'{{"run":"r1"}} {ADDRESS}'.encode(),
        "deep/er/x": last(segment)[1],
    }
    for name, data in left.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (tmp_path / "old.gz").write_bytes(gzip.compress(whole))
    (segment.parent / "00000009.jsonl").symlink_to(tmp_path / "notes.txt")
    (tmp_path / "list.txt").write_text("nothing of that\n")
    unseen = {"old.gz": UNSEEN, f"{'a' * 16}/00000009.jsonl": UNSEEN}
    assert {one.place: one.what for one in strangers(tmp_path, OF_ANN["text"])} == {
        **dict.fromkeys(left, STRANGER),
        **unseen,
    }
    assert {one.place for one in strangers(tmp_path, OF_ANN["run"])} == {*left, *unseen}
    assert {one.place for one in strangers(tmp_path, Meant(containing="nobody at all"))} == {
        *unseen
    }
