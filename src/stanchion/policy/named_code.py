"""Finding code that a policy names as `module:name`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def imported(name: str) -> Callable[..., Any]:
    """The code at `module:name`; `ValueError` says what is wrong where it cannot be had."""
    module, _, path = name.partition(":")
    found: Any = None
    try:
        found = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's module may do anything when it is imported
        reason = (
            str(error) if isinstance(error, ImportError | AttributeError) else type(error).__name__
        )
        raise ValueError(
            f"`{name}` cannot be found: write `module:name` of code that can be imported, and name "
            f"its folder in PYTHONPATH ({reason})"
        ) from None
    code: Callable[..., Any] = found
    return code
