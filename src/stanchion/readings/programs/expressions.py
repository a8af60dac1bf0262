"""Expressions: what is known of a part of a piece of code, and what parts make together."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.programs.calls import UNKNOWN

VARIABLES: Final = frozenset(
    {"process.env", "ENV", "Deno.env", "environ[]", "os.environ", "Bun.env"}
)
"""How languages name the variables of the environment, one of which is asked for."""
HOME: Final = "~"
HOMES: Final = frozenset({"homedir", "home", "home_dir", "UserHomeDir", "homeDirectory"})
"""Calls that tell the home of who runs them."""
OWN_HOME: Final = frozenset({"HOME", "user.home", "USERPROFILE"})
"""Variables and properties that name one's own home."""
PLACES: Final = frozenset(
    {"File", "PathBuf", "Path", "Paths", "FileInfo", "DirectoryInfo", "Directory", "URL"}
)
"""What makes a place of its parts."""
ASKS_HOME: Final = frozenset({"getenv", "Getenv", "var", "getProperty", "GetEnvironmentVariable"})


class Value(NamedTuple):
    """What is known of an expression: its text, its items where it is a list, and what it is made
    of."""

    text: str | None = None
    items: tuple[str | None, ...] | None = None
    made_of: frozenset[str] = frozenset()
    named: tuple[tuple[str, str | None], ...] = ()
    """What is given by name in it, itself included."""


EMPTY: Final = Value()


def library_text(name: str, of: str, *texts: str | None) -> str | None:
    """What a library tells: a home, a variable of the environment, a path of its parts; `None` for
    anything else."""
    if name in HOMES:
        return HOME
    if texts and texts[0] in OWN_HOME and name in ASKS_HOME:
        return HOME
    if of in VARIABLES or name == "getenv":
        return f"${texts[0] if texts else name}"
    if name in PLACES or (name in ("from", "of", "get", "new") and of.rpartition(".")[2] in PLACES):
        parts = [UNKNOWN if each is None else each for each in texts]
        return "/".join(parts) if parts and parts[0] != UNKNOWN else None
    if name in ("join", "Join", "resolve", "Combine") and of.rpartition(".")[2] in (
        "path",
        "File",
        "posix",
        "filepath",
        "Path",
    ):
        return "/".join([UNKNOWN if each is None else each for each in texts])
    return None


def joined_value(left: Value, right: Value) -> Value:
    made = left.made_of | right.made_of
    if left.text is None and right.text is None:
        return Value(None, None, made)
    texts = [UNKNOWN if each.text is None else each.text for each in (left, right)]
    return Value("".join(texts), None, made)


def flat_texts(args: list[Value]) -> list[str | None]:
    return [each for arg in args for each in (arg.items if arg.items is not None else (arg.text,))]
