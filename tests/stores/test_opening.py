"""A store is named by a URL or a path."""

from pathlib import Path
from typing import Any

import pytest

from stanchion.kernel.state import Batch
from stanchion.stores.memory import MemoryStore
from stanchion.stores.open_store import open_store
from stanchion.stores.protocol import StoreError, ends_here, is_lasting
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing.clock import FakeClock


def test_memory() -> None:
    clock = FakeClock(77)
    store = open_store("memory:", clock)
    assert isinstance(store, MemoryStore)
    assert store.carry(Batch("one")).now == 77


@pytest.mark.parametrize("form", ["{}", "sqlite:{}", "sqlite://{}", "SQLite:{}"])
def test_a_file(form: str, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    store = open_store(form.format(path), FakeClock(77))
    assert isinstance(store, SqliteStore)
    assert store.path == path
    assert store.carry(Batch("one")).now == 77
    store.close()


def test_a_relative_path_and_an_encoded_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, path in (
        ("here.db", "here.db"),
        (f"sqlite:{tmp_path}/a%20b.db", "a b.db"),
        ("a%20b.db", "a%20b.db"),
    ):
        store = open_store(name)
        assert isinstance(store, SqliteStore)
        assert store.path == tmp_path / path
        store.close()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("", "is empty: give `memory:`"),
        ("memory:x", "`memory:` is not a kind of store: give `memory:`, `sqlite:/absolute/path`"),
        ("http://me:secret@host/x", "`http:` is not a kind of store: give `memory:`"),
        (
            "sqlite:state.db",
            "`sqlite:state.db` does not have an absolute path: write `sqlite:/absolute/path`",
        ),
        ("sqlite:", "does not have an absolute path"),
        ("sqlite://host/state.db", "does not have an absolute path"),
    ],
)
def test_what_names_no_store(name: str, says: str) -> None:
    with pytest.raises(StoreError, match=says):
        open_store(name)


class Through:
    """Passes everything on to a store, as a program's own wrapper does."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def test_a_store_that_passes_everything_on_is_where_the_other_is(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "state.db"))
    through: Any = Through(store)
    assert is_lasting(through)
    assert not ends_here(through)
    assert through.place == store.place  # type: ignore[attr-defined]
    store.close()
    assert not is_lasting(object())


def test_a_wrapper_of_a_store_in_memory_ends_with_the_process() -> None:
    assert ends_here(Through(MemoryStore()))
