"""Definitions of tools as others write them: MCP, OpenAI, Anthropic, Python functions; each becomes
the one we know."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Mapping, Sequence, Set as AbstractSet
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

import msgspec

from stanchion.guards._jsonschema.checker import SchemaChecker
from stanchion.guards._jsonschema.outline import SchemaFault
from stanchion.guards.schema.tools import ToolDefinition
from stanchion.runtime.calling.tool import LONGEST_NAME, MARK, Tool
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


MOST: Final = 10_000
"""How many tools are taken at a time."""

NO_ARGUMENTS: Final[dict[str, Any]] = {"type": "object", "properties": {}}
"""The schema of a function of which it is not said what it takes."""

SHAPES: Final = (
    "an MCP tool has `name` and `inputSchema`, an Anthropic one `name` and `input_schema`, an "
    "OpenAI one `type` and `function`, or `name` and `parameters`; a Python function can be given "
    "as it is"
)


WORDS: Final = (
    "tools",
    *("name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta"),
    *("input_schema", "type", "function", "parameters"),
)
"""What is looked for in an object that is no mapping."""


def definitions(given: Any) -> list[ToolDefinition]:
    """The definitions in what a host has: a list of them, an MCP `tools/list` result, a single one,
    functions.

    Raises `ValueError` where something in it is no definition, or two have the same name.
    """
    found: dict[str, ToolDefinition] = {}
    for number, each in enumerate(_listed(given), 1):
        definition = _definition(each, number)
        if definition is None:
            continue
        if definition.name in found:
            raise ValueError(
                f"two definitions have the name `{definition.name}`: give each tool its own name"
            )
        found[definition.name] = definition
        if len(found) > MOST:
            raise ValueError(f"there are more than {MOST:,} definitions: ingest fewer at a time")
    return list(found.values())


def _listed(given: Any) -> Iterable[Any]:
    if callable(given) or isinstance(given, Tool):
        return [given]
    plain = _plain(given)
    if isinstance(plain, Mapping):
        inner = plain.get("result", plain)
        listed = inner.get("tools") if isinstance(inner, Mapping) else None
        return listed if isinstance(listed, list | tuple) else [plain]
    if isinstance(plain, str) or not isinstance(plain, Iterable):
        raise ValueError(f"`{type(given).__name__}` has no definitions of tools: {SHAPES}")
    return plain


def _plain(value: Any) -> Any:
    """An object of somebody's library as the data it stands for."""
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return dump(by_alias=True, exclude_none=True, mode="json")
    if isinstance(value, msgspec.Struct) or hasattr(value, "__dataclass_fields__"):
        return msgspec.to_builtins(value)
    if isinstance(value, Mapping | str | list):
        return value
    said = {word: getattr(value, word) for word in WORDS if hasattr(value, word)}
    return said if said else value


def _definition(given: Any, number: int) -> ToolDefinition | None:
    if callable(given) or isinstance(given, Tool):
        return _function(given)
    data = _plain(given)
    if not isinstance(data, Mapping):
        raise ValueError(f"definition {number} is not a mapping: {SHAPES}")
    kind = data.get("type")
    if kind == "function" and isinstance(data.get("function"), Mapping):
        return _read("openai", data["function"], "parameters", number)
    if kind == "function" or ("parameters" in data and "name" in data):
        return _read("openai", data, "parameters", number)
    if "input_schema" in data:
        return _read("anthropic", data, "input_schema", number)
    if "inputSchema" in data:
        return _read("mcp", data, "inputSchema", number)
    if isinstance(kind, str):
        # A tool that the model's provider runs itself: no call of it passes here.
        return None
    raise ValueError(f"definition {number} has an unknown shape: {SHAPES}")


def _read(source: str, data: Mapping[str, Any], key: str, number: int) -> ToolDefinition:
    name = data.get("name")
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
        raise ValueError(
            f"definition {number} has no name: give it one of 1 to {LONGEST_NAME} characters"
        )
    schema = data.get(key)
    own = ("name", key, "outputSchema", "type", "_meta")
    return ToolDefinition(
        name=name,
        schema=NO_ARGUMENTS if schema is None else schema,
        result_schema=data.get("outputSchema") if source == "mcp" else None,
        about={word: value for word, value in data.items() if word not in own},
        aside=data.get("_meta"),
        source=source,
    )


def _function(given: Callable[..., Any] | Tool) -> ToolDefinition:
    if isinstance(given, Tool):
        return defined(given)
    made = getattr(given, MARK, None)
    return defined(made if isinstance(made, Tool) else Tool(given))
