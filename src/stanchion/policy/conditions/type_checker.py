"""From the parse tree to the typed tree: names resolved, types checked, operations chosen."""

from __future__ import annotations

from typing import Final, assert_never

from stanchion.kernel.declared import FORMER
from stanchion.policy.conditions import syntax
from stanchion.policy.conditions.kinds import (
    BOOL,
    DYN,
    NUMBERS,
    STRING,
    Type,
    article,
    join,
    list_of,
    map_of,
    scalar_type,
)
from stanchion.policy.conditions.limits import ConditionError
from stanchion.policy.conditions.paths import glob_fault
from stanchion.policy.conditions.patterns import pattern_fault
from stanchion.policy.conditions.syntax import error
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
    parts_of,
)
from stanchion.policy.conditions.vocabulary import (
    FUNCTIONS,
    MACROS,
    LanguageFunction,
    Vocabulary,
    attribute,
)
from stanchion.policy.nearest import hint

_COMPARISONS: Final = {"==": "eq", "!=": "ne"}
_ORDERS: Final = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_SUMS: Final = {"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "mod"}
_ORDERED: Final = frozenset({"string", "bytes", "bool"})
_FREE: Final = frozenset({"dyn", "null"})


class TypeChecker:
    """One pass over one parse tree."""

    def __init__(self, names: Vocabulary) -> None:
        self.names: Final = names
        self.locals: list[tuple[str, Local]] = []

    def check(self, node: syntax.Node) -> Core:
        """The typed form of a node; raises `ConditionError`."""
        match node:
            case syntax.Literal():
                return Const(scalar_type(node.value), node.value)
            case syntax.ListOf():
                return self._list(node)
            case syntax.MapOf():
                return self._map(node)
            case syntax.BareName():
                return self._word(node)
            case syntax.FieldAccess():
                return self._field(node)
            case syntax.ElementAccess():
                return self._index(node)
            case syntax.FunctionCall():
                return check_call(self, node)
            case syntax.Unary():
                return self._unary(node)
            case syntax.Binary():
                return self._binary(node)
            case syntax.Logic():
                parts = tuple(self.truth(part) for part in node.parts)
                return Junction(BOOL, node.op == "&&", parts)
            case syntax.Ternary():
                test, yes, no = self.truth(node.test), self.check(node.yes), self.check(node.no)
                return Selection(join([yes.type, no.type]), test, yes, no)
            case _:
                assert_never(node)

    def truth(self, node: syntax.Node) -> Core:
        """The typed form of a node that has to be true or false."""
        core = self.check(node)
        if core.type.kind not in ("bool", "dyn"):
            raise error(
                node,
                f"this is {article(core.type)}, and a truth value is needed: compare it, as in `x "
                f"== y`",
            )
        return core

    def given(self, core: Core) -> Core:
        """A part that is compared: one that is made of a call's arguments fails where they lack
        it, because a rule about what is not there must not pass."""
        if not self.lacks(core):
            return core
        return Required(core.type, core, attribute(self.names.arguments))

    def lacks(self, core: Core) -> bool:
        """Whether a part may be null because a call's arguments lack something."""
        match core:
            case NameRead():
                return core.name == self.names.arguments
            case Local():
                return core.argument
            case Selection():
                return self.lacks(core.yes) or self.lacks(core.no)
            case MacroLoop():
                return self.lacks(core.over)
            case _:
                return core.type != BOOL and any(self.lacks(part) for part in parts_of(core))

    def declared(self, node: syntax.Node) -> Core | None:
        """The longest declared name that a chain of fields spells; `None` where the chain is no
        name."""
        dotted = self._dotted(node)
        if dotted is None:
            return None
        found = self.names.words.get(dotted)
        return None if found is None else NameRead(found, dotted, attribute(dotted))

    def _dotted(self, node: syntax.Node) -> str | None:
        fields: list[str] = []
        while isinstance(node, syntax.FieldAccess):
            fields.append(node.name)
            node = node.of
        if not isinstance(node, syntax.BareName) or any(
            name == node.name for name, _ in self.locals
        ):
            return None
        return ".".join([node.name, *reversed(fields)])

    def _word(self, node: syntax.BareName) -> Core:
        for name, local in reversed(self.locals):
            if name == node.name:
                return local
        found = self.declared(node)
        if found is None:
            raise self._unknown(node, node.name)
        return found

    def _field(self, node: syntax.FieldAccess) -> Core:
        found = self.declared(node)
        if found is not None:
            return found
        dotted = self._dotted(node)
        if dotted is not None:
            first = dotted.partition(".")[0]
            if (
                self._dotted(node.of) in self.names.groups
                or first not in self.names.groups | self.names.words.keys()
            ):
                raise self._unknown(node, dotted)
        of = self.check(node.of)
        if of.type.kind not in ("map", "dyn", "null"):
            raise error(
                node,
                f"`{node.name}` cannot be read: the value before the dot is {article(of.type)}",
            )
        item = DYN if of.type.item is None else of.type.item.or_null()
        return Do(item, "get", (of, Const(STRING, node.name)))

    def _unknown(self, node: syntax.Node, dotted: str) -> ConditionError:
        if dotted in self.names.groups:
            first = next(word for word in self.names.words if word.startswith(f"{dotted}."))
            return error(node, f"`{dotted}` is a group of names: say which one, as in `{first}`")
        near = self.names.nearest(dotted)
        instead = (
            f"did you mean `{near}`?"
            if near is not None
            else "see the names that conditions may read"
        )
        if "." not in dotted and (near is None or near.rpartition(".")[2] != dotted):
            instead = f"a text is written in quotes, as `'{dotted[:40]}'`" + (
                f"; or {instead}" if near else ""
            )
        return error(node, f"`{dotted[:80]}` is not a known name: {instead}")

    def _index(self, node: syntax.ElementAccess) -> Core:
        of, key = self.check(node.of), self.check(node.key)
        kind = of.type.kind
        if kind not in ("list", "map", "dyn", "null"):
            raise error(node, f"{article(of.type)} has no elements: use `[…]` on a list or a map")
        if kind == "list" and key.type.kind not in NUMBERS | {"dyn"}:
            raise error(
                node.key, f"a list has no element number {article(key.type)}: write a whole number"
            )
        item = DYN if of.type.item is None else of.type.item.or_null()
        return Do(item, "at", (of, key))

    def _list(self, node: syntax.ListOf) -> Core:
        items = tuple(self.check(item) for item in node.items)
        known = list_of(join([item.type for item in items]))
        if all(isinstance(item, Const) for item in items):
            return Const(known, tuple(item.value for item in items if isinstance(item, Const)))
        return ListMade(known, items)

    def _map(self, node: syntax.MapOf) -> Core:
        pairs = tuple((self.check(key), self.check(value)) for key, value in node.pairs)
        seen: set[object] = set()
        for (key, _), (written, _) in zip(pairs, node.pairs, strict=True):
            if key.type.kind not in ("string", "int", "uint", "bool", "dyn"):
                raise error(
                    written,
                    f"a key cannot be {article(key.type)}: use a text, a whole number or a truth "
                    f"value",
                )
            if isinstance(key, Const):
                if key.value in seen:
                    raise error(
                        written,
                        "the key is there twice (`true` and `1` count as one): leave one out",
                    )
                seen.add(key.value)
        return MapMade(map_of(join([value.type for _, value in pairs])), pairs)

    def _unary(self, node: syntax.Unary) -> Core:
        if node.op == "!":
            return Do(BOOL, "not", (self.truth(node.of),))
        of = self.check(node.of)
        if of.type.kind not in ("int", "double", "dyn"):
            raise error(
                node, f"`-` cannot be used before {article(of.type)}: use it on an int or a double"
            )
        return Do(of.type if of.type.kind == "dyn" else Type(of.type.kind), "neg", (of,))

    def _binary(self, node: syntax.Binary) -> Core:
        left, right = self.check(node.left), self.check(node.right)
        if node.op in _SUMS:
            kinds = {left.type.kind, right.type.kind} - {"dyn"}
            return Do(self._sum(node, kinds, left, right), _SUMS[node.op], (left, right))
        if not _is_null(left) and not _is_null(right):
            left, right = self.given(left), self.given(right)
        if node.op == "in":
            return self._in(node, left, right)
        if node.op in _COMPARISONS:
            self._comparable(node, left, right)
            return Do(BOOL, _COMPARISONS[node.op], (left, right))
        kinds = {left.type.kind, right.type.kind} - {"dyn"}
        if not (kinds <= NUMBERS or (len(kinds) == 1 and kinds <= _ORDERED)):
            raise self._no_overload(node, left, right)
        return Do(BOOL, _ORDERS[node.op], (left, right))

    def _sum(self, node: syntax.Binary, kinds: set[str], left: Core, right: Core) -> Type:
        wanted = {"+": NUMBERS | {"string", "bytes", "list"}, "%": NUMBERS - {"double"}}.get(
            node.op, NUMBERS
        )
        if len(kinds) > 1 or not kinds <= wanted:
            raise self._no_overload(node, left, right)
        if kinds == {"list"}:
            return list_of(
                join([each.type.item for each in (left, right) if each.type.item is not None])
            )
        return Type(kinds.pop()) if len(kinds) == 1 and DYN not in (left.type, right.type) else DYN

    def _in(self, node: syntax.Binary, left: Core, right: Core) -> Core:
        kind = right.type.kind
        match left, right:
            case Const(value=str() as old), NameRead(name="event.traits") if old in FORMER:
                raise error(node.left, f"no tool is `{old}` any more: write `'{FORMER[old]}'`")
        if kind == "names":
            if left.type.kind not in ("string", "dyn"):
                raise self._no_overload(node, left, right)
        elif kind not in ("list", "map", "dyn"):
            raise error(
                node.right,
                f"nothing is `in` {article(right.type)}: write a list, as in `x in ['a', 'b']`",
            )
        elif kind == "list" and right.type.item is not None:
            self._comparable(node, left, Const(right.type.item, None))
            for value in right.value if isinstance(right, Const) else ():
                self._possible(node, left, value)
        return Do(BOOL, "in", (left, right))

    def _comparable(self, node: syntax.Binary, left: Core, right: Core) -> None:
        a, b = left.type.kind, right.type.kind
        if "names" in (a, b) and "null" not in (a, b):
            raise error(
                node, f"a set of names is only asked with `in`: write `x in {_shown(left, right)}`"
            )
        if not (a == b or a in _FREE or b in _FREE or (a in NUMBERS and b in NUMBERS)):
            raise self._no_overload(node, left, right)
        for one, other in ((left, right), (right, left)):
            if isinstance(other, Const):
                self._possible(node, one, other.value)

    def _possible(self, node: syntax.Binary, one: Core, value: object) -> None:
        """Refuse to compare a name with a text that it never is."""
        choices = one.type.choices
        if choices and type(value) is str and value not in choices:
            raise error(node, f"it is never `{value[:40]}`: {hint(value, choices)}")

    def _no_overload(self, node: syntax.Binary, left: Core, right: Core) -> ConditionError:
        instead = "convert one of them, as in `int(x)` or `string(x)`"
        if left.type.kind == right.type.kind:
            instead = "see which types it takes"
        return error(
            node,
            f"`{node.op}` cannot join {article(left.type)} and {article(right.type)}: {instead}",
        )


def _is_null(core: Core) -> bool:
    return isinstance(core, Const) and core.value is None


def _shown(*parts: Core) -> str:
    return next((part.name for part in parts if isinstance(part, NameRead)), "agent.allowed_tools")


_KNOWN: Final = (*FUNCTIONS, *MACROS, "has")


def check_call(checker: TypeChecker, node: syntax.FunctionCall) -> Core:
    """The typed form of a call; raises `ConditionError`."""
    if node.name == "has" and node.on is None:
        return _has(checker, node)
    if node.name in MACROS and node.on is not None:
        return _macro(checker, node)
    function = FUNCTIONS.get(node.name)
    if function is None:
        raise _unknown(node)
    if not (function.plain if node.on is None else function.method):
        raise error(node, f"`{node.name}` is not called like this: write `{function.shown}`")
    nodes = node.args if node.on is None else (node.on, *node.args)
    return _function(checker, node, function, nodes)


def _unknown(node: syntax.FunctionCall) -> ConditionError:
    if node.name in MACROS:
        return error(
            node,
            f"`{node.name}` is called on a list: write `{MACROS[node.name].partition(':')[0]}`",
        )
    if node.name == "has":
        return error(node, "`has` asks for a field: write `has(event.args.path)`")
    return error(node, f"`{node.name[:40]}` is not a known function: {hint(node.name, _KNOWN)}")


def _function(
    checker: TypeChecker,
    node: syntax.FunctionCall,
    function: LanguageFunction,
    nodes: tuple[syntax.Node, ...],
) -> Core:
    if function.name == "dyn" and len(nodes) == 1:
        return Do(DYN, "dyn", (checker.check(nodes[0]),))
    if len(nodes) != len(function.takes):
        raise error(
            node, f"`{node.name}` takes another number of arguments: write `{function.shown}`"
        )
    args = tuple(checker.check(each) for each in nodes)
    for written, arg, kinds in zip(nodes, args, function.takes, strict=True):
        if arg.type.kind not in (*kinds, "dyn"):
            wanted = " or ".join(kinds)
            raise error(
                written,
                f"`{node.name}` takes {wanted}, and this is {article(arg.type)}: "
                f"`{function.shown}`",
            )
    fault = _pattern_fault(function, args)
    if fault is not None:
        raise error(nodes[-1], fault)
    return _applied(checker, function, args)


def _applied(checker: TypeChecker, function: LanguageFunction, args: tuple[Core, ...]) -> Core:
    """A function of arguments that it takes: a test needs them, a conversion of null is null."""
    if function.gives is BOOL and function.name != "bool":
        return Do(BOOL, function.name, tuple([checker.given(arg) for arg in args]))
    nullable = any(arg.type.nullable or arg.type is DYN for arg in args)
    return Do(function.gives.or_null() if nullable else function.gives, function.name, args)


def _pattern_fault(function: LanguageFunction, args: tuple[Core, ...]) -> str | None:
    last = args[-1]
    if isinstance(last, Const):
        if function.name == "matches":
            return pattern_fault(last.value)
        if function.name == "glob":
            return glob_fault(last.value)
        if function.name == "under" and last.value == "":
            return "the folder is empty text: write `.` for the current folder"
    elif function.literal:
        return "the pattern has to be a literal, so that it can be checked when the policy loads"
    return None


def _has(checker: TypeChecker, node: syntax.FunctionCall) -> Core:
    if len(node.args) != 1 or not isinstance(node.args[0], syntax.FieldAccess):
        raise error(node, "`has` asks for a field: write `has(event.args.path)`")
    field = node.args[0]
    core = checker.check(field)
    if isinstance(core, NameRead):
        return Do(BOOL, "present", (core,))
    assert isinstance(core, Do)
    return Do(BOOL, "has", core.args)


def _macro(checker: TypeChecker, node: syntax.FunctionCall) -> Core:
    assert node.on is not None
    over = checker.check(node.on)
    if over.type.kind not in ("list", "map", "dyn"):
        raise error(
            node.on, f"`{node.name}` goes over a list or a map, and this is {article(over.type)}"
        )
    shown = MACROS[node.name].partition(":")[0]
    filtered = node.name == "map" and len(node.args) == 3
    if len(node.args) != 2 and not filtered:
        raise error(node, f"`{node.name}` takes a name and an expression: write `{shown}`")
    variable = node.args[0]
    if not isinstance(variable, syntax.BareName):
        raise error(variable, f"a plain name is needed here: write `{shown}`")
    slot = len(checker.locals)
    checker.locals.append((variable.name, Local(_element(over.type), slot, checker.lacks(over))))
    try:
        tests = node.name != "map" or filtered
        body = checker.truth(node.args[1]) if tests else checker.check(node.args[1])
        result = checker.check(node.args[2]) if filtered else None
    finally:
        checker.locals.pop()
    gives = _gives(node.name, over, body, result)
    asked = checker.given(over) if gives is BOOL else over
    return MacroLoop(gives, node.name, asked, slot, body, result)


def _element(over: Type) -> Type:
    if over.kind == "list" and over.item is not None:
        return over.item
    return DYN


def _gives(name: str, over: Core, body: Core, result: Core | None) -> Type:
    if name == "filter":
        known = list_of(_element(over.type))
    elif name == "map":
        known = list_of(body.type if result is None else result.type)
    else:
        return BOOL
    return known.or_null() if over.type.nullable or over.type is DYN else known
