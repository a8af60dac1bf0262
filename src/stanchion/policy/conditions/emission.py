"""From the typed tree to a Python syntax tree, out of a fixed set of nodes and operations."""

from __future__ import annotations

import ast
from typing import Any, Final, assert_never

from stanchion.policy.conditions import (
    arithmetic,
    conversions as converting,
    costs,
    equality,
    macros as looping,
    missing as reading,
    texts,
)
from stanchion.policy.conditions.core import (
    Chosen,
    Const,
    Core,
    Do,
    Each,
    Joined,
    Listed,
    Local,
    Mapped,
    Read,
    Required,
)
from stanchion.policy.conditions.globs import glob_test, shape
from stanchion.policy.conditions.kinds import NUMBERS, SCALARS, Type
from stanchion.policy.conditions.paths import inside, normal
from stanchion.policy.conditions.patterns import pattern_test
from stanchion.policy.conditions.snippets import (
    AT,
    compared,
    function,
    name,
    negated,
    text_test,
    tuple_of,
)

PURSED: Final[dict[str, Any]] = {
    "eq": equality.equal,
    "in": equality.within,
    "add": arithmetic.add,
    "string": converting.to_string,
    "bytes": converting.to_bytes,
    "weigh": costs.weigh,
    "exists": looping.exists,
    "all": looping.all_pass,
    "exists_one": looping.exists_one,
    "filter": looping.filtered,
    "map": looping.transformed,
    "exists_careful": looping.exists_careful,
    "all_careful": looping.all_careful,
}
"""Operations whose cost grows with their data; they take the purse first."""

PLAIN: Final[dict[str, Any]] = {
    "get": reading.get,
    "at": reading.at,
    "has": reading.has,
    "given": reading.given,
    "size": reading.size,
    "true": reading.true,
    "in_names": reading.in_names,
    "mapped": reading.mapped,
    "lt": arithmetic.lt,
    "le": arithmetic.le,
    "gt": arithmetic.gt,
    "ge": arithmetic.ge,
    "sub": arithmetic.sub,
    "mul": arithmetic.mul,
    "div": arithmetic.div,
    "mod": arithmetic.mod,
    "neg": arithmetic.neg,
    "int": converting.to_int,
    "uint": converting.to_uint,
    "double": converting.to_double,
    "bool": converting.to_bool,
    "dyn": converting.dyn,
    "startsWith": texts.starts,
    "endsWith": texts.ends,
    "contains": texts.contains,
    "under": texts.under,
    "glob": texts.glob,
    "passes": texts.passes,
    "joined": looping.joined,
}

OPERATIONS: Final[dict[str, Any]] = {**PURSED, **PLAIN}


_LOAD: Final = ast.Load()
_ORDERS: Final[dict[str, type[ast.cmpop]]] = {
    "lt": ast.Lt,
    "le": ast.LtE,
    "gt": ast.Gt,
    "ge": ast.GtE,
}
_PLAIN: Final = frozenset({str, int, float, bool, bytes, frozenset, type(None)})
_NODES_PER_STEP: Final = 16
"""How many nodes of a macro's body one step pays for."""
_PATTERN_WEIGHT: Final = 4
"""Steps for 1,024 characters that a regular expression searches, inside a macro or not."""


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

    def emit(self, core: Core) -> ast.expr:
        """The code of one part."""
        self.nodes += 1
        match core:
            case Const():
                return self.const(core.value)
            case Read():
                return ast.Attribute(value=name("v"), attr=core.attr, ctx=_LOAD, **AT)
            case Local():
                return name(f"x{core.slot}")
            case Listed():
                return ast.List(elts=[self.emit(item) for item in core.items], ctx=_LOAD, **AT)
            case Mapped():
                return self.call(
                    "mapped",
                    *(tuple_of([self.emit(key), self.emit(value)]) for key, value in core.pairs),
                )
            case Required():
                arguments = ast.Attribute(value=name("v"), attr=core.attr, ctx=_LOAD, **AT)
                return self.call("given", self.emit(core.of), arguments)
            case Joined():
                return self._joined(core)
            case Chosen():
                return ast.IfExp(
                    test=self.truth(core.test),
                    body=self.emit(core.yes),
                    orelse=self.emit(core.no),
                    **AT,
                )
            case Each():
                return self._each(core)
            case Do():
                return self._do(core)
            case _:
                assert_never(core)

    def truth(self, core: Core) -> ast.expr:
        """The code of one part that has to be true or false."""
        code = self.emit(core)
        return (
            code if core.type.kind == "bool" and not core.type.nullable else self.call("true", code)
        )

    def const(self, value: Any) -> ast.expr:
        if type(value) in _PLAIN:
            return ast.Constant(value=value, **AT)
        known = f"k{len(self.bound)}"
        self.bound[known] = value
        return name(known)

    def call(self, op: str, *args: ast.expr) -> ast.expr:
        """A call of an operation, with the purse where it takes one."""
        given = list(args)
        self.bound[f"op_{op}"] = OPERATIONS[op]
        if op in PURSED:
            self.purse = True
            given = [name("p"), *given]
        return ast.Call(func=name(f"op_{op}"), args=given, keywords=[], **AT)

    def weighed(self, code: ast.expr, weight: int = 1) -> ast.expr:
        """Inside a macro, the same value after paying for its length."""
        return self.call("weigh", code, self.const(weight)) if self.loops else code

    def _joined(self, core: Joined) -> ast.expr:
        parts = [self.truth(part) for part in core.parts]
        if self.careful:
            return self.call(
                "joined", self.const(core.every), tuple_of([function([], part) for part in parts])
            )
        return ast.BoolOp(op=ast.And() if core.every else ast.Or(), values=parts, **AT)

    def _each(self, core: Each) -> ast.expr:
        over = self.emit(core.over)
        before = self.nodes
        self.loops += 1
        tests = core.op != "map" or core.result is not None
        body = self.truth(core.body) if tests else self.emit(core.body)
        result = None if core.result is None else self.emit(core.result)
        self.loops -= 1
        cost = self.const(1 + (self.nodes - before) // _NODES_PER_STEP)
        variable = [f"x{core.slot}"]
        code = [function(variable, body)]
        if result is not None:
            code.insert(0, function(variable, result))
        op = f"{core.op}_careful" if self.careful and core.op in ("exists", "all") else core.op
        return self.call(op, cost, over, *code)

    def _do(self, core: Do) -> ast.expr:
        match core.op:
            case "eq":
                return self._equal(*core.args)
            case "ne":
                return negated(self._equal(*core.args))
            case "not":
                return negated(self.truth(core.args[0]))
            case "dyn":
                return self.emit(core.args[0])
            case "present":
                return compared(self.emit(core.args[0]), ast.IsNot(), self.const(None))
            case "lt" | "le" | "gt" | "ge":
                return self._ordered(core)
            case "in":
                return self._in(*core.args)
            case "startsWith" | "endsWith" | "contains" | "glob" | "under" | "matches":
                return self._text(core.op, *core.args)
            case _:
                return self.call(core.op, *(self.emit(arg) for arg in core.args))

    def _equal(self, left: Core, right: Core) -> ast.expr:
        if isinstance(left, Const):
            left, right = right, left
        a, b = left.type.kind, right.type.kind
        codes = self.emit(left), self.emit(right)
        if (
            right.type.kind in ("null", "bool")
            and isinstance(right, Const)
            and not isinstance(codes[0], ast.Constant)
        ):
            return compared(codes[0], ast.Is(), codes[1])
        simple = isinstance(right, Const) and type(right.value) in (str, bytes)
        known = a == b and a in SCALARS
        if simple or (known and not (self.loops and a in ("string", "bytes"))):
            return compared(codes[0], ast.Eq(), codes[1])
        return self.call("eq", *codes)

    def _ordered(self, core: Do) -> ast.expr:
        left, right = core.args
        codes = self.emit(left), self.emit(right)
        if (
            left.type.kind == right.type.kind
            and _sure(left.type, NUMBERS)
            and _sure(right.type, NUMBERS)
        ):
            return compared(codes[0], _ORDERS[core.op](), codes[1])
        return self.call(core.op, self.weighed(codes[0]), codes[1])

    def _in(self, left: Core, right: Core) -> ast.expr:
        value = self.emit(left)
        if right.type.kind == "names":
            return self.call("in_names", value, self.emit(right))
        if isinstance(right, Const) and left.type.kind == "string":
            texts = frozenset(each for each in right.value if each is None or type(each) is str)
            return compared(value, ast.In(), self.const(texts))
        return self.call("in", value, self.emit(right))

    def _text(self, op: str, text: Core, other: Core) -> ast.expr:
        value = self.emit(text)
        if not isinstance(other, Const):
            return self.call(
                op, self.weighed(value, 512 if op == "glob" else 1), self.weighed(self.emit(other))
            )
        if (
            text.type.kind != "string"
            or op in ("under", "matches")
            or (op == "glob" and shape(other.value)[0] == "other")
        ):
            return self._passes(op, text.type, value, other.value)
        if op == "contains" or op == "glob":
            value = self.weighed(value)
        if not text.type.nullable and isinstance(value, ast.Attribute | ast.Name):
            return text_test(op, value, value, other.value)
        temp = f"t{self.temps}"
        self.temps += 1
        stored = ast.NamedExpr(target=ast.Name(id=temp, ctx=ast.Store(), **AT), value=value, **AT)
        if not text.type.nullable:
            return text_test(op, stored, name(temp), other.value)
        there = compared(stored, ast.IsNot(), self.const(None))
        return ast.BoolOp(
            op=ast.And(), values=[there, text_test(op, name(temp), name(temp), other.value)], **AT
        )

    def _passes(self, op: str, known: Type, value: ast.expr, literal: str) -> ast.expr:
        """A test that was compiled at load, on a text that may turn out to be something else."""
        if op in ("startsWith", "endsWith", "contains"):
            return self.call(op, self.weighed(value), self.const(literal))
        test: Any
        if op == "matches":
            test = pattern_test(literal)
            value = self.call("weigh", value, self.const(_PATTERN_WEIGHT))
        elif op == "glob":
            test, value = glob_test(literal), self.weighed(value, len(literal))
        else:
            test, value = _under(literal), self.weighed(value, 4)
        if known.kind == "string" and not known.nullable:
            return ast.Call(func=self.const(test), args=[value], keywords=[], **AT)
        return self.call("passes", value, self.const(test))


def _under(folder: str) -> Any:
    place = normal(folder)
    return lambda path: path != "" and inside(normal(path), place)


def _sure(known: Type, kinds: frozenset[str]) -> bool:
    return known.kind in kinds and not known.nullable
