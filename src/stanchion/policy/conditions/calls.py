"""Checking calls: functions, macros and `has`."""

from __future__ import annotations

from typing import Final, Protocol

from stanchion.policy.conditions import syntax
from stanchion.policy.conditions.core import Const, Core, Do, Each, Local, Read
from stanchion.policy.conditions.errors import ConditionError
from stanchion.policy.conditions.globs import glob_fault
from stanchion.policy.conditions.kinds import BOOL, DYN, Type, list_of
from stanchion.policy.conditions.messages import article, error
from stanchion.policy.conditions.patterns import pattern_fault
from stanchion.policy.conditions.signatures import FUNCTIONS, MACROS, Function
from stanchion.policy.nearest import hint

_KNOWN: Final = (*FUNCTIONS, *MACROS, "has")


class Checker(Protocol):
    """One pass over one parse tree, as far as calls need it: their arguments are parts of it."""

    locals: list[tuple[str, Local]]

    def check(self, node: syntax.Node) -> Core:
        """The typed form of a node."""

    def truth(self, node: syntax.Node) -> Core:
        """The typed form of a node that has to be true or false."""

    def given(self, core: Core) -> Core:
        """A part that fails where a call's arguments lack what it is made of."""

    def lacks(self, core: Core) -> bool:
        """Whether a part may be null because a call's arguments lack something."""


def check_call(checker: Checker, node: syntax.Call) -> Core:
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


def _unknown(node: syntax.Call) -> ConditionError:
    if node.name in MACROS:
        return error(
            node,
            f"`{node.name}` is called on a list: write `{MACROS[node.name].partition(':')[0]}`",
        )
    if node.name == "has":
        return error(node, "`has` asks for a field: write `has(event.args.path)`")
    return error(node, f"`{node.name[:40]}` is not a known function: {hint(node.name, _KNOWN)}")


def _function(
    checker: Checker, node: syntax.Call, function: Function, nodes: tuple[syntax.Node, ...]
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


def _applied(checker: Checker, function: Function, args: tuple[Core, ...]) -> Core:
    """A function of arguments that it takes: a test needs them, a conversion of null is null."""
    if function.gives is BOOL and function.name != "bool":
        return Do(BOOL, function.name, tuple([checker.given(arg) for arg in args]))
    nullable = any(arg.type.nullable or arg.type is DYN for arg in args)
    return Do(function.gives.or_null() if nullable else function.gives, function.name, args)


def _pattern_fault(function: Function, args: tuple[Core, ...]) -> str | None:
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


def _has(checker: Checker, node: syntax.Call) -> Core:
    if len(node.args) != 1 or not isinstance(node.args[0], syntax.Field):
        raise error(node, "`has` asks for a field: write `has(event.args.path)`")
    field = node.args[0]
    core = checker.check(field)
    if isinstance(core, Read):
        return Do(BOOL, "present", (core,))
    assert isinstance(core, Do)
    return Do(BOOL, "has", core.args)


def _macro(checker: Checker, node: syntax.Call) -> Core:
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
    if not isinstance(variable, syntax.Word):
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
    return Each(gives, node.name, asked, slot, body, result)


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
