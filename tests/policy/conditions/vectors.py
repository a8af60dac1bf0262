"""The public CEL conformance vectors: reading them, and telling which are outside the subset."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from stanchion.policy.conditions import Vocabulary
from stanchion.policy.conditions.kinds import DYN, Type, Uint, list_of, map_of, scalar_type

ROOT = Path(__file__).resolve().parents[3]
FILE = ROOT.parent / "shared" / "corpora" / "cel.jsonl"

EXTENSION = (
    r"\b(?:math|cel|base64|strings|proto|optional|net|sets|lists|regex)\.[a-zA-Z@]|@|"
    r"\boptional_type\b|\.\?|\[\?"
    r"|\{\?|, ?\?"
    r"|\.(?:charAt|indexOf|lastIndexOf|lowerAscii|upperAscii|replace|split|substring|trim|join|"
    r"format|reverse|sort"
    r"|quote|transformList|transformMap|transformMapEntry|existsOne|orValue|or|value|optMap|"
    r"optFlatMap|hasValue"
    r"|containsIP|containsCIDR|masked|prefixLength|family|isUnspecified|isLoopback|ip)\(|"
    r"strings\.quote"
    r"|\b(?:ip|cidr|isIP|isCIDR)\(|\bip\.|\.(?:exists|all|exists_one)\(\w+, ?\w+, "
)

UNCHECKED = (
    r"^(?:a\.\w+\(\)|x|f_unknown\(17\)|'horses') \|\| true$|^true \|\| 32$|^false && "
    r"32$|^'horses' && false$"
)

OUTSIDE: tuple[tuple[str, str], ...] = (
    (
        "messages",
        (
            r"\b[A-Z]\w*\s*(?://[^\n]*\s*)?\{|google\.protobuf|TestAllTypes|\bGlobalEnum\b|NestedEnum|"
            r"\bNullValue\b"
        ),
    ),
    ("timestamps and durations", r"\b(?:timestamp|duration)\("),
    ("extension libraries", EXTENSION),
    ("names, functions and types that do not exist, unchecked", UNCHECKED),
    (
        "type values",
        r"\btype\(|^(?:bool|int|uint|double|string|bytes|list|map|type|null_type|dyn)$",
    ),
)
"""Constructs that are outside, each with the expression that finds it in a vector's text."""


class Vector(NamedTuple):
    """One vector: an expression, the values of its names, and its value; `error` where it has
    none."""

    id: str
    expr: str
    bindings: dict[str, Any]
    value: Any
    error: bool
    test: dict[str, Any]


def read(file: Path = FILE) -> Iterator[Vector]:
    """Yield every vector of the file."""
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        test = row["payload"]["test"]
        known = {pair["key"][0]: pair["value"][0] for pair in test.get("bindings", ())}
        bindings = {
            key: _value(item["value"][0]) if "value" in item else FOREIGN
            for key, item in known.items()
        }
        said = (
            test["value"]
            if "value" in test
            else test["typed_result"][0].get("result", (FOREIGN_ROW,))
            if "typed_result" in test
            else None
        )
        value = True if said is None else _value(said[0])
        yield Vector(row["id"], row["payload"]["expr"], bindings, value, "eval_error" in test, test)


FOREIGN = object()
FOREIGN_ROW: dict[str, Any] = {"foreign": [""]}


def outside(vector: Vector) -> str | None:
    """The construct that puts a vector outside the subset; `None` for one that must pass."""
    for construct, pattern in OUTSIDE:
        if re.search(pattern, vector.expr):
            return construct
    if "check_only" in vector.test:
        return "the types that a checker deduces"
    if any("function" in each for each in vector.test.get("type_env", ())):
        return "functions of the host"
    if _foreign(vector.value) or any(_foreign(value) for value in vector.bindings.values()):
        return "messages"
    test = vector.test
    if "container" in test or re.search(r"(?<![\w\])}\"'])\s*\.[a-z]", vector.expr):
        return "containers and leading dots"
    if vector.error and _missing(vector.expr, test):
        return "an error for a missing key or element"
    return None


def _missing(expr: str, test: dict[str, Any]) -> bool:
    said = test["eval_error"][0]["errors"][0]["message"][0]
    return (said.startswith("no such key") and "b''" not in expr) or (
        said == "invalid_argument" and "[3]" in expr
    )


def _foreign(value: Any) -> bool:
    if isinstance(value, list):
        return any(_foreign(item) for item in value)
    if isinstance(value, dict):
        return any(_foreign(item) for item in value.values())
    return value is FOREIGN


def _value(row: dict[str, Any]) -> Any:
    ((kind, (said, *_)),) = row.items()
    match kind:
        case "int64_value":
            return int(said)
        case "uint64_value":
            return Uint(said)
        case "double_value":
            return float(said)
        case "bool_value":
            return said == "true"
        case "string_value":
            return said
        case "bytes_value":
            return bytes.fromhex(said[6:]) if said.startswith("bytes:") else said.encode()
        case "null_value":
            return None
        case "list_value":
            return [_value(item) for item in said.get("values", ())]
        case "map_value":
            return {
                _value(pair["key"][0]): _value(pair["value"][0]) for pair in said.get("entries", ())
            }
    return FOREIGN


def type_of(value: Any) -> Type:
    """The type that a bound value is declared with."""
    if isinstance(value, list):
        return list_of(DYN)
    if isinstance(value, dict):
        return map_of(DYN)
    return DYN if value is None else scalar_type(value)


def names_of(vector: Vector) -> tuple[Vocabulary, SimpleNamespace]:
    """A vocabulary and a view of the names that a vector binds."""
    bound = {
        key: value for key, value in vector.bindings.items() if key not in ("true", "false", "null")
    }
    return Vocabulary({key: type_of(value) for key, value in bound.items()}), SimpleNamespace(
        **{key.replace(".", "_"): value for key, value in bound.items()}
    )


def same(left: Any, right: Any) -> bool:
    """Whether two values are one in type and content; lists may be tuples."""
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, float) and isinstance(right, float):
        return repr(left) == repr(right)
    return type(left) is type(right) and bool(left == right)
