"""`repr(shield)`: which policy is in force, in which mode, and where state is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stanchion import Shield
from stanchion.stores.memory import MemoryStore


class Elsewhere:
    """A store that does not say where it is."""

    def __init__(self) -> None:
        self._inner = MemoryStore()

    def __getattr__(self, name: str) -> Any:
        if name == "place":
            raise AttributeError(name)
        return getattr(self._inner, name)


def test_it_says_policy_mode_and_store(tmp_path: Path) -> None:
    file = tmp_path / "state.db"
    with Shield.load(
        {"name": "house", "mode": "shadow"}, store=str(file), journal="memory:"
    ) as shield:
        assert repr(shield) == f'<Shield policy "house", shadow, store {shield.store.place}>'
        assert str(file) in repr(shield)
        shield.reload({"name": "other"})
        assert repr(shield).startswith('<Shield policy "other", enforce, ')
    assert repr(shield).endswith(", closed>")


def test_a_store_in_memory_and_one_that_does_not_say_where_it_is() -> None:
    with Shield.load({"name": "p"}, store="memory:", journal="memory:") as shield:
        assert repr(shield) == '<Shield policy "p", enforce, store memory:>'
    with Shield.load({"name": "p"}, store=Elsewhere(), journal="memory:") as shield:
        assert repr(shield) == '<Shield policy "p", enforce, store Elsewhere>'
