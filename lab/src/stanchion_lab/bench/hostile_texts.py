"""Hostile texts: a family that is meant to make whoever reads them slow. Each member can be made in
any size, so that two sizes show how its cost grows."""

from __future__ import annotations

import base64
import hashlib
import tomllib
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Final

import stanchion.guards.secrets

Make = Callable[[int], str]
"""Makes a text of so many characters."""

RULES: Final = Path(stanchion.guards.secrets.__file__).parent / "rules"


def family() -> dict[str, Make]:
    """Every hostile text by its name: what is repeated, what differs each time, what is nested."""
    units = tomllib.loads(UNITS.read_text(encoding="utf-8"))
    repeated = {name: _repeated(unit) for name, unit in units.items()}
    return repeated | {name: _counted(unit) for name, unit in COUNTED.items()} | NESTED


def of_rules() -> dict[str, Make]:
    """For every kind of secret a text of its hits, and one of what nearly is a hit."""
    made: dict[str, Make] = {}
    for file in sorted(RULES.glob("*.toml")):
        rule = tomllib.loads(file.read_text(encoding="utf-8"))
        for side in ("hits", "misses"):
            made[f"{rule['kind']}, {side}"] = _repeated("\n".join(rule.get(side, ())) + "\n")
    return {name: make for name, make in made.items() if make(1).strip()}


def _repeated(unit: str) -> Make:
    return lambda size: (unit * (size // len(unit) + 1))[:size]


def _counted(unit: Callable[[int], str]) -> Make:
    """A text of pieces that all differ."""

    def made(size: int) -> str:
        pieces: list[str] = []
        length = 0
        for piece in map(unit, count()):
            if length >= size:
                break
            pieces.append(piece)
            length += len(piece)
        return "".join(pieces)[:size]

    return made


def _nested(opening: str, closing: str) -> Make:
    def made(size: int) -> str:
        depth = size // len(opening + closing)
        return opening * depth + closing * depth

    return made


def _drawn(number: int, length: int = 32) -> str:
    """Characters that look random and are the same for the same number."""
    digest = hashlib.sha512(str(number).encode()).digest()
    return base64.urlsafe_b64encode(digest).decode()[:length]


def _blobs() -> Iterator[tuple[str, Callable[[int], str]]]:
    """Pieces that are written in other ways."""
    yield "base64 of words", lambda n: base64.b64encode(b"password is hunter%d" % n).decode() + " "
    yield "hex of words", lambda n: (b"the token is %d" % n).hex() + " "
    yield "percent signs", lambda n: "".join([f"%{ord(char):02x}" for char in f"tok{n}"]) + " "
    yield "escapes", lambda n: f"\\u0041\\x41\\101{n}"
    yield "entities", lambda n: f"&#x41;&amp;&lt;{n}"


UNITS: Final = Path(__file__).with_suffix(".toml")
"""What is repeated without end, by its name."""

COUNTED: Final[dict[str, Callable[[int], str]]] = {
    "random words": lambda n: _drawn(n, 8) + " ",
    "random tokens": lambda n: _drawn(n) + " ",
    "one random line": _drawn,
    "tokens by name": lambda n: f"token_{n} = '{_drawn(n)}'\n",
    "github tokens": lambda n: "ghp_" + _drawn(n, 36).replace("-", "a").replace("_", "b") + " ",
    "keys of aws": lambda n: "AKIA" + base64.b32encode(_drawn(n).encode()).decode()[:16] + " ",
    "counted cards": lambda n: f"card {4_000_000_000_000_000 + n} ",
    "jwt, each its own": lambda n: f"eyJhbGciOiJIUzI1NiJ9.{_drawn(n)}.{_drawn(n + 1)} ",
    "jwt in commands": lambda n: f"curl -H 'Authorization: Bearer {_drawn(n, 40)}' h.example; ",
    "logins, each its own": lambda n: f"https://u{n}:{_drawn(n, 16)}@h{n}.example/ ",
    "mails, each its own": lambda n: f"ann{n}@h{n}.example ",
    "paths, each its own": lambda n: f"/srv/a{n}/b{n} ",
    "numbers": lambda n: f"{n} ",
    "assignments, each its own": lambda n: f"a{n}=b{n}; ",
    "variables, each its own": lambda n: f"v{n}=$v{n - 1}x; ",
    "functions": lambda n: f"f{n}() {{ f{n + 1}; }}; ",
    "values of in": lambda n: f",{n}" if n else "SELECT a FROM b WHERE c IN (0",
    "columns": lambda n: f", a{n}" if n else "SELECT 1",
    "fields of json": lambda n: f'{"{" if not n else ","}"k{n}":{n}',
    "claims, each its own": lambda n: f"I changed file{n}.py and test{n} passed. ",
    **dict(_blobs()),
}
"""What differs each time."""

NESTED: Final[dict[str, Make]] = {
    "lists in lists": _nested("[", "]"),
    "objects in objects": _nested('{"a":', "}"),
    "calls in calls": _nested("a(", ")"),
    "selects in selects": _nested("(select ", ")"),
    "dates in dates": _nested("DATE(", ")"),
    "substitutions in substitutions": _nested("$(a ", ")"),
    "groups in groups": _nested("( ", " )"),
    "quotes in quotes": _nested("\"'", "'\""),
    "tags in tags": _nested("<a>", "</a>"),
    "expansions in expansions": _nested("{a,", "}"),
    "variables in variables": _nested("${a:-", "}"),
}
"""What stands in itself."""
