"""Rows of a corpus: labelled examples from a folder the user has; Stanchion ships none."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion import typed

VARIABLE: Final = "STANCHION_CORPORA"
"""The environment variable that names the folder of corpora."""

OWN: Final = ("id", "kind", "label", "payload", "source")


class Row(msgspec.Struct, frozen=True):
    """One labelled example. `rest` has what its file says besides."""

    id: str
    kind: str
    label: str
    payload: Any = None
    source: str = ""
    rest: dict[str, Any] = {}

    @property
    def family(self) -> str:
        """Where the row comes from: its collection, without the version, and its kind where that
        says more."""
        collection = self.source.partition(" ")[0].partition("@")[0]
        shorter, longer = sorted((collection, self.kind), key=len)
        return longer if shorter.lower() in longer.lower() else f"{collection} {self.kind}"


class NoRows(Exception):
    """A corpus is not there or cannot be read; the text says where it is looked for."""


def rows(folder: Path, file: str) -> Iterator[Row]:
    """The rows of one file, in order. A payload kept as base64 (`payload_b64`) is decoded."""
    path = folder / file
    if not folder.is_dir():
        raise NoRows(f"there is no folder `{folder}`: {_where(file)}")
    if not path.is_file():
        raise NoRows(f"there is no `{file}` in `{folder}`: {_where(file)}")
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _row(line, f"{path}:{number}")


def rows_if(folder: Path, file: str) -> Iterator[Row]:
    """The rows of a file that may be there or not."""
    if (folder / file).is_file():
        yield from rows(folder, file)


def _where(file: str) -> str:
    return (
        f"Stanchion ships no corpora; name the folder that has `{file}`, one JSON object a line "
        f"with `id`, `kind`, `label`, `payload` and `source`, by `--corpora` or {VARIABLE}"
    )


def _row(line: bytes, place: str) -> Row:
    try:
        read = msgspec.json.decode(line, type=dict[str, Any])
        if "payload_b64" in read:
            read["payload"] = b64decode(read.pop("payload_b64"), validate=True).decode(
                "utf-8", "replace"
            )
        rest = {name: value for name, value in read.items() if name not in OWN}
        return typed.convert(
            {name: read[name] for name in OWN if name in read} | {"rest": rest}, Row
        )
    except ValueError as error:
        raise NoRows(f"{place}: is no row: {str(error).lower()}") from None
