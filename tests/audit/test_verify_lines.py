"""Lines that are odd: which of them are records all the same, and which are not."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from stanchion.audit.verify import Deed, Fault, verify
from tests.audit.forging import GENESIS, KEY, ONE, Draft, Drafts, crashed, dumped, single


def chain_with(body: bytes, tmp_path: Path) -> tuple[Fault, ...]:
    """What is found in a chain whose third record has these bytes, everything else being as it
    should."""
    one = Draft(ONE, KEY).begin().work(1)
    middle = body.replace(b"PREV", one.prev.encode())
    one.put(middle).work(2).close()
    return verify(Drafts({ONE: one}).write(tmp_path), KEY).faults


def body(**more: Any) -> bytes:
    """The third record of a chain."""
    said = {
        "v": 3,
        "prev": "PREV",
        "seq": 2,
        "chain": ONE,
        "kind": "event",
        "at": 1_700_000_000_000,
        **more,
    }
    return dumped(said)


@pytest.mark.parametrize(
    "odd",
    [
        body(text="x" * 300_000),
        body(content={"seq": 9, "prev": GENESIS, "chain": "f" * 16, "kind": "checkpoint"}),
        body(text='a field "seq" and a "kind": quoted, \\u0073eq \\ and \x1b[31m'),
        body(text="«ü» 漢字 \U0001f600"),
        body(kind="something_new"),
        body(at=5),
        body(at=-5),
        dumped(dict(reversed(json.loads(body(text="other order")).items()))),
        body().replace(b'{"v":3,', b'{ "v" : 3 ,'),
        body(deep=0).replace(b":0}", b":" + b"[" * 5_000 + b"]" * 5_000 + b"}"),
        body(deep=0).replace(b":0}", b":" + b"[" * 5_000 + b'{"kind":1}' + b"]" * 5_000 + b"}"),
        body(huge=0).replace(b":0}", b":" + b"9" * 20_000 + b"}"),
        body(huge=0, kind_="kind").replace(b":0,", b":" + b"9" * 20_000 + b',"x":{"kind":1},'),
        body(number=0.5).replace(b"0.5", b"1e999"),
    ],
    ids=[
        "long",
        "fields nested",
        "fields quoted",
        "not ascii",
        "new kind",
        "early",
        "before 1970",
        "other order",
        "spaces",
        "deep",
        "deep with a name",
        "huge number",
        "huge number with a name",
        "infinite",
    ],
)
def test_an_odd_record_is_one(odd: bytes, tmp_path: Path) -> None:
    assert chain_with(odd, tmp_path) == ()


@pytest.mark.parametrize(
    "bad",
    [
        body()[:-1] + b',"seq":3}',
        body()[:-1] + b',"prev":"' + GENESIS.encode() + b'"}',
        body()[:-1] + b',"chain":"ffffffffffffffff"}',
        body()[:-1] + b',"kind":"bypass"}',
        body()[:-1] + b', "\\u0073eq" : 3}',
        body()[:-1] + b',"deep":' + b"[" * 5_000 + b"]" * 5_000 + b',"kind":"bypass"}',
        body(v=4),
        body(v=True),
        body(v="3"),
        body(seq="2"),
        body(seq=2.0),
        body(chain=1),
        body(chain="F" * 16),
        body(kind=None),
        body(at="now"),
        b'{"v":3}',
        b"{}",
        b"{not json}",
        b'{"v":3,"prev":"PREV","seq":2,"\xff":1}',
        body(kind="checkpoint"),
        body(kind="checkpoint", heads=[]),
        body(kind="checkpoint", heads={"x": [1, GENESIS]}),
        body(kind="checkpoint", heads={ONE: [1]}),
        body(kind="checkpoint", heads={ONE: [-1, GENESIS]}),
        body(kind="checkpoint", heads={}).replace(
            b"{}", b'{"%b":[0,"%b"],"%b":[1,"%b"]}' % ((b"1" * 16, b"0" * 64) * 2)
        ),
        body(kind="segment", number="1"),
        body(kind="segment", number=1, epoch=1),
        body(kind="open", found=[3, 2, GENESIS]),
        body(kind="open", found=[1, 2]),
        body(kind="open", lost={}),
        body(kind="open", lost=[["x", 1, GENESIS, ""]]),
        body(kind="open", lost=[[ONE, 1, GENESIS]]),
    ],
    ids=range(32),
)
def test_a_body_that_says_what_none_can(bad: bytes, tmp_path: Path) -> None:
    (fault,) = chain_with(bad, tmp_path)
    assert (fault.deed, fault.seq, fault.line) == (Deed.UNREADABLE, 2, 3)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"took":41234', b'"took":041234'),
        (b'"took":41234', b'"took":4.5'),
        (b'"took":41234', b'"took":"4"'),
        (b'"took":41234', b'"took":' + b"9" * 30),
        (b'"took":41234', b'"took":41234,"took":41234'),
        (b'"took":41234', b'"took":41234,"body":{}'),
        (b'{"hash"', b'{ "hash"'),
        (b'{"hash"', b'{"x":1,"hash"'),
        (b'}}\n', b'},"x":1}\n'),
        (b'}}\n', b'}} \n'),
        (b'}}\n', b'}}{}\n'),
    ],
)  # fmt: skip
def test_a_line_that_is_not_written_as_one(old: bytes, new: bytes, tmp_path: Path) -> None:
    drafts = single()
    drafts[ONE].segments[1][3] = drafts[ONE].line(3).replace(old, new)
    report = verify(drafts.write(tmp_path))
    assert [(fault.seq, fault.line) for fault in report.faults] == [(3, 4)]
    assert report.faults[0].deed in (Deed.UNREADABLE, Deed.EDITED)


@pytest.mark.parametrize("took", [b"0", b"7", b"12345", b"9999999999999999999", b"-1"])
def test_how_long_it_took_is_not_protected(took: bytes, tmp_path: Path) -> None:
    drafts = single(KEY)
    drafts[ONE].segments[1][3] = drafts[ONE].line(3).replace(b'"took":41234', b'"took":' + took)
    report = verify(drafts.write(tmp_path), KEY)
    assert report.whole
    moved = any(
        "what is written beside the records" in remark.sentence for remark in report.remarks
    )
    assert moved == (len(took) != 5)


def test_a_line_beyond_all_measure_is_not_read(tmp_path: Path) -> None:
    drafts = single(KEY)
    folder = drafts.write(tmp_path)
    path = folder / ONE / "00000001.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    with path.open("wb") as file:
        file.write(b"".join(lines[:4]))
        file.seek(70 << 20, os.SEEK_CUR)
        file.write(b"\n" + b"".join(lines[4:]))
    (fault,) = verify(folder, KEY).faults
    assert (fault.deed, fault.seq, fault.line) == (Deed.INSERTED, 4, 5)


def test_a_hole_beyond_all_measure_is_what_a_crash_leaves(tmp_path: Path) -> None:
    drafts = crashed(KEY)
    drafts[ONE].tail = b""
    folder = drafts.write(tmp_path)
    path = folder / ONE / "00000002.jsonl"
    os.truncate(path, path.stat().st_size + (70 << 20))
    report = verify(folder, KEY)
    assert report.whole
    assert report.chains[0].records == 15
