"""Names of what can be locked: a file, a folder with everything below it (`src/**`), or anything
with a name."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

LONGEST: Final = 300
"""How long a name is kept as it is."""
BELOW: Final = "/**"
ALL: Final = "**"


def kept(name: str) -> str:
    """A name as it is kept, so that a table stays small. Instead of a file with a long name the
    folder is locked that it is in, with everything below it; another name that is long is kept by
    its hash."""
    if len(name) <= LONGEST:
        return name
    folder, slash, _ = name[:LONGEST].rpartition("/")
    return (
        f"{folder}{BELOW}" if slash else sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    )


def whole(name: str) -> str:
    """A file or folder together with everything below it."""
    if name.endswith(BELOW) or name in (ALL, "."):
        return ALL if name == "." else name
    return f"{name.rstrip('/')}{BELOW}"


def base(name: str) -> str:
    """The file or folder itself, of one that may be locked with everything below it."""
    return "." if name == ALL else name.removesuffix(BELOW) or "/"


def covers(one: str, other: str) -> bool:
    """Whether whoever has locked `one` has locked `other`."""
    if one in (other, ALL):
        return True
    return one.endswith(BELOW) and (base(one) == other or other.startswith(one.removesuffix(ALL)))


def overlap(one: str, other: str) -> bool:
    """Whether two names have a file in common."""
    return covers(one, other) or covers(other, one)
