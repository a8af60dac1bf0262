"""Opening what a shield keeps things in: its store, its journal, and what this host remembers of the store."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stanchion.approvals.operators import Operator
from stanchion.audit.journal import Journal
from stanchion.runtime.anchoring import look_for_ends
from stanchion.runtime.places import epochs_folder, journal_for, keep_of, store_for, store_named, trail_folder
from stanchion.runtime.remembering import Memory, remember
from stanchion.runtime.retaining import USUAL, permitted, tell_first
from stanchion.runtime.state_places import Whose, start_of
from stanchion.stores.opening import is_server
from stanchion.stores.protocol import Store


class Kept(NamedTuple):
    """A store and a journal, open; whether the store is a server that was opened by its name, which many share; and
    where this host remembers the store, `None` for one that was handed in."""

    store: Any
    journal: Any
    shared: bool
    epochs: Callable[[], Path] | None

    def close(self) -> None:
        """Let go of both, because no shield comes of them."""
        try:
            self.store.close()
        finally:
            self.journal.close()

    def remember(self, memory: Memory | None) -> None:
        """Have this host remember the store."""
        if self.epochs is not None:
            remember(memory, self.epochs)


def open_kept(
    store: Store | str | Path | None,
    journal: Journal | str | Path | None,
    clock: Callable[[], int],
    project: str | Path | None,
    files: Sequence[Path],
    pinned: Sequence[Operator] = (),
    tenant: str = "",
) -> Kept:
    """Open what was named, or what the environment names, or what the project has for itself: the one that is named,
    or else that of a policy's files, or of the current folder."""
    environ = os.environ
    whose = Whose(environ, start_of(project, files), store)
    kept = store_for(store, environ, clock, whose)
    try:
        keep = permitted(keep_of(environ, USUAL), kept, pinned)
        if journal is None or isinstance(journal, str | Path):
            folder = trail_folder(journal, environ, whose)
            tell_first(folder, keep)
            if folder is not None:
                look_for_ends(kept, folder, tenant)
        records = journal_for(journal, environ, clock, whose, keep)
    except BaseException:
        if kept is not store:
            kept.close()
        raise
    if kept is store:
        return Kept(kept, records, False, None)
    return Kept(kept, records, is_server(store_named(store, environ)), lambda: epochs_folder(store, environ, whose))
