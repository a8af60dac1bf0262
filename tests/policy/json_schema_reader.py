"""A small reader of JSON Schema: the keywords that the policy schema uses, and an error for any
other."""

import re
from typing import Any, Final

TYPES: Final[dict[str, Any]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}
SAID: Final = {"$schema", "$defs", "title", "description", "default"}
"""Keywords that say something and ask for nothing."""


def conforms(value: Any, schema: dict[str, Any], whole: dict[str, Any]) -> bool:
    """Whether data conforms to a schema; `whole` has the definitions that it points to."""
    return all(
        _holds(key, said, value, schema, whole) for key, said in schema.items() if key not in SAID
    )


def _holds(key: str, said: Any, value: Any, schema: dict[str, Any], whole: dict[str, Any]) -> bool:
    def fits(one: Any, other: dict[str, Any]) -> bool:
        return conforms(one, other, whole)

    match key:
        case "$ref":
            return fits(value, whole["$defs"][said.removeprefix("#/$defs/")])
        case "type":
            return any(_is(value, name) for name in ([said] if isinstance(said, str) else said))
        case "const":
            return type(value) is type(said) and bool(value == said)
        case "enum":
            return any(type(value) is type(word) and value == word for word in said)
        case "anyOf":
            return any(fits(value, each) for each in said)
        case "allOf":
            return all(fits(value, each) for each in said)
        case "if":
            return fits(value, schema["then"] if fits(value, said) else schema["else"])
        case "then" | "else":
            return True
        case "required":
            return not isinstance(value, dict) or all(name in value for name in said)
        case "properties":
            return not isinstance(value, dict) or all(
                fits(value[name], said[name]) for name in said if name in value
            )
        case "additionalProperties":
            own = schema.get("properties", {})
            others = (
                [v for name, v in value.items() if name not in own]
                if isinstance(value, dict)
                else []
            )
            return not others if said is False else all(fits(other, said) for other in others)
        case "items":
            return not isinstance(value, list) or all(fits(item, said) for item in value)
        case "minimum":
            return not _is(value, "number") or value >= said
        case "exclusiveMinimum":
            return not _is(value, "number") or value > said
        case "maximum":
            return not _is(value, "number") or value <= said
        case "exclusiveMaximum":
            return not _is(value, "number") or value < said
        case "pattern":
            return not isinstance(value, str) or re.search(said, value) is not None
        case "minLength":
            return not isinstance(value, str) or len(value) >= said
        case "maxLength":
            return not isinstance(value, str) or len(value) <= said
    raise AssertionError(f"the schema uses `{key}`: teach it to this reader")


def _is(value: Any, name: str) -> bool:
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))
