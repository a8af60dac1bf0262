"""The `dspy` package, loaded when a bundle is compiled and nowhere else: it takes seconds, and is
an extra."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

INSTALL: Final = "install the extra `dspy`, or from a checkout `pip install . './lab[dspy]'`"


class NoDSPy(Exception):
    """DSPy is not installed; the text says how to install it."""


def dspy(*needed: str) -> Any:
    """The package; `needed` are others that an optimiser of it needs. Raises `NoDSPy`."""
    try:
        for name in needed:
            import_module(name)
        return import_module("dspy")
    except ImportError as error:
        raise NoDSPy(f"DSPy cannot be loaded: {str(error).lower()}: {INSTALL}") from None
