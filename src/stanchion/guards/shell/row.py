"""Rows of the table of programs: when a program is a danger, and of which kind, as data."""

from __future__ import annotations

from typing import Literal

import msgspec

from stanchion.guards.shell.consequence import Loss

Known = Literal["", "changed", "untracked", "tree", "pushed"]
"""What a repository knows by which less may be lost; see `questions`."""


class RiskRow(
    msgspec.Struct,
    frozen=True,
    dict=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    rename={"check": "is", "known": "ask", "otherwise": "else"},
):
    """When a program is a danger, by its words. Alternatives are parted by `|`; groups, each of
    which must be met, by blanks. `policy/meanings` says what each field means."""

    words: str = ""
    flags: str = ""
    lacks: str = ""
    has: str | tuple[str, ...] = ()
    hasnt: str = ""
    value: str = ""
    given: tuple[str, ...] = ()
    sets: str = ""
    mark: str = ""
    hint: str = ""
    check: str = ""
    family: str = ""
    loss: Loss | None = None
    strict: bool = False
    known: Known = ""
    by_path: bool = False
    otherwise: Loss = "nothing"


class Program(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of programs: risks, each by why it is one; commands that are such, and that are
    none."""

    risks: dict[str, tuple[str | RiskRow, ...]]
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()
