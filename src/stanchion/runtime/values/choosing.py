"""Choosing the form by which a value is read, by its type alone."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final

from stanchion.runtime.values.anatomy import MISSING, defined, descends, is_any, name_of
from stanchion.runtime.values.containers import CONTAINERS, RANGE, VIEW, VIEWS, buffer_form, is_buffer
from stanchion.runtime.values.files import file_form
from stanchion.runtime.values.form import Form, Leaf, Parts, Seen
from stanchion.runtime.values.models import model_form, plain_form
from stanchion.runtime.values.responses import response_form
from stanchion.runtime.values.scalars import SCALARS, date_kind, enum_member, speaks, written

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
            return OPAQUE if speaks(kind, base) and not _is_named_tuple(kind, base) else form
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


def _is_named_tuple(kind: type[Any], base: type[Any]) -> bool:
    """Whether a class is a tuple with names and nothing more: what it defines is made, not written."""
    return (
        base is tuple
        and type(defined(kind, "_fields")) is tuple
        and defined(kind, "__iter__") is tuple.__dict__["__iter__"]
    )


def _gives_items(kind: type[Any]) -> bool:
    """Whether objects of a type give their items one after the other: they are read as they are consumed."""
    return any(defined(kind, name) is not MISSING for name in ("__next__", "__anext__", "__await__"))


def _opaque(value: Any) -> Leaf:
    """A value that is named by its type alone, never by a text of its own."""
    name = name_of(type(value))
    return Leaf({"$object": name}, value, f"an object of type `{name}`", Seen.NOTHING)


OPAQUE: Final = Form(_opaque)
ENUM: Final = Form(parts=lambda value: Parts(None, [enum_member(value)]), mutable=False)
"""A member of an enumeration is its value."""
