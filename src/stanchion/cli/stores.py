"""The store that a command looks into: named by an option, by the environment, or that of the
project."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from stanchion.cli.terminal import say
from stanchion.cli.trouble import AsBadInput, BadInput
from stanchion.kernel.state import StoreLost
from stanchion.runtime.standing.places import MEMORY, StateFinder, store_name
from stanchion.stores.memory import wall_ms
from stanchion.stores.open_store import file_of, is_server, open_store
from stanchion.stores.protocol import Store, StoreError


class StoreAway(BadInput):
    """The store that was named cannot be read now: its server does not answer, or its file is
    broken."""


@contextmanager
def opened(given: str | None, found: StateFinder, quiet: bool = False) -> Iterator[Store | None]:
    """The store, open for reading; `None`, and a word on standard error why, where there is nothing
    to read yet; no word where nobody asked for the store (`quiet`). `StoreAway` where it cannot be
    read, and `BadInput` where there can be no such store."""
    with AsBadInput(OSError):
        name = str(store_name(given, os.environ, found))
    try:
        why = _nothing_in(name)
        if why and quiet:
            yield None
            return
        if why:
            # Not among the answers: programs that read lines of JSON get none.
            say(sys.stderr, why)
            yield None
            return
        store = open_store(name, wall_ms, reading=True)
        try:
            yield store
        finally:
            store.close()
    except (StoreError, StoreLost) as error:
        is_store = file_of(name) is not None or is_server(name)
        raise (StoreAway if is_store else BadInput)(str(error)) from None


def in_memory(given: str | None, found: StateFinder) -> bool:
    """Whether the store that is meant is one that no other process can see."""
    return str(store_name(given, os.environ, found)) == MEMORY


def _nothing_in(name: str) -> str:
    if name == MEMORY:
        return (
            "state is kept in memory: only the process that has it can see it, and it ends with "
            "the process"
        )
    path = file_of(name)
    if path is None:
        return ""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return f"nothing is kept yet: `{path}` is created by the first shield that uses it"
    except OSError as error:
        raise BadInput(f"the store `{path}` cannot be read: {error.strerror}") from None
    return ""
