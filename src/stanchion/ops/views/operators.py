"""Operators as they may be shown: who, with which key and roles, and who added them when."""

from __future__ import annotations

import msgspec

from stanchion.approvals.operators import Roster
from stanchion.approvals.public_key import public_of
from stanchion.ops.views.veiled import veiled


class OperatorView(msgspec.Struct, frozen=True):
    """An operator. `key` is the public key as OpenSSH writes it, `agents` are those who work for
    them.

    `pinned`: the policy names them. Otherwise `added_by` is who added them, empty where nobody
    proved who it was, and `since_ms` when.
    """

    name: str
    key: str
    roles: tuple[str, ...]
    agents: tuple[str, ...]
    fingerprint: str
    pinned: bool
    added_by: str = ""
    since_ms: int = 0


def operators(roster: Roster) -> list[OperatorView]:
    """All of them, by name; secrets are hidden in the names of roles and agents."""
    changes = {change.operator.name: change for change in roster.changes}
    found = []
    for one in sorted(roster.operators.values(), key=lambda each: each.name):
        change = changes.get(one.name)
        by, since = ("", 0) if change is None else (change.by, change.at)
        roles, agents = veiled(one.roles), veiled(one.agents)
        fingerprint = public_of(one.key).fingerprint
        found.append(
            OperatorView(one.name, one.key, roles, agents, fingerprint, change is None, by, since)
        )
    return found
