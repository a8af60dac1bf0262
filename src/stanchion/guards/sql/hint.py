"""Hints: words without which no text is a statement that does harm, so that one search tells that a
call has none."""

from __future__ import annotations

from typing import Final

from stanchion.readings.word_lists import listed

WORDS: Final = listed(
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


HINT: Final = rf"(?i)\b(?:{'|'.join(sorted(WORDS))})\b|\b[sx]p_|/\*"
"""Such a word, a procedure of a server, or a comment, which may stand inside of one."""
