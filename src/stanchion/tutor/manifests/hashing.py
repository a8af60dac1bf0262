"""The hashes of a manifest: one of each field, and one of all of these.

By the first a field that was changed is named. The second is what is written down elsewhere, and
stands for the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.tutor.bundles.canonical import digest
from stanchion.tutor.manifests.manifest import Manifest, ManifestError, complete

FIELDS: Final = "field_hashes"
WHOLE: Final = "manifest_hash"
WRITTEN: Final = "manifest.written"
"""The fact by which a trail knows a manifest."""


def hashed(manifest: Manifest) -> dict[str, Any]:
    """A manifest as it is written, with its hashes; raises `ManifestError` where something needed
    is missing."""
    data: dict[str, Any] = msgspec.to_builtins(complete(manifest))
    fields = field_hashes(data)
    return {**data, FIELDS: fields, WHOLE: digest(fields)}


def field_hashes(data: Mapping[str, Any]) -> dict[str, str]:
    """The hash of each field: over its place and its value, so that two cannot be exchanged."""
    return {place: digest([place, value]) for place, value in leaves(data)}


def leaves(data: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """The fields of nested mappings with their places, such as `model.seed`. A list is one field,
    and so is a mapping with nothing in it."""
    for name, value in data.items():
        place = f"{above}{_escaped(name)}"
        if isinstance(value, Mapping) and value:
            yield from leaves(value, f"{place}.")
        else:
            yield place, value


def _escaped(name: str) -> str:
    """A name as a part of a place: a point in it ends no part."""
    return name.replace("\\", "\\\\").replace(".", "\\.")


def manifest_in(data: Mapping[str, Any]) -> Manifest:
    """The manifest of what was written, whether or not its hashes fit; raises `ManifestError`."""
    bare = {name: value for name, value in data.items() if name not in (FIELDS, WHOLE)}
    try:
        return complete(typed.convert(bare, Manifest))
    except msgspec.ValidationError as error:
        raise ManifestError(f"it is no manifest: {error}") from None
