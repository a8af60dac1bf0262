"""The types of fields: a value is held to them when it is made, and a mistake is named by its
field."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, NamedTuple, get_args, get_origin, get_type_hints

import msgspec

from stanchion.dialects.errors import DialectError
from stanchion.policy.nearest import hint
from stanchion.typed import convert

SHOWN: Final = 60
"""How many characters of a wrong value are shown."""
LISTS: Final = {tuple, frozenset}
WORDS: Final = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    dict: "a dict",
}
"""How a type is called to somebody who gave another one."""


class Field(NamedTuple):
    """A field: the types that fit as they are, its whole type, and how that is called."""

    name: str
    plain: frozenset[type]
    whole: Any
    called: str


def typed(made: msgspec.Struct, *names: str) -> None:
    """Hold a value to the types of its fields, or of those named. A list is taken for a tuple, a
    word for the member that it names; everything else raises `DialectError` with the names of the
    value and its field."""
    kinds = (type(made), *[_kind(one) for one in msgspec.structs.astuple(made)])
    if kinds in _fit:
        return
    fit = True
    for one in _fields(type(made)):
        given = getattr(made, one.name)
        if _kind(given) not in one.plain and (not names or one.name in names):
            fit = False
            msgspec.structs.force_setattr(
                made, one.name, _taken(f"{type(made).__name__}.{one.name}", one, given)
            )
    if fit:
        _fit.add(kinds)


class Nothing:
    """The kind of an empty tuple, which fits wherever a tuple does."""


def _kind(given: Any) -> type:
    return Nothing if given is EMPTY else type(given)


EMPTY: Final[tuple[()]] = ()
_fit: set[tuple[type, ...]] = set()
"""Types of values, each with those of its fields, that fit as they are."""


def one_text(name: str, given: Any) -> None:
    """Raise where something that is meant to be a text is none, or an empty one."""
    if not isinstance(given, str) or not given:
        raise DialectError(f"{name} is {shown(given)}: give a text")


def shown(given: Any) -> str:
    """A wrong value as it stands in a message: a text, a number or nothing itself, anything else by
    its type."""
    if isinstance(given, str | int | float | NoneType):
        said = str(given)
        return f"`{said if len(said) <= SHOWN else said[:SHOWN] + '…'}`"
    return f"`{type(given).__name__}`"


def _taken(name: str, field: Field, given: Any) -> Any:
    try:
        return convert(given, field.whole, _as_it_is)
    except (msgspec.ValidationError, NotImplementedError, TypeError):
        pass
    kinds = [getattr(one, "__origin__", one) for one in _kinds(field.whole)]
    words = [word for one in _kinds(field.whole) for word in _words(one)]
    if words:
        raise DialectError(f"{name} is {shown(given)}: {hint(str(given), words)}")
    if isinstance(given, str) and not LISTS.isdisjoint(kinds):
        raise DialectError(f'{name} is a text: write `("{given}",)`')
    raise DialectError(f"{name} is {shown(given)}: give {field.called}")


@lru_cache
def _fields(kind: type[msgspec.Struct]) -> tuple[Field, ...]:
    hints = get_type_hints(kind)
    made = []
    for name in kind.__struct_fields__:
        kinds = _kinds(hints[name])
        plain = frozenset(
            [one for one in kinds if isinstance(one, type) and get_origin(one) is None]
        )
        called = " or ".join([_called(one) for one in kinds if one is not NoneType])
        plain |= {int} if float in plain else frozenset()
        plain |= {Nothing} if any(get_origin(one) is tuple for one in kinds) else frozenset()
        made.append(Field(name, plain | _as_given(hints[name]), hints[name], called))
    return tuple(made)


def _kinds(whole: Any) -> tuple[Any, ...]:
    return get_args(whole) if get_origin(whole) is UnionType else (whole,)


def _as_given(whole: Any) -> frozenset[type]:
    """Mappings of anything by texts are looked at no further."""
    return frozenset([dict]) if dict[str, Any] in _kinds(whole) else frozenset()


def _called(kind: Any) -> str:
    if kind in WORDS:
        return WORDS[kind]
    origin = getattr(kind, "__origin__", kind)
    if origin in LISTS:
        inner = get_args(kind)[0]
        return f"a {'tuple' if origin is tuple else 'set'} of {_several(inner)}"
    if origin is dict:
        return "a dict"
    if kind is re.Pattern or origin is re.Pattern:
        return "a compiled pattern"
    return f"a {kind.__name__}" if isinstance(kind, type) else "another value"


def _words(kind: Any) -> list[Any]:
    """The words that a field takes, where it takes no others."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [one.value for one in kind]
    return list(get_args(kind)) if get_origin(kind) is Literal else []


def _several(kind: Any) -> str:
    return "texts" if kind is str else f"{kind.__name__}s" if isinstance(kind, type) else "values"


def _as_it_is(kind: Any, given: Any) -> Any:
    """Values of other libraries' types are taken as they are, where they are of that type."""
    if isinstance(given, getattr(kind, "__origin__", kind)):
        return given
    raise NotImplementedError
