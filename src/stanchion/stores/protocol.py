"""What the runtime asks of a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeGuard

from stanchion.kernel.shown import Shown
from stanchion.kernel.state import Batch, Reply
from stanchion.stores.seen import Hold, SeenCell


class StoreError(Shown):
    """A store cannot be opened; the message says which, why, and what to do."""


class Store(Protocol):
    """Carries batches out atomically, each id once. A store that cannot raises `StoreLost`."""

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out and say what came of it."""

    async def acarry(self, batch: Batch) -> Reply:
        """The same without blocking the event loop."""

    def read(self, key: str) -> tuple[int, Any]:
        """A cell's number (total or version) and a record's value, for people and tests; never for
        a decision."""

    def look(self, prefix: str = "") -> Iterator[SeenCell]:
        """Every cell whose key begins so, in the order of their keys, for people; batches go on
        meanwhile."""

    def holds(self) -> Iterator[Hold]:
        """Every hold that is not settled, for people; the earliest due first, those known to have
        lapsed last."""

    def held(self, tenant: str, hold_id: str) -> Hold | None:
        """The hold that a tenant's batch took, found by its id; `None` where there is none, or it
        is settled."""

    def close(self) -> None:
        """Let go of files and connections."""


class Lasting(Protocol):
    """A store that says where it is. One that outlives its process can lose what it held."""

    @property
    def place(self) -> str:
        """Where it is, without what is secret; empty where it ends with this process after all."""


def is_lasting(store: Any) -> TypeGuard[Lasting]:
    """Whether a store says where it is, or one that it passes everything on to does. `isinstance`
    would not see the latter since Python 3.12, and would load `inspect`."""
    return hasattr(store, "place")


def at_once(store: Any) -> Callable[[Batch], Reply | None] | None:
    """What carries out a batch that need not be waited for. A store has to say so itself: one
    around another, which passes on whatever it does not know, would be passed by."""
    return store.carry_at_once if hasattr(type(store), "carry_at_once") else None


def ends_here(store: Any) -> bool:
    """Whether a store says that it ends with this process. One that does not say where it is may be
    anywhere."""
    return is_lasting(store) and not store.place
