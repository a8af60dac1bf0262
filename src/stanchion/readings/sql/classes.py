"""Classifying: the statements of a text, in one dialect, or in the worst of several where it is not
known."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.kernel.sizes import LIMITS, Limits
from stanchion.readings.sql.calls import CHANGING
from stanchion.readings.sql.comments import Unread
from stanchion.readings.sql.dialect import RARER, TRIED, dialect_begun_by
from stanchion.readings.sql.limits import readings_of
from stanchion.readings.sql.statement import Statement, severity, unclear
from stanchion.readings.sql.view import Reading, read

REMEMBERED_CHARS: Final = 4_096
"""Longer texts are read anew each time, so that what is remembered stays small."""

_VARYING: Final = regex(r"""(?i)["`\[\]\\#${}@]|--|/\*|&'|(?<![\w'])(?:[benqrux]|nq|_\w+)'""")
"""What dialects cut into words differently; a text without it has the same words in all of them."""

_CHANGING: Final = regex(
    rf"(?i)\b(?:{'|'.join(sorted(CHANGING))}|EXECUTE|CALL|COPY|LOAD|REPLACE|ATTACH|PRAGMA)\b"
)


def classify(
    text: str, dialect: str | None = None, limits: Limits = LIMITS
) -> tuple[Statement, ...]:
    """What every statement of a text does. Without a dialect it is read as several, and the worst
    reading counts: one that cannot be read is unclear, and so is a text of which one dialect hides
    what another would do."""
    if len(text) > limits.query_chars:
        return unclear("it is too long to be read")
    return (_remembered if len(text) <= REMEMBERED_CHARS else _classified)(text, dialect, limits)


def _classified(text: str, dialect: str | None, limits: Limits) -> tuple[Statement, ...]:
    dialect = dialect if dialect is not None else dialect_begun_by(text)
    if dialect is not None:
        try:
            return read(text, dialect, limits).statements
        except Unread as error:
            return unclear(str(error))
    return _in_any(text, limits)


_remembered: Final = lru_cache(512)(_classified)


def _in_any(text: str, limits: Limits) -> tuple[Statement, ...]:
    clear: list[Reading] = []
    unread: list[Reading | str] = []
    same = _VARYING.search(text) is None
    most = readings_of(text, limits)
    for dialect in (*TRIED, *RARER):
        if (same or dialect in RARER) if clear else len(unread) == most:
            break
        try:
            reading = read(text, dialect, limits)
        except Unread as error:
            unread.append(str(error))
        else:
            (clear if reading.clear else unread).append(reading)
    if not clear:
        first = unread[0]
        return unclear(first) if isinstance(first, str) else first.statements
    if any(_may_hide(one, clear, text) for one in unread):
        return unclear("databases read it differently; say which dialect it is in")
    return max([reading.statements for reading in clear], key=severity)


def _may_hide(unread: Reading | str, clear: list[Reading], text: str) -> bool:
    """Whether a dialect that could not read a text may do what those that could read it do not
    show."""
    if isinstance(unread, str):
        return _CHANGING.search(text) is not None
    return unread.words not in [reading.words for reading in clear]
