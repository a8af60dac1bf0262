"""Changes that nobody thought of: any byte, any order of lines, any rubbish."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from hypothesis import example, given, strategies as st

from stanchion.audit.verify import CannotVerify, Deed, Report, verify
from tests.audit.forging import KEY, ONE, Draft, Drafts, crashed, many, retired, several, single

TRAILS: Final = {
    f"{make.__name__} {mark}": make(key)
    for make in (single, several, crashed, many, retired)
    for key, mark in ((None, "unsealed"), (KEY, "sealed"))
}
CLOSED: Final = {name: drafts for name, drafts in TRAILS.items() if not name.startswith("crashed")}


@contextmanager
def written(drafts: Drafts) -> Iterator[Path]:
    """A trail in a folder of its own, for as long as it is needed."""
    folder = Path(tempfile.mkdtemp())
    try:
        yield drafts.write(folder)
    finally:
        shutil.rmtree(folder)


def verified(drafts: Drafts) -> Report:
    """What verifying a trail finds."""
    with written(drafts) as folder:
        return verify(folder, drafts.key)


def protected(line: bytes) -> list[int]:
    """The places in a line that are protected: all but how long it took, and its line feed."""
    took = line.index(b'"took":') + len(b'"took":')
    behind = line.index(b",", took)
    return [*range(took), *range(behind, len(line) - 1)]


@given(st.data())
def test_any_byte_of_a_line_tells(data: st.DataObject) -> None:
    drafts = TRAILS[data.draw(st.sampled_from(list(TRAILS)))].copy()
    chain = drafts.chains[data.draw(st.sampled_from(list(drafts.chains)))]
    seq = data.draw(st.sampled_from(chain.seqs()))
    number, index = chain.at(seq)
    line = bytearray(chain.segments[number][index])
    place = data.draw(st.sampled_from(protected(bytes(line))))
    line[place] = data.draw(st.integers(0, 255).filter(lambda value: value != line[place]))
    chain.segments[number][index] = bytes(line)
    report = verified(drafts)
    assert [(fault.chain, fault.seq) for fault in report.faults] == [(chain.id, seq)]


@given(st.data())
def test_any_byte_of_a_head_tells(data: st.DataObject) -> None:
    drafts = TRAILS[data.draw(st.sampled_from(list(TRAILS)))].copy()
    chain = drafts.chains[data.draw(st.sampled_from(list(drafts.chains)))]
    head = bytearray(chain.head or b"")
    place = data.draw(st.integers(0, len(head) - 1))
    head[place] = data.draw(st.integers(0, 255).filter(lambda value: value != head[place]))
    chain.head = bytes(head)
    report = verified(drafts)
    assert [fault.chain for fault in report.faults] == [chain.id]


@given(st.data())
def test_any_other_order_of_lines_tells(data: st.DataObject) -> None:
    drafts = CLOSED[data.draw(st.sampled_from(list(CLOSED)))].copy()
    chain = drafts[ONE]
    lines = [line for lines in chain.segments.values() for line in lines]
    order = data.draw(
        st.permutations(range(len(lines)))
        | st.lists(st.integers(0, len(lines) - 1), max_size=2 * len(lines))
    )
    before = {number: list(lines) for number, lines in chain.segments.items()}
    left = [lines[index] for index in order]
    for number, old in before.items():
        count = (
            len(left)
            if number == max(before)
            else data.draw(st.just(len(old)) | st.integers(0, len(left)))
        )
        chain.segments[number], left = left[:count], left[count:]
    if chain.segments != before:
        report = verified(drafts)
        assert [fault.chain for fault in report.faults] == [ONE]


@given(st.data())
def test_any_lines_that_are_gone_tell(data: st.DataObject) -> None:
    drafts = CLOSED[data.draw(st.sampled_from(list(CLOSED)))].copy()
    chain = drafts[ONE]
    # Without the record that retires the segments before it nothing tells how a chain began.
    seqs = [seq for seq in chain.seqs() if b'"kind":"retired"' not in chain.line(seq)]
    gone = data.draw(st.sets(st.sampled_from(seqs), min_size=1))
    for seq in gone:
        number, index = chain.at(seq)
        del chain.segments[number][index]
    (fault,) = verified(drafts).faults
    assert fault.deed in (Deed.DELETED, Deed.TRUNCATED)
    assert fault.seq == min(gone)


@given(st.binary(max_size=300), st.binary(max_size=300), st.booleans())
@example(b"\n\n\n", b"{}", False)
@example(b"{" * 3_000 + b"\n", b"", True)
def test_rubbish_is_never_whole_and_never_too_much(
    segment: bytes, head: bytes, sealed: bool
) -> None:
    chain = Draft(ONE, KEY if sealed else None)
    chain.segments[1], chain.head = [segment], head
    report = verified(Drafts({ONE: chain}, chain.key))
    assert not report.whole
    assert report.chains[0].records == 0


@given(st.sampled_from(list(TRAILS)), st.binary(min_size=1, max_size=40), st.data())
def test_rubbish_in_the_middle_is_told(name: str, rubbish: bytes, data: st.DataObject) -> None:
    drafts = TRAILS[name].copy()
    chain = drafts[ONE]
    head = int(chain.said_head()["seq"])
    seq = data.draw(st.sampled_from([seq for seq in chain.seqs() if seq <= head]))
    number, index = chain.at(seq)
    line = chain.segments[number][index]
    cut = data.draw(st.integers(0, len(line) - 1))
    if rubbish.strip(b"0123456789"):
        chain.segments[number][index] = line[:cut] + rubbish + line[cut:]
        (fault,) = verified(drafts).faults
        assert (fault.chain, fault.seq) == (ONE, seq)


@given(st.binary(max_size=200))
def test_a_key_is_read_or_refused(content: bytes) -> None:
    with written(single(KEY)) as folder:
        try:
            report = verify(folder, content)
        except CannotVerify:
            return
        assert not report.whole
