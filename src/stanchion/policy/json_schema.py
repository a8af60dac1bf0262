"""The JSON Schema of policy files, made from the structs, for editors that complete and check as
one writes.

It accepts everything that loads. What only the loader can see (conditions, code that is named, what
an overlay finds to change) it leaves to the loader.

What a key means is the text that stands under the field of a struct: it is read from the code, and
only when somebody asks.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any, Final, get_args

import msgspec

from stanchion.policy.merge import ADD, REPLACE
from stanchion.policy.overlay import ENVIRONMENTS, EXTENDS
from stanchion.policy.schema import GUARDS, Placement, any_file

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


DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
TITLE: Final = "Stanchion policy"
CHANGE: Final = "Change"
"""How the name of a definition ends that says only what an overlay changes."""

Schema = dict[str, Any]


def policy_schema() -> Schema:
    """The schema of a policy file, as plain data."""
    _, defs = msgspec.json.schema_components([any_file()])
    structs = {struct.__name__: struct for struct in structs_in(any_file())}
    for name, definition in defs.items():
        _describe(definition, structs[name])
        _mark(definition)
    changes = {f"{name}{CHANGE}": _change(definition) for name, definition in defs.items()}
    whole = defs.pop("PolicyFile")
    change = changes.pop(f"PolicyFile{CHANGE}")
    items = whole["properties"]["guards"]["items"]
    items.pop("discriminator", None)
    listed = {"type": "array", "items": _changed_guard(items)}
    change["properties"]["guards"] = {
        "description": meanings(structs["PolicyFile"])["guards"],
        **_nullable(listed),
    }
    described = {
        name: {"description": each["description"]} for name, each in whole["properties"].items()
    }
    whole.pop("additionalProperties")
    strict = change.pop("additionalProperties")
    names = {"type": "array", "items": {"type": "string"}}
    schema = {
        "$schema": DIALECT,
        "title": TITLE,
        "description": whole.pop("description"),
        "type": "object",
        "properties": {
            **described,
            EXTENDS: {
                "description": (
                    "A pack or a file that this policy changes, or a list of them; it "
                    "says what differs."
                ),
                "anyOf": [{"type": "string"}, names],
            },
            ENVIRONMENTS: {
                "description": (
                    "Environments by name, each with only what differs there; null removes a key."
                ),
                "type": ["object", "null"],
                "additionalProperties": _nullable(
                    {
                        "type": "object",
                        "properties": described,
                        "additionalProperties": strict,
                        "allOf": [{"$ref": f"#/$defs/PolicyFile{CHANGE}"}],
                    }
                ),
            },
        },
        "additionalProperties": False,
        "if": {"required": [EXTENDS]},
        "then": {"$ref": f"#/$defs/PolicyFile{CHANGE}"},
        "else": {"$ref": "#/$defs/PolicyFile"},
        "$defs": {"PolicyFile": whole, f"PolicyFile{CHANGE}": change, **defs, **changes},
    }
    plain: Schema = msgspec.json.decode(msgspec.json.encode(schema))
    return plain


def _describe(definition: Schema, struct: type[Any]) -> None:
    """Give every property of a definition its description."""
    definition.pop("title", None)
    definition["description"] = " ".join(definition["description"].split())
    use = struct.__struct_config__.tag
    if use is not None:
        definition["title"] = use
        definition["properties"]["use"] = {"const": use}
    said = meanings(struct)
    for name, each in definition["properties"].items():
        if "description" not in each:
            each["description"] = said[name]


def _mark(definition: Schema) -> None:
    """Let every list be written with a mark as well: to be added to the one below, or to stand in
    its place."""
    lists = {name: each for name, each in definition["properties"].items() if _takes_list(each)}
    for mark, said in (
        (ADD, "Added to the inherited list."),
        (REPLACE, "Replaces the inherited list."),
    ):
        for name, each in lists.items():
            definition["properties"][f"{name}{mark}"] = {
                **each,
                "description": f"{said} {each['description']}",
            }


def _takes_list(each: Schema) -> bool:
    return any(
        one.get("type") == "array" and "prefixItems" not in one for one in each.get("anyOf", [each])
    )


def _change(definition: Schema) -> Schema:
    """The same for an overlay: nothing is required, and null takes a key away."""
    changed = {
        key: value for key, value in definition.items() if key not in ("required", "properties")
    }
    properties = definition.get("properties", {})
    changed["properties"] = {name: _loosened(name, each) for name, each in properties.items()}
    return changed


def _loosened(name: str, each: Schema) -> Schema:
    if name == "use":
        return each
    described = {"description": each["description"]}
    return {
        **described,
        **_nullable(_pointed({key: v for key, v in each.items() if key not in described})),
    }


def _pointed(each: Any) -> Any:
    """A schema that points to what overlays change, wherever it pointed to something whole."""
    if isinstance(each, list):
        return [_pointed(item) for item in each]
    if not isinstance(each, dict):
        return each
    made = {key: _pointed(value) for key, value in each.items() if key != "default"}
    if "$ref" in made:
        made["$ref"] += CHANGE
    if isinstance(made.get("additionalProperties"), dict):
        made["additionalProperties"] = _nullable(made["additionalProperties"])
    return made


def _nullable(each: Schema) -> Schema:
    null = {"type": "null"}
    members = each["anyOf"] if set(each) == {"anyOf"} else [each]
    return {"anyOf": members if null in members else [*members, null]}


def _changed_guard(items: Schema) -> Schema:
    """An entry of an overlay: it names a guard with `use`, or an entry below with `id`."""
    return {
        "anyOf": [{"$ref": f"{one['$ref']}{CHANGE}"} for one in items["anyOf"]],
        "allOf": [{"anyOf": [{"required": ["use"]}, {"required": ["id"]}]}],
    }
