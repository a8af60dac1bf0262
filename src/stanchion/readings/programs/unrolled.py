"""Unrolled: Python without the loops, lists and tables whose things stand in the code, so that each
call says what it is given."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from stanchion.readings.word_lists import listed

MOST: Final = 12
"""Through how many things a loop is followed."""
PARTS: Final = 6_000
"""Of how many parts are what is written out, over all loops."""
COPIES: Final = 48
"""How often a list is put into the place of its name."""
SMALL: Final = 64
"""Of how many parts what is put into the place of a name may be made."""
LISTS: Final = (ast.List, ast.Tuple, ast.Set)
SAME: Final = listed("sorted list set tuple reversed iter tqdm")
"""Functions that give the things of a list again."""


def unrolled(nodes: list[ast.AST]) -> ast.AST | None:
    """A module, by all that it is made of, with its loops written out; `None` where nothing would
    change."""
    made = _Unroll(nodes)
    if not any(made.may_change(node) for node in nodes):
        return None
    changed: ast.AST = made.visit(nodes[0])
    return changed if made.changed else None


class _Unroll(ast.NodeTransformer):
    def __init__(self, nodes: list[ast.AST]) -> None:
        self.changed = False
        self.copies = self.parts = 0
        self.known: dict[str, Any] = {}
        for node in nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                if isinstance(node.value, (*LISTS, ast.Dict)) and name not in self.known:
                    self.known[name] = node.value
                else:
                    self.known[name] = None

    def may_change(self, node: Any) -> bool:
        """Whether something may be put in the place of a part: where it goes through a list that is
        written out, or names one, or hands its things on one by one."""
        match node:
            case ast.Name(ctx=ast.Load()):
                return self.known.get(node.id) is not None
            case ast.For() | ast.comprehension():
                return any(isinstance(each, (*LISTS, ast.Dict)) for each in ast.walk(node.iter))
            case ast.Subscript(value=ast.Dict()) | ast.Starred():
                return True
            case ast.BinOp(left=ast.List(), right=ast.List()):
                return True
        return False

    def _held(self, node: Any) -> Any:
        return self.known.get(node.id) if isinstance(node, ast.Name) else node

    def _items(self, node: Any) -> list[Any]:
        """The things that an expression goes through; nothing where that is not known."""
        if isinstance(node, ast.Call) and node.args:
            named = node.func.id if isinstance(node.func, ast.Name) else ""
            return self._items(node.args[0]) if named in SAME else []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            table = self._held(node.func.value)
            if not isinstance(table, ast.Dict) or None in table.keys:
                return []
            pairs = zip(table.keys, table.values, strict=True)
            every: dict[str, Callable[[], list[Any]]] = {
                "keys": lambda: list(table.keys),
                "values": lambda: list(table.values),
                "items": lambda: [ast.Tuple([one, two], ast.Load()) for one, two in pairs if one],
            }
            return every.get(node.func.attr, list)()
        found = self._held(node)
        if isinstance(found, ast.Dict):
            return [key for key in found.keys if key is not None]
        return list(found.elts) if isinstance(found, LISTS) else []

    def _written_out(self, target: Any, items: list[Any], body: list[Any]) -> list[Any] | None:
        """A body, once for each thing; `None` where that would be too much."""
        items = items[:MOST]
        self.parts += len(items) * sum([1 for each in body for _ in ast.walk(each)])
        if not items or self.parts > PARTS:
            return None
        found: list[Any] = []
        for item in items:
            put = _Put(_pairs(target, item))
            found += [put.visit(_copied(each)) for each in body]
        self.changed = True
        return found

    def visit_For(self, node: ast.For) -> Any:
        """Write a loop out."""
        body = self._written_out(node.target, self._items(node.iter), node.body)
        if body is None:
            return self.generic_visit(node)
        return [self.visit(each) for each in body]

    def _comprehension(self, node: Any) -> Any:
        one = node.generators[0]
        items = self._items(one.iter) if len(node.generators) == 1 and not one.ifs else []
        made = self._written_out(one.target, items, [node.elt])
        if made is None:
            return self.generic_visit(node)
        return ast.List([self.visit(each) for each in made], ast.Load())

    visit_ListComp = visit_GeneratorExp = visit_SetComp = _comprehension  # noqa: N815

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """Put the thing of a list or a table in the place of where it is asked for."""
        held, key = self._held(node.value), node.slice
        self.copies += isinstance(held, ast.Dict)
        if (
            isinstance(held, ast.Dict)
            and isinstance(key, ast.Constant)
            and self.copies <= COPIES
            and len(held.keys) <= SMALL
        ):
            for name, value in zip(held.keys, held.values, strict=True):
                if isinstance(name, ast.Constant) and name.value == key.value and _is_small(value):
                    self.changed = True
                    return _copied(value)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        """Put lists into the place of their names, and their things where they are handed on one by
        one."""
        self.generic_visit(node)
        node.args = self._flat(node.args, True)
        return node

    def visit_List(self, node: ast.List) -> Any:
        """Put the things of a list into another one."""
        self.generic_visit(node)
        node.elts = self._flat(node.elts, False)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        """Join two lists."""
        self.generic_visit(node)
        left, right = self._held(node.left), self._held(node.right)
        if not (isinstance(left, ast.List) and isinstance(right, ast.List)):
            return node
        if not (_is_small(left) and _is_small(right)):
            return node
        self.changed = True
        return ast.List([*_copied(left.elts), *_copied(right.elts)], ast.Load())

    def _flat(self, nodes: list[ast.expr], named: bool) -> list[ast.expr]:
        """Expressions with the things of lists where these are handed on one by one, and with the
        lists themselves in the place of their names."""
        found: list[ast.expr] = []
        for node in nodes:
            starred = isinstance(node, ast.Starred)
            value = node.value if isinstance(node, ast.Starred) else node
            held = self._held(value) if starred or (named and value is node) else None
            if not isinstance(held, ast.List | ast.Tuple) or held is node or not _is_small(held):
                found.append(node)
                continue
            self.copies += 1
            if self.copies > COPIES:
                found.append(node)
                continue
            self.changed = True
            copied = _copied(held)
            found += copied.elts if starred else [copied]
        return found


class _Put(ast.NodeTransformer):
    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> Any:
        """Put a value in the place of the name of what a loop goes through."""
        value = self.values.get(node.id) if isinstance(node.ctx, ast.Load) else None
        return node if value is None else _copied(value)


def _copied(node: Any) -> Any:
    """A copy of a part with all that it is made of."""
    if isinstance(node, list):
        return [_copied(each) for each in node]
    if not isinstance(node, ast.AST):
        return node
    return type(node)(**{name: _copied(getattr(node, name, None)) for name in node._fields})


def _is_small(node: ast.AST) -> bool:
    """Whether something may stand in many places: code must not grow with each of its lines."""
    if len(getattr(node, "elts", ())) > SMALL:
        return False
    return all(at < SMALL for at, _ in enumerate(ast.walk(node)))


def _pairs(target: Any, item: Any) -> dict[str, Any]:
    if isinstance(target, ast.Name):
        return {target.id: item} if _is_small(item) else {}
    if isinstance(target, ast.Tuple) and isinstance(item, ast.Tuple | ast.List):
        found: dict[str, Any] = {}
        for each, value in zip(target.elts, item.elts, strict=False):
            found.update(_pairs(each, value))
        return found
    return {}
