"""What a shield begins with: its policy, and what it keeps things in."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stanchion.approvals.operators import RECORD, Operator, Roster
from stanchion.approvals.proof import rostered
from stanchion.audit.errors import TrailError
from stanchion.audit.journal import Journal
from stanchion.kernel.tuples import NamedTuple
from stanchion.policy.load import load_policy
from stanchion.policy.project_policies import FOUND, own_policy
from stanchion.runtime.operating.admission import first_policy
from stanchion.runtime.operating.retention import USUAL, permitted, tell_first
from stanchion.runtime.options import ShieldOptions, known
from stanchion.runtime.people.authority import NO_TRUST, OperatorsTrust, Trust, pinned_by
from stanchion.runtime.standing.epoch_memory import Memory, remember
from stanchion.runtime.standing.listeners import post_for, tell_unopened
from stanchion.runtime.standing.occurring import remark_on
from stanchion.runtime.standing.places import (
    StateFinder,
    epochs_folder,
    journal_for,
    keep_of,
    metrics_folder,
    start_of,
    store_for,
    store_named,
    trail_folder,
)
from stanchion.runtime.standing.store_door import look_for_ends
from stanchion.stores.open_store import is_server
from stanchion.stores.protocol import Store, StoreError
from stanchion.telemetry.sinks import Telemetry

if TYPE_CHECKING:
    from stanchion.policy.compiled import CompiledPolicy
    from stanchion.telemetry.notices.post import Post


# Opening what a shield keeps things in: its store, its journal, and what this host remembers of
# the store.


class OpenPlaces(NamedTuple):
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
) -> OpenPlaces:
    """Open what was named, or what the environment names, or what the project has for itself: the
    one that is named, or else that of a policy's files, or of the current folder."""
    environ = os.environ
    whose = StateFinder(environ, start_of(project, files), store)
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
        return OpenPlaces(kept, records, False, None, metrics)
    shared = is_server(store_named(store, environ))
    return OpenPlaces(kept, records, shared, lambda: epochs_folder(store, environ, whose), metrics)


def opened(
    source: str | Path | dict[str, Any],
    env: str | None,
    store: Any,
    journal: Any,
    project: str | Path | None,
    clock: Callable[[], int],
    options: ShieldOptions,
    notify: str | Path | None = None,
) -> tuple[CompiledPolicy, OpenPlaces]:
    """The policy, and the store and journal of its project. Policies that are found are trusted by
    what that store has, so it is opened first; of others the files say whose project it is."""
    known(options)
    post = post_for(notify, os.environ)
    try:
        policy, kept = _opened(source, env, store, journal, project, clock, options)
    except (StoreError, TrailError) as error:
        tell_unopened(post, error, clock())
        raise
    return policy, kept._replace(post=post)


def _opened(
    source: str | Path | dict[str, Any],
    env: str | None,
    store: Any,
    journal: Any,
    project: str | Path | None,
    clock: Callable[[], int],
    options: ShieldOptions,
) -> tuple[CompiledPolicy, OpenPlaces]:
    trust: Trust | None = options.get("trust")
    pinned: tuple[Operator, ...] = tuple(options.get("operators", ()))
    named: str | None = options.get("tenant")
    tenant = "" if named is None else named
    if source != FOUND:
        policy = first_policy(source, env, NO_TRUST, bool(options.get("guards")))
        remark_on(policy)
        files = () if isinstance(source, dict) else policy.files
        return policy, open_kept(
            store, journal, clock, project, files, (*pinned, *pinned_by(policy)), tenant
        )
    kept = open_kept(store, journal, clock, project, (), (*pinned, *_own()), tenant)
    try:
        policy = first_policy(
            source, env, stored_trust(kept.store, pinned) if trust is None else trust
        )
        remark_on(policy)
        return policy, kept
    except BaseException:
        kept.close()
        raise


def stored_trust(store: Any, pinned: tuple[Operator, ...]) -> Trust:
    """Trust in what operators have signed: those the program names, those of the user's own policy,
    and those in the store. A policy that is found names nobody who could trust it."""

    def roster() -> Roster:
        return rostered((*pinned, *_own()), store.read(RECORD)[1])

    return OperatorsTrust(store, roster)


def _own() -> tuple[Operator, ...]:
    """The operators whom the user's own policy names."""
    own = own_policy()
    return pinned_by(load_policy(own)) if own.exists() else ()
