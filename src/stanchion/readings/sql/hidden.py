"""Hidden verbs: statements that begin inside one that is known by its first words alone.

T-SQL wants nothing between statements: `SET NOCOUNT ON DELETE FROM t` is two. Nobody can tell where
the first one ends, so every word outside brackets counts that begins a statement and is no name
there.
"""

from __future__ import annotations

from typing import Final

from stanchion.readings.sql import WORDS
from stanchion.readings.sql.verbs import first_word, made_by
from stanchion.readings.word_lists import listed

BEGINNING: Final = listed(WORDS["beginnings of statements"])
"""Words that begin a statement wherever they stand in a batch."""

_NAMING: Final = frozenset({"USE", "SHOW", "HELP"})
"""First words behind which a word is a name, or says what is shown."""
_ALONE: Final = listed("TABLE INDEX SEQUENCE DATABASE TYPE SYNONYM STATISTICS PARTITION")
"""What is made and changed by statements that others may follow; the rest holds statements or
stands alone."""
_PARTS: Final = {
    "CREATE": listed("SELECT SET REPLACE COPY"),
    "ALTER": listed(
        "ALTER MERGE UPDATE DELETE DROP TRUNCATE SET RENAME REPLACE SELECT COPY ATTACH DETACH"
    ),
    "LOCK": frozenset({"UPDATE"}),
    **dict.fromkeys(("SET", "RESET"), frozenset({"SET"})),
}
"""Words that are parts of a statement with that first word, or that it is judged by itself."""
_BEFORE: Final = listed(". @ @@ = , CHARACTER CHAR")
_BEFORE_IN_DDL: Final = _BEFORE | {"FOR", "KEY", "AS", "ON", "COMMIT", "OR"}
"""Words before one that is a name, or part of a clause."""
_AFTER: Final = frozenset({"=", ","})
"""Words behind one that is a name."""


def hidden_verb(words: list[str]) -> int:
    """Where in a statement another one begins; 0 where none does."""
    first = first_word(words)
    ddl = first in ("CREATE", "ALTER", "COMMENT", "RENAME")
    if ddl and made_by(words) not in _ALONE:
        return 0
    beginning = BEGINNING - _PARTS.get(first, frozenset())
    depth = 0
    for at, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        begins = word.partition(" ")[0]
        if depth > 0 or not at or begins not in beginning or (at == 1 and first in _NAMING):
            continue
        if (
            words[at - 1] in (_BEFORE_IN_DDL if ddl else _BEFORE)
            or "".join(words[at + 1 : at + 2]) in _AFTER
        ):
            continue
        return at
    return 0
