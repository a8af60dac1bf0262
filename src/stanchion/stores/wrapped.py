"""A store around another: what is not about carrying batches is the inner one's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stanchion.stores.protocol import Store
from stanchion.stores.seen import Hold, SeenCell


class Wrapped:
    """Asks the store inside for everything but batches, which whoever wraps it carries."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self, key: str) -> tuple[int, Any]:
        """A cell's number and value."""
        return self._store.read(key)

    def look(self, prefix: str = "") -> Iterator[SeenCell]:
        """Every cell whose key begins so."""
        return self._store.look(prefix)

    def holds(self) -> Iterator[Hold]:
        """Every hold that is not settled."""
        return self._store.holds()

    def held(self, tenant: str, hold_id: str) -> Hold | None:
        """One hold that is not settled."""
        return self._store.held(tenant, hold_id)

    def close(self) -> None:
        """Let go of files and connections."""
        self._store.close()
