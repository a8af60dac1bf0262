"""Anatomy: what an object is made of, looked up so that no code of its own class runs.

Properties, `__getattr__`, `__class__`, metaclasses and the like can say anything, and take any
time. What is read here is read through descriptors of the interpreter itself.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    GeneratorType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from typing import Any, Final

from stanchion.runtime.values.type_readers import Unreadable

_MRO: Final = type.__dict__["__mro__"]
_BASE: Final = type.__dict__["__base__"]
_VARS: Final = type.__dict__["__dict__"]
_NAME: Final = type.__dict__["__qualname__"]
_MODULE: Final = type.__dict__["__module__"]
_SIZE: Final = type.__dict__["__basicsize__"]
_POINTER: Final = 8
_NATIVE: Final = (MemberDescriptorType, GetSetDescriptorType)

_COMPILED: Final = (
    *_NATIVE, WrapperDescriptorType, MethodDescriptorType, ClassMethodDescriptorType,
    BuiltinFunctionType,
)  # fmt: skip

CO_ITERABLE_COROUTINE: Final = 256
"""The mark of a generator that is a coroutine, as older code writes them."""

CACHED: Final = frozenset({"_attrs_cached_hash"})
"""Where libraries keep what follows from the other fields."""

MISSING: Final = object()


def mro_of(kind: type[Any]) -> tuple[type[Any], ...]:
    """The classes whose attributes a class has, itself first."""
    mro: tuple[type[Any], ...] = _MRO.__get__(kind)
    return mro


def own(kind: type[Any]) -> Any:
    """What a class itself defines, by name."""
    return _VARS.__get__(kind)


def defined(kind: type[Any], name: str) -> Any:
    """What the class or the nearest of its bases defines under a name; `MISSING` where none
    does."""
    for each in mro_of(kind):
        found = own(each).get(name, MISSING)
        if found is not MISSING:
            return found
    return MISSING


def is_any(kind: type[Any], kinds: Iterable[type[Any]]) -> bool:
    """Whether a class is one of these very classes; `in` would ask the class itself."""
    return any(kind is each for each in kinds)


def descends(kind: type[Any], base: type[Any]) -> bool:
    """Whether a class really has that base, whatever it says of itself."""
    return is_any(base, mro_of(kind))


def awaits(value: Any) -> bool:
    """Whether a value is something to be awaited."""
    return defined(type(value), "__await__") is not MISSING or (
        type(value) is GeneratorType and bool(value.gi_code.co_flags & CO_ITERABLE_COROUTINE)
    )


def module_of(kind: type[Any]) -> str:
    """The module that a class says it is from."""
    module = _MODULE.__get__(kind)
    return module if type(module) is str else ""


def name_of(kind: type[Any]) -> str:
    """A class's full name."""
    return f"{module_of(kind)}.{_NAME.__get__(kind)}"


def is_standard(kind: type[Any]) -> bool:
    """Whether a class is one of Python's own, and not only called like one."""
    return module_of(kind).partition(".")[0] in sys.stdlib_module_names and is_of_its_module(kind)


def is_of_its_module(kind: type[Any]) -> bool:
    """Whether a class is the one that its module has under its name, and not only called like
    it."""
    loaded = sys.modules.get(module_of(kind))
    return loaded is not None and vars(loaded).get(_NAME.__get__(kind)) is kind


def is_open(kind: type[Any]) -> bool:
    """Whether all that objects of a class hold is in their `__dict__` and slots: a class written in
    Python has no other place, one of another language may have."""
    for each in mro_of(kind):
        base = _BASE.__get__(each)
        if base is None:
            continue
        names = own(each)
        places = sum(type(item) is MemberDescriptorType for item in names.values())
        places += sum(
            type(names.get(name)) is GetSetDescriptorType for name in ("__dict__", "__weakref__")
        )
        if _SIZE.__get__(each) - _SIZE.__get__(base) > _POINTER * places:
            return False
    return True


def slots_of(kind: type[Any]) -> dict[str, Any]:
    """The slots of a class and its bases: names and the descriptors that reach them."""
    slots: dict[str, Any] = {}
    for each in reversed(mro_of(kind)):
        for name, item in own(each).items():
            if type(item) is MemberDescriptorType and name not in ("__dict__", "__weakref__"):
                slots[name] = item
    return slots


def state_of(value: Any) -> dict[str, Any] | None:
    """An object's own `__dict__`; `None` where it has none."""
    kind = type(value)
    for each in mro_of(kind):
        item = own(each).get("__dict__")
        if is_any(type(item), _NATIVE):
            try:
                state = item.__get__(value, kind)
            except (AttributeError, TypeError):
                return None
            return state if type(state) is dict else None
    return None


def held_in(value: Any) -> dict[str, Any]:
    """Everything an object holds, by name: its slots and its `__dict__`, as they are now."""
    held: dict[str, Any] = {}
    for name, slot in slots_of(type(value)).items():
        try:
            held[name] = slot.__get__(value)
        except AttributeError:
            continue
    state = state_of(value)
    if state is None:
        return held
    state = state.copy()
    if not all(type(name) is str for name in state):
        raise Unreadable("it has fields whose names are not plain strings")
    return held | state


def beside(value: Any) -> bool:
    """Whether an object of a subclass holds something beside what its built-in base does."""
    return bool(held_in(value))


def twin(value: Any, changed: dict[str, Any]) -> Any:
    """Another object of the same class with the same fields, but for those that are changed;
    `MISSING` where none can be made without running code of the class, now or when it ends."""
    kind = type(value)
    made = MISSING if defined(kind, "__del__") is not MISSING else _empty(value, kind)
    if made is MISSING:
        return MISSING
    slots = slots_of(kind)
    state = state_of(made)
    for name, item in (held_in(value) | changed).items():
        if name in slots:
            if not _put(made, name, slots[name], None if name in CACHED else item):
                return MISSING
        elif state is None:
            return MISSING
        else:
            state[name] = None if name in CACHED else item
    return made


def _empty(value: Any, kind: type[Any]) -> Any:
    """An object of that class whose fields are yet to be filled."""
    struct = sys.modules.get("msgspec")
    if struct is not None and descends(kind, struct.Struct):
        return struct.Struct.__copy__(value)
    base = SimpleNamespace if descends(kind, SimpleNamespace) else object
    try:
        return base.__new__(kind)
    except TypeError:
        return MISSING


def _put(made: Any, name: str, slot: Any, item: Any) -> bool:
    try:
        slot.__set__(made, item)
    except (AttributeError, TypeError):
        struct = sys.modules.get("msgspec")
        if struct is None or not descends(type(made), struct.Struct):
            return False
        struct.structs.force_setattr(made, name, item)
    return True


def overrides(kind: type[Any], names: frozenset[str]) -> bool:
    """Whether a class, or one of its bases that is not Python's own, defines one of these names in
    code of its own."""
    for each in mro_of(kind):
        if not is_standard(each) and any(
            name in names and not is_native(item) for name, item in own(each).items()
        ):
            return True
    return False


def is_native(item: Any) -> bool:
    """Whether what a class defines under a name is no Python code: compiled, or nothing at all."""
    return item is None or is_any(type(item), _COMPILED)
