"""Pieces of Python syntax: everything that compiled code is put together from."""

from __future__ import annotations

import ast
from typing import Any, Final

from stanchion.policy.conditions.globs import shape

AT: Final[dict[str, Any]] = {"lineno": 1, "col_offset": 0}
"""A place, because Python wants every node to have one."""

_LOAD: Final = ast.Load()


def text_test(op: str, first: ast.expr, value: ast.expr, literal: str) -> ast.expr:
    """A plain test on a text; `first` stands where the text is evaluated, `value` wherever it is
    used again."""
    kind = shape(literal) if op == "glob" else (op, literal)
    match kind:
        case "startsWith" | "starts", text:
            return method(first, "startswith", _literal(text))
        case "endsWith" | "name_ends", text:
            return method(first, "endswith", _literal(text))
        case "contains", text:
            return compared(_literal(text), ast.In(), first)
        case "is", text:
            return compared(first, ast.Eq(), _literal(text))
        case "any", _:
            return method(first, "startswith", _literal(""))
        case "name_is", text:
            whole = compared(first, ast.Eq(), _literal(text))
            return ast.BoolOp(
                op=ast.Or(), values=[whole, method(value, "endswith", _literal(f"/{text}"))], **AT
            )
        case "name_starts", text:
            return _if_there(
                first, text, method(value, "startswith", _literal(text), _after_slash(value))
            )
        case _, text:
            found = method(value, "find", _literal(text), _after_slash(value))
            return _if_there(first, text, compared(found, ast.GtE(), ast.Constant(value=0, **AT)))


def _if_there(first: ast.expr, text: str, test: ast.expr) -> ast.expr:
    """A test that only a text with that literal can pass, asked only of those: `in` is the cheapest
    no."""
    return ast.BoolOp(op=ast.And(), values=[compared(_literal(text), ast.In(), first), test], **AT)


def _after_slash(value: ast.expr) -> ast.expr:
    one = ast.Constant(value=1, **AT)
    return ast.BinOp(left=method(value, "rfind", _literal("/")), op=ast.Add(), right=one, **AT)


def _literal(value: str) -> ast.expr:
    return ast.Constant(value=value, **AT)


def method(of: ast.expr, method: str, *args: ast.expr) -> ast.expr:
    """A call of one of four methods of str; no name of a condition ever gets here."""
    called = ast.Attribute(value=of, attr=method, ctx=_LOAD, **AT)
    return ast.Call(func=called, args=list(args), keywords=[], **AT)


def name(known: str) -> ast.Name:
    """A variable of the compiled code."""
    return ast.Name(id=known, ctx=_LOAD, **AT)


def tuple_of(items: list[ast.expr]) -> ast.expr:
    return ast.Tuple(elts=items, ctx=_LOAD, **AT)


def negated(code: ast.expr) -> ast.expr:
    return ast.UnaryOp(op=ast.Not(), operand=code, **AT)


def compared(left: ast.expr, op: ast.cmpop, right: ast.expr) -> ast.expr:
    return ast.Compare(left=left, ops=[op], comparators=[right], **AT)


def function(variables: list[str], body: ast.expr) -> ast.expr:
    given = [ast.arg(arg=variable, **AT) for variable in variables]
    args = ast.arguments(posonlyargs=[], args=given, kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(args=args, body=body, **AT)
