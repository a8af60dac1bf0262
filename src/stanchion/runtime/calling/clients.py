"""The HTTP clients that a run hands out: adapters, found by name when somebody asks for one.

Whoever writes a tool has the run and knows of no adapter. Adapters stand on the runtime, so the
runtime does not import
them: it knows where they are, as it knows the modules of guards by their names.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

OPENING: Final = "stanchion.hosts.http.opening"
"""Where clients are made for a run: a function for each."""


def client(name: str, run: Any, options: Any) -> Any:
    """A client of that name for a run."""
    return getattr(import_module(OPENING), name)(run, **options)
