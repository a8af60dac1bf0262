"""Exports hold every record that was asked for, and hold it as it was written."""

from __future__ import annotations

import io
import json
import re
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from stanchion import Stage
from stanchion.audit import export
from stanchion.audit.export import NoParquet, columns, line_of, write_jsonl, write_parquet
from stanchion.audit.reader import TrailReader
from stanchion.audit.trail import Trail
from stanchion.testing import FakeClock, shield_for
from tests.audit.test_reading import Written

POLICY = {
    "name": "p",
    "guards": [
        {"use": "tool_denylist", "tools": ["rm"]},
        {"use": "step_limit", "max_steps": 5, "warn_after": 1},
    ],
}


@pytest.fixture
def reader(tmp_path: Path) -> TrailReader:
    """A trail with records of every common kind."""
    clock = FakeClock(1_700_000_000_123)
    with (
        shield_for(POLICY, clock=clock, journal=Trail(tmp_path / "trail", clock=clock)) as shield,
        shield.run("ann", "t1", tenant="acme") as run,
    ):
        run.keep({"draft": "ü"})
        call = run.check("bash", {"command": "ls", "deep": [{"a": 1}]}, tokens=7, cost_usd=0.25)
        run.result("bash", {"command": "ls", "deep": [{"a": 1}]}, None, call=call.id)
        run.check("bash", {})
        run.check("rm", {})
        run.judge(Stage.MODEL_REPLY, text="", final=True)
    return TrailReader(tmp_path / "trail")


def test_a_line_is_the_body_with_its_hash_in_front(reader: TrailReader) -> None:
    sink = io.BytesIO()
    count = write_jsonl(reader.forwards(), sink)
    lines = sink.getvalue().splitlines()
    assert count == len(lines) == len(list(reader.forwards()))
    for line, found in zip(lines, reader.forwards(), strict=True):
        said = json.loads(line)
        digest, holds = said["hash"], said.get("holds")
        body, _, kept = line.removeprefix(b'{"hash":"%b",' % digest.encode()).partition(b',"kept":')
        assert sha256(b"{" + body + (b"}" if kept else b"")).hexdigest() == digest
        assert holds == (sha256(kept[:-1]).hexdigest() if kept else None)
        assert line + b"\n" == line_of(found)


def table(reader: TrailReader) -> Any:
    """The trail as an exported table."""
    import pyarrow.parquet as pq  # type: ignore[import-untyped,unused-ignore] # it has no types

    sink = io.BytesIO()
    count = write_parquet(reader.forwards(), sink)
    found = pq.read_table(io.BytesIO(sink.getvalue()))
    assert found.num_rows == count
    return found


def test_a_table_says_what_the_records_say(reader: TrailReader) -> None:
    rows = table(reader).to_pylist()
    kinds = columns()
    for row, found in zip(rows, reader.forwards(), strict=True):
        data = found.data()
        assert row["hash"] == found.line.hash
        assert round(row["at"].timestamp() * 1000) == data["at"]
        assert {name: row[name] for name in ("v", "prev", "seq", "chain", "kind")} == {
            name: data[name] for name in ("v", "prev", "seq", "chain", "kind")
        }
        if not found.is_decision:
            rest = {
                name: value
                for name, value in data.items()
                if name not in {"v", "prev", "seq", "chain", "kind", "at"}
            }
            assert json.loads(row["note"]) == rest
            assert row["run"] == (found.stub.run_id if found.stub.run_id else None)
            continue
        for name, value in data.items():
            if kinds[name] == "json":
                assert json.loads(row[name]) == value
            elif kinds[name] != "time":
                assert row[name] == value


def test_what_determined_a_decision_has_columns(reader: TrailReader) -> None:
    rows = [row for row in table(reader).to_pylist() if row["action"] is not None]
    assert [(row["action"], row["guard"], row["code"]) for row in rows] == [
        ("ALLOW", None, None),
        ("ALLOW", None, None),
        ("WARN", "step-limit", "steps.nearly"),
        ("BLOCK", "tool-denylist", "tool.denied"),
        ("ALLOW", None, None),
    ]
    assert {row["tenant"] for row in rows} == {"acme"}
    assert json.loads(rows[0]["content"]) == {"command": "ls", "deep": [{"a": 1}]}
    assert (rows[1]["content"], json.loads(rows[4]["content"])) == (None, "")


def test_types_are_those_of_the_columns(reader: TrailReader) -> None:
    kinds = {
        "string": "string",
        "int64": "int64",
        "bool": "bool",
        "json": "string",
        "time": "timestamp[ms, tz=UTC]",
    }
    schema = table(reader).schema
    assert {field.name: str(field.type) for field in schema} == {
        name: kinds[kind] for name, kind in columns().items()
    }
    assert {
        "at": "time",
        "seq": "int64",
        "went": "bool",
        "tool": "string",
        "findings": "json",
    }.items() <= columns().items()


def test_rows_are_written_in_groups(reader: TrailReader, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow.parquet as pq

    monkeypatch.setattr(export, "GROUP_ROWS", 3)
    sink = io.BytesIO()
    count = write_parquet(reader.forwards(), sink)
    assert pq.ParquetFile(io.BytesIO(sink.getvalue())).metadata.num_row_groups == -(-count // 3)


def test_long_records_make_small_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow.parquet as pq

    made = Written(tmp_path)
    for number in range(6):
        made.decide(f"d{number}", args={"text": "x" * 1_000})
    monkeypatch.setattr(export, "GROUP_BYTES", 2_000)
    sink = io.BytesIO()
    write_parquet(made.close().forwards(), sink)
    assert pq.ParquetFile(io.BytesIO(sink.getvalue())).metadata.num_row_groups >= 3


def test_nothing_makes_an_empty_table() -> None:
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    assert write_parquet([], sink) == 0
    assert pq.read_table(io.BytesIO(sink.getvalue())).num_rows == 0


def test_records_that_nobody_of_ours_wrote_are_exported_all_the_same(reader: TrailReader) -> None:
    (segment,) = reader.folder.rglob("*.jsonl")
    text = segment.read_bytes()
    text = text.replace(b'"seq":3,', b'"seq":99999999999999999999,')
    text = re.sub(rb'"policy":"[0-9a-f]{16}"', b'"policy":3', text, count=1)
    segment.write_bytes(text)
    rows = table(reader).to_pylist()
    assert len(rows) == len(list(reader.forwards()))
    assert [row["kind"] for row in rows if row["seq"] is None] == ["intent"]
    assert [
        json.loads(row["note"])["policy"] for row in rows if row["kind"] == "intent" and row["note"]
    ] == [3]


def test_without_its_package_it_says_what_to_install(
    reader: TrailReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(NoParquet, match=r"install the extra `parquet`"):
        write_parquet(reader.forwards(), io.BytesIO())
