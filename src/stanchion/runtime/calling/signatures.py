"""Signatures as schemas: what a function's type hints say of the arguments it takes, as data.

Only what is certain is said: a hint that says nothing about the data an agent sends allows
everything.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping, Sequence, Set as AbstractSet
from enum import Enum
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from stanchion.guards._jsonschema.checker import SchemaChecker
from stanchion.guards._jsonschema.outline import SchemaFault
from stanchion.guards.schema.tools import ToolDefinition
from stanchion.runtime.calling.tool import Tool
from stanchion.runtime.values import Unreadable, project

DEEPEST: Final = 8
"""How deep types are followed into each other."""

PLAIN: Final[dict[Any, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
    None: "null",
}


def defined(tool: Tool) -> ToolDefinition:
    """The definition of a tool: by the schema it was given, or by its function's signature."""
    about = {"description": tool.description} if tool.description else ""
    if tool.schema is not None:
        return ToolDefinition(name=tool.name, schema=dict(tool.schema), about=about, source="tool")
    return ToolDefinition(name=tool.name, schema=schema_of(tool), about=about, source="python")


def schema_of(tool: Tool) -> Any:
    """The schema of a function's arguments as agents see them; `None` where it has no signature."""
    if tool.signature is None:
        return None
    try:
        hints = get_type_hints(inspect.unwrap(tool.fn), include_extras=True)
    except Exception:  # noqa: BLE001 - hints are a user's code: names in them may mean anything, or nothing
        hints = {}
    properties: dict[str, Any] = {}
    required: list[str] = []
    more = False
    for number, parameter in enumerate(tool.signature.parameters.values()):
        if parameter.kind is parameter.VAR_KEYWORD:
            more = True
        elif parameter.kind is parameter.VAR_POSITIONAL:
            properties[parameter.name] = {"type": "array"}
        elif number or parameter.name not in ("self", "cls"):
            properties[parameter.name] = _with_default(
                _of(hints.get(parameter.name, Any), 0), parameter.default
            )
            if parameter.default is parameter.empty:
                required.append(parameter.name)
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    if not more:
        schema["additionalProperties"] = False
    return schema


def _with_default(schema: Any, default: Any) -> Any:
    """A schema that a parameter's own default fits, whatever its hint says."""
    if default is inspect.Parameter.empty or schema is True:
        return schema
    try:
        if SchemaChecker(schema).fits(project(default)):
            return schema
    except (SchemaFault, Unreadable):
        return True
    return {"anyOf": [schema, {"type": "null"}]} if default is None else True


def _of(hint: Any, depth: int) -> Any:
    """The schema of one type hint."""
    if hint in PLAIN if isinstance(hint, type) or hint is None else False:
        return {"type": PLAIN[hint]}
    if depth > DEEPEST:
        return True
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _of(args[0], depth)
    if origin in (Union, types.UnionType):
        made = [_of(each, depth + 1) for each in args]
        return True if True in made else {"anyOf": made}
    if origin is Literal:
        return {"enum": [each.value if isinstance(each, Enum) else each for each in args]}
    if origin is None and isinstance(hint, type):
        return _of_class(hint, depth)
    if isinstance(origin, type):
        return _of_generic(origin, args, depth)
    return True


def _of_generic(origin: type, args: tuple[Any, ...], depth: int) -> Any:
    if issubclass(origin, Mapping):
        return {
            "type": "object",
            "additionalProperties": _of(args[1], depth + 1) if len(args) == 2 else True,
        }
    if issubclass(origin, tuple):
        if len(args) == 2 and args[1] is Ellipsis:
            return {"type": "array", "items": _of(args[0], depth + 1)}
        return {
            "type": "array",
            "prefixItems": [_of(each, depth + 1) for each in args],
            "minItems": len(args),
            "maxItems": len(args),
        }
    if issubclass(origin, Sequence | AbstractSet):
        return {"type": "array", "items": _of(args[0], depth + 1) if args else True}
    return True


def _of_class(kind: type, depth: int) -> Any:
    if issubclass(kind, Enum):
        values = [member.value for member in kind]
        return (
            {"enum": values}
            if all(isinstance(value, str | int | float | None) for value in values)
            else True
        )
    if issubclass(kind, dict):
        return _of_fields(kind, depth) if is_typeddict(kind) else {"type": "object"}
    if is_typeddict(kind):
        return _of_fields(kind, depth)
    if issubclass(kind, list | tuple | set | frozenset) and kind.__module__ == "builtins":
        return {"type": "array"}
    if hasattr(kind, "__dataclass_fields__"):
        return _of_fields(kind, depth)
    made = getattr(kind, "model_json_schema", None)
    if callable(made):
        try:
            schema = made()
            SchemaChecker(schema)
        except Exception:  # noqa: BLE001 - a user's model may raise anything; then it says nothing
            return True
        return {"type": "object"} if "$defs" in schema else schema
    return True


def _of_fields(kind: type, depth: int) -> Any:
    """A dataclass or a typed dictionary: its fields, all of them, where each has a value."""
    try:
        hints = get_type_hints(kind, include_extras=True)
    except Exception:  # noqa: BLE001 - hints are a user's code
        return {"type": "object"}
    properties = {name: _of(hint, depth + 1) for name, hint in hints.items()}
    required = sorted(getattr(kind, "__required_keys__", ())) if is_typeddict(kind) else []
    return {
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
    }
