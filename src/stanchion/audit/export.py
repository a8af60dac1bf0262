"""Export: records as JSON lines or as a Parquet file, as many as there are in little memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from operator import attrgetter
from typing import Any, BinaryIO, Final

import msgspec

from stanchion import typed
from stanchion.audit.apart import Told, is_erased
from stanchion.audit.reader import agent_of
from stanchion.audit.record import Entry, Said, canonical
from stanchion.audit.segment_scan import KEPT, Found

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
_FIELDS: Final = msgspec.structs.fields(Entry)
_TOLD: Final = msgspec.structs.fields(Told)
_ABSENT: Final = msgspec.Raw(b"")


class NoParquet(Exception):
    """What writes Parquet files is not installed."""


def said_of(found: Found) -> bytes:
    """A record as JSON: its body as it was hashed, and last what stands apart of it, as `kept`, the
    same way."""
    line = found.line
    return line.body if not line.kept else line.body[:-1] + KEPT + line.kept.rstrip(b" ") + b"}"


def line_of(found: Found) -> bytes:
    """A record as one line of JSON, with its hash in front."""
    return b'{"hash":"%b",%b\n' % (found.line.hash.encode(), said_of(found)[1:])


def write_jsonl(records: Iterable[Found], sink: BinaryIO) -> int:
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


def _column(field: msgspec.structs.FieldInfo) -> Any:
    """A field of a decision as a row has it: what is nested stays the text that it is."""
    if _type_of(field) == "json":
        return field.name, msgspec.Raw, msgspec.field(default=_ABSENT, name=field.encode_name)
    if field.required:
        return field.name, field.type
    return field.name, field.type, field.default


Row: Final = msgspec.defstruct("Row", [_column(field) for field in _FIELDS], frozen=True)
_read: Final = typed.reader(Row).decode
_values: Final = attrgetter(*[field.name for field in _FIELDS])
_said: Final = typed.reader(tuple[Said, ...]).decode
_NAMES: Final = [field.name for field in _FIELDS]
_PLACES: Final = {field.name: _NAMES.index(field.name) for field in _TOLD if field.name in _NAMES}
_Apart: Final = msgspec.defstruct("Apart", [_column(field) for field in _TOLD], frozen=True)
_apart: Final = typed.reader(_Apart).decode


def write_parquet(records: Iterable[Found], sink: BinaryIO) -> int:
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


def _groups(records: Iterable[Found]) -> Iterator[list[tuple[Any, ...]]]:
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
    if kind == "json":
        return [bytes(value) if value else None for value in values]
    if kind == "time":
        return [value if value and abs(value) < 1 << 63 else None for value in values]
    if kind == "int64":
        return [value if value is not None and abs(value) < 1 << 63 else None for value in values]
    return list(values)


def row_of(found: Found) -> tuple[Any, ...]:
    """A record as a row, in the order of the columns; what is nested is the text that the record
    has."""
    line = found.line
    if not found.is_decision:
        return _noted(found)
    guard = code = None
    try:
        row: Any = _read(line.body)
        values = list(_values(row))
        if line.kept and not is_erased(line.body, line.kept):
            _join(values, found, _apart(line.kept))
        for said in _said(row.findings) if row.findings else ():
            if said.action == row.action:
                guard, code = said.guard, said.code
                break
    except msgspec.MsgspecError:
        return _noted(found)
    return (line.hash, guard, code, line.took_ns, None, *values)


def _join(values: list[Any], found: Found, apart: Any) -> None:
    """Put what stands apart of a record into its columns."""
    for name, place in _PLACES.items():
        values[place] = getattr(apart, name)
    if apart.said:
        entry = found.entry()
        for name in ("findings", "shadow"):
            said = getattr(entry, name)
            values[_NAMES.index(name)] = msgspec.Raw(canonical(said)) if said else _ABSENT


def _noted(found: Found) -> tuple[Any, ...]:
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
