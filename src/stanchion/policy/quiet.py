"""Quiet: what a parser logs while a guard reads a text is not written anywhere, because it has the text in it."""

from __future__ import annotations

import logging
from typing import Final

from stanchion.readings.sql.lexing import PARSING


class _NotWhileParsing(logging.Filter):
    """Lets nothing pass while a guard parses; what the program itself parses is logged as ever."""

    def filter(self, _record: logging.LogRecord) -> bool:
        """Whether to log it."""
        return not PARSING.get()


_FILTER: Final = _NotWhileParsing()


def keep_quiet() -> None:
    """Keep the parser of SQL from logging texts of calls."""
    logging.getLogger("sqlglot").addFilter(_FILTER)
