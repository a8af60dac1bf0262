"""Containers: mappings, lists, sets, views of them, and the buffers in which libraries keep
numbers."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any, Final

from stanchion.kernel.regex import regex
from stanchion.runtime.values.anatomy import (
    MISSING,
    beside,
    defined,
    descends,
    is_any,
    is_native,
    overrides,
    own,
)
from stanchion.runtime.values.binary_text import (
    ESCAPE,
    MAX_CHARS,
    bytes_spelled_out,
    encodable,
    spelled_out,
    text_leaf,
)
from stanchion.runtime.values.scalars import real, speaks, whole
from stanchion.runtime.values.type_readers import Form, Unreadable, ValueLeaf, ValueParts

MAX_VALUES: Final = 200_000
"""How many values a value may be made of."""

TEXTUAL: Final = regex(rb"[\x20-\x7e\t\r\n]{6}")
"""So many letters in a row are a text, whatever stands around them."""
SHOWS: Final = frozenset(
    {"__buffer__", "__str__", "__repr__", "__iter__", "__getitem__", "__getattr__", "tolist"}
)

RESERVED: Final = frozenset({"$int", "$float", "$complex", "$range", "$object", "$sha256"})
"""Names by which content tells what JSON has no form for; a mapping's own key of that name is
written with an `ESCAPE`."""

_SINGLE: Final = (str, int, float, bool)


def is_name(name: Any) -> bool:
    """Whether a key of a mapping is a name as it is: a text that stands for itself."""
    return type(name) is str and name not in RESERVED and (name.isascii() or encodable(name))


def key(name: Any) -> str:
    """A key of a mapping as a name in the content; what is no text or single value names
    nothing."""
    kind = type(name)
    if kind is str or (descends(kind, str) and not speaks(kind, str)):
        text = str.__str__(name)
        return ESCAPE + text if text in RESERVED else spelled_out(text)
    if name is None or is_any(kind, _SINGLE):
        return str(name)
    if kind is bytes:
        return key(bytes_spelled_out(name))
    if kind is tuple and all(is_any(type(one), _SINGLE) for one in name):
        return ", ".join([spelled_out(str(one)).replace(",", ESCAPE + ",") for one in name])
    raise Unreadable(f"it has a key of type `{kind.__name__}`: use strings as keys")


def _dict_parts(value: Any) -> ValueParts:
    held = dict.copy(value)
    return ValueParts([name if is_name(name) else key(name) for name in held], list(held.values()))


def _dict_made(value: Any, items: Any) -> Any:
    """A mapping of the same type with these items, in their order; keys that are gone were cut
    out."""
    kept = dict.copy(value)
    if isinstance(items, list):
        items = dict(zip(map(key, kept), items, strict=True))
    fresh = {name: items[key(name)] for name in kept if key(name) in items}
    fresh |= {
        name: item for name, item in items.items() if name not in {key(known) for known in kept}
    }
    kind = type(value)
    if kind is OrderedDict or kind is Counter:
        return kind(fresh)
    return defaultdict(value.default_factory, fresh) if kind is defaultdict else fresh


def _tuple_parts(value: Any) -> ValueParts:
    items = list(tuple.__iter__(value))
    fields = defined(type(value), "_fields")
    if (
        type(fields) is tuple
        and len(fields) == len(items)
        and all(type(name) is str for name in fields)
    ):
        return ValueParts(list(fields), items)
    return ValueParts(None, items)


def _tuple_made(value: Any, items: Any) -> Any:
    return tuple.__new__(type(value), items.values() if isinstance(items, dict) else items)


def _deque_made(value: Any, items: Any) -> Any:
    return deque(items, value.maxlen)


def _listed(copy: Callable[[Any], Any]) -> Callable[[Any], ValueParts]:
    def parts(value: Any) -> ValueParts:
        return ValueParts(None, list(copy(value)))

    return parts


def _made(base: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    def made(_value: Any, items: Any) -> Any:
        return base(items)

    return made


CONTAINERS: Final[tuple[tuple[type[Any], Form], ...]] = (
    (dict, Form(parts=_dict_parts, made=_dict_made)),
    (list, Form(parts=_listed(list.copy), made=_made(list))),
    (tuple, Form(parts=_tuple_parts, made=_tuple_made, mutable=False)),
    (set, Form(parts=_listed(set.copy), made=_made(set), ordered=False)),
    (
        frozenset,
        Form(parts=_listed(frozenset.copy), made=_made(frozenset), mutable=False, ordered=False),
    ),
    (deque, Form(parts=_listed(lambda value: list(deque.__iter__(value))), made=_deque_made)),
)
"""Built-in types that hold others, and how they and their quiet subclasses are read."""

VIEWS: Final[tuple[type[Any], ...]] = (type({}.keys()), type({}.values()), type({}.items()))
VIEW: Final = Form(parts=_listed(list), made=_made(list))
"""A view of a mapping is the list of what it shows."""


def _range(value: Any) -> ValueLeaf:
    return ValueLeaf({"$range": [whole(value.start), whole(value.stop), whole(value.step)]}, value)


RANGE: Final = Form(_range, mutable=False)


def buffer_form(kind: type[Any]) -> Form | None:
    """How arrays and single numbers of any library are read: through their memory, where no Python
    code shows it."""
    if overrides(kind, SHOWS):
        return None
    return Form(_numbers, made=_memory_again, copy=_copied)


def _numbers(value: Any) -> ValueLeaf:
    """What memory holds: a text where it is one, or has one in it, and numbers otherwise."""
    if type(value) is not memoryview and beside(value):
        raise Unreadable("it is a structured array: give its numbers as a list")
    with memoryview(value) as view:
        if view.nbytes > MAX_CHARS:
            raise Unreadable(f"it has more than {MAX_CHARS:,} bytes")
        data = view.tobytes()
        if type(value) is memoryview:
            whole = type(view.obj) is bytes and view.nbytes == len(view.obj)
            return text_leaf(data, value if whole else memoryview(data))
        if view.itemsize == 1 and TEXTUAL.search(data) is not None:
            return text_leaf(data, value)
        if view.itemsize and view.nbytes // view.itemsize > MAX_VALUES:
            raise Unreadable(f"it has more than {MAX_VALUES:,} values")
        return ValueLeaf(_plain(view.tolist()), value)


def _copied(value: Any) -> Any:
    """A copy of memory, made by compiled code; `MISSING` where its type has none."""
    with memoryview(value) as view:
        if view.readonly:
            return value
    if type(value) is memoryview:
        return memoryview(value.tobytes())
    copy = own(type(value)).get("__copy__", MISSING)
    return copy(value) if copy is not MISSING and is_native(copy) else MISSING


def _memory_again(value: Any, text: Any) -> Any:
    """A changed text as memory; as a text where it was an array."""
    return (
        memoryview(text.encode()) if type(value) is memoryview and isinstance(text, str) else text
    )


def _plain(held: Any) -> Any:
    match held:
        case list():
            return [_plain(one) for one in held]
        case bytes():
            return held.decode("latin-1")
        case float():
            return real(held)
        case bool():
            return held
        case _:
            return whole(held)


def is_buffer(value: Any) -> bool:
    """Whether a value shows memory with numbers in it that can be read."""
    try:
        with memoryview(value) as view:
            view[(0,) * view.ndim] if view.nbytes else None
    except (TypeError, ValueError, BufferError, NotImplementedError, IndexError):
        return False
    return True
