"""A shield in words: its policy and its store, as people read of them."""

from __future__ import annotations

from typing import Any

from stanchion.kernel.shown import brief, visible
from stanchion.policy.schema import PolicyFile
from stanchion.runtime.standing.places import MEMORY
from stanchion.stores.protocol import is_lasting


def in_words(file: PolicyFile, store: Any) -> str:
    """Which policy is in force, in which mode, and where state is kept."""
    return f"policy {brief(file.name)}, {file.mode}, store {name_of_store(store)}"


def name_of_store(store: Any) -> str:
    """Where a store is, without what is secret; the name of its class where it does not say."""
    if not is_lasting(store):
        return type(getattr(store, "unveiled", store)).__name__
    return visible(store.place) if store.place else MEMORY
