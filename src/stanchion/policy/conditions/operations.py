"""The operations of compiled conditions: what is worked out, tested, converted and looped over."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any, Final

from stanchion.kernel.names import Names
from stanchion.kernel.regex import regex
from stanchion.policy.conditions.kinds import Uint, kind_of
from stanchion.policy.conditions.limits import (
    FAILURES,
    INT_MAX,
    INT_MIN,
    UINT_MAX,
    EvaluationError,
    Purse,
    TooCostly,
    spend,
    weigh,
)
from stanchion.policy.conditions.paths import found_test, under

NUMERIC: Final = frozenset({int, float, Uint})
ORDERED: Final = NUMERIC | {str, bytes, bool}
LISTS: Final = (list, tuple)
TEXT_PER_STEP: Final = 64
"""How many characters of a new text cost one step."""

_INT: Final = regex(r"[-+]?[0-9]{1,20}")
_DOUBLE: Final = regex(
    r"[-+]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][-+]?[0-9]{1,4})?"
)
_SPECIAL: Final = {"NaN", "Infinity", "+Infinity", "-Infinity"}
_TRUTHS: Final = {
    **dict.fromkeys(("1", "t", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "false", "FALSE", "False"), False),
}

Two = Callable[[Any, Any], Any]
Body = Callable[[Any], Any]


def no_overload(what: str, *values: Any) -> EvaluationError:
    """An error that names types, never values."""
    return EvaluationError(
        f"{what} does not take {' and '.join(kind_of(value) for value in values)}"
    )


def equal(purse: Purse, left: Any, right: Any) -> bool:
    """Whether two values are equal, and all in them: numbers by value, the rest by kind."""
    waiting = [(left, right)]
    while waiting:
        a, b = waiting.pop()
        kind, other = type(a), type(b)
        spend(purse, 1)
        if kind is other and (kind is str or kind is bytes):
            spend(purse, len(a) >> 10)
            if a != b:
                return False
        elif kind in NUMERIC and other in NUMERIC:
            if kind is not other and (kind is float or other is float):
                a, b = float(a), float(b)
            if a != b:
                return False
        elif kind in LISTS and other in LISTS:
            if len(a) != len(b):
                return False
            spend(purse, len(a))
            waiting += zip(a, b, strict=True)
        elif kind is dict and other is dict:
            if len(a) != len(b):
                return False
            spend(purse, len(a))
            for key, value in a.items():
                if not has_key(b, key):
                    return False
                waiting.append((value, b[key]))
        elif kind is not other or (a is not b and a != b):
            return False
    return True


def has_key(data: dict[Any, Any], key: Any) -> bool:
    """Whether a map has a key; `true` and `1` are two, although Python keeps them as one."""
    kind = type(key)
    if kind is str:
        return key in data
    if kind is bool:
        return key in data and any(each is key for each in data)
    if kind in NUMERIC:
        return key in data and (
            key not in (0, 1) or not any(each is True or each is False for each in data)
        )
    return False


def within(purse: Purse, value: Any, data: Any) -> bool:
    """Whether a list has an element, a map a key, a set of names a name; nothing is in null."""
    kind = type(data)
    if kind is dict:
        return has_key(data, value)
    if kind in LISTS:
        return any(equal(purse, value, each) for each in data)
    if data is None:
        return False
    if kind is Names:
        return type(value) is str and value in data
    raise EvaluationError(f"nothing is in a {kind_of(data)}")


def in_names(value: Any, names: Names | None) -> bool:
    """Whether a set of names has a name."""
    return names is not None and type(value) is str and (value in names.exact or value in names)


def whole(value: int) -> int:
    """A signed number that fits into 64 bits."""
    if INT_MIN <= value <= INT_MAX:
        return value
    raise EvaluationError("the number does not fit into 64 bits")


def natural(value: int) -> Uint:
    """An unsigned number that fits into 64 bits."""
    if 0 <= value <= UINT_MAX:
        return Uint(value)
    raise EvaluationError("the number does not fit into 64 bits without a sign")


def add(purse: Purse, a: Any, b: Any) -> Any:
    """`a + b` of numbers, texts, bytes or lists."""
    kind = type(a)
    if kind in LISTS and type(b) in LISTS:
        spend(purse, len(a) + len(b))
        return [*a, *b]
    if kind is type(b) and (kind is str or kind is bytes):
        spend(purse, 1 + (len(a) + len(b)) // TEXT_PER_STEP)
        return a + b
    return _sum(a, b)


def _of_numbers(sign: str, work: Two) -> Two:
    """What two numbers of one type come to, as a number of that type."""

    def number(a: Any, b: Any) -> Any:
        kind = type(a)
        if kind is not type(b) or kind not in NUMERIC:
            raise no_overload(f"`{sign}`", a, b)
        made = work(a, b)
        return made if kind is float else whole(made) if kind is int else natural(made)

    return number


def _quotient(a: Any, b: Any) -> Any:
    """Whole numbers are cut towards zero, doubles know infinity."""
    if type(a) is float:
        if b != 0.0:
            return a / b
        return (
            math.nan if a == 0.0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)
        )
    if b == 0:
        raise EvaluationError("a number was divided by zero")
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _rest(a: Any, b: Any) -> Any:
    """What is left of whole numbers, with the sign of the first."""
    if type(a) is float:
        raise no_overload("`%`", a, b)
    if b == 0:
        raise EvaluationError("a number was divided by zero")
    rest = abs(a) % abs(b)
    return -rest if a < 0 else rest


_sum: Final = _of_numbers("+", operator.add)


def neg(a: Any) -> Any:
    """`-a` of an int or a double."""
    if type(a) is int:
        return whole(-a)
    if type(a) is float:
        return -a
    raise no_overload("`-`", a)


def _ordered(*wanted: int) -> Two:
    """A comparison: true where the first is less (-1), equal (0) or greater (1), as is wanted;
    false where one is null or not a number. A double and a whole number are compared as doubles,
    as CEL does it."""

    def compared(a: Any, b: Any) -> bool:
        kind, other = type(a), type(b)
        if kind is not other and kind in NUMERIC and other in NUMERIC:
            if kind is float or other is float:
                a, b = float(a), float(b)
        elif kind is not other or kind not in ORDERED:
            if a is None or b is None:
                return False
            raise no_overload("a comparison", a, b)
        return (-1 if a < b else 1 if a > b else 0 if a == b else None) in wanted

    return compared


def get(data: Any, name: str) -> Any:
    """A field; null where it or what it is read from is missing."""
    if type(data) is dict:
        return data.get(name)
    if data is None:
        return None
    raise no_overload(f"the field `{name}`", data)


def at(data: Any, key: Any) -> Any:
    """An element; null where there is none."""
    if type(data) is dict:
        if type(key) is str:
            return data.get(key)
        if type(key) not in (int, float, bool, Uint):
            raise no_overload("a key", key)
        return data[key] if has_key(data, key) else None
    if data is None:
        return None
    if type(data) not in LISTS:
        raise no_overload("`[…]`", data)
    if type(key) is float and key.is_integer():
        key = int(key)
    if type(key) is not int and type(key) is not Uint:
        raise no_overload("an element's number", key)
    return data[key] if 0 <= key < len(data) else None


def has(data: Any, name: str) -> bool:
    """Whether a map has a field."""
    if type(data) is dict:
        return name in data
    if data is None:
        return False
    raise no_overload(f"the field `{name}`", data)


def given(value: Any, arguments: Any) -> Any:
    """What is made of a call's arguments, for what needs a value; null stays null only where the
    event is of no call."""
    if value is None and arguments is not None:
        raise EvaluationError("an argument is missing or null")
    return value


def size(data: Any) -> int | None:
    """How many characters, bytes, elements or keys there are; null has no size."""
    if type(data) in (str, bytes, list, tuple, dict):
        return len(data)
    if data is None:
        return None
    raise no_overload("`size`", data)


def true(value: Any) -> bool:
    """A truth value; null counts as false."""
    if value is True or value is False:
        return bool(value)
    if value is None:
        return False
    raise no_overload("a truth value", value)


def mapped(*pairs: tuple[Any, Any]) -> dict[Any, Any]:
    """A map of pairs whose keys are all different."""
    made: dict[Any, Any] = {}
    for key, value in pairs:
        if type(key) not in (str, int, bool, Uint):
            raise no_overload("a key", key)
        if key in made:
            raise no_overload("a map with that key twice", key)
        made[key] = value
    return made


def _to_integer(
    name: str, kind: type[int], fits: Callable[[int], int], least: int, most: int
) -> Body:
    """A number or digits as a whole number of a kind; null stays null."""

    def converted(value: Any) -> Any:
        own = type(value)
        if value is None or own is kind:
            return value
        if (
            own in (int, Uint)
            or (own is float and least <= value < most)
            or (own is str and _INT.fullmatch(value))
        ):
            return fits(int(value))
        raise no_overload(f"`{name}`, which needs a number in range,", value)

    return converted


def to_double(value: Any) -> float | None:
    """A number or its text as a double."""
    if value is None:
        return None
    if type(value) in NUMERIC or (
        type(value) is str and (value in _SPECIAL or _DOUBLE.fullmatch(value))
    ):
        return float(value)
    raise no_overload("`double`, which needs a number,", value)


def to_string(purse: Purse, value: Any) -> str | None:
    """A scalar as text."""
    kind = type(value)
    if value is None or kind is str:
        return value  # type: ignore[no-any-return]  # None or str, as just tested
    if kind is bool:
        return "true" if value else "false"
    if kind is int or kind is Uint:
        return str(int(value))
    if kind is float:
        if not math.isfinite(value):
            return "NaN" if value != value else "+Inf" if value > 0 else "-Inf"
        return str(int(value)) if value.is_integer() and abs(value) < 1e21 else repr(value)
    if kind is bytes:
        spend(purse, 1 + len(value) // TEXT_PER_STEP)
        try:
            return str(value, "utf-8")
        except UnicodeDecodeError:
            raise EvaluationError("the bytes are not UTF-8") from None
    raise no_overload("`string`", value)


def to_bytes(purse: Purse, value: Any) -> bytes | None:
    """A text as UTF-8."""
    if value is None or type(value) is bytes:
        return value
    if type(value) is str:
        spend(purse, 1 + len(value) // TEXT_PER_STEP)
        return value.encode()
    raise no_overload("`bytes`", value)


def to_bool(value: Any) -> bool | None:
    """A truth value, or the text of one."""
    if value is None or type(value) is bool:
        return value
    if type(value) is str and value in _TRUTHS:
        return _TRUTHS[value]
    raise no_overload("`bool`, which needs true or false,", value)


def itself(value: Any) -> Any:
    return value


def _of_texts(name: str, test: Two) -> Two:
    """A test on two texts whose types were not known at load; null does not pass it."""

    def tested(a: Any, b: Any) -> bool:
        if type(a) is str and type(b) is str:
            return bool(test(a, b))
        if (a is None or type(a) is str) and (b is None or type(b) is str):
            return False
        raise no_overload(f"`{name}`", a, b)

    return tested


def _fits_glob(text: str, pattern: str) -> bool:
    return found_test(pattern)(text)


def passes(text: Any, test: Callable[[str], bool]) -> bool:
    """Whether a text passes a test that was compiled at load; null does not."""
    if type(text) is str:
        return test(text)
    if text is None:
        return False
    raise no_overload("a pattern", text)


def _elements(data: Any) -> Iterable[Any] | None:
    if type(data) in (list, tuple, dict):
        return data  # type: ignore[no-any-return]  # one of the three, as just tested
    if data is None:
        return None
    raise no_overload("a loop", data)


def kept_of(
    purse: Purse, cost: int, data: Any, body: Body, test: Body | None = None
) -> list[Any] | None:
    """A value for each element that passes. Each costs a step, with a large body more."""
    found = _elements(data)
    if found is None:
        return None
    made = []
    for each in found:
        spend(purse, cost)
        if test is None or test(each):
            made.append(body(each))
    return made


def exists_one(purse: Purse, cost: int, data: Any, test: Body) -> bool:
    """Whether exactly one element passes."""
    kept = kept_of(purse, cost, data, itself, test)
    return kept is not None and len(kept) == 1


def exists(purse: Purse, cost: int, data: Any, test: Body) -> bool:
    """Whether one element passes; an error in one does not hide that another does."""
    return _until(purse, cost, _elements(data) or (), test, True)


def all_pass(purse: Purse, cost: int, data: Any, test: Body) -> bool:
    """Whether every element passes, as `exists`; nothing is true of a list that is missing."""
    found = _elements(data)
    return found is not None and _until(purse, cost, found, test, False)


def joined(every: bool, *parts: Callable[[], bool]) -> bool:
    """All parts, or one of them; an error in one does not hide that another decides."""
    return _until([len(parts)], 1, parts, lambda part: part(), not every)


def _until(purse: Purse, cost: int, found: Iterable[Any], test: Body, wanted: bool) -> bool:
    failed: Exception | None = None
    for each in found:
        spend(purse, cost)
        try:
            if bool(test(each)) is wanted:
                return wanted
        except TooCostly:
            raise
        except FAILURES as error:
            failed = error
    if failed is not None:
        raise failed
    return not wanted


PURSED: Final[dict[str, Any]] = {
    "eq": equal,
    "in": within,
    "add": add,
    "string": to_string,
    "bytes": to_bytes,
    "weigh": weigh,
    "exists": exists,
    "all": all_pass,
    "exists_one": exists_one,
    "map": kept_of,
}
"""Operations whose cost grows with their data; they take the purse first."""

OPERATIONS: Final[dict[str, Any]] = {
    **PURSED,
    "get": get,
    "at": at,
    "has": has,
    "given": given,
    "size": size,
    "true": true,
    "in_names": in_names,
    "mapped": mapped,
    "lt": _ordered(-1),
    "le": _ordered(-1, 0),
    "gt": _ordered(1),
    "ge": _ordered(0, 1),
    "sub": _of_numbers("-", operator.sub),
    "mul": _of_numbers("*", operator.mul),
    "div": _of_numbers("/", _quotient),
    "mod": _of_numbers("%", _rest),
    "neg": neg,
    "int": _to_integer("int", int, whole, INT_MIN + 1, INT_MAX),
    "uint": _to_integer("uint", Uint, natural, 0, UINT_MAX),
    "double": to_double,
    "bool": to_bool,
    "dyn": itself,
    "startsWith": _of_texts("startsWith", str.startswith),
    "endsWith": _of_texts("endsWith", str.endswith),
    "contains": _of_texts("contains", operator.contains),
    "under": _of_texts("under", under),
    "glob": _of_texts("glob", _fits_glob),
    "passes": passes,
    "joined": joined,
}
"""Every operation, by the name that the typed tree has for it."""
