"""What is done to whole files and folders: heads, segments, chains, links, and what is not part of
a trail."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stanchion.audit.verify import CannotVerify, Deed, Fault, Report, verify
from tests.audit.forging import (
    KEY,
    ONE,
    OTHER_KEY,
    THREE,
    TWO,
    Draft,
    Drafts,
    body_of,
    crashed,
    dumped,
    hash_of,
    line_of,
    many,
    move_head,
    retired,
    rewrite,
    seq_of,
    several,
    single,
)

SEALED_OR_NOT = pytest.mark.parametrize("key", [None, KEY], ids=["unsealed", "sealed"])


def only(report: Report) -> Fault:
    """The one fault that there is."""
    assert len(report.faults) == 1, report.faults
    return report.faults[0]


def segment(folder: Path, number: int, chain: str = ONE) -> Path:
    """A segment's file."""
    return folder / chain / f"{number:08d}.jsonl"


def remarks(report: Report) -> str:
    """All remarks, one a line."""
    return "\n".join(remark.sentence for remark in report.remarks)


@SEALED_OR_NOT
def test_a_removed_head(key: bytes | None, tmp_path: Path) -> None:
    folder = several(key).write(tmp_path)
    (folder / ONE / "head").unlink()
    fault = only(verify(folder, key))
    assert (fault.deed, fault.file, fault.seq) == (Deed.HEADLESS, "head", 18)


@SEALED_OR_NOT
@pytest.mark.parametrize(
    ("field", "value", "deed"),
    [
        ("seq", 7, Deed.EDITED),
        ("seq", 17, Deed.EDITED),
        ("seq", 19, Deed.EDITED),
        ("seq", 500, Deed.EDITED),
        ("hash", "a" * 64, Deed.REWRITTEN),
        ("offset", 12, Deed.EDITED),
        ("segment", 2, Deed.EDITED),
        ("closed", False, None),
        ("chain", TWO, Deed.SPLICED),
        ("chain", "../../../../etc/", Deed.UNREADABLE),
        ("seq", -1, Deed.UNREADABLE),
        ("seq", "18", Deed.UNREADABLE),
        ("seq", True, Deed.UNREADABLE),
        ("hash", "A" * 64, Deed.UNREADABLE),
        ("more", 1, Deed.UNREADABLE),
    ],
)
def test_an_edited_head(
    field: str, value: Any, deed: Deed | None, key: bytes | None, tmp_path: Path
) -> None:
    drafts = several(key)
    drafts[ONE].head = dumped({**drafts[ONE].said_head(), field: value})
    report = verify(drafts.write(tmp_path), key)
    if deed is None and key is None:
        assert report.whole  # nothing in an unsealed trail tells
        return
    expected = Deed.EDITED if key is not None and deed in (Deed.REWRITTEN, None) else deed
    fault = only(report)
    assert (fault.deed, fault.chain) == (expected, ONE), fault
    assert fault.file == ("00000003.jsonl" if deed is Deed.REWRITTEN and key is None else "head")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{}",
        b"[]",
        b"nonsense",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"seq":' + b"9" * 10_000 + b"}",
    ],
)
def test_a_head_that_is_none(raw: bytes, tmp_path: Path) -> None:
    drafts = single()
    drafts[ONE].head = raw
    fault = only(verify(drafts.write(tmp_path)))
    assert (fault.deed, fault.file, fault.seq) == (Deed.UNREADABLE, "head", None)


@pytest.mark.parametrize("spelling", ["indented", "twice"])
def test_a_head_that_says_the_same_in_other_bytes(spelling: str, tmp_path: Path) -> None:
    drafts = single()
    said = drafts[ONE].said_head()
    other = {
        "indented": json.dumps(said).encode(),
        "twice": dumped(said).replace(b'"seq":', b'"seq":3,"seq":'),
    }
    drafts[ONE].head = other[spelling]
    assert only(verify(drafts.write(tmp_path))).deed is Deed.UNREADABLE


def test_a_line_feed_behind_a_head_is_none_of_its_bytes(tmp_path: Path) -> None:
    drafts = single()
    drafts[ONE].head = dumped(drafts[ONE].said_head()) + b"\n"
    assert verify(drafts.write(tmp_path)).whole


def test_the_head_of_another_chain(tmp_path: Path) -> None:
    folder = many(KEY).write(tmp_path)
    shutil.copy(folder / TWO / "head", folder / ONE / "head")
    fault = only(verify(folder, KEY))
    assert (fault.deed, fault.chain, fault.file) == (Deed.SPLICED, ONE, "head")


@pytest.mark.parametrize(
    ("mark", "deed"),
    [
        ("", Deed.UNSEALED),
        ("trust me", Deed.RESEALED),
        ("of another key", Deed.RESEALED),
        ("of a checkpoint", Deed.EDITED),
    ],
)
def test_the_seal_of_a_head(mark: str, deed: Deed, tmp_path: Path) -> None:
    drafts = single(KEY)
    said = drafts[ONE].said_head()
    del said["seal"]
    other = single(OTHER_KEY)[ONE].said_head()["seal"]
    checkpoint = json.loads(drafts[ONE].line(11))["seal"]
    seals = {"of another key": other, "of a checkpoint": checkpoint}
    drafts[ONE].head = dumped({**said, "seal": seals.get(mark, mark)} if mark else said)
    fault = only(verify(drafts.write(tmp_path), KEY))
    assert (fault.deed, fault.file, fault.seq) == (deed, "head", 11)


def test_an_older_sealed_head_says_no_less(tmp_path: Path) -> None:
    drafts = Drafts({ONE: Draft(ONE, KEY).begin().work(3).mark()}, KEY)
    older = drafts[ONE].head
    drafts[ONE].work(4).mark().head = older
    report = verify(drafts.write(tmp_path), KEY)
    assert report.whole
    assert report.chains[0].behind_head == 4


@SEALED_OR_NOT
@pytest.mark.parametrize(("number", "seq"), [(1, 0), (2, 7), (3, 14)])
def test_a_deleted_segment(number: int, seq: int, key: bytes | None, tmp_path: Path) -> None:
    folder = several(key).write(tmp_path)
    segment(folder, number).unlink()
    fault = only(verify(folder, key))
    assert (fault.deed, fault.file, fault.seq) == (Deed.DELETED, f"{number:08d}.jsonl", seq)


@SEALED_OR_NOT
def test_all_segments_deleted(key: bytes | None, tmp_path: Path) -> None:
    folder = several(key).write(tmp_path)
    for number in (1, 2, 3):
        segment(folder, number).unlink()
    fault = only(verify(folder, key))
    assert (fault.deed, fault.seq) == (Deed.DELETED, 0)


@SEALED_OR_NOT
@pytest.mark.parametrize(("number", "seq"), [(1, 0), (2, 7), (3, 14)])
def test_an_emptied_segment(number: int, seq: int, key: bytes | None, tmp_path: Path) -> None:
    folder = several(key).write(tmp_path)
    segment(folder, number).write_bytes(b"")
    fault = only(verify(folder, key))
    assert (fault.deed, fault.file, fault.seq) == (Deed.TRUNCATED, f"{number:08d}.jsonl", seq)


@SEALED_OR_NOT
@pytest.mark.parametrize(("one", "two", "seq"), [(1, 2, 0), (2, 3, 7), (1, 3, 0)])
def test_swapped_segments(one: int, two: int, seq: int, key: bytes | None, tmp_path: Path) -> None:
    drafts = several(key)
    segments = drafts[ONE].segments
    segments[one], segments[two] = segments[two], segments[one]
    fault = only(verify(drafts.write(tmp_path), key))
    assert (fault.deed, fault.seq) == (Deed.REORDERED, seq)


@SEALED_OR_NOT
@pytest.mark.parametrize(("number", "to", "seq"), [(3, 4, 14), (2, 9, 7), (1, 7, 0)])
def test_a_renamed_segment(
    number: int, to: int, seq: int, key: bytes | None, tmp_path: Path
) -> None:
    folder = several(key).write(tmp_path)
    segment(folder, number).rename(segment(folder, to))
    fault = only(verify(folder, key))
    assert (fault.deed, fault.seq) == (Deed.REORDERED, seq)


def test_a_segment_with_a_number_beyond_all_others(tmp_path: Path) -> None:
    folder = several().write(tmp_path)
    segment(folder, 3).rename(segment(folder, 10**17))
    fault = only(verify(folder))
    assert (fault.deed, fault.seq) == (Deed.REORDERED, 14)
    segment(folder, 10**17).unlink()
    assert only(verify(folder)).deed is Deed.DELETED


@SEALED_OR_NOT
def test_segments_put_into_one_file(key: bytes | None, tmp_path: Path) -> None:
    drafts = several(key)
    segments = drafts[ONE].segments
    segments[2] += segments.pop(3)
    fault = only(verify(drafts.write(tmp_path), key))
    assert (fault.deed, fault.file, fault.seq, fault.line) == (
        Deed.REORDERED,
        "00000002.jsonl",
        14,
        8,
    )


@SEALED_OR_NOT
def test_a_record_moved_over_the_border_of_a_segment(key: bytes | None, tmp_path: Path) -> None:
    drafts = several(key)
    segments = drafts[ONE].segments
    segments[2].insert(0, segments[1].pop())
    fault = only(verify(drafts.write(tmp_path), key))
    assert (fault.deed, fault.file, fault.seq, fault.line) == (
        Deed.REORDERED,
        "00000002.jsonl",
        6,
        1,
    )


@SEALED_OR_NOT
def test_a_segment_copied_behind_the_last(key: bytes | None, tmp_path: Path) -> None:
    folder = several(key).write(tmp_path)
    shutil.copy(segment(folder, 2), segment(folder, 4))
    fault = only(verify(folder, key))
    assert (fault.deed, fault.file, fault.seq) == (Deed.DUPLICATED, "00000004.jsonl", 7)


def test_a_segment_of_another_chain(tmp_path: Path) -> None:
    folder = many(KEY).write(tmp_path)
    shutil.copy(segment(folder, 2, TWO), segment(folder, 2, ONE))
    fault = only(verify(folder, KEY))
    assert (fault.deed, fault.chain, fault.file, fault.line) == (
        Deed.SPLICED,
        ONE,
        "00000002.jsonl",
        1,
    )
    assert TWO in fault.sentence


def test_a_segment_that_does_not_end_with_a_checkpoint(tmp_path: Path) -> None:
    one = Draft(ONE).begin().work(3).begin().work(2).close()
    fault = only(verify(Drafts({ONE: one}).write(tmp_path)))
    assert (fault.deed, fault.file, fault.seq, fault.line) == (
        Deed.UNSEALED,
        "00000001.jsonl",
        3,
        4,
    )


def test_an_empty_last_segment_has_just_begun(tmp_path: Path) -> None:
    one = Draft(ONE).begin().work(3).checkpoint().mark()
    one.segments[2] = []
    assert verify(Drafts({ONE: one}).write(tmp_path)).whole


def test_a_chain_that_ended_in_a_crash_is_whole(tmp_path: Path) -> None:
    report = verify(crashed(KEY).write(tmp_path), KEY)
    assert report.whole
    (chain,) = report.chains
    assert (chain.closed, chain.behind_head, chain.records) == (False, 3, 15)
    assert "50 bytes after record 14 are not a record: a crash left them" in remarks(report)
    assert "not closed" in remarks(report)


@pytest.mark.parametrize("hole", [b"\0" * 5_000, b"\0" * 700 + b'tail"}}\n' + b"{}\n", b"{"])
def test_a_hole_behind_the_head_is_what_a_crash_leaves(hole: bytes, tmp_path: Path) -> None:
    drafts = crashed(KEY)
    drafts[ONE].tail = hole
    report = verify(drafts.write(tmp_path), KEY)
    assert report.whole
    assert f"{len(hole)} bytes after record 14" in remarks(report)


def test_nothing_stands_behind_a_closed_chain(tmp_path: Path) -> None:
    drafts = single(KEY)
    drafts[ONE].tail = b"\0" * 12
    fault = only(verify(drafts.write(tmp_path), KEY))
    assert (fault.deed, fault.seq) == (Deed.INSERTED, 12)
    assert "12 bytes" in fault.sentence


def test_a_chain_that_is_said_to_be_closed_without_a_checkpoint(tmp_path: Path) -> None:
    one = Draft(ONE, KEY).begin().work(3).mark(closed=True)
    fault = only(verify(Drafts({ONE: one}, KEY).write(tmp_path), KEY))
    assert (fault.deed, fault.file) == (Deed.EDITED, "head")


def test_a_chain_that_has_just_begun_has_no_head(tmp_path: Path) -> None:
    one = Draft(ONE, KEY).begin().add("open", cut=0, unfit=[])
    report = verify(Drafts({ONE: one}, KEY).write(tmp_path), KEY)
    assert report.whole
    assert "nothing is sealed yet" in remarks(report)
    (tmp_path / TWO).mkdir()
    assert verify(tmp_path, KEY).whole
    one.work(1).write(tmp_path / "other")
    assert only(verify(tmp_path / "other", KEY)).deed is Deed.HEADLESS


@SEALED_OR_NOT
@pytest.mark.parametrize("chain", [ONE, TWO, THREE])
def test_a_deleted_chain(chain: str, key: bytes | None, tmp_path: Path) -> None:
    folder = many(key).write(tmp_path)
    shutil.rmtree(folder / chain)
    fault = only(verify(folder, key))
    assert (fault.chain, fault.deed, fault.seq, fault.file) == (chain, Deed.DELETED, 0, "")
    assert "the chain, which held records to" in fault.sentence


def test_a_copied_chain(tmp_path: Path) -> None:
    folder = single(KEY).write(tmp_path)
    shutil.copytree(folder / ONE, folder / TWO)
    fault = only(verify(folder, KEY))
    assert (fault.chain, fault.deed, fault.seq) == (TWO, Deed.SPLICED, 0)


def test_each_chain_has_its_own_fault(tmp_path: Path) -> None:
    drafts = many(KEY)
    for name, seq in ((ONE, 3), (TWO, 5), (THREE, 2)):
        number, index = drafts[name].at(seq)
        del drafts[name].segments[number][index]
    report = verify(drafts.write(tmp_path), KEY)
    assert [(fault.chain, fault.seq, fault.deed) for fault in report.faults] == [
        (ONE, 3, Deed.DELETED),
        (TWO, 5, Deed.DELETED),
        (THREE, 2, Deed.DELETED),
    ]


def test_what_a_rewritten_chain_says_of_others_does_not_count(tmp_path: Path) -> None:
    drafts = many(KEY)
    checkpoint = drafts[ONE].checkpoints()[0]
    number, index = drafts[ONE].at(checkpoint)
    body = json.loads(body_of(drafts[ONE].line(checkpoint)))
    body["heads"][TWO] = [3, "c" * 64]
    old = json.loads(drafts[ONE].line(checkpoint))
    drafts[ONE].segments[number][index] = line_of(dumped(body), old["seal"], mac=old["mac"])
    rewrite(drafts[ONE], checkpoint)
    fault = only(verify(drafts.write(tmp_path), KEY))
    assert (fault.chain, fault.deed, fault.seq) == (ONE, Deed.FORGED, checkpoint)


def test_an_unsealed_chain_that_was_rewritten_says_what_others_know(tmp_path: Path) -> None:
    drafts = many()
    rewrite(drafts[TWO], 6)
    move_head(drafts[TWO])
    fault = only(verify(drafts.write(tmp_path)))
    assert (fault.chain, fault.deed) == (TWO, Deed.REWRITTEN)
    assert f"of chain {ONE}" in fault.sentence or f"of chain {THREE}" in fault.sentence


def test_nothing_tells_of_a_trail_that_was_rewritten_whole_and_is_not_sealed(
    tmp_path: Path,
) -> None:
    drafts = single()
    rewrite(drafts[ONE], 0)
    move_head(drafts[ONE])
    report = verify(drafts.write(tmp_path))
    assert report.whole
    assert "nothing is sealed" in remarks(report)


def test_seals_without_a_key_are_remarked_on(tmp_path: Path) -> None:
    folder = single(KEY).write(tmp_path)
    assert "no key was given" in remarks(verify(folder))
    assert "no key was given" not in remarks(verify(folder, KEY))


def test_a_trail_that_was_written_without_the_key(tmp_path: Path) -> None:
    fault = only(verify(single().write(tmp_path), KEY))
    assert (fault.deed, fault.seq) == (Deed.UNSEALED, 0)


def test_the_wrong_key(tmp_path: Path) -> None:
    fault = only(verify(single(KEY).write(tmp_path), OTHER_KEY))
    assert (fault.deed, fault.seq) == (Deed.REWRITTEN, 0)
    assert "or the key is wrong" in fault.sentence


def witness(folder: Path, *drafts: Draft) -> Path:
    """A file of heads as they were."""
    path = folder / "witness"
    path.write_bytes(b"\n".join(draft.head or b"" for draft in drafts) + b"\n")
    return path


def test_a_witness_that_agrees(tmp_path: Path) -> None:
    drafts = many(KEY)
    known = witness(tmp_path, *drafts.chains.values())
    assert verify(drafts.write(tmp_path / "trail"), KEY, known).whole


def older(key: bytes | None) -> tuple[Draft, Draft]:
    """A chain, and the same chain some records later."""
    early = Draft(ONE, key).begin().work(4).mark()
    late = Drafts({ONE: early}).copy()[ONE].work(5).mark()
    return early, late


@SEALED_OR_NOT
def test_a_folder_that_was_put_back_to_an_earlier_state(key: bytes | None, tmp_path: Path) -> None:
    early, late = older(key)
    known = witness(tmp_path, late)
    folder = Drafts({ONE: early}).write(tmp_path / "trail")
    assert verify(folder, key).whole
    fault = only(verify(folder, key, known))
    assert (fault.deed, fault.seq, fault.line) == (Deed.TRUNCATED, 5, 6)
    assert "the witness" in fault.sentence


def test_a_chain_that_only_the_witness_knows(tmp_path: Path) -> None:
    drafts = many(KEY)
    folder = single(KEY).write(tmp_path / "trail")
    fault = only(verify(folder, KEY, witness(tmp_path, drafts[TWO])))
    assert (fault.chain, fault.deed) == (TWO, Deed.DELETED)
    shutil.rmtree(folder / ONE)
    assert only(verify(folder, KEY, witness(tmp_path, drafts[TWO]))).chain == TWO


def test_a_rewritten_chain_is_not_what_the_witness_saw(tmp_path: Path) -> None:
    drafts = several()
    known = witness(tmp_path, drafts[ONE])
    rewrite(drafts[ONE], 9)
    move_head(drafts[ONE])
    folder = drafts.write(tmp_path / "trail")
    assert verify(folder).whole
    fault = only(verify(folder, witness=known))
    assert (fault.deed, fault.seq) == (Deed.REWRITTEN, 18)


@pytest.mark.parametrize("said", [b"", b"\n\n", b"{}\n", b"nothing\n"])
def test_a_witness_that_is_none(said: bytes, tmp_path: Path) -> None:
    (tmp_path / "witness").write_bytes(said)
    with pytest.raises(CannotVerify, match="witness"):
        verify(single().write(tmp_path / "trail"), witness=tmp_path / "witness")


def test_a_missing_witness(tmp_path: Path) -> None:
    with pytest.raises(CannotVerify, match="cannot read the witness"):
        verify(single().write(tmp_path / "trail"), witness=tmp_path / "witness")


def test_retired_segments_are_counted(tmp_path: Path) -> None:
    report = verify(retired(KEY).write(tmp_path), KEY)
    assert report.whole
    (chain,) = report.chains
    assert (chain.records, chain.retired, chain.first_seq, chain.last_seq) == (19, 14, 10, 32)


def test_a_segment_that_was_retired_and_is_still_there(tmp_path: Path) -> None:
    one = (
        Draft(ONE, KEY)
        .begin()
        .work(2)
        .checkpoint()
        .begin()
        .work(2)
        .checkpoint()
        .begin()
        .retire(1)
        .close()
    )
    folder = Drafts({ONE: one}).write(tmp_path)
    assert verify(folder, KEY).whole
    segment(folder, 1).unlink()
    assert verify(folder, KEY).whole
    segment(folder, 2).unlink()
    fault = only(verify(folder, KEY))
    assert (fault.deed, fault.file, fault.seq) == (Deed.DELETED, "00000002.jsonl", 4)


@SEALED_OR_NOT
def test_what_retires_a_segment_has_to_be_there(key: bytes | None, tmp_path: Path) -> None:
    one = (
        Draft(ONE, key).begin().work(2).checkpoint().begin().retire(1).work(2).checkpoint().begin()
    )
    again = Drafts({ONE: one}).copy()[ONE].retire(1, 2).work(2).close().forget(1, 2)
    report = verify(Drafts({ONE: again}).write(tmp_path / "named again"), key)
    assert report.whole
    assert report.chains[0].retired == 9
    fault = only(
        verify(
            Drafts({ONE: one.retire(2).work(2).close().forget(1, 2)}).write(tmp_path / "not"), key
        )
    )
    assert (fault.deed, fault.file, fault.seq) == (Deed.DELETED, "00000001.jsonl", 0)


@SEALED_OR_NOT
def test_a_segment_that_was_kept_is_missed_among_retired_ones(
    key: bytes | None, tmp_path: Path
) -> None:
    one = Draft(ONE, key).begin().add("bypass", who="kim").checkpoint().begin().work(2).checkpoint()
    one.begin().work(2).retire(2).close().forget(2)
    folder = Drafts({ONE: one}).write(tmp_path)
    assert verify(folder, key).whole
    segment(folder, 1).unlink()
    fault = only(verify(folder, key))
    assert (fault.deed, fault.file, fault.seq) == (Deed.DELETED, "00000001.jsonl", 0)


@pytest.mark.parametrize("change", [(1, 1), (2, 2), (2, 9), (3, "a" * 64), (4, "b" * 64)], ids=str)
@pytest.mark.parametrize("there", [True, False], ids=["still there", "removed"])
def test_a_retirement_that_does_not_fit(
    change: tuple[int, Any], there: bool, tmp_path: Path
) -> None:
    one = Draft(ONE, KEY).begin().work(2).checkpoint().begin().work(2)
    entry = one.facts(1)
    entry[change[0]] = change[1]
    one.add("retired", segments=[entry]).close()
    if not there:
        one.forget(1)
    fault = only(verify(Drafts({ONE: one}).write(tmp_path), KEY))
    assert (fault.deed, fault.seq, fault.file, fault.line) == (
        Deed.CONTRADICTED,
        7,
        "00000002.jsonl",
        4,
    )


def test_a_retirement_of_what_was_never_there(tmp_path: Path) -> None:
    one = Draft(ONE, KEY).begin().work(2)
    one.add(
        "retired", segments=[[1, 0, 2, "0" * 64, "a" * 64], [7, 90, 95, "b" * 64, "c" * 64]]
    ).close()
    assert only(verify(Drafts({ONE: one}).write(tmp_path), KEY)).deed is Deed.CONTRADICTED


def test_two_retirements_that_differ(tmp_path: Path) -> None:
    one = Draft(ONE, KEY).begin().work(2).checkpoint().begin()
    entry = one.facts(1)
    one.add("retired", segments=[entry]).add(
        "retired", segments=[[*entry[:4], "d" * 64]]
    ).close().forget(1)
    fault = only(verify(Drafts({ONE: one}).write(tmp_path), KEY))
    assert (fault.deed, fault.seq) == (Deed.CONTRADICTED, 6)


@SEALED_OR_NOT
def test_a_retirement_behind_the_head_retires_nothing(key: bytes | None, tmp_path: Path) -> None:
    one = Draft(ONE, key).begin().work(2).checkpoint().begin().work(2).mark().retire(1)
    folder = Drafts({ONE: one}).write(tmp_path)
    assert verify(folder, key).whole
    segment(folder, 1).unlink()
    fault = only(verify(folder, key))
    assert (fault.deed, fault.file, fault.seq) == (Deed.DELETED, "00000001.jsonl", 0)
    assert "comes after the head" in fault.sentence


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"segments": 1},
        {"segments": [[1, 2, 3]]},
        {"segments": [["1", 0, 1, "0" * 64, "0" * 64]]},
    ],
    ids=str,
)
def test_a_retirement_that_is_none(fields: dict[str, Any], tmp_path: Path) -> None:
    one = Draft(ONE).begin().work(2).add("retired", **fields).close()
    fault = only(verify(Drafts({ONE: one}).write(tmp_path)))
    assert (fault.deed, fault.seq) == (Deed.UNREADABLE, 3)


def test_strangers_are_remarked_on(tmp_path: Path) -> None:
    folder = single().write(tmp_path)
    (folder / "notes\x1b[2J.txt").write_text("x", encoding="utf-8")
    (folder / ONE / "00000001.jsonl.bak").write_text("x", encoding="utf-8")
    (folder / ONE / "000000001.jsonl").write_text("x", encoding="utf-8")
    report = verify(folder)
    assert report.whole
    assert "notes\\x1b[2J.txt" in remarks(report)
    assert "00000001.jsonl.bak" in remarks(report)
    assert "000000001.jsonl" in remarks(report)


SALT = b',"kept":{"salt":"' + b"0" * 32 + b'"'


@pytest.mark.parametrize(
    ("name", "data", "what", "holds"),
    [
        (
            "cut.7",
            b'{"hash":"00","body":{"run":"r1"}' + SALT + b',"content":"a',
            "unfinished part of record 7",
            True,
        ),
        ("cut.7", b'{"hash":"00","body":{"run":"r1"}' + SALT, "unfinished part of record 7", False),
        (
            "cut.7",
            b'{"hash":"00","body":{"run":"r1"},"kept":null',
            "unfinished part of record 7",
            False,
        ),
        ("cut.012", b"", "unfinished part of record 12", False),
        ("head.new", b'{"chain":"', "a new head that was not renamed because of a crash", False),
    ],
)
def test_what_a_crash_left_is_noted(
    name: str, data: bytes, what: str, holds: bool, tmp_path: Path
) -> None:
    folder = single().write(tmp_path)
    (folder / ONE / name).write_bytes(data)
    report = verify(folder)
    assert report.whole
    (said,) = [one.sentence for one in report.remarks if one.sentence.startswith(name)]
    assert what in said
    assert f"({len(data)} bytes)" in said
    assert ("still holds content: `stanchion audit erase` removes it" in said) is holds
    assert ("holds no content" in said) is not holds
    assert "not part of a trail" not in remarks(report)


def test_a_head_that_is_being_written_is_nothing_left(tmp_path: Path) -> None:
    """It has that name for a moment, and another takes it while the trail is read."""
    folder = single().write(tmp_path)
    new = folder / ONE / "head.new"
    new.write_bytes(b"one")

    def meanwhile(_done: int, _of: int) -> None:
        new.with_name("other").write_bytes(b"another")
        new.with_name("other").replace(new)

    assert "head.new" not in remarks(verify(folder, progress=meanwhile))
    assert "head.new" in remarks(verify(folder))


@pytest.mark.parametrize("what", ["chain", "segment", "head"])
def test_links_are_not_followed(what: str, tmp_path: Path) -> None:
    folder = single(KEY).write(tmp_path / "trail")
    paths = {"chain": folder / ONE, "segment": segment(folder, 1), "head": folder / ONE / "head"}
    paths[what].rename(tmp_path / "elsewhere")
    paths[what].symlink_to(tmp_path / "elsewhere")
    fault = only(verify(folder, KEY))
    assert (fault.deed, fault.chain) == (Deed.UNREADABLE, ONE)
    assert "link" in fault.sentence


@pytest.mark.parametrize("what", ["segment", "head"])
def test_a_folder_in_place_of_a_file(what: str, tmp_path: Path) -> None:
    folder = single(KEY).write(tmp_path)
    path = segment(folder, 1) if what == "segment" else folder / ONE / "head"
    path.unlink()
    path.mkdir()
    assert only(verify(folder, KEY)).deed is Deed.UNREADABLE


def test_a_file_in_place_of_a_chain(tmp_path: Path) -> None:
    folder = single().write(tmp_path)
    (folder / TWO).write_text("x", encoding="utf-8")
    fault = only(verify(folder))
    assert (fault.chain, fault.deed) == (TWO, Deed.UNREADABLE)


def test_an_empty_folder_is_no_trail(tmp_path: Path) -> None:
    with pytest.raises(CannotVerify, match="holds no chain"):
        verify(tmp_path)


@pytest.mark.parametrize(
    "make", [lambda path: None, lambda path: path.touch()], ids=["missing", "a file"]
)
def test_a_folder_that_is_none(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "trail")
    with pytest.raises(CannotVerify, match="give the folder of a trail"):
        verify(tmp_path / "trail")


def test_a_fault_says_its_place(tmp_path: Path) -> None:
    drafts = several()
    number, index = drafts[ONE].at(9)
    del drafts[ONE].segments[number][index]
    fault = only(verify(drafts.write(tmp_path)))
    assert fault.place == f"{ONE}/00000002.jsonl:3"
    assert seq_of(drafts[ONE].segments[number][index]) == 10
    assert fault.sentence == "record 9 was deleted: record 10 follows"
    assert hash_of(drafts[ONE].line(10)) not in fault.sentence
