"""Single values: numbers, dates, names of places and whatever else is one thing with one way to
write it."""

from __future__ import annotations

import datetime
import math
from functools import partial
from typing import Any, Final

from stanchion.runtime.values.anatomy import (
    beside,
    descends,
    is_native,
    is_of_its_module,
    is_standard,
    mro_of,
    name_of,
    own,
    state_of,
)
from stanchion.runtime.values.binary_text import bytes_again, encodable, spelled_out, text_leaf
from stanchion.runtime.values.type_readers import Form, Seen, Unreadable, ValueLeaf, ValueParts

LARGE: Final = 1 << 63
"""From here on an integer is written in hexadecimal: nothing reads larger ones alike everywhere."""

_WRITTEN: Final = frozenset(
    {
        "uuid.UUID", "decimal.Decimal", "fractions.Fraction", "pathlib.PosixPath",
        "pathlib.WindowsPath", "pathlib.PurePosixPath", "pathlib.PureWindowsPath",
        "ipaddress.IPv4Address", "ipaddress.IPv6Address", "ipaddress.IPv4Network",
        "ipaddress.IPv6Network", "ipaddress.IPv4Interface", "ipaddress.IPv6Interface",
        "datetime.date", "datetime.timedelta", "zoneinfo.ZoneInfo",
        # where Python 3.13 keeps them
        "pathlib._local.PosixPath", "pathlib._local.WindowsPath", "pathlib._local.PurePosixPath",
        "pathlib._local.PureWindowsPath",
    }
)  # fmt: skip
"""Types of Python's own that are one thing and say by `str` what; known by name, because importing
them would cost every caller."""

_MEMBER: Final = frozenset(
    {"_value_", "_name_", "__objclass__", "_sort_order_", "_hashable_values_"}
)
_ZONES: Final = frozenset(
    {"datetime.timezone", "zoneinfo.ZoneInfo", "pydantic_core._pydantic_core.TzInfo"}
)
"""Time zones that are what they say: Python's own, and what pydantic reads from JSON."""
_HARMLESS: Final = frozenset(
    {
        "__new__", "__init__", "__init_subclass__", "__class_getitem__", "__doc__", "__module__",
        "__slots__", "__dict__", "__weakref__", "__annotations__", "__orig_bases__",
        "__parameters__", "__qualname__", "__reduce__", "__reduce_ex__", "__getnewargs__",
        "__getnewargs_ex__", "__getstate__", "__setstate__", "__dir__", "__setattr__",
        "__delattr__", "__static_attributes__", "__firstlineno__", "__abstractmethods__",
        "_abc_impl", "__annotate__", "__annotate_func__", "__annotations_cache__", "__match_args__",
        "__type_params__",
    }
)  # fmt: skip
"""What a class may define without its objects saying anything else than what they hold."""


def speaks(kind: type[Any], base: type[Any]) -> bool:
    """Whether objects of a class that has a built-in base may say something else than what that
    base holds."""
    for each in mro_of(kind):
        if each is base:
            return False
        if is_standard(each):
            continue
        if any(
            name not in _HARMLESS and not is_native(item) and _says(base, name)
            for name, item in own(each).items()
        ):
            return True
    return False


def _says(base: type[Any], name: str) -> bool:
    return name in (
        "__getattr__",
        "__getattribute__",
        "__format__",
        "__html__",
        "__fspath__",
        "__missing__",
    ) or any(name in own(each) for each in mro_of(base))


def whole(value: int) -> Any:
    """An integer as content."""
    return value if -LARGE < value < LARGE else {"$int": hex(value)}


def real(value: float) -> Any:
    """A floating-point number as content."""
    return value if math.isfinite(value) else {"$float": str(value)}


def _trusted(value: Any, base: type[Any], plain: Any) -> Any:
    """What goes on in the place of a single value: itself, or the plain value where it could say
    anything else."""
    kind = type(value)
    return value if kind is base or not (speaks(kind, base) or beside(value)) else plain


def _text(value: Any) -> ValueLeaf:
    text = str.__str__(value)
    handed = _trusted(value, str, text)
    return ValueLeaf(text if text.isascii() or encodable(text) else spelled_out(text), handed)


def _int(value: Any) -> ValueLeaf:
    number = int.__int__(value)
    return ValueLeaf(whole(number), _trusted(value, int, number))


def _float(value: Any) -> ValueLeaf:
    number = float.__float__(value)
    return ValueLeaf(real(number), _trusted(value, float, number))


def _complex(value: Any) -> ValueLeaf:
    number = complex.__complex__(value)
    return ValueLeaf(
        {"$complex": [real(number.real), real(number.imag)]}, _trusted(value, complex, number)
    )


def _bytes(value: Any) -> ValueLeaf:
    data = bytes.__bytes__(value) if type(value) is not bytes else value
    return text_leaf(data, _trusted(value, bytes, data))


def _bytearray(value: Any) -> ValueLeaf:
    data = bytes(memoryview(value))
    return text_leaf(data, _trusted(value, bytearray, bytearray(data)))


def _bytearray_again(value: Any, text: Any) -> Any:
    changed = bytes_again(bytes(memoryview(value)), text)
    return bytearray(changed) if type(changed) is bytes else changed


SCALARS: Final[tuple[tuple[type[Any], Form], ...]] = (
    (str, Form(_text, mutable=False)),
    (int, Form(_int, mutable=False)),
    (float, Form(_float, mutable=False)),
    (complex, Form(_complex, mutable=False)),
    (bytes, Form(_bytes, made=lambda value, text: bytes_again(bytes(value), text), mutable=False)),
    (
        bytearray,
        Form(_bytearray, made=_bytearray_again, copy=lambda value: bytearray(memoryview(value))),
    ),
)
"""Built-in types of single values, and how they and their subclasses are read."""


def enum_parts(value: Any) -> ValueParts:
    """The value of a member of an enumeration, and what else it holds."""
    state = state_of(value)
    held = (
        {} if state is None else {name: item for name, item in state.items() if name not in _MEMBER}
    )
    shown = {"value": None if state is None else state.get("_value_")} | held
    return (
        ValueParts(list(shown), list(shown.values()))
        if held
        else ValueParts(None, [shown["value"]])
    )


def written(kind: type[Any]) -> Form | None:
    """How a type of Python's own is read that is one thing; `None` for any other type."""
    if not is_standard(kind):
        return None
    name = name_of(kind)
    if name in ("datetime.datetime", "datetime.time"):
        return Form(_moment, mutable=False)
    if name in _WRITTEN:
        return Form(
            _as_written, made=_path_again if name.startswith("pathlib.") else None, mutable=False
        )
    return None


def _as_written(value: Any) -> ValueLeaf:
    try:
        text = str(value)
    except ValueError:
        raise Unreadable("it is a number with more digits than can be written") from None
    return ValueLeaf(text if text.isascii() or encodable(text) else spelled_out(text), value)


def _path_again(value: Any, text: Any) -> Any:
    return type(value)(text) if isinstance(text, str) else text


def _moment(value: Any) -> ValueLeaf:
    """A time of the day, in a zone that is known: others answer by code of their own."""
    zone = value.tzinfo
    if zone is not None and not (name_of(type(zone)) in _ZONES and is_of_its_module(type(zone))):
        return ValueLeaf(
            {"$object": "datetime.datetime"},
            value,
            "a time with a custom time zone",
            Seen.NOTHING,
        )
    told = value.isoformat()
    named = "" if zone is None else str(zone)
    return ValueLeaf(told if named.startswith("UTC") or not named else f"{told} [{named}]", value)


def date_kind(kind: type[Any]) -> Form | None:
    """How subclasses of dates and durations are read: as what they really are."""
    for base in (datetime.datetime, datetime.date, datetime.timedelta, datetime.time):
        if descends(kind, base):
            return Form(partial(_plain_date, base), mutable=False)
    return None


def _plain_date(base: Any, value: Any) -> ValueLeaf:
    if base is datetime.timedelta:
        plain: Any = datetime.timedelta(
            base.days.__get__(value), base.seconds.__get__(value), base.microseconds.__get__(value)
        )
        return ValueLeaf(str(plain), plain)
    parts = {name: getattr(base, name).__get__(value) for name in _PARTS[base]}
    plain = base(**parts)
    leaf = ValueLeaf(plain.isoformat(), plain) if base is datetime.date else _moment(plain)
    return leaf if speaks(type(value), base) or beside(value) else leaf._replace(handed=value)


_PARTS: Final[dict[Any, tuple[str, ...]]] = {
    datetime.date: ("year", "month", "day"),
    datetime.time: ("hour", "minute", "second", "microsecond", "tzinfo", "fold"),
    datetime.datetime: (
        "year",
        "month",
        "day",
        "hour",
        "minute",
        "second",
        "microsecond",
        "tzinfo",
        "fold",
    ),
}
