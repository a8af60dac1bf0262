"""From the typed tree to Python, out of a fixed set of forms and operations. Nothing of a condition
gets into the code but literals, as Python writes them, and attributes of declared names."""

from __future__ import annotations

from typing import Any, Final, assert_never

from stanchion.policy.conditions.kinds import NUMBERS, SCALARS, Type
from stanchion.policy.conditions.operations import OPERATIONS, PURSED
from stanchion.policy.conditions.paths import glob_test, inside, normal, shape
from stanchion.policy.conditions.patterns import pattern_test
from stanchion.policy.conditions.typed_tree import (
    Const,
    Core,
    Do,
    Junction,
    ListMade,
    Local,
    MacroLoop,
    MapMade,
    NameRead,
    Required,
    Selection,
)

_ORDERS: Final = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_PLAIN: Final = frozenset({str, int, bool, bytes, type(None)})
"""Types whose values are written into the code."""
_NODES_PER_STEP: Final = 16
"""How many nodes of a macro's body one step pays for."""
_PATTERN_WEIGHT: Final = 4
"""Steps for 1,024 characters that a regular expression searches, inside a macro or not."""

_TESTS: Final = {
    **dict.fromkeys(("startsWith", "starts", "any"), "{first}.startswith({text})"),
    **dict.fromkeys(("endsWith", "name_ends"), "{first}.endswith({text})"),
    "contains": "({text} in {first})",
    "is": "({first} == {text})",
    "name_is": "({first} == {text} or {value}.endswith({below}))",
    "name_starts": "({text} in {first} and {value}.startswith({text}, {value}.rfind('/') + 1))",
    "name_has": "({text} in {first} and {value}.find({text}, {value}.rfind('/') + 1) >= 0)",
}
"""Plain tests on a text: `first` stands where the text is evaluated, `value` wherever it is used
again. Where `in` says no, nothing else is asked: it is the cheapest no."""


class Emitter:
    """Writes the code of one condition; `careful` code absorbs errors as CEL does, fast code stops
    at the first."""

    def __init__(self, careful: bool) -> None:
        self.careful: Final = careful
        self.bound: dict[str, Any] = {}
        self.purse = False
        self.loops = 0
        self.nodes = 0
        self.temps = 0

    def emit(self, core: Core) -> str:
        """The code of one part."""
        self.nodes += 1
        match core:
            case Const():
                return self.const(core.value)
            case NameRead():
                return f"v.{core.attr}"
            case Local():
                return f"x{core.slot}"
            case ListMade():
                return f"[{', '.join(map(self.emit, core.items))}]"
            case MapMade():
                pairs = [(self.emit(key), self.emit(value)) for key, value in core.pairs]
                return self.call("mapped", *[f"({key}, {value})" for key, value in pairs])
            case Required():
                return self.call("given", self.emit(core.of), f"v.{core.attr}")
            case Junction():
                parts = [self.truth(part) for part in core.parts]
                if self.careful:
                    each = [f"lambda: {part}" for part in parts]
                    return self.call("joined", self.const(core.every), *each)
                return f"({(' and ' if core.every else ' or ').join(parts)})"
            case Selection():
                test = self.truth(core.test)
                return f"({self.emit(core.yes)} if {test} else {self.emit(core.no)})"
            case MacroLoop():
                return self._each(core)
            case Do():
                return self._do(core)
            case _:
                assert_never(core)

    def truth(self, core: Core) -> str:
        """The code of one part that has to be true or false."""
        code = self.emit(core)
        return (
            code if core.type.kind == "bool" and not core.type.nullable else self.call("true", code)
        )

    def const(self, value: Any) -> str:
        if type(value) in _PLAIN:
            return repr(value)
        known = f"k{len(self.bound)}"
        self.bound[known] = value
        return known

    def call(self, op: str, *args: str) -> str:
        """A call of an operation, with the purse where it takes one."""
        self.bound[f"op_{op}"] = OPERATIONS[op]
        if op in PURSED:
            self.purse = True
            args = ("p", *args)
        return f"op_{op}({', '.join(args)})"

    def weighed(self, code: str, weight: int = 1) -> str:
        """Inside a macro, the same value after paying for its length."""
        return self.call("weigh", code, str(weight)) if self.loops else code

    def _each(self, core: MacroLoop) -> str:
        over, variable = self.emit(core.over), f"x{core.slot}"
        before = self.nodes
        self.loops += 1
        tests = core.op != "map" or core.result is not None
        body = self.truth(core.body) if tests else self.emit(core.body)
        made = [body]
        if core.result is not None:
            made = [self.emit(core.result), body]
        elif core.op == "filter":
            made = [variable, body]
        self.loops -= 1
        cost = str(1 + (self.nodes - before) // _NODES_PER_STEP)
        op = "map" if core.op == "filter" else core.op
        return self.call(op, cost, over, *[f"lambda {variable}: {code}" for code in made])

    def _do(self, core: Do) -> str:
        match core.op:
            case "eq":
                return self._equal(*core.args)
            case "ne":
                return f"(not {self._equal(*core.args)})"
            case "not":
                return f"(not {self.truth(core.args[0])})"
            case "present":
                return f"({self.emit(core.args[0])} is not None)"
            case "lt" | "le" | "gt" | "ge":
                return self._ordered(core)
            case "in":
                return self._in(*core.args)
            case "startsWith" | "endsWith" | "contains" | "glob" | "under" | "matches":
                return self._text(core.op, *core.args)
            case _:
                return self.call(core.op, *map(self.emit, core.args))

    def _equal(self, left: Core, right: Core) -> str:
        if isinstance(left, Const):
            left, right = right, left
        a, b = left.type.kind, right.type.kind
        code, other = self.emit(left), self.emit(right)
        literal = isinstance(right, Const)
        if b in ("null", "bool") and literal and not isinstance(left, Const):
            return f"({code} is {other})"
        simple = isinstance(right, Const) and type(right.value) in (str, bytes)
        known = a == b and a in SCALARS
        if simple or (known and not (self.loops and a in ("string", "bytes"))):
            return f"({code} == {other})"
        return self.call("eq", code, other)

    def _ordered(self, core: Do) -> str:
        left, right = core.args
        code, other = self.emit(left), self.emit(right)
        if left.type.kind == right.type.kind and all(
            one.type.kind in NUMBERS and not one.type.nullable for one in core.args
        ):
            return f"({code} {_ORDERS[core.op]} {other})"
        return self.call(core.op, self.weighed(code), other)

    def _in(self, left: Core, right: Core) -> str:
        value = self.emit(left)
        if right.type.kind == "names":
            return self.call("in_names", value, self.emit(right))
        if isinstance(right, Const) and left.type.kind == "string":
            texts = frozenset(each for each in right.value if each is None or type(each) is str)
            return f"({value} in {self.const(texts)})"
        return self.call("in", value, self.emit(right))

    def _text(self, op: str, text: Core, other: Core) -> str:
        value = self.emit(text)
        if not isinstance(other, Const):
            weight = 512 if op == "glob" else 1
            return self.call(op, self.weighed(value, weight), self.weighed(self.emit(other)))
        kind, literal = shape(other.value) if op == "glob" else (op, other.value)
        if text.type.kind != "string" or kind in ("under", "matches", "other"):
            return self._passes(op, text.type, value, other.value)
        value = self.weighed(value) if op in ("contains", "glob") else value
        first, there = value, ""
        if text.type.nullable or "(" in value:
            value = f"t{self.temps}"
            first = f"({value} := {first})"
            self.temps += 1
        if text.type.nullable:
            there, first = f"{first} is not None and ", value
        code = _TESTS[kind].format(
            first=first, value=value, text=repr(literal), below=repr(f"/{literal}")
        )
        return f"({there}{code})" if there else code

    def _passes(self, op: str, known: Type, value: str, literal: str) -> str:
        """A test that was compiled at load, on a text that may turn out to be something else."""
        if op in ("startsWith", "endsWith", "contains"):
            return self.call(op, self.weighed(value), repr(literal))
        test: Any
        if op == "matches":
            test = pattern_test(literal)
            value = self.call("weigh", value, str(_PATTERN_WEIGHT))
        elif op == "glob":
            test, value = glob_test(literal), self.weighed(value, len(literal))
        else:
            test, value = _under(literal), self.weighed(value, 4)
        if known.kind == "string" and not known.nullable:
            return f"{self.const(test)}({value})"
        return self.call("passes", value, self.const(test))


def _under(folder: str) -> Any:
    place = normal(folder)
    return lambda path: path != "" and inside(normal(path), place)
