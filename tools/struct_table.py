"""Tables of structs for generated pages: each field, what it is, and whether it is needed."""

import inspect
from collections.abc import Iterable

import msgspec
from msgspec import inspect as kinds


def tables(structs: Iterable[type], level: str = "##") -> str:
    """A table for each struct, under its name."""
    known = tuple(structs)
    return "".join(_table(one, level, known) for one in known)


def _table(struct: type, level: str, known: tuple[type, ...]) -> str:
    info = kinds.type_info(struct)
    assert isinstance(info, kinds.StructType)
    words = " ".join(inspect.cleandoc(struct.__doc__ or "").split())
    lines = [f"\n{level} {struct.__name__}\n", f"{words}\n", "| field | is | |", "|---|---|---|"]
    for field in info.fields:
        needed = "required" if field.required else ""
        lines.append(f"| `{field.encode_name}` | {_kind(field.type, known)} | {needed} |")
    return "\n".join(lines) + "\n"


def _kind(kind: kinds.Type, known: tuple[type, ...]) -> str:
    """What a field is in JSON."""
    match kind:
        case kinds.Metadata():
            return _kind(kind.type, known)
        case kinds.StrType():
            return "text"
        case kinds.LiteralType():
            return " or ".join(f"`{one}`" for one in kind.values)
        case kinds.IntType() | kinds.FloatType():
            return _number(kind)
        case kinds.BoolType():
            return "true or false"
        case kinds.NoneType():
            return "null"
        case kinds.ListType() | kinds.VarTupleType():
            return f"list of {_kind(kind.item_type, known)}"
        case kinds.TupleType():
            return f"list of {len(kind.item_types)}"
        case kinds.DictType():
            return f"object of {_kind(kind.value_type, known)}"
        case kinds.StructType() if kind.cls in known:
            return f"[{kind.cls.__name__}](#{kind.cls.__name__.lower()})"
        case kinds.UnionType():
            return " or ".join(_kind(each, known) for each in kind.types)
        case kinds.AnyType():
            return "anything"
    raise msgspec.ValidationError(f"{kind} has no words yet")


def _number(kind: kinds.IntType | kinds.FloatType) -> str:
    what = "whole number" if isinstance(kind, kinds.IntType) else "number"
    least = "" if kind.ge is None else f" from {kind.ge:g}"
    return what + least + ("" if kind.le is None else f" to {kind.le:g}")
