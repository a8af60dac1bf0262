"""Checkers: a schema that was looked at, and the engine that holds values against it in linear
time."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

import msgspec

from stanchion.guards._jsonschema.outline import Outline, SchemaFault, outline
from stanchion.guards._jsonschema.words import short

MAX_BYTES: Final = 262_144
"""How long a schema may be."""
MAX_NESTED: Final = 128
"""How deep a value may be nested that is held against a schema."""
WORK: Final = 20_000_000
"""How many values, times the weight of the schema, are looked at: more is refused unseen."""

_encode = msgspec.json.Encoder(order="deterministic").encode


def canonical(value: Any) -> bytes:
    """A value's JSON, the same for the same value; raises `SchemaFault` where it has none."""
    try:
        return _encode(value)
    except (TypeError, ValueError, RecursionError):
        raise SchemaFault(
            "it is not JSON: write it with texts, numbers, lists and mappings"
        ) from None


class SchemaChecker:
    """One schema, checked and ready. Patterns run on an engine without backtracking, nothing is
    ever fetched."""

    __slots__ = ("_formats", "_plain", "digest", "outline", "schema")

    def __init__(self, schema: Any) -> None:
        body = canonical(schema)
        if len(body) > MAX_BYTES:
            raise SchemaFault(f"it is longer than {MAX_BYTES:,} bytes: write it shorter")
        if not isinstance(schema, dict | bool):
            raise SchemaFault("a schema is a mapping, `true` or `false`")
        self.schema: Any = msgspec.json.decode(body)
        self.digest = sha256(body).hexdigest()
        self.outline: Outline = outline(self.schema)
        self._plain = _engine(self.schema, formats=False)
        self._formats: Any = None

    def fits(self, value: Any, formats: bool = False) -> bool:
        """Whether a value fits the schema; `formats` are held to where asked for."""
        if not formats:
            return bool(self._plain.is_valid(value))
        if self._formats is None:
            self._formats = _engine(self.schema, formats=True)
        return bool(self._formats.is_valid(value))

    def too_much(self, value: Any, most: int) -> str:
        """Why a value is not even looked at: it is too large or too deep for this schema; empty
        where it is not."""
        most = min(most, WORK // self.outline.weight)
        level: list[Any] = [value]
        values = depth = 0
        while level:
            values += len(level)
            if values > most:
                return f"it has more than {most:,} values"
            below: list[Any] = []
            for each in level:
                if isinstance(each, dict):
                    below += each.values()
                elif isinstance(each, list):
                    below += each
                if values + len(below) > most:
                    return f"it has more than {most:,} values"
            depth += 1
            if below and depth > MAX_NESTED:
                return f"it is nested deeper than {MAX_NESTED} levels"
            level = below
        return ""


def _engine(schema: Any, formats: bool) -> Any:
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(
            schema,
            pattern_options=jsonschema_rs.RegexOptions(),
            validate_formats=formats,
            offline=True,
        )
    except jsonschema_rs.ValidationError as error:
        path = tuple(error.instance_path)
        raise SchemaFault(_said(schema, path, error), path) from None
    except (ValueError, RecursionError):
        raise SchemaFault("the engine cannot read it") from None


def _said(schema: Any, path: tuple[Any, ...], error: Any) -> str:
    """What is wrong with a schema, in words that repeat none of its texts but names."""
    word = next((step for step in reversed(path) if isinstance(step, str)), "")
    if error.kind.name == "format" and word in ("pattern", "patternProperties", "propertyNames"):
        return (
            "the pattern is not a regular expression without look-around and back-references: "
            "write another"
        )
    if not path and error.kind.name not in ("type", "required", "anyOf"):
        known = schema.get("$schema") if isinstance(schema, dict) else None
        return (
            f"it is of no known draft or refers outside itself (`$schema` is `{short(str(known))}`)"
        )
    return (
        f"`{short(word)}` has a value that JSON Schema does not allow there"
        if word
        else "it is not JSON Schema"
    )
