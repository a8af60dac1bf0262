"""Whose words are the user's: a property of the door by which they come, and nothing they say."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import Any, Final

from stanchion.kernel.compare_and_set import LEFT, change
from stanchion.kernel.gates import OPENER, ending_key, opener_in
from stanchion.kernel.state import StoreLost
from stanchion.runtime.calling.at_work import AT_WORK
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.driving.flow import Flow
from stanchion.stores.protocol import ends_here

_OWN: Final = os.urandom(16)
"""What this process and those that it forks know, and no other."""


def may_be_the_users(desk: Desk) -> Flow[bool]:
    """Whether words that are said in a run here can be its user's.

    1. What a tool says while it is at work comes from whoever called it: that is an agent.
    2. A child is told what to do by an agent.
    3. A run that another process has opened has its user there: whoever opens it anew, with its
       id, may be the agent's own shell. Processes of one host share a secret (`host_secret`).

    Only the third asks the store, once a run, and only where a guard wants to know whose words are
    whose.
    """
    if AT_WORK.get() or desk.info.parents:
        return False
    if desk.hears_user is None:
        here = desk.shield.policy.recalls is None or ends_here(desk.store)
        desk.hears_user = True if here else (yield from _opened_here(desk))
    return bool(desk.hears_user)


def _opened_here(desk: Desk) -> Flow[bool | None]:
    """Whether this host was the first to say its user's words in a run; `None` where the store
    cannot say."""
    tenant, run = desk.info.tenant, desk.info.id
    secret = desk.shield.host_secret
    own = sha256(_OWN if secret is None else secret.encode()).hexdigest()

    def opened(value: Any, _now: int) -> Any:
        known = {} if value is None else value
        return LEFT if OPENER in known else {**known, OPENER: own}

    try:
        found = yield from change(
            desk.shield.records, desk.new_id(), tenant, ending_key(tenant, run), opened
        )
    except StoreLost:
        return None
    return opener_in(found.value) == own
