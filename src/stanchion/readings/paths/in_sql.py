"""Files in SQL: what a statement opens by functions and clauses of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.act import Use

LONGEST: Final = 16_384
MOST: Final = 32

_HINT: Final = regex(r"['\"](?:~|/|\.{1,2}/|[A-Za-z]:[\\/]|file:)", re.IGNORECASE)
_CALL: Final = regex(
    r"\b(\w*(?:read|load|scan|file|glob|sniff|import)\w*)\s*\(\s*(\[?\s*(?:'[^']*'\s*,?\s*)+)",
    re.IGNORECASE,
)
"""A function that opens the files it is given: `read_text(…)`, `pg_read_file(…)`,
`LOAD_FILE(…)`."""
_CLAUSE: Final = regex(
    r"\b(from|join|attach(?:\s+database)?|infile|outfile|dumpfile|to|load|source|"
    r"import(?:\s+database)?|export\s+database)\s+'([^']+)'",
    re.IGNORECASE,
)
_TEXT: Final = regex(r"'([^']*)'")
WRITES: Final = ("outfile", "dumpfile", "to", "export")


def opened_by_sql(text: str) -> Iterator[tuple[str, Use]]:
    """The files that a statement opens, and whether it reads or writes them; a value that it only
    compares is none."""
    text = text[:LONGEST]
    if _HINT.search(text) is None:
        return
    for call in list(_CALL.finditer(text))[:MOST]:
        yield from [(path, "read") for path in _TEXT.findall(call[2]) if path]
    for clause in list(_CLAUSE.finditer(text))[:MOST]:
        yield clause[2], "write" if clause[1].lower().startswith(WRITES) else "read"
