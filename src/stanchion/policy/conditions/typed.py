"""From the parse tree to the typed tree: names resolved, types checked, operations chosen."""

from __future__ import annotations

from typing import Final, assert_never

from stanchion.kernel.declared import FORMER
from stanchion.policy.conditions import syntax
from stanchion.policy.conditions.calls import check_call
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
from stanchion.policy.conditions.errors import ConditionError
from stanchion.policy.conditions.kinds import (
    BOOL,
    DYN,
    NUMBERS,
    STRING,
    Type,
    join,
    list_of,
    map_of,
    scalar_type,
)
from stanchion.policy.conditions.messages import article, error
from stanchion.policy.conditions.needs import parts_of
from stanchion.policy.conditions.vocabulary import Vocabulary, attribute
from stanchion.policy.nearest import hint

_COMPARISONS: Final = {"==": "eq", "!=": "ne"}
_ORDERS: Final = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_SUMS: Final = {"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "mod"}
_ORDERED: Final = frozenset({"string", "bytes", "bool"})
_FREE: Final = frozenset({"dyn", "null"})


class Checker:
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
            case syntax.Word():
                return self._word(node)
            case syntax.Field():
                return self._field(node)
            case syntax.Index():
                return self._index(node)
            case syntax.Call():
                return check_call(self, node)
            case syntax.Unary():
                return self._unary(node)
            case syntax.Binary():
                return self._binary(node)
            case syntax.Logic():
                parts = tuple(self.truth(part) for part in node.parts)
                return Joined(BOOL, node.op == "&&", parts)
            case syntax.Choice():
                test, yes, no = self.truth(node.test), self.check(node.yes), self.check(node.no)
                return Chosen(join([yes.type, no.type]), test, yes, no)
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
            case Read():
                return core.name == self.names.arguments
            case Local():
                return core.argument
            case Chosen():
                return self.lacks(core.yes) or self.lacks(core.no)
            case Each():
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
        return None if found is None else Read(found, dotted, attribute(dotted))

    def _dotted(self, node: syntax.Node) -> str | None:
        fields: list[str] = []
        while isinstance(node, syntax.Field):
            fields.append(node.name)
            node = node.of
        if not isinstance(node, syntax.Word) or any(name == node.name for name, _ in self.locals):
            return None
        return ".".join([node.name, *reversed(fields)])

    def _word(self, node: syntax.Word) -> Core:
        for name, local in reversed(self.locals):
            if name == node.name:
                return local
        found = self.declared(node)
        if found is None:
            raise self._unknown(node, node.name)
        return found

    def _field(self, node: syntax.Field) -> Core:
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

    def _index(self, node: syntax.Index) -> Core:
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
        return Listed(known, items)

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
        return Mapped(map_of(join([value.type for _, value in pairs])), pairs)

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
            case Const(value=str() as old), Read(name="event.traits") if old in FORMER:
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
    return next((part.name for part in parts if isinstance(part, Read)), "agent.allowed_tools")
