"""Opening what a shield keeps things in: its store, its journal, and what this host remembers of
the store."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stanchion.approvals.operators import Operator
from stanchion.audit.journal import Journal
from stanchion.kernel.tuples import NamedTuple
from stanchion.runtime.operating.retention import USUAL, permitted, tell_first
from stanchion.runtime.standing.anchors import look_for_ends
from stanchion.runtime.standing.epoch_memory import Memory, remember
from stanchion.runtime.standing.places import (
    epochs_folder,
    journal_for,
    keep_of,
    metrics_folder,
    store_for,
    store_named,
    trail_folder,
)
from stanchion.runtime.standing.state_places import Whose, start_of
from stanchion.stores.open_store import is_server
from stanchion.stores.protocol import Store
from stanchion.telemetry.sinks import Telemetry

if TYPE_CHECKING:
    from stanchion.telemetry.notices.post import Post


class Kept(NamedTuple):
    """A store and a journal, open; whether the store is a server that was opened by its name, which
    many share; and where this host remembers the store, `None` for one that was handed in; the
    folder of figures, `None` where nothing outlives the process; and what brings notices to
    operators."""

    store: Any
    journal: Any
    shared: bool
    epochs: Callable[[], Path] | None
    metrics: Path | None = None
    post: Post | None = None

    def close(self) -> None:
        """Let go of both, because no shield comes of them."""
        try:
            self.store.close()
        finally:
            self.journal.close()

    def remember(self, memory: Memory | None, telemetry: Telemetry) -> None:
        """Have this host remember the store, and what a shield counts."""
        telemetry.publish_in(self.metrics)
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
    """Open what was named, or what the environment names, or what the project has for itself: the
    one that is named, or else that of a policy's files, or of the current folder."""
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
    metrics = metrics_folder(store, journal, environ, whose)
    if kept is store:
        return Kept(kept, records, False, None, metrics)
    shared = is_server(store_named(store, environ))
    return Kept(kept, records, shared, lambda: epochs_folder(store, environ, whose), metrics)
