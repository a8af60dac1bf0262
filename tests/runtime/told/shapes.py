"""What may be in no text that an agent reads: commands, what operators call, variables, ids,
addresses."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Iterable
from typing import Any, Final

from stanchion import Run, Shield
from stanchion.cli.main import COMMANDS
from stanchion.runtime.operating import settle_effects as settling
from stanchion.runtime.operating.allowances import Allowances

TAKES: Final = "by"
"""The parameter that everything has which is an operator's to do: who does it."""


def _operators_calls(owner: Any) -> Iterable[str]:
    for name, value in inspect.getmembers(owner, callable):
        public = not name.startswith("_") and inspect.isroutine(value)
        if public and TAKES in inspect.signature(value).parameters:
            yield name


CALLS: Final = sorted(
    {name for owner in (Shield, Run, Allowances, settling) for name in _operators_calls(owner)}
)
"""Functions and methods by which an operator loosens something, found by what they take."""

SHAPES: Final = {
    "a command": re.compile(rf"\bstanchion\s+({'|'.join(COMMANDS)})\b", re.IGNORECASE),
    "an operator's call": re.compile(rf"`({'|'.join(CALLS)})(\(.*?\))?`"),
    "a variable": re.compile(r"\b(STANCHION|VERONICA)_[A-Z]"),
    "a ticket": re.compile(r"\bticket\s+`", re.IGNORECASE),
    "an id": re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{12,}(?![0-9A-Za-z])"),
    "a store's address": re.compile(r"\b(postgres(ql)?|rediss?|valkeys?|sqlite|unix)://"),
}


def shapes_in(text: str, said: str = "", names: Collection[str] = ()) -> list[str]:
    """What in a text an agent may not read; `said` is what the agent said itself, and `names` are
    those of this place."""
    found = [
        f"{what}: {hit[0]}"
        for what, shape in SHAPES.items()
        for hit in shape.finditer(text)
        if hit[0] not in said
    ]
    return found + [f"a name of this place: {name}" for name in names if name in text]
