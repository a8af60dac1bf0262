"""What the keys of a policy file mean, in words for editors and for the reference: the text that
stands under each field of a struct. It is read from the code, and only when somebody asks."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any, Final, get_args

import msgspec

from stanchion.policy.schema import GUARDS, Placement

USE: Final = {"use": "The guard's name, from the list of guards."}


def meanings(struct: type[Any]) -> dict[str, str]:
    """What each key of a struct means; of a guard's entry, the options of the guard are among
    them."""
    use = struct.__struct_config__.tag
    if use is not None:
        return USE | meanings(Placement) | meanings(GUARDS[use])
    said: dict[str, str] = {}
    for one in reversed(struct.__mro__):
        if issubclass(one, msgspec.Struct):
            said |= _written_in(one.__module__).get(one.__name__, {})
    fields = msgspec.structs.fields(struct)
    return {field.encode_name: said[field.name] for field in fields if field.name in said}


def structs_in(kind: Any) -> Iterator[type[Any]]:
    """Every struct that a value of this type may have in it, some of them several times."""
    for part in get_args(kind):
        yield from structs_in(part)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield kind
        for field in msgspec.structs.fields(kind):
            yield from structs_in(field.type)


@cache
def _written_in(module: str) -> dict[str, dict[str, str]]:
    """The texts under the fields of each class of a module."""
    return {
        each.name: dict(_under_fields(each))
        for each in ast.parse(inspect.getsource(sys.modules[module])).body
        if isinstance(each, ast.ClassDef)
    }


def _under_fields(written: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for pair in pairwise(written.body):
        match pair:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, " ".join(text.split())
