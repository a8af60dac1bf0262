"""Data models of any library, and plain objects: read by what they hold, not by what they say."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Final

from stanchion.runtime.values.anatomy import (
    MISSING,
    defined,
    descends,
    held_in,
    is_any,
    is_open,
    is_standard,
    module_of,
    mro_of,
    overrides,
    own,
    twin,
)
from stanchion.runtime.values.type_readers import Form, ValueParts

MODELS: Final = (
    "__dataclass_fields__", "__attrs_attrs__", "__pydantic_validator__", "__fields_set__",
    "__struct_fields__",
)  # fmt: skip
"""What marks the classes that libraries for data make: their fields are what they say."""

LIBRARIES: Final = frozenset({"pydantic", "pydantic_core", "attr", "attrs", "msgspec"})

BESIDE: Final = ("__pydantic_extra__", "__pydantic_private__")
"""Where pydantic keeps what was given beyond a model's fields, and its private ones: content as
well."""
MARKS: Final = frozenset({"__pydantic_fields_set__", "__fields_set__", *BESIDE})

REWRITES: Final = frozenset({"__getattribute__", "__getattr__"})
SPEAKS: Final = REWRITES | {
    "__str__", "__repr__", "__format__", "__iter__", "__getitem__", "__bytes__", "__html__",
    "__fspath__", "__call__", "__next__", "__aiter__", "__anext__", "__await__", "__index__",
    "__int__", "__float__",
}  # fmt: skip
"""What lets an object say something else than what it holds."""

DATA: Final = (str, bytes, int, float, list, dict, tuple)


def model_form(kind: type[Any]) -> Form | None:
    """How the objects of a data class are read, whichever library made it; `None` for other
    classes."""
    marked = descends(kind, SimpleNamespace) or any(
        defined(kind, mark) is not MISSING for mark in MODELS
    )
    return (
        Form(parts=_fields, made=_refilled)
        if marked and is_open(kind) and not _rewrites(kind)
        else None
    )


def _rewrites(kind: type[Any]) -> bool:
    """Whether code of the class, other than that of the library it is made with, answers for its
    fields."""
    foreign = [each for each in mro_of(kind) if not is_standard(each) and not _of_library(each)]
    return any(not REWRITES.isdisjoint(own(each)) for each in foreign)


def _of_library(kind: type[Any]) -> bool:
    return module_of(kind).partition(".")[0] in LIBRARIES


def _fields(value: Any) -> ValueParts:
    held = held_in(value)
    shown = {name: item for name, item in held.items() if name not in MARKS}
    for place in BESIDE:
        more = held.get(place)
        if type(more) is dict:
            shown |= {name: item for name, item in more.items() if name not in shown}
    return _parts(shown)


def _parts(shown: dict[str, Any]) -> ValueParts:
    """Fields as parts; private ones that cannot be read are nobody's business."""
    return ValueParts(
        list(shown),
        list(shown.values()),
        frozenset([name for name in shown if name.startswith("_")]),
    )


def _refilled(value: Any, items: Any) -> Any:
    """A twin of a model with other fields."""
    given = _named(_fields(value), items)
    held = held_in(value)
    changed: dict[str, Any] = {}
    for place in BESIDE:
        more = held.get(place)
        if type(more) is dict:
            changed[place] = {
                name: given[name] if name not in held else item for name, item in more.items()
            }
    return twin(value, changed | {name: item for name, item in given.items() if name in held})


def _named(parts: ValueParts, items: Any) -> dict[str, Any]:
    names = [] if parts.names is None else parts.names
    return items if isinstance(items, dict) else dict(zip(names, items, strict=True))


def plain_form(kind: type[Any]) -> Form | None:
    """How the objects of an ordinary class are read: by their fields, where the class lets nothing
    else be said."""
    if kind is object or not is_open(kind) or (not is_standard(kind) and overrides(kind, SPEAKS)):
        return None
    if any(defined(kind, name) is not MISSING for name in ("__getattr__", "__del__")):
        return None
    return Form(parts=_held, made=_remade)


def _held(value: Any) -> ValueParts:
    """What an object holds, with the texts and numbers that its class gives to every one."""
    shown: dict[str, Any] = {}
    for each in reversed(mro_of(type(value))):
        if not is_standard(each):
            common = own(each).items()
            shown |= {
                name: item
                for name, item in common
                if is_any(type(item), DATA) and not name.startswith("__")
            }
    return _parts(shown | held_in(value))


def _remade(value: Any, items: Any) -> Any:
    return twin(value, _named(_held(value), items))
