"""What a policy's author wrote about a guard, without what goes without saying."""

from __future__ import annotations

from typing import Any

import msgspec

from stanchion.policy.schema import PolicyFile, ask_id, id_of, use_of


def said_of(file: PolicyFile, guard_id: str) -> dict[str, Any]:
    """The entry of the guard with that id as plain data, its defaults left out; empty where there
    is none."""
    for entry in file.guards:
        if guard_id == id_of(entry):
            return {"use": use_of(entry), **beyond_defaults(entry)}
    for name, tool in file.tools.items():
        if tool.ask and guard_id == ask_id(name):
            return {"tools": {name: {"ask": beyond_defaults(tool)["ask"]}}}
    return {}


def beyond_defaults(entry: msgspec.Struct) -> dict[str, Any]:
    """What an entry says beyond its defaults, as plain data."""
    said = {
        field.name: (getattr(entry, field.name), _default(field))
        for field in msgspec.structs.fields(entry)
    }
    return {
        name: beyond_defaults(value)
        if isinstance(value, msgspec.Struct)
        else msgspec.to_builtins(value)
        for name, (value, default) in said.items()
        if value != default
    }


def _default(field: msgspec.structs.FieldInfo) -> Any:
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
