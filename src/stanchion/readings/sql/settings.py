"""Settings: whether SET and its like change how a session shows things, or what it may do and what
names mean."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.names import names
from stanchion.readings.sql import WORDS
from stanchion.readings.sql.statement import Does
from stanchion.readings.word_lists import listed

Verdict = tuple[Does, str]

PROTECTING: Final = WORDS["protecting settings"]
"""Settings that protect data or say what is written down, or by which texts are read."""

RIGHTS: Final = listed("ROLE SESSION_AUTHORIZATION PASSWORD SESSION_USER CURRENT_USER")
"""Settings that are who one is."""

SHOWING: Final = names(WORDS["showing settings"])
"""Settings by which a session shows things, hurries or waits, and that mean nothing to others."""

SHOWN: Final = 32
"""How long the name of a setting is that a message shows."""

_SCOPES: Final = listed("SESSION LOCAL @@SESSION @@LOCAL")
_WIDE: Final = frozenset({"GLOBAL", "PERSIST", "PERSIST_ONLY"})


def set_by(words: list[str]) -> Verdict:
    """What a SET, or an ALTER SESSION SET, changes: the worst of its settings."""
    behind = words[1:] if words[0] == "SET" else words[3:]
    if "READ" in words and words[words.index("READ") + 1 :][:1] == ["WRITE"]:
        return Does.UPKEEP, "SET TRANSACTION READ WRITE"
    if behind[:1] == ["TRANSACTION"] or behind[:2] == ["SESSION", "CHARACTERISTICS"]:
        return Does.TRANSACTION, "SET TRANSACTION"
    return max([_one(part) for part in _parts(behind)], default=(Does.SESSION, "SET"))


def reset_by(words: list[str]) -> Verdict:
    """What a RESET changes: back to what it was is not always to less."""
    name = words[1] if len(words) > 1 else "ALL"
    if name in ("MASTER", "REPLICA", "SLAVE", "PERSIST", "BINARY") or PROTECTING & set(words):
        return Does.ADMIN, f"RESET {name}"
    if name in RIGHTS or words[1:3] == ["SESSION", "AUTHORIZATION"]:
        return Does.PRIVILEGE, f"RESET {name}"
    return (Does.SESSION if name in SHOWING else Does.UPKEEP), "RESET"


def _parts(words: list[str]) -> list[list[str]]:
    """The settings of one SET: those behind commas have an `=` or a scope of their own."""
    parts: list[list[str]] = [[]]
    depth = 0
    for at, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        after = words[at + 1 : at + 6]
        if (
            word == ","
            and not depth
            and ("=" in after or ":=" in after or {*after[:1]} & (_WIDE | _SCOPES))
        ):
            parts.append([])
        else:
            parts[-1].append(word)
    return [part for part in parts if part]


def _one(words: list[str]) -> Verdict:
    words = [word for word in words if word not in ("@@", ".") and not word.isspace()]
    wide = next((word for word in words[:2] if word.lstrip("@") in _WIDE), "")
    touched = sorted(PROTECTING.intersection([word.lstrip("@") for word in words]))
    if words[:2] == ["SESSION", "AUTHORIZATION"] or words[:2] == ["DEFAULT", "ROLE"]:
        return Does.PRIVILEGE, f"SET {words[0]} {words[1]}"
    if words[0] == "@" or (words[0].startswith("@") and not words[0].startswith("@@")):
        return Does.SESSION, "SET"
    while len(words) > 1 and (words[0] in _SCOPES or words[0].lstrip("@") in _WIDE):
        words = words[1:]
    name = words[0].lstrip("@")
    if name in RIGHTS:
        return Does.PRIVILEGE, f"SET {name}"
    if wide or touched:
        return Does.ADMIN, f"SET {(*touched, wide.lstrip('@'))[0]}"
    if name in SHOWING or words[:2] == ["TIME", "ZONE"] or words[:2] == ["LOCK", "MODE"]:
        return Does.SESSION, "SET"
    return Does.UPKEEP, f"SET {name}" if name.isidentifier() and len(name) < SHOWN else "SET"
