"""Python as it is read, not run: the modules, names and texts of a piece of code, texts put
together where they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from stanchion.readings.programs.calls import UNKNOWN, known_parts
from stanchion.readings.programs.decoding import decoded

LONGEST: Final = 65_536
DEEPEST: Final = 40
RUNS: Final = frozenset({"exec", "eval", "compile"})
NESTED: Final = 3
"""How deep code is read that code runs."""
MAKING: Final = frozenset(
    {ast.Constant, ast.Name, ast.JoinedStr, ast.BinOp, ast.Subscript, ast.Call}
)
"""What may make a text."""
LEAVES: Final = frozenset({ast.Constant, ast.Name, ast.Pass, ast.Break, ast.Continue, ast.alias})
"""What has nothing in it that is asked for."""


def python_texts(code: str) -> list[str] | None:
    """The texts that a piece of Python makes; `None` where it is none, or too much of it."""
    if len(code) > LONGEST:
        return None
    values = Values()
    try:
        return list(dict.fromkeys(_texts(nodes_of(ast.parse(code)), values, 0)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _texts(nodes: list[ast.AST], values: Values, depth: int) -> Iterator[str]:
    values.note(nodes)
    said = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if type(node) not in MAKING or (isinstance(node, ast.Constant) and id(node) in said):
            continue
        value = values.value(node)
        if value is not None and len(value) > 2:
            yield value
        first = values.value(node.args[0]) if isinstance(node, ast.Call) and node.args else None
        if first is not None and isinstance(node, ast.Call):
            yield first
            name = values.called.get(_name(node.func), _name(node.func))
            if name in RUNS and depth < NESTED:
                with suppress(SyntaxError):
                    yield from _texts(nodes_of(ast.parse(first)), values, depth + 1)


class Values:
    """What is known of the names of a piece of code: their texts, and what functions are called."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.called: dict[str, str] = {}

    def note(self, nodes: list[ast.AST]) -> None:
        """Note what is known of code that is made of these."""
        for node in nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)]):
                    value = self.value(node.value)
                    if value is not None:
                        self.values[name] = value
                    elif isinstance(node.value, ast.Name | ast.Attribute):
                        self.called[name] = _name(node.value)
                case ast.ImportFrom():
                    self.called.update(
                        {each.asname: each.name for each in node.names if each.asname}
                    )

    def value(self, node: ast.AST, depth: int = 0) -> str | None:
        """The text that an expression makes; `$` stands for its unknown parts, None where all of it
        is unknown."""
        if depth > DEEPEST:
            return None
        deep = depth + 1
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Constant(value=bytes(raw)):
                return raw.decode("latin-1")
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                return f"-{number}"
            case ast.Name(id=name):
                return self.values.get(name)
            case ast.JoinedStr():
                return "".join([self._part(each, deep) for each in node.values])
            case ast.BinOp(op=ast.Add()):
                return _both(self.value(node.left, deep), self.value(node.right, deep), "")
            case ast.BinOp(op=ast.Div()):
                return _both(self.value(node.left, deep), self.value(node.right, deep), "/")
            case ast.BinOp(op=ast.Mod()):
                return self._filled(node, deep)
            case ast.Subscript(
                slice=ast.Slice(lower=None, upper=None, step=ast.UnaryOp(op=ast.USub()))
            ):
                turned = self.value(node.value, deep)
                return None if turned is None else turned[::-1]
            case ast.Subscript(value=ast.Attribute(attr="environ")):
                variable = self.value(node.slice, deep)
                return None if variable is None else f"${variable}"
            case ast.Call():
                return self._made(node, deep)
            case _:
                return None

    def _part(self, node: ast.expr, depth: int) -> str:
        value = self.value(node.value if isinstance(node, ast.FormattedValue) else node, depth)
        return UNKNOWN if value is None else value

    def _filled(self, node: ast.BinOp, depth: int) -> str | None:
        text = self.value(node.left, depth)
        if text is None:
            return None
        parts = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
        for part in parts:
            value = self.value(part, depth)
            text = text.replace("%s", UNKNOWN if value is None else value, 1)
        return text

    def _made(self, node: ast.Call, depth: int) -> str | None:
        name = _name(node.func)
        on = node.func.value if isinstance(node.func, ast.Attribute) else None
        args = [self.value(arg, depth) for arg in node.args]
        held = None if on is None else self.value(on, depth)
        match name, node.args:
            case "home", _:
                return "~"
            case "getenv", _ if args[:1] not in ([], [None]):
                return f"${args[0]}"
            case "get", _ if args[:1] not in ([], [None]) and _name(on) == "environ":
                return f"${args[0]}"
            case "join", [ast.List() | ast.Tuple() as items, *_] if held is not None:
                return held.join([self._part(each, depth) for each in items.elts])
            case "join" | "joinpath" | "Path" | "PurePath" | "PosixPath" | "PurePosixPath", _:
                pieces = [held] if held is not None and name == "joinpath" else []
                joined = known_parts((*pieces, *args))
                return "/".join(joined) if {*joined} - {UNKNOWN} else None
            case "chr", [ast.Constant(value=int(number)), *_]:
                return chr(number) if 0 <= number < 0x110000 else None
            case "chr", [ast.Constant(), *_]:
                return None
            case "replace", [_, _] if held is not None:
                old, new = args
                return None if old is None or new is None else held.replace(old, new)
            case "decode", _ if args[1:] in (["rot13"], ["rot_13"]):
                return decoded("str_rot13", None, args)
            case "format", _ if held is not None:
                for each in known_parts(args):
                    held = held.replace("{}", each, 1)
                return held
        return decoded(name, held, args)


def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """All that a tree is made of, level by level; how things are used and joined is left out."""
    found = [tree]
    for node in found:
        if type(node) in LEAVES:
            continue
        for name in node._fields:
            item = getattr(node, name, None)
            if isinstance(item, list):
                found += [one for one in item if isinstance(one, ast.AST)]
            elif isinstance(item, ast.AST) and name not in ("ctx", "op"):
                found.append(item)
    return found


def _both(left: str | None, right: str | None, between: str) -> str | None:
    if left is None and right is None:
        return None
    return f"{UNKNOWN if left is None else left}{between}{UNKNOWN if right is None else right}"


def _name(node: ast.expr | None) -> str:
    return (
        node.attr
        if isinstance(node, ast.Attribute)
        else node.id
        if isinstance(node, ast.Name)
        else ""
    )
