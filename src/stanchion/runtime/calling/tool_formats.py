"""Definitions of tools as others write them: MCP, OpenAI, Anthropic, Python functions; each becomes
the one we know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from stanchion.guards.schema.tools import ToolDefinition
from stanchion.runtime.calling.signatures import defined
from stanchion.runtime.calling.tool import LONGEST_NAME, MARK, Tool

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
