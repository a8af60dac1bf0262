"""The starter policy: a commented file to begin with, in which every guard has an example."""

from __future__ import annotations

from importlib import resources
from typing import Any

import msgspec

from stanchion.policy.schema import GUARDS

FILE = "starter.yaml"


def starter() -> str:
    """The text of the starter; guards that it does not speak of follow at its end, as comments."""
    text = resources.files("stanchion.policy").joinpath(FILE).read_text("utf-8")
    return text + "".join(
        _example(name, GUARDS[name]) for name in GUARDS if f"- use: {name}\n" not in text
    )


def _example(name: str, guard: type[Any]) -> str:
    says = " ".join(
        (guard.__doc__ if guard.__doc__ is not None else name).partition("\n\n")[0].split()
    )
    lines = ["", f"# {says}", f"# - use: {name}"]
    for field in msgspec.structs.fields(guard):
        if field.required:
            lines.append(f"#   {field.name}: ...")
        elif isinstance(field.default, bool | int | float | str) and field.default != "":
            lines.append(f"#   {field.name}: {msgspec.json.encode(field.default).decode()}")
    return "\n".join(f"  {line}" if line else line for line in lines) + "\n"
