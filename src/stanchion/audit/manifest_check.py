"""Checking manifests: which fields were changed since one was written, and which files that it
names.

This file knows the format and imports nothing of Stanchion, so that it finds what the writer would
overlook. It can be copied and used with Python alone.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any

FILES = {
    "jsonl_log": "jsonl_log_hash",
    "csv_features": "csv_features_hash",
    "recording": "recording_hash",
}
"""Files that a manifest names under `outputs`, each with where its hash stands under
`checksums`."""
LARGEST = 16 << 20
BLOCK = 1 << 20


@dataclass(frozen=True)
class ManifestFault:
    """A field or a file that is not as it was written."""

    field: str
    why: str


class NoManifest(ValueError):
    """What was given is no manifest at all."""


def read(path: str | Path) -> dict[str, Any]:
    """What stands in a file; raises `NoManifest`."""
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise NoManifest(f"it has more than {LARGEST >> 20} MiB")
        found = json.loads(data, object_pairs_hook=_once)
    except OSError as error:
        raise NoManifest(f"it cannot be read: {str(error.strerror).lower()}") from None
    except RecursionError:
        raise NoManifest("it is too deep to be read") from None
    except ValueError as error:
        raise NoManifest(f"it is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise NoManifest("it is no object")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise NoManifest(f"`{name}` is there twice")
        made[name] = value
    return made


def hash_faults(manifest: Mapping[str, Any]) -> list[ManifestFault]:
    """The fields that do not fit the hashes that the manifest itself has."""
    rest = dict(manifest)
    known, whole = rest.pop("field_hashes", None), rest.pop("manifest_hash", None)
    if not isinstance(known, dict):
        return [ManifestFault("field_hashes", "it is missing: nothing says what the fields were")]
    found = list(compared(rest, known))
    if whole != _hash(known):
        found.append(ManifestFault("manifest_hash", "it is not the hash of `field_hashes`"))
    return found


def compared(manifest: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[ManifestFault]:
    """The fields whose hashes are not those that are known of them; of a manifest without its
    hashes."""
    now = dict(_fields(manifest, ()))
    for place, value in now.items():
        if place not in known:
            yield ManifestFault(place, "it was added")
        elif known[place] != _hash([place, value]):
            yield ManifestFault(place, "it was changed")
    for place in known:
        if place not in now:
            yield ManifestFault(place, "it was removed")


def without_hashes(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest without its hashes."""
    return {
        name: value
        for name, value in manifest.items()
        if name not in ("field_hashes", "manifest_hash")
    }


def file_faults(manifest: Mapping[str, Any], folder: str | Path) -> list[ManifestFault]:
    """The files that are not as the manifest has them; they are named as seen from a folder."""
    outputs, sums = _section(manifest, "outputs"), _section(manifest, "checksums")
    found = []
    for name, beside in FILES.items():
        path, known = outputs.get(name), sums.get(beside)
        if path is None and known is None:
            continue
        if not isinstance(path, str) or not isinstance(known, str):
            found.append(
                ManifestFault(
                    f"checksums.{beside}", f"`outputs.{name}` and its hash do not stand together"
                )
            )
            continue
        why = _strays(path) or _unlike(Path(folder) / path, known)
        if why:
            found.append(ManifestFault(f"outputs.{name}", f"`{path}` {why}"))
    return found


def _strays(path: str) -> str:
    """Whether a name leads out of the folder of the manifest: whoever wrote it could have anything
    read."""
    strays = not path or "\0" in path or Path(path).is_absolute() or ".." in Path(path).parts
    return "is not in the folder of the manifest" if strays else ""


def _unlike(path: Path, known: str) -> str:
    digest = sha256()
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return "is not a plain file"
            while block := file.read(BLOCK):
                digest.update(block)
    except OSError as error:
        return f"cannot be read: {str(error.strerror).lower()}"
    return "" if f"sha256:{digest.hexdigest()}" == known else "was changed since"


def _section(manifest: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = manifest.get(name)
    return found if isinstance(found, dict) else {}


def _fields(value: Any, above: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Fields by their places. Objects with something in them are gone into; lists are not."""
    if isinstance(value, dict) and (value or not above):
        for name, inside in value.items():
            yield from _fields(inside, (*above, name.replace("\\", "\\\\").replace(".", "\\.")))
    else:
        yield ".".join(above), value


def _hash(value: Any) -> str | None:
    """The hash of a value's canonical JSON (RFC 8785); `None` for what has none."""
    try:
        return "sha256:" + sha256(_spelled(value).encode()).hexdigest()
    except (ValueError, OverflowError):
        return None


def _spelled(value: Any) -> str:
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: [*_units(name)])
        return "{" + ",".join(_spelled(name) + ":" + _spelled(value[name]) for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_spelled, value)) + "]"
    if isinstance(value, float):
        return _spelled_number(value)
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _units(name: str) -> Iterator[int]:
    """The UTF-16 units of a name, by which keys are sorted."""
    for char in name:
        code = ord(char)
        if code < 0x10000:
            yield code
        else:
            yield 0xD800 + ((code - 0x10000) >> 10)
            yield 0xDC00 + (code & 0x3FF)


def _spelled_number(value: float) -> str:
    """A number as ECMAScript writes it: with an exponent where it is very large or very small."""
    if not isfinite(value):
        raise ValueError("no finite number")
    if value == 0:
        return "0"
    if 1e-6 <= abs(value) < 1e21:
        return f"{Decimal(repr(value)):f}".removesuffix(".0")
    figures, _, power = repr(value).partition("e")
    return f"{figures.removesuffix('.0')}e{int(power):+d}"
