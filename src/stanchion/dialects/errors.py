"""What is said to somebody who uses a dialect in a way that it cannot carry out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stanchion.audit.errors import TrailError
from stanchion.kernel.shown import StanchionError, one_line
from stanchion.policy.nearest import hint
from stanchion.runtime.shield import Shield
from stanchion.stores.protocol import StoreError


class DialectError(StanchionError, ValueError):
    """Something was asked for that cannot be carried out; the text is one line that names the
    dialect's own word."""

    def __init__(self, message: str = "") -> None:
        # Here, because what a message names is often somebody else's: a model's, or what a file
        # holds.
        super().__init__(one_line(message))


def check_options(given: Mapping[str, Any], taken: Iterable[str], of: str) -> None:
    """Raise `DialectError` for an option that there is not, with the one that was meant."""
    names = tuple(taken)
    unknown = next((name for name in given if name not in names), None)
    if unknown is not None:
        raise DialectError(f"`{of}` has no option `{unknown}`: {hint(unknown, names)}")


def load_shield(policy: Any, where: str = "store", **options: Any) -> Shield:
    """The shield of a policy. Raises `DialectError`, which says `where` a place was named that
    cannot be used."""
    try:
        return Shield.load(policy, **options)
    except (StoreError, TrailError) as error:
        where = where if isinstance(error, StoreError) else "journal"
        raise DialectError(f"`{where}` cannot be used: {error}") from error
