"""The judge: the guard's options, made ready, and what they say about a call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Final, NamedTuple

from stanchion.guards.sql.choices import BY_RISK, FOUND, Choices
from stanchion.kernel.actions import Risk
from stanchion.kernel.events import ToolCall
from stanchion.kernel.findings import Finding, worse
from stanchion.kernel.names import Names, glob, names
from stanchion.kernel.option import ACTIONS
from stanchion.kernel.sizes import ReadLimits
from stanchion.readings import Reading
from stanchion.readings.commands.words import COMMAND, role_of, runner_of
from stanchion.readings.sql.clients import ClientText, given_by, given_by_code
from stanchion.readings.sql.fragments import shape_of
from stanchion.readings.sql.places import (
    SAYING,
    SURELY,
    USUAL,
    begins_with_verb as is_statement,
    carries_texts,
    looks_like_sql,
    may_be_sql,
    runs_cells,
    runs_sql,
    surely_runs_sql,
    values_named,
)  # fmt: skip
from stanchion.readings.sql.statement import (
    CHANGES,
    REMEMBERED_CHARS,
    SECRET,
    Does,
    Statement,
    dialect_said_by,
)
from stanchion.readings.texts import texts_given

_NAMED: Final = {
    **dict.fromkeys((Does.UPKEEP, Does.CALL, Does.WRITE), "write"),
    **{
        does: does.name.lower() for does in (Does.DDL, Does.ADMIN, Does.PRIVILEGE, Does.DESTRUCTIVE)
    },
}

DENIED: Final = "is on the list of what nobody touches"
UNLISTED: Final = "is not on the list of what may be touched"


Readings = tuple[
    Callable[[str, str | None, ReadLimits], tuple[Statement, ...]],
    Callable[[str, ReadLimits], bool],
]


@cache
def readings() -> Readings:
    """What says what a text of SQL does, and whether a text is SQL. Both have the parser imported,
    which takes long: nobody asks for them before there is a text that may be SQL."""
    from stanchion.readings.sql.recognise import classify, is_sql

    return classify, is_sql


def _is_sql(text: str, limits: ReadLimits) -> bool:
    return may_be_sql(text) and readings()[1](text, limits)


class SqlCharge(NamedTuple):
    """One thing that is found, and the words for it."""

    what: str
    args: tuple[str | int, ...]


class SqlPlace(NamedTuple):
    """What is known of a tool by its name: which of its arguments may be SQL, in which dialect, and
    whether it runs commands or code."""

    arguments: frozenset[str]
    dialect: str | None
    runs: bool


def charges(statements: tuple[Statement, ...]) -> Iterator[SqlCharge]:
    """What the statements of a text do besides reading, by their own words; functions and tables
    aside."""
    read = False
    for one in statements:
        if one.why:
            yield SqlCharge("unclear", (one.at, one.why))
        if one.does in _NAMED:
            yield SqlCharge(_NAMED[one.does], (one.at, one.verb))
            if read and one.does > Does.UPKEEP:
                yield SqlCharge("stacked", (one.at, one.verb))
        if not one.bounded:
            tables = ", ".join(one.writes) if one.writes else "a table"
            yield SqlCharge("unbounded", (one.at, one.verb, tables))
        read = read or one.does is Does.READ


def _tails(name: str) -> list[str]:
    """A name and what is left of it without its schema and its database."""
    parts = name.split(".")
    return [".".join(parts[at:]) for at in range(len(parts))]


def _lowered(patterns: tuple[str, ...]) -> Names:
    return names([pattern.lower() for pattern in patterns])


class Judge:
    """Judges calls by a guard's options, and remembers what it said of texts that are not long."""

    def __init__(self, guard: Choices) -> None:
        self._guard = guard
        self._named = guard.tools is not None or guard.arguments is not None
        self._tools = None if guard.tools is None else names(guard.tools)
        own = guard.arguments
        self._arguments = USUAL if own is None else frozenset([name.lower() for name in own])
        self._allowed_tables = None if guard.allow_tables is None else _lowered(guard.allow_tables)
        self._denied_tables = _lowered(guard.deny_tables)
        self._allowed_functions = _lowered(guard.allow_functions)
        self._denied_functions = _lowered(guard.deny_functions)
        self._actions = guard.chosen()
        self._fragments = None if guard.fragments is None else ACTIONS[guard.fragments]
        self._place = lru_cache(256)(self._place_of)
        self._known = lru_cache(256)(self._worst)

    def judge(self, reading: Reading[ToolCall]) -> Finding | None:
        """The worst that is to be said of a call: of its own SQL, and of what its commands give to
        a database."""
        event, limits = reading.event, reading.reader.limits
        place = self._place(event.tool)
        worst: Finding | None = None
        judged = False
        for text in self._texts(event, place.arguments, limits):
            judged = True
            judge = self._known if len(text) <= REMEMBERED_CHARS else self._worst
            worst = worse(worst, judge(text, place.dialect, event.risk, limits))
        runs = place.runs or any(role_of(name) & COMMAND for name in event.args)
        if runs and not self._named:
            given = self._given(reading)
            judged = judged or bool(given)
            for text, dialect in given:
                plain = is_statement(text)
                found = self._known(text, dialect, event.risk, limits) if plain else None
                # What is unclear may be a text for something else.
                if found is not None and found.code != "sql.unclear":
                    worst = worse(worst, found)
        return worst if judged else self._fragment(event)

    def _given(self, reading: Reading[ToolCall]) -> list[ClientText]:
        """What a call's commands and code give to a database."""
        limits = reading.reader.limits
        given = [each for command in reading.commands for each in given_by(command.text, limits)]
        if runs_cells(reading.event.tool):
            texts = reversed([*texts_given(reading.event.args)])
            given += [each for _, text in texts for each in given_by_code(text)]
        return given

    def _texts(self, event: ToolCall, wanted: frozenset[str], limits: ReadLimits) -> Iterator[str]:
        """The texts of a call that are SQL: what was named as SQL, what looks like it where it is
        expected, and what is plainly SQL wherever it stands."""
        expected = dict.fromkeys(values_named(event.args, wanted))
        surely = surely_runs_sql(event.tool)
        for text in expected:
            if self._named or looks_like_sql(text, surely) or _is_sql(text, limits):
                yield text
        if not self._named and not carries_texts(event.tool):
            for _, text in reversed([*texts_given(event.args)]):
                if text not in expected and _is_sql(text, limits):
                    yield text

    def _place_of(self, tool: str) -> SqlPlace:
        if self._tools is not None:
            wanted = self._arguments if tool in self._tools else frozenset[str]()
        else:
            wanted = self._arguments if self._named or runs_sql(tool) else SAYING
            if not self._named and surely_runs_sql(tool):
                wanted |= SURELY
        return SqlPlace(wanted, self._dialect(tool), runner_of(tool).runs or runs_cells(tool))

    def _dialect(self, tool: str) -> str | None:
        """The dialect of a tool: what is said of it, of all, or by its name."""
        given = self._guard.dialects
        for pattern, dialect in () if given is None else given.items():
            if pattern == tool or glob(pattern, tool):
                return dialect
        return self._guard.dialect if self._guard.dialect is not None else dialect_said_by(tool)

    def _worst(
        self, text: str, dialect: str | None, risk: Risk, limits: ReadLimits
    ) -> Finding | None:
        """The worst of one text; of equally bad things the weightiest, and of those the first."""
        statements = readings()[0](text, dialect, limits)
        found = [*charges(statements)]
        for one in statements:
            found += [*self._functions(one), *self._tables(one)]
        chosen = {"unclear": BY_RISK[risk]} | self._actions
        said = [each for each in found if each.what in chosen]
        if not said:
            return None
        worst = max(said, key=lambda each: (chosen[each.what], -FOUND.index(each.what)))
        about = _about(worst.args, [one for one in statements if one.at == worst.args[0]])
        return Finding(chosen[worst.what], f"sql.{worst.what}", worst.args, about=about)

    def _functions(self, one: Statement) -> Iterator[SqlCharge]:
        """Functions that do more than compute, and those that are denied. What changes the server's
        own state, such as the next number of a sequence, is a part of writing. Where only reads are
        allowed a function of which nobody knows what it does is a doubt."""
        only_reads = self._guard.level == "read_only"
        denied = self._denied_functions
        for name, what in one.effects:
            if name not in self._allowed_functions and (only_reads or what != CHANGES):
                yield SqlCharge("function", (one.at, name, what))
        for name in one.unknown if only_reads else ():
            if name not in self._allowed_functions:
                line = f"`allow_functions: [{name}]` if it only computes"
                why = f"nobody has said what `{name}` does ({line})"
                yield SqlCharge("unclear", (one.at, why))
        for name in one.calls if denied.exact or denied.globs else ():
            if name in denied or name.rpartition(".")[2] in denied:
                yield SqlCharge("function", (one.at, name, DENIED))

    def _tables(self, one: Statement) -> Iterator[SqlCharge]:
        """Tables that are denied, by any part of their name; and those that are not allowed, by
        their name as written."""
        allowed = self._allowed_tables
        tables = (*one.reads, *one.writes)
        for name in tables:
            if any(tail in self._denied_tables for tail in _tails(name)):
                yield SqlCharge("table", (one.at, name, DENIED))
            elif allowed is not None and name not in allowed:
                yield SqlCharge("table", (one.at, name, UNLISTED))
        for name in one.secrets:
            if allowed is None or name not in allowed:
                yield SqlCharge("table", (one.at, name, SECRET))
        if allowed is not None and not tables and one.does > Does.UPKEEP:
            yield SqlCharge("table", (one.at, one.verb, "names no table that could be on the list"))

    def _fragment(self, event: ToolCall) -> Finding | None:
        if self._fragments is not None:
            for name, text in reversed([*texts_given(event.args)]):
                shape = shape_of(text)
                if shape:
                    return Finding(self._fragments, "sql.fragment", (name, shape))
        return None


def _about(args: tuple[str | int, ...], statements: list[Statement]) -> str:
    """What a charge is about: each table that is written, or else all that are read, beside what is
    charged."""
    charged = " ".join(map(str, args[1:]))
    written = [name for one in statements for name in one.writes]
    read = " ".join([name for one in statements for name in one.reads])
    return "\n".join([f"{charged} {name}".strip() for name in (written or [read])])
