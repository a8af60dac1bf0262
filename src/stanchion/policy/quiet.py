"""Quiet: what a parser logs while a guard reads a text is not written anywhere, because it has the
text in it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import lru_cache
from typing import Any


class _NotWhileBusy(logging.Filter):
    """Lets nothing pass while a guard parses; what the program itself parses is logged as ever."""

    def __init__(self, busy: Callable[[], Any]) -> None:
        super().__init__()
        self._busy = busy

    def filter(self, _record: logging.LogRecord) -> bool:
        """Whether to log it."""
        return not self._busy()


@lru_cache
def keep_quiet(logger: str, busy: Callable[[], Any]) -> None:
    """Keep a parser from logging texts of calls, as long as it is busy with them."""
    logging.getLogger(logger).addFilter(_NotWhileBusy(busy))
