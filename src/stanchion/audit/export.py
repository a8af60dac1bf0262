"""Export: records as JSON lines or as a Parquet file, as many as there are in little memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, BinaryIO, Final

import msgspec

from stanchion.audit.apart import ERASED
from stanchion.audit.reader import agent_of
from stanchion.audit.record import RecordEntry, canonical
from stanchion.audit.segment_scan import KEPT, FoundRecord

GROUP_ROWS: Final = 20_000
GROUP_BYTES: Final = 16 * 1024 * 1024
"""A group of rows is written when it has that many, or when its records have that many bytes."""

TIMES: Final = frozenset({"at", "judged", "now"})
BESIDE: Final = {
    "hash": "string",
    "guard": "string",
    "code": "string",
    "took_ns": "int64",
    "note": "json",
}
"""Columns that are no fields of a decision, which come first: its hash, the guard that determined
it with its code, how long it took, and the rest of a record that is no decision."""

_PLAIN: Final = {str: "string", int: "int64", bool: "bool"}
_FIELDS: Final = msgspec.structs.fields(RecordEntry)


class NoParquet(Exception):
    """What writes Parquet files is not installed."""


def said_of(found: FoundRecord) -> bytes:
    """A record as JSON: its body as it was hashed, and last what stands apart of it, as `kept`, the
    same way."""
    line = found.line
    return line.body if not line.kept else line.body[:-1] + KEPT + line.kept.rstrip(b" ") + b"}"


def line_of(found: FoundRecord) -> bytes:
    """A record as one line of JSON, with its hash in front."""
    return b'{"hash":"%b",%b\n' % (found.line.hash.encode(), said_of(found)[1:])


def write_jsonl(records: Iterable[FoundRecord], sink: BinaryIO) -> int:
    """Write records as JSON lines; gives how many."""
    count = 0
    for found in records:
        sink.write(line_of(found))
        count += 1
    return count


def columns() -> dict[str, str]:
    """The columns of an exported table, and the type of each: `string`, `int64`, `bool`, `time` or
    `json`."""
    return {**BESIDE, **{field.encode_name: _type_of(field) for field in _FIELDS}}


def _type_of(field: msgspec.structs.FieldInfo) -> str:
    return "time" if field.name in TIMES else _PLAIN.get(field.type, "json")


def write_parquet(records: Iterable[FoundRecord], sink: BinaryIO) -> int:
    """Write records as a Parquet file, a group of rows at a time; gives how many. Raises
    `NoParquet`."""
    try:
        pa: Any = import_module("pyarrow")
        pq: Any = import_module("pyarrow.parquet")
    except ImportError:
        raise NoParquet("Parquet needs a package: install the extra `parquet`") from None
    types = {"string": pa.string(), "int64": pa.int64(), "bool": pa.bool_(), "json": pa.string()}
    types["time"] = pa.timestamp("ms", tz="UTC")
    schema = pa.schema([(name, types[kind]) for name, kind in columns().items()])
    count = 0
    with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        for rows in _groups(records):
            arrays = [
                pa.array(_clean(kind, values), types[kind])
                for kind, values in zip(columns().values(), zip(*rows, strict=True), strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            count += len(rows)
    return count


def _groups(records: Iterable[FoundRecord]) -> Iterator[list[tuple[Any, ...]]]:
    rows: list[tuple[Any, ...]] = []
    size = 0
    for found in records:
        rows.append(row_of(found))
        size += len(found.line.body) + len(found.line.kept)
        if len(rows) >= GROUP_ROWS or size >= GROUP_BYTES:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


def _clean(kind: str, values: Sequence[Any]) -> list[Any]:
    """The values of a column; what a record does not say is `None`, and so is a number that no
    column holds."""
    if kind in ("time", "int64"):
        known = [None if kind == "time" and not value else value for value in values]
        return [None if value is None or abs(value) >= 1 << 63 else value for value in known]
    return [value if value or kind != "json" else None for value in values]


def row_of(found: FoundRecord) -> tuple[Any, ...]:
    """A record as a row, in the order of the columns; what is nested is the text that the record
    has."""
    if not found.is_decision:
        return _noted(found)
    try:
        entry = found.entry()
    except msgspec.MsgspecError:
        return _noted(found)
    by = next((one for one in entry.findings if one.action == entry.action), None)
    named = (None, None) if by is None else (by.guard, by.code)
    line = found.line
    return (line.hash, *named, line.took_ns, None, *[_cell(field, entry) for field in _FIELDS])


def _cell(field: msgspec.structs.FieldInfo, entry: RecordEntry) -> Any:
    """A field of a decision as its row has it: of what is nested, nothing where it says nothing."""
    value = getattr(entry, field.name)
    if _type_of(field) != "json":
        return value
    usual = field.default_factory() if callable(field.default_factory) else field.default
    return None if value in (usual, ERASED) else canonical(value)


def _noted(found: FoundRecord) -> tuple[Any, ...]:
    """A record that is no decision: what all records have in its columns, the rest together."""
    stub, data = found.stub, found.data()
    run = data.get("run")
    inner = run if isinstance(run, dict) else data
    row = {name: data.pop(name, None) for name in ("v", "prev", "seq", "chain", "kind", "at")}
    if stub.run_id:
        row |= {"run": stub.run_id, "agent": agent_of(stub), "task": str(inner.get("task", ""))}
        row |= {
            "tenant": str(inner.get("tenant", "default")),
            "policy": str(data["policy"]) if "policy" in data else None,
        }
    note = msgspec.json.encode(data, order="deterministic")
    return (
        found.line.hash,
        None,
        None,
        found.line.took_ns,
        note,
        *[row.get(field.encode_name) for field in _FIELDS],
    )
