"""Judging: what the statements of a text are called to account for, each thing under its name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from stanchion.kernel.names import Names
from stanchion.readings.sql.catalogs import SECRET
from stanchion.readings.sql.functions import CHANGES
from stanchion.readings.sql.statement import Does, Statement

_NAMED: Final = {
    Does.UPKEEP: "write",
    Does.CALL: "write",
    Does.WRITE: "write",
    Does.DDL: "ddl",
    Does.ADMIN: "admin",
    Does.PRIVILEGE: "privilege",
    Does.DESTRUCTIVE: "destructive",
}

DENIED: Final = "is on the list of what nobody touches"
UNLISTED: Final = "is not on the list of what may be touched"


class Charge(NamedTuple):
    """One thing that is found, and the words for it."""

    what: str
    args: tuple[str | int, ...]


def charges(statements: tuple[Statement, ...]) -> Iterator[Charge]:
    """What the statements of a text do besides reading, by their own words; functions and tables
    aside."""
    read = False
    for one in statements:
        if one.why:
            yield Charge("unclear", (one.at, one.why))
        named = _NAMED.get(one.does)
        if named is not None:
            yield Charge(named, (one.at, one.verb))
            if read and one.does > Does.UPKEEP:
                yield Charge("stacked", (one.at, one.verb))
        if not one.bounded:
            yield Charge(
                "unbounded", (one.at, one.verb, ", ".join(one.writes) if one.writes else "a table")
            )
        read = read or one.does is Does.READ


def function_charges(
    statements: tuple[Statement, ...], allowed: Names, denied: Names, only_reads: bool
) -> Iterator[Charge]:
    """Functions that do more than compute, and those that are denied. What changes the server's own
    state, such as the next number of a sequence, is a part of writing. Where only reads are allowed
    a function of which nobody knows what it does is a doubt."""
    for one in statements:
        for name, what in one.effects:
            if name not in allowed and (only_reads or what != CHANGES):
                yield Charge("function", (one.at, name, what))
        if only_reads:
            for name in one.unknown:
                if name not in allowed:
                    yield Charge(
                        "unclear", (one.at, f"it calls `{name}`, and nobody knows what that does")
                    )
        if denied.exact or denied.globs:
            for name in one.calls:
                if name in denied or name.rpartition(".")[2] in denied:
                    yield Charge("function", (one.at, name, DENIED))


def table_charges(
    statements: tuple[Statement, ...], allowed: Names | None, denied: Names
) -> Iterator[Charge]:
    """Tables that are denied, by any part of their name; and those that are not allowed, by their
    name as written."""
    for one in statements:
        tables = (*one.reads, *one.writes)
        for name in tables:
            if any(tail in denied for tail in _tails(name)):
                yield Charge("table", (one.at, name, DENIED))
            elif allowed is not None and name not in allowed:
                yield Charge("table", (one.at, name, UNLISTED))
        for name in one.secrets:
            if allowed is None or name not in allowed:
                yield Charge("table", (one.at, name, SECRET))
        if allowed is not None and not tables and one.does > Does.UPKEEP:
            yield Charge("table", (one.at, one.verb, "names no table that could be on the list"))


def _tails(name: str) -> list[str]:
    """A name and what is left of it without its schema and its database."""
    parts = name.split(".")
    return [".".join(parts[at:]) for at in range(len(parts))]
