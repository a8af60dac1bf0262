"""Choices: what the options of the guard may say, and what follows from them."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec

from stanchion.kernel.actions import Action, Risk
from stanchion.kernel.option import (
    ACTIONS,
    Fewer,
    GivenSeverer,
    Glob,
    More,
    PlainActionName,
    Shorter,
)
from stanchion.readings.sql.statement import DialectName
from stanchion.readings.word_lists import Strings, in_order, listed

Level = Literal["guarded", "no_ddl", "read_only"]

FOUND: Final = in_order(
    "destructive privilege admin function unbounded table unclear ddl stacked write"
)
"""What can be found, the weightiest first: of two things with the same action the first one is
said."""

_ALWAYS: Final = listed("destructive privilege admin function unbounded table stacked")

REFUSED: Final[dict[Level, frozenset[str]]] = {
    "guarded": _ALWAYS,
    "no_ddl": _ALWAYS | {"ddl"},
    "read_only": frozenset(FOUND),
}
"""What each level refuses. What is unclear goes by the tool's risk where it is not in here."""

BY_RISK: Final = {
    Risk.LOW: Action.WARN,
    Risk.MEDIUM: Action.ESCALATE,
    Risk.HIGH: Action.BLOCK,
    Risk.CRITICAL: Action.BLOCK,
}
"""What becomes of what cannot be understood, by the harm that the tool can do."""


Chosen = GivenSeverer[PlainActionName | None]
"""An action; what is not given follows from the level."""


class Choices(msgspec.Struct, frozen=True, dict=True):
    """The options of the guard; what is not given follows from the level."""

    tools: Strings | None = None
    """The tools whose SQL is judged, by name or glob; if absent, those whose name or arguments show
    that they run SQL."""
    arguments: Strings | None = None
    """The arguments that contain SQL, in upper or lower case; if absent, `query`, `sql` and similar
    names."""
    dialect: DialectName | None = None
    """The dialect of all tools that `dialects` does not name; if absent, the tool's name decides,
    or the worst of several readings."""
    dialects: dict[Glob, DialectName] | None = None
    """The dialect of each tool, by name or glob, where the first match counts; if absent, `dialect`
    decides."""
    level: Annotated[Level, ("guarded", "no_ddl", "read_only")] = "guarded"
    """What is refused: harmful statements, also schema changes, or everything except reads."""
    allow_tables: Fewer[Strings | None] = None
    """The only tables that may be used, by name or glob, as statements write them; if absent, all
    tables."""
    deny_tables: More[Strings] = ()
    """Tables that may not be used, by name or glob, with or without their schema; checked before
    `allow_tables`."""
    allow_functions: Shorter[Strings] = ()
    """Functions that may be called although they do more than compute, by name or glob."""
    deny_functions: More[Strings] = ()
    """Functions and procedures that may not be called, by name or glob."""
    destructive: Chosen = None
    """The action for statements that remove data for good; if absent, `level` decides."""
    privilege: Chosen = None
    """The action for statements that change permissions; if absent, `level` decides."""
    admin: Chosen = None
    """The action for statements that reach files, programs, other databases or the server; if
    absent, `level` decides."""
    function: Chosen = None
    """The action for calls of functions that do more than compute; if absent, `level` decides."""
    unbounded: Chosen = None
    """The action for an UPDATE or DELETE without a condition that selects rows; if absent, `level`
    decides."""
    table: Chosen = None
    """The action for statements on tables that the lists do not allow; if absent, `level` decides.
    """
    unclear: Chosen = None
    """The action for SQL that cannot be understood; if absent, the tool's risk decides."""
    ddl: Chosen = None
    """The action for schema changes; if absent, `level` decides."""
    stacked: Chosen = None
    """The action for a change that follows a read in the same text; if absent, `level` decides."""
    write: Chosen = None
    """The action for changes that select their rows; if absent, `level` decides."""
    fragments: PlainActionName | None = None
    """The action for values that would change a query into which they are pasted; if absent, values
    are not checked."""

    def chosen(self) -> dict[str, Action]:
        """What each thing that is found leads to; what is left out is not said, and what is unclear
        may go by risk."""
        given = {what: getattr(self, what) for what in FOUND}
        own = {what: ACTIONS[action] for what, action in given.items() if action is not None}
        return {**dict.fromkeys(REFUSED[self.level], Action.BLOCK), **own}
