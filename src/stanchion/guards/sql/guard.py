"""The SQL guard: what the statements in a tool call would do."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final

import msgspec

from stanchion.guards.sql.choices import BY_RISK, FOUND, Choices
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.contract.values import Cure, GuardGate
from stanchion.kernel.events import ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.option import ACTIONS
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading
from stanchion.readings.sql.statement import PARSING
from stanchion.readings.word_lists import listed

if TYPE_CHECKING:
    from stanchion.guards.sql.judge import Judge
    from stanchion.kernel.contract.values import PolicySaid

HINTS: Final = listed(
    """
    add alter attach backup begin binlog bulk call change clone comment commit copy create dbcc
    deallocate declare delete deny detach discard do drop dump exec execute explain export from get
    grant import insert install kill load merge pivot pragma prepare purge put reassign reconfigure
    remove rename replace reset restart restore revert revoke rollback security select set shutdown
    start stop summarize system table truncate undrop uninstall unload unpivot update upsert use
    vacuum values waitfor with xa
    """
)
"""First words of statements, but for those that only look, bracket others or keep house."""


HINT: Final = rf"(?i)\b(?:{'|'.join(sorted(HINTS))})\b|\b[sx]p_|/\*"
"""Such a word, a procedure of a server, or a comment, which may stand inside of one: a text without
all of them does no harm."""

CODES: Final = declare(
    {
        "sql.destructive": Words(
            "statement {} is a `{}`: what it removes cannot be brought back",
            "leave it in place, or ask for approval and say what is to go and why",
        ),
        "sql.privilege": Words(
            "statement {} is a `{}`: it changes who may do what",
            "ask whoever administers the database",
        ),
        "sql.admin": Words(
            "statement {} is a `{}`: it reaches files, programs, other databases or the server "
            "itself",
            "work with the rows of tables, and leave moving them in and out to a tool made for it",
        ),
        "sql.function": Words(
            "statement {} calls `{}`, which {}",
            "write the statement without it, or ask for approval",
        ),
        "sql.unbounded": Words(
            "statement {} is a `{}` on `{}` without a condition: it would change all rows",
            "add a WHERE that says which rows, or ask for approval to change all",
        ),
        "sql.table": Words(
            "statement {} touches `{}`, which {}", "keep to the tables that your task is about"
        ),
        "sql.unclear": Words(
            "statement {} cannot be understood: {}",
            "write one plain statement per call, without unusual quoting or comments",
        ),
        "sql.ddl": Words(
            "statement {} is a `{}`: it changes the schema",
            "work with the schema as it is, or hand in the change for approval",
        ),
        "sql.stacked": Words(
            "statement {} is a `{}` after a read in the same text, as injected statements are",
            "send each statement in its own call",
        ),
        "sql.write": Words(
            "statement {} is a `{}`, and only reads are allowed here",
            "read with SELECT, or ask for approval to write",
        ),
        "sql.fragment": Words(
            "argument `{}` looks like a piece of SQL that changes a query: {}",
            "pass plain values, and have queries take them as parameters",
        ),
    }
)

CURES: Final = {
    **{f"sql.{what}": (Cure(what, "escalate"),) for what in FOUND},
    "sql.table": (Cure("allow_tables+", "{1}"), Cure("table", "escalate")),
    "sql.function": (Cure("allow_functions+", "{1}"), Cure("function", "escalate")),
}
"""Lines that may cure what it says."""


class Sql(Choices, frozen=True, dict=True):
    """Parses the SQL in a tool call and refuses what does more than it may.

    Where no tools are given, those are looked at whose names or arguments say that they run SQL.
    What each thing found leads to follows from the level, unless an action for it is given.
    """

    name: ClassVar = "sql"
    kind: ClassVar = Kind.PURE
    stages: ClassVar = frozenset({Stage.TOOL_CALL})
    category: ClassVar = Category.SAFETY
    priority: ClassVar = 15
    says_worst: ClassVar = True
    cures: ClassVar = CURES
    reads: ClassVar = frozenset({("tools", "risk")})

    def __post_init__(self) -> None:
        if not self._has_hint:
            import stanchion.guards.sql.judge  # noqa: F401  # what is slow to import is imported before the first call

    @cached_property
    def _has_hint(self) -> bool:
        """Whether a text about which something is said has a word that says so: what is unclear,
        and a piece of SQL, have none."""
        return self.unclear == "allow" and self.fragments is None and self.level != "read_only"

    def scoped(self, said: PolicySaid, /) -> Sql:
        """The same guard, which knows how to keep its parser from logging what it reads."""
        made = msgspec.structs.replace(self)
        made.__dict__["_quiet"] = said.quiet
        return made

    @cached_property
    def _judge(self) -> Judge:
        from stanchion.guards.sql.judge import Judge

        if "_quiet" in self.__dict__:
            self.__dict__["_quiet"]("sqlglot", PARSING.get)
        return Judge(self)

    @cached_property
    def gate(self) -> GuardGate | None:
        """What is in every text about which something is said."""
        return GuardGate(flat=(HINT,)) if self._has_hint else None

    def judge(self, reading: Reading[ToolCall], /) -> Finding | None:
        """Say the worst of what the statements of a call do; look for fragments where there are no
        statements."""
        return self._judge.judge(reading)

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        chosen = self.chosen()
        said = dict.fromkeys(chosen.values())
        if "unclear" not in chosen:
            said |= dict.fromkeys(BY_RISK.values())
        if self.fragments is not None:
            said[ACTIONS[self.fragments]] = None
        return tuple(said)
