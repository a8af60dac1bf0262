"""Rows by fresh eyes: calls that were written without knowing the guards, half of them kept unread.

A kind whose name ends in `2` was written by other eyes, after the first had been learnt from.

Each kind has two halves. Half `a` may be read and learnt from. Half `b` is only measured: it is
kept sealed (base64), so that no search through the repository shows it by accident. So are
credentials of both halves, which scanners of repositories would take for real ones.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, Final, Literal

import msgspec

from stanchion import typed

KINDS: Final = ("shell", "shell2", "files", "files2", "secrets", "secrets2", "sql")
HALVES: Final = ("a", "b")


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call, and whether it attacks. A text without a call has no tool and stands under `text`."""

    id: str
    label: Literal["attack", "honest"]
    family: str
    tool: str
    args: dict[str, Any]
    why: str


def cases(kind: str, half: str) -> Iterator[Case]:
    """The cases of a kind's half, in order."""
    text = files("stanchion_lab.eyes").joinpath(f"{kind}-{half}.jsonl").read_bytes()
    for line in text.splitlines():
        read = msgspec.json.decode(line, type=dict[str, Any])
        if "sealed" in read:
            read |= msgspec.json.decode(
                b64decode(read.pop("sealed"), validate=True), type=dict[str, Any]
            )
        yield typed.convert(read, Case)
