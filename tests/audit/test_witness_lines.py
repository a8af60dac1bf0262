"""Reading a witness: its own chain, how far it reaches, and what it knows against a trail."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from stanchion.audit.verify import CannotVerify, Deed, Report, read_witness, verify
from stanchion.audit.witnessing.place import WitnessEntry, hash_of, line_of
from tests.audit.forging import ONE, TWO, Draft, Drafts

AT = 1_700_000_000_000
MINUTE = 60_000


def lines_of(drafts: list[Draft], every_s: int = 60) -> list[bytes]:
    """A witness of the states that a chain went through, a minute apart."""
    lines: list[bytes] = []
    for number, draft in enumerate(drafts):
        entry = WitnessEntry((draft.head or b"",), AT + number * MINUTE, every_s)
        lines.append(line_of(entry, hash_of(lines[-1] if lines else b"")))
    return lines


def grown(steps: list[int]) -> list[Draft]:
    """A chain after each of some steps."""
    states = [Draft(ONE).begin().work(2).mark()]
    for step in steps:
        states.append(Drafts({ONE: states[-1]}).copy()[ONE].work(step).mark())
    return states


def deeds(report: Report) -> list[Deed]:
    """What was found."""
    return [fault.deed for fault in report.faults]


def said(report: Report) -> str:
    """All sentences."""
    return "\n".join(
        [*(one.sentence for one in report.faults), *(one.sentence for one in report.remarks)]
    )


@settings(max_examples=25)
@given(steps=st.lists(st.integers(1, 4), min_size=1, max_size=4), data=st.data())
def test_a_trail_that_went_back_behind_a_line_is_found_and_no_other(
    steps: list[int], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    states = grown(steps)
    seen = data.draw(st.integers(0, len(states) - 1), "the last state that the witness has seen")
    now = data.draw(st.integers(0, len(states) - 1), "the state that the trail is in")
    raw = b"\n".join(lines_of(states[: seen + 1])) + b"\n"
    folder = Drafts({ONE: states[now]}).write(tmp_path_factory.mktemp("trail") / "trail")
    report = verify(folder, witness=read_witness("w", raw), now_ms=AT + seen * MINUTE)
    assert deeds(report) == ([Deed.TRUNCATED] if now < seen else [])


@settings(max_examples=40)
@given(count=st.integers(3, 6), data=st.data())
def test_lines_that_were_removed_moved_or_edited_break_a_copy(
    count: int, data: st.DataObject
) -> None:
    lines = lines_of(grown([1] * (count - 1)))
    at = data.draw(st.integers(0, count - 2))
    match data.draw(st.sampled_from(["remove", "swap", "edit", "twice", "cut off the first"])):
        case "remove":
            del lines[at]
        case "swap":
            lines[at], lines[at + 1] = lines[at + 1], lines[at]
        case "edit":
            lines[at] = lines[at].replace(b'"at":17', b'"at":16')
        case "twice":
            lines.insert(at, lines[at])
        case _:
            del lines[: at + 1]
    assert read_witness("w", b"\n".join(lines), "it is mine").broken


def test_a_line_that_a_crash_tore_loses_nothing() -> None:
    lines = lines_of(grown([1, 1]))
    torn = b"\n".join([lines[0], lines[1][:90], *lines[1:], lines[2][:40]])
    found = read_witness("w", torn)
    assert found.broken == ()
    assert len(found.lines) == 3
    assert [note for note in found.notes if "a crash left it" in note] == list(found.notes)
    assert len(found.notes) == 2


def test_a_line_that_was_made_unreadable_breaks_the_chain() -> None:
    lines = lines_of(grown([1, 1]))
    assert read_witness("w", b"\n".join([lines[0], lines[1][:90], lines[2]])).broken


def test_who_cannot_read_begins_anew_and_only_where_nobody_takes_lines_away() -> None:
    lines = lines_of(grown([1]))
    anew = b"\n".join([*lines, *lines])
    kept = read_witness("w", anew)
    assert not kept.broken
    assert "starts over" in kept.notes[0]
    assert read_witness("w", anew, "it is mine").broken


@pytest.mark.parametrize(
    "line",
    [
        b'{"witness":1,"at":1,"every":60,"prev":"%s"}' % (b"0" * 64),
        b'{"witness":2,"at":1,"every":60,"prev":"%s","heads":[]}' % (b"0" * 64),
        b'{"witness":1,"at":-1,"every":60,"prev":"%s","heads":[]}' % (b"0" * 64),
        b'{"witness":1,"at":1,"every":60.5,"prev":"%s","heads":[]}' % (b"0" * 64),
        b'{"witness":1,"at":1,"every":60,"prev":"none","heads":[]}',
        b'{"witness":1,"at":1,"every":60,"prev":"%s","heads":[7]}' % (b"0" * 64),
        b'{"witness":1,"at":1,"every":60,"prev":"%s","heads":[{}]}' % (b"0" * 64),
        b'{"witness":1,"at":1,"every":60,"prev":"%s","heads":{}}' % (b"0" * 64),
        b'{"witness":1,',
    ],
)
def test_what_is_no_line(line: bytes) -> None:
    with pytest.raises(CannotVerify, match="line 1 of the witness `w` is not a head"):
        read_witness("w", line)


def trail_and_witness(folder: Path, every_s: int = 60) -> tuple[Path, bytes]:
    """A trail, and a witness whose newest line is as old as its newest record."""
    draft = Draft(ONE).begin().work(5).mark()
    return Drafts({ONE: draft}).write(folder / "trail"), lines_of([draft], every_s)[0]


@pytest.mark.parametrize(
    ("late_ms", "every_s", "deed"),
    [
        (0, 60, []),
        (2 * MINUTE, 60, []),
        (2 * MINUTE + 1, 60, [Deed.UNCOVERED]),
        (60 * MINUTE, 3600, []),
        (900 * MINUTE, 0, []),
    ],
)
def test_a_witness_that_stopped(
    late_ms: int, every_s: int, deed: list[Deed], tmp_path: Path
) -> None:
    folder, line = trail_and_witness(tmp_path, every_s)
    report = verify(folder, witness=read_witness("w", line), now_ms=AT + late_ms)
    assert deeds(report) == deed
    assert report.whole is not bool(deed)


def test_how_much_is_not_covered_is_said(tmp_path: Path) -> None:
    folder, line = trail_and_witness(tmp_path)
    report = verify(folder, witness=read_witness("w", line), now_ms=AT + 3 * MINUTE + 5)
    assert (
        "the witness stopped at 2023-11-14 22:13:20Z: 3 intervals of 60 s are not covered"
        in said(report)
    )


def test_records_that_are_newer_than_the_clock_are_not_covered_either(tmp_path: Path) -> None:
    """Whoever sets this machine's clock back does not cover them."""
    draft = Draft(ONE).begin().work(2).mark()
    line = lines_of([draft], every_s=1)[0]
    draft.add("event", at=AT + MINUTE, id="x").mark()
    folder = Drafts({ONE: draft}).write(tmp_path / "trail")
    report = verify(folder, witness=read_witness("w", line), now_ms=AT)
    assert deeds(report) == [Deed.UNCOVERED]
    assert "the trail has records until" in said(report)


def test_a_line_of_the_future_covers_nothing(tmp_path: Path) -> None:
    folder, line = trail_and_witness(tmp_path)
    report = verify(folder, witness=read_witness("w", line), now_ms=AT - 7 * MINUTE)
    assert deeds(report) == [Deed.BROKEN]
    assert "in the future" in said(report)


def test_hours_without_a_line_are_told(tmp_path: Path) -> None:
    states = grown([1])
    first = line_of(WitnessEntry((states[0].head or b"",), AT - 600 * MINUTE, 60), hash_of(b""))
    second = line_of(WitnessEntry((states[1].head or b"",), AT, 60), hash_of(first))
    folder = Drafts({ONE: states[1]}).write(tmp_path / "trail")
    report = verify(folder, witness=read_witness("w", first + b"\n" + second), now_ms=AT)
    assert report.whole
    assert "wrote nothing from 2023-11-14 12:13:20Z to 2023-11-14 22:13:20Z" in said(report)


def test_several_witnesses_are_asked_and_each_is_named(tmp_path: Path) -> None:
    folder, line = trail_and_witness(tmp_path)
    other = lines_of([Draft(TWO).begin().work(3).mark()])[0]
    report = verify(
        folder, witness=[read_witness("a", line), read_witness("b", other, "it is mine")], now_ms=AT
    )
    assert [(fault.chain, fault.deed) for fault in report.faults] == [(TWO, Deed.DELETED)]
    assert [(one.name, one.copy) for one in report.witnesses] == [("a", False), ("b", True)]
    assert "the witness `b` is a copy: it is mine" in said(report)


def test_a_witness_of_a_trail_that_is_gone(tmp_path: Path) -> None:
    _, line = trail_and_witness(tmp_path)
    (tmp_path / "empty").mkdir()
    report = verify(tmp_path / "empty", witness=read_witness("w", line), now_ms=AT)
    assert deeds(report) == [Deed.DELETED]


def test_what_retention_retired_stays_fine(tmp_path: Path) -> None:
    draft = Draft(ONE).begin().work(4).mark()
    lines = lines_of([draft])
    draft.begin().work(3).retire(1).forget(1).checkpoint().mark()
    folder = Drafts({ONE: draft}).write(tmp_path / "trail")
    assert verify(folder, witness=read_witness("w", lines[0]), now_ms=AT).whole
