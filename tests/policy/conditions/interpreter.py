"""A slow, direct interpreter of the parse tree: what a condition means, without types, code or
shortcuts."""

import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from stanchion.policy.conditions import syntax
from stanchion.policy.conditions.kinds import Uint

ARGUMENTS = "data"
"""The name of a call's arguments, in tests that have any."""
LOCALS = ""
"""Under this name stand the variables of macros that go over arguments."""


class Undefined(Exception):
    """An expression has no value."""


def interpret(node: syntax.Node, names: dict[str, Any]) -> Any:
    """The value of a node, given the values of dotted names; raises `Undefined`."""
    match node:
        case syntax.Literal(value=value):
            return value
        case syntax.ListOf(items=items):
            return [interpret(item, names) for item in items]
        case syntax.MapOf(pairs=pairs):
            return _map([(interpret(key, names), interpret(value, names)) for key, value in pairs])
        case syntax.BareName() | syntax.FieldAccess():
            return _read(node, names)
        case syntax.ElementAccess(of=of, key=key):
            return _element(interpret(of, names), interpret(key, names))
        case syntax.FunctionCall():
            return _call(node, names)
        case syntax.Unary(op="!", of=of):
            return not _truth(interpret(of, names))
        case syntax.Unary(of=of):
            return _sum("-", *_negated(interpret(of, names)))
        case syntax.Logic(op=op, parts=parts):
            return _joined(
                op == "&&", [partial(_tested, partial(interpret, part, names)) for part in parts]
            )
        case syntax.Ternary(test=test, yes=yes, no=no):
            return interpret(yes if _truth(interpret(test, names)) else no, names)
        case syntax.Binary(op=op, left=left, right=right):
            asks = any(isinstance(x, syntax.Literal) and x.value is None for x in (left, right))
            read = interpret if asks or op in "+-*/%" else _given
            return _binary(op, read(left, names), read(right, names))
    raise AssertionError(node)


def _given(node: syntax.Node, names: dict[str, Any]) -> Any:
    """The value of a node that is compared: there is none where a call lacks the argument."""
    value = interpret(node, names)
    if value is None and names.get(ARGUMENTS) is not None and _is_argument(node, names):
        raise Undefined("argument")
    return value


def _is_argument(node: syntax.Node, names: dict[str, Any]) -> bool:
    """Whether a node's value comes from a call's arguments."""
    parts: Sequence[syntax.Node]
    match node:
        case syntax.BareName() | syntax.FieldAccess() if (dotted := _dotted(node)) in names:
            return dotted == ARGUMENTS or dotted in names.get(LOCALS, ())
        case syntax.FieldAccess(of=of) | syntax.Unary(op="-", of=of):
            parts = (of,)
        case syntax.ElementAccess(of=of, key=key):
            parts = (of, key)
        case syntax.Ternary(yes=yes, no=no):
            parts = (yes, no)
        case syntax.Binary(op="+" | "-" | "*" | "/" | "%", left=left, right=right):
            parts = (left, right)
        case syntax.ListOf(items=items):
            parts = items
        case syntax.MapOf(pairs=pairs):
            parts = [each for pair in pairs for each in pair]
        case syntax.FunctionCall(name="filter" | "map", on=on) if on is not None:
            parts = (on,)
        case syntax.FunctionCall(name="dyn" | "size", on=on, args=args):
            parts = (*args, *([on] if on is not None else []))
        case _:
            parts = ()
    return any(_is_argument(part, names) for part in parts)


def _dotted(node: syntax.Node) -> str | None:
    match node:
        case syntax.BareName(name=name):
            return name
        case syntax.FieldAccess(of=of, name=name):
            before = _dotted(of)
            return None if before is None else f"{before}.{name}"
    return None


def _read(node: syntax.Node, names: dict[str, Any]) -> Any:
    dotted = _dotted(node)
    if dotted is not None and dotted in names:
        return names[dotted]
    if not isinstance(node, syntax.FieldAccess):
        raise Undefined(dotted)
    of = interpret(node.of, names)
    if of is None:
        return None
    if not isinstance(of, dict):
        raise Undefined("field")
    return of.get(node.name)


def _element(of: Any, key: Any) -> Any:
    if of is None and not isinstance(of, dict):
        return None
    if isinstance(of, dict):
        if not isinstance(key, str | int | float):
            raise Undefined("key")
        return next((value for each, value in of.items() if _equal(each, key)), None)
    if (
        not isinstance(of, list)
        or isinstance(key, bool)
        or not isinstance(key, int | float)
        or key != int(key)
    ):
        raise Undefined("index")
    return of[int(key)] if 0 <= key < len(of) else None


def _map(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for key, value in pairs:
        if not isinstance(key, str | int) or key in made:
            raise Undefined("key")
        made[key] = value
    return made


def _truth(value: Any) -> bool:
    if value is None:
        return False
    if not isinstance(value, bool):
        raise Undefined("truth")
    return value


def _joined(every: bool, parts: Sequence[Callable[[], bool]]) -> bool:
    """Three values: a part that decides wins, then an error, then the rest."""
    outcomes: list[bool | None] = []
    for part in parts:
        try:
            outcomes.append(part())
        except Undefined:
            outcomes.append(None)
    if (not every) in outcomes:
        return not every
    if None in outcomes:
        raise Undefined("joined")
    return every


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _equal(a: Any, b: Any) -> bool:
    if _number(a) and _number(b):
        if isinstance(a, float) or isinstance(b, float):
            return float(a) == float(b)
        return bool(a == b)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_equal(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return len(a) == len(b) and all(
            any(_equal(key, other) and _equal(value, b[other]) for other in b)
            for key, value in a.items()
        )
    return type(a) is type(b) and bool(a == b)


def _binary(op: str, a: Any, b: Any) -> Any:
    match op:
        case "==":
            return _equal(a, b)
        case "!=":
            return not _equal(a, b)
        case "in":
            if b is None:
                return False
            if not isinstance(b, list | dict):
                raise Undefined("in")
            return any(_equal(a, each) for each in b)
        case "<" | "<=" | ">" | ">=":
            return _ordered(op, a, b)
        case _:
            return _sum(op, a, b)


def _ordered(op: str, a: Any, b: Any) -> bool:
    if a is None or b is None:
        return False
    if _number(a) and _number(b):
        if isinstance(a, float) or isinstance(b, float):
            a, b = float(a), float(b)
    elif type(a) is not type(b) or not isinstance(a, str | bytes | bool):
        raise Undefined("order")
    return bool({"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op])


def _negated(value: Any) -> tuple[Any, Any]:
    if isinstance(value, float):
        return -0.0, value
    if type(value) is not int:
        raise Undefined("-")
    return 0, value


def _sum(op: str, a: Any, b: Any) -> Any:
    if type(a) is not type(b) or isinstance(a, bool) or a is None or isinstance(a, dict):
        raise Undefined(op)
    if isinstance(a, str | bytes | list):
        if op != "+":
            raise Undefined(op)
        return a + b
    if isinstance(a, float):
        return _float_sum(op, a, b)
    if op in "/%" and b == 0:
        raise Undefined("zero")
    x, y = int(a), int(b)
    quotient = math.trunc(Fraction(x, y)) if op in "/%" else 0
    value = {"+": x + y, "-": x - y, "*": x * y, "/": quotient, "%": x - quotient * y}[op]
    low, high = (0, 2**64) if isinstance(a, Uint) else (-(2**63), 2**63)
    if not low <= value < high:
        raise Undefined("overflow")
    return type(a)(value)


def _float_sum(op: str, a: float, b: float) -> float:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/" if b != 0:
            return a / b
        case "/":
            if a == 0 or math.isnan(a):
                return math.nan
            return math.inf if (math.copysign(1, a) > 0) == (math.copysign(1, b) > 0) else -math.inf
    raise Undefined(op)


def _call(node: syntax.FunctionCall, names: dict[str, Any]) -> Any:
    if node.name == "has" and isinstance(node.args[0], syntax.FieldAccess):
        return _has(node.args[0], names)
    if node.on is not None and node.name in ("exists", "all", "exists_one", "filter", "map"):
        return _macro(node, names)
    read = interpret if node.name in ("dyn", "size") else _given
    args = [
        read(each, names) for each in (*((node.on,) if node.on is not None else ()), *node.args)
    ]
    match node.name, args:
        case "dyn", [value]:
            return value
        case "size", [value]:
            if value is not None and not isinstance(value, str | bytes | list | dict):
                raise Undefined("size")
            return None if value is None else len(value)
        case (("startsWith" | "endsWith" | "contains" | "matches" | "glob" | "under"), [a, b]):
            if not isinstance(a, str | None) or not isinstance(b, str | None):
                raise Undefined(node.name)
            return a is not None and b is not None and _text(node.name, a, b)
    raise AssertionError(node.name)


def _has(field: syntax.FieldAccess, names: dict[str, Any]) -> bool:
    dotted = _dotted(field)
    if dotted in names:
        return names[dotted] is not None
    of = interpret(field.of, names)
    if of is not None and not isinstance(of, dict):
        raise Undefined("has")
    return of is not None and field.name in of


def _text(name: str, a: str, b: str) -> bool:
    match name:
        case "startsWith":
            return a[: len(b)] == b
        case "endsWith":
            return b == "" or a[-len(b) :] == b
        case "contains":
            return any(a[at : at + len(b)] == b for at in range(len(a) + 1))
        case "matches":
            return re.search(b, a) is not None
        case "glob":
            return glob(b.split("/"), a.split("/"))
    return under(a, b)


def glob(pattern: list[str], text: list[str]) -> bool:
    """Whether segments match a glob's segments, by trying everything."""
    if not pattern:
        return not text
    if pattern[0] == "**":
        least = 1 if len(pattern) == 1 else 0
        return any(glob(pattern[1:], text[at:]) for at in range(least, len(text) + 1))
    return bool(text) and _segment(pattern[0], text[0]) and glob(pattern[1:], text[1:])


def _segment(pattern: str, text: str) -> bool:
    if not pattern:
        return not text
    if pattern[0] == "*":
        return any(_segment(pattern[1:], text[at:]) for at in range(len(text) + 1))
    return bool(text) and pattern[0] in ("?", text[0]) and _segment(pattern[1:], text[1:])


def under(path: str, folder: str) -> bool:
    """Whether a path lies in a folder: both walked from where they start."""
    if not path or not folder:
        return False
    (root, steps), (other, wanted) = _walk(path), _walk(folder)
    inside = steps[: len(wanted)] == wanted and steps[len(wanted) : len(wanted) + 1] != [".."]
    return root == other and inside


def _walk(path: str) -> tuple[str, list[str]]:
    first, *rest = path.replace("\\", "/").split("/")
    rooted = first == "" or first[0] == "~" or (first[1:2] == ":" and first[0].isalpha())
    steps: list[str] = []
    for step in rest if rooted else [first, *rest]:
        if step == "..":
            if steps and steps[-1] != "..":
                steps.pop()
            elif not rooted:
                steps.append(step)
        elif step not in ("", "."):
            steps.append(step)
    return (first or "/") if rooted else "", steps


def _tested(body: Callable[[], Any]) -> bool:
    return _truth(body())


def _macro(node: syntax.FunctionCall, names: dict[str, Any]) -> Any:
    assert node.on is not None
    over = (interpret if node.name in ("filter", "map") else _given)(node.on, names)
    if over is not None and not isinstance(over, list | dict):
        raise Undefined("loop")
    variable = node.args[0]
    assert isinstance(variable, syntax.BareName)
    inner = {key: value for key, value in names.items() if key.split(".")[0] != variable.name}
    before = set(names.get(LOCALS, ())) - {variable.name}
    inner[LOCALS] = before | ({variable.name} if _is_argument(node.on, names) else set())
    bodies = [
        partial(interpret, node.args[1], {**inner, variable.name: each}) for each in over or ()
    ]
    tests = [partial(_tested, body) for body in bodies]
    match node.name:
        case "exists":
            return _joined(False, tests)
        case "all":
            return over is not None and _joined(True, tests)
        case "exists_one":
            return sum([test() for test in tests]) == 1
        case "filter":
            return (
                None
                if over is None
                else [each for each, test in zip(over, tests, strict=True) if test()]
            )
    return None if over is None else [body() for body in bodies]
