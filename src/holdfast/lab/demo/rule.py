"""Showing the part of a policy that mattered, as one line of YAML."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec

from holdfast.policy.schema import PolicyFile

APART: Final = frozenset({"id", "deadline_ms"})
"""What is shown elsewhere or explains nothing."""


def excerpt(policy: PolicyFile, path: str) -> str:
    """The guard with that id, or the entry at `agents.NAME` or `tools.NAME`, written in one line; else empty."""
    room, _, name = path.partition(".")
    if name:
        entry = getattr(policy, room).get(name)
        return "" if entry is None else f"{room}: {{{name}: {_flow(_said(entry))}}}"
    for guard in policy.guards:
        use = str(guard.__struct_config__.tag)
        if path == (guard.id if guard.id else use.replace("_", "-")):
            return _flow({"use": use, **_said(guard)})
    return ""


def _said(entry: msgspec.Struct) -> dict[str, Any]:
    """What an entry says beyond its defaults."""
    values = {field.name: (getattr(entry, field.name), field.default) for field in msgspec.structs.fields(entry)}
    said = {name: value for name, (value, default) in values.items() if value != default and name not in APART}
    return {name: _said(value) if isinstance(value, msgspec.Struct) else value for name, value in said.items()}


def _flow(value: Any) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{name}: {_flow(item)}" for name, item in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_flow, value)) + "]"
        case str() if re.fullmatch(r"[A-Za-z][\w.:-]*", value):
            return value
        case _:
            return json.dumps(value)
