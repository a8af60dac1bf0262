"""Choosing the form by which a value is read, by its type alone."""

from __future__ import annotations

import io
from collections import UserDict, UserList, UserString, defaultdict
from enum import Enum
from typing import Any, Final

from stanchion.runtime.values.anatomy import (
    MISSING,
    beside,
    defined,
    descends,
    is_any,
    is_standard,
    mro_of,
    name_of,
    overrides,
    own,
    state_of,
    twin,
)
from stanchion.runtime.values.binary_text import (
    MAX_CHARS,
    bytes_again,
    encodable,
    spelled_out,
    text_leaf,
)
from stanchion.runtime.values.containers import (
    CONTAINERS,
    RANGE,
    VIEW,
    VIEWS,
    buffer_form,
    is_buffer,
)
from stanchion.runtime.values.models import SPEAKS, model_form, plain_form
from stanchion.runtime.values.responses import response_form
from stanchion.runtime.values.scalars import SCALARS, date_kind, enum_parts, speaks, written
from stanchion.runtime.values.type_readers import Form, Seen, Unreadable, ValueLeaf, ValueParts

# Files: what they hold from where they stand, handed on as a copy in memory, because a file can
# change.

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


def _content(value: Any) -> ValueLeaf:
    if not _is_readable(value) or beside(value):
        return ValueLeaf(
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
        return ValueLeaf(data if encodable(data) else spelled_out(data), handed)
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


MAX_KNOWN: Final = 4_096
"""How many types are remembered with their form."""

_known: dict[int, tuple[type[Any], Form | None]] = {}


def form_of(value: Any) -> Form:
    """How a value is read. Nothing of its class runs for that."""
    kind = type(value)
    entry = _known.get(id(kind))
    if entry is None or entry[0] is not kind:
        if len(_known) >= MAX_KNOWN:
            _known.clear()
        entry = _known[id(kind)] = (kind, _chosen(kind))
    if entry[1] is not None:
        return entry[1]
    if is_buffer(value):
        form = buffer_form(kind)
    else:
        form = response_form(value)
        form = plain_form(kind) if form is None else form
    return OPAQUE if form is None else form


def _chosen(kind: type[Any]) -> Form | None:
    """The form of a type, the most certain first; `None` where it takes a look at the value."""
    if descends(kind, Enum):
        return ENUM
    for base, form in SCALARS:
        if descends(kind, base):
            return form
    for base, form in CONTAINERS:
        if descends(kind, base):
            named = base is tuple and _is_named_tuple(kind)
            return (
                OPAQUE
                if speaks(kind, base) and not named
                else form
                if kind is base
                else _alone(form)
            )
    for wrapper, form in WRAPPERS:
        if descends(kind, wrapper):
            return form if not overrides(kind, SPEAKS) else OPAQUE
    if is_any(kind, VIEWS):
        return VIEW
    if kind is range:
        return RANGE
    file = file_form(kind)
    if file is not None:
        return file
    if descends(kind, type) or _gives_items(kind):
        return OPAQUE
    return written(kind) or date_kind(kind) or model_form(kind)


def _alone(form: Form) -> Form:
    """The form of a subclass: one of its objects that holds something beside what its base does is
    not read."""

    def parts(value: Any) -> ValueParts:
        if beside(value) or (
            type(value) is defaultdict and not isinstance(value.default_factory, type | None)
        ):
            return ValueParts(None, [_opaque(value)])
        return form.parts(value) if form.parts is not None else ValueParts(None, [])

    return form._replace(parts=parts)


def _is_named_tuple(kind: type[Any]) -> bool:
    """Whether a class is a tuple with names and nothing more: what it defines is made, not
    written."""
    if type(defined(kind, "_fields")) is not tuple:
        return False
    for each in mro_of(kind):
        if each is tuple:
            return True
        made = {"__repr__"} if "_fields" in own(each) else set()
        if not is_standard(each) and any(name in SPEAKS and name not in made for name in own(each)):
            return False
    return False


def _gives_items(kind: type[Any]) -> bool:
    """Whether objects of a type give their items one after the other: they are read as they are
    consumed."""
    return any(
        defined(kind, name) is not MISSING for name in ("__next__", "__anext__", "__await__")
    )


def _opaque(value: Any) -> ValueLeaf:
    """A value that is named by its type alone, never by a text of its own."""
    name = name_of(type(value))
    return ValueLeaf({"$object": name}, value, f"an object of type `{name}`", Seen.NOTHING)


OPAQUE: Final = Form(_opaque)
ENUM: Final = Form(parts=enum_parts, mutable=False, ordered=False)
"""A member of an enumeration is its value, and what else it was given."""


def _data(value: Any) -> Any:
    state = state_of(value)
    return None if state is None else state.get("data")


def _wrapped(value: Any) -> ValueParts:
    return ValueParts(["data"], [_data(value)])


def _rewrapped(value: Any, items: Any) -> Any:
    return twin(value, items if isinstance(items, dict) else {"data": items[0]})


WRAPPERS: Final[tuple[tuple[type[Any], Form], ...]] = (
    (
        UserString,
        Form(
            lambda value: ValueLeaf(_data(value), value), made=lambda _value, text: UserString(text)
        ),
    ),
    (UserDict, Form(parts=_wrapped, made=_rewrapped)),
    (UserList, Form(parts=_wrapped, made=_rewrapped)),
)
"""Python's own containers written in Python: what they hold is in `data`."""


def is_stream(value: Any, awaited: bool | None = None) -> bool:
    """Whether a value gives its items one after the other: a generator, an iterator, or the stream
    of an SDK; `awaited` asks for one of that kind alone."""
    if form_of(value) is not OPAQUE:
        return False
    kind = type(value)
    waits = defined(kind, "__anext__") is not MISSING
    plain = defined(kind, "__next__") is not MISSING
    return (waits or plain) if awaited is None else waits if awaited else plain
