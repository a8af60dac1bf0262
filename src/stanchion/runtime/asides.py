"""Asides: why something could not be done, told to operators. Agents read that it could not, and no more."""

from __future__ import annotations

from typing import Final

LOGGER: Final = "stanchion.runtime"
"""The logger that hears of it; where nobody configures logging, warnings go to standard error."""


def aside(what: str, why: Exception) -> None:
    """Tell operators what could not be done, and why: in words that name hosts, files and ids."""
    import logging

    logging.getLogger(LOGGER).warning("%s: %s", what, why)
