"""Showing the part of a policy that mattered, as one line of YAML."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from stanchion.policy.said import beyond_defaults, said_of
from stanchion.policy.schema import PolicyFile

APART: Final = frozenset({"id", "deadline_ms"})
"""What is shown elsewhere or explains nothing."""


def excerpt(policy: PolicyFile, path: str) -> str:
    """The guard with that id, or the entry at `agents.NAME` or `tools.NAME`, written in one line;
    else empty."""
    room, _, name = path.partition(".")
    if name:
        entry = getattr(policy, room).get(name)
        return "" if entry is None else f"{room}: {{{name}: {_flow(beyond_defaults(entry))}}}"
    said = {name: value for name, value in said_of(policy, path).items() if name not in APART}
    return _flow(said) if said else ""


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
