"""A loosening in words for people."""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

LONGEST: Final = 80
"""How much of a value is shown."""


class Loosening(msgspec.Struct, frozen=True):
    """One thing by which a policy may let more through: of what (`guard budget`), and what about
    it, in words.

    `sure` is false where two values cannot be compared: the new one may be as strict, and nobody
    can tell.
    """

    what: str
    how: str
    sure: bool = True

    def __str__(self) -> str:
        kind, _, name = self.what.partition(" ")
        return f"{kind} `{name}`: {self.how}" if name else f"{kind}: {self.how}"


def changed(what: str, option: str, old: Any, new: Any, *, sure: bool = True) -> Loosening:
    """That a value is another one."""
    return Loosening(what, f"{option} {_shown(old)} → {_shown(new)}", sure)


def _shown(value: Any) -> str:
    plain = msgspec.to_builtins(value)
    if isinstance(plain, list | tuple) and all(isinstance(item, str) for item in plain):
        text = f"[{', '.join(plain)}]"
    elif plain is None:
        text = "none"
    else:
        text = plain if isinstance(plain, str) and plain else json.dumps(plain, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
