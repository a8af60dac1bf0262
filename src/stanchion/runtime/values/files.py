"""Files: what they hold from where they stand, handed on as a copy in memory, because a file can
change."""

from __future__ import annotations

import io
from typing import Any, Final

from stanchion.runtime.values.anatomy import beside, is_any, name_of
from stanchion.runtime.values.form import Form, Leaf, Seen, Unreadable
from stanchion.runtime.values.texts import MAX_CHARS, bytes_again, encodable, spelled_out, text_leaf

FILES: Final[tuple[type[Any], ...]] = (
    io.StringIO, io.BytesIO, io.FileIO, io.TextIOWrapper, io.BufferedReader, io.BufferedRandom,
)  # fmt: skip
"""Python's own files. A subclass may be anything."""


def file_form(kind: type[Any]) -> Form | None:
    """How a file of Python's own is read; `None` for other types."""
    if not is_any(kind, FILES):
        return None
    return Form(
        _content, made=_again, copy=_copied if kind is io.StringIO or kind is io.BytesIO else None
    )


def _content(value: Any) -> Leaf:
    if not _is_readable(value) or beside(value):
        return Leaf(
            {"$object": name_of(type(value))},
            value,
            "an open pipe, connection or closed file",
            Seen.NOTHING,
        )
    in_memory = type(value) is io.StringIO or type(value) is io.BytesIO
    data = value.getvalue() if in_memory else value.read(MAX_CHARS + 1)
    if len(data) > MAX_CHARS:
        raise Unreadable(f"it is a file of more than {MAX_CHARS:,} characters")
    if isinstance(data, str):
        handed = value if in_memory else io.StringIO(data)
        return Leaf(data if encodable(data) else spelled_out(data), handed)
    return text_leaf(data, value if in_memory else io.BytesIO(data))


def _copied(value: Any) -> Any:
    """Another file in memory with the same content, at the same place."""
    made = type(value)(value.getvalue())
    made.seek(value.tell())
    return made


def _is_readable(value: Any) -> bool:
    """Whether a file is one in memory or on a disk, all of it of Python's own making."""
    inner = value.buffer if type(value) is io.TextIOWrapper else value
    if type(inner) is io.BufferedReader or type(inner) is io.BufferedRandom:
        inner = inner.raw
    if not is_any(type(inner), FILES[:3]) or inner.closed:
        return False
    return bool(inner.readable() and inner.seekable())


def _again(value: Any, text: Any) -> Any:
    """A file in memory with a changed text."""
    if not isinstance(text, str):
        return text
    if type(value) is io.StringIO or type(value) is io.TextIOWrapper:
        return io.StringIO(text)
    return io.BytesIO(
        bytes_again(value.getvalue(), text) if type(value) is io.BytesIO else text.encode()
    )
