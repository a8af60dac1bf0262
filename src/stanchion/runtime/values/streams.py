"""Streams among values: what gives its items one after the other."""

from __future__ import annotations

from typing import Any

from stanchion.runtime.values.anatomy import MISSING, defined
from stanchion.runtime.values.form_of import OPAQUE, form_of


def is_stream(value: Any, awaited: bool | None = None) -> bool:
    """Whether a value gives its items one after the other: a generator, an iterator, or the stream
    of an SDK; `awaited` asks for one of that kind alone."""
    if form_of(value) is not OPAQUE:
        return False
    kind = type(value)
    waits = defined(kind, "__anext__") is not MISSING
    plain = defined(kind, "__next__") is not MISSING
    return (waits or plain) if awaited is None else waits if awaited else plain
