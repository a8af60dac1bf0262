"""What a shield begins with: its policy, and what it keeps things in."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stanchion.approvals.operators import RECORD, Operator, Roster
from stanchion.approvals.proof import rostered
from stanchion.audit.errors import TrailError
from stanchion.policy.whereabouts import FOUND, own_policy
from stanchion.runtime.operating.admission import first_policy
from stanchion.runtime.operating.keep import Kept, open_kept
from stanchion.runtime.options import ShieldOptions, known
from stanchion.runtime.people.authority import pinned_by
from stanchion.runtime.people.trust import NO_TRUST, OperatorsTrust, Trust
from stanchion.runtime.standing.listeners import tell_unopened
from stanchion.runtime.standing.notify_file import post_for
from stanchion.runtime.standing.remarks import remark_on
from stanchion.stores.protocol import StoreError

if TYPE_CHECKING:
    from stanchion.policy.compiled import CompiledPolicy


def opened(
    source: str | Path | dict[str, Any],
    env: str | None,
    store: Any,
    journal: Any,
    project: str | Path | None,
    clock: Callable[[], int],
    options: ShieldOptions,
    notify: str | Path | None = None,
) -> tuple[CompiledPolicy, Kept]:
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
) -> tuple[CompiledPolicy, Kept]:
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
    from stanchion.policy.load import load_policy

    own = own_policy()
    return pinned_by(load_policy(own)) if own.exists() else ()
