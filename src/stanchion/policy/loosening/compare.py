"""Comparing two policies: everything by which the new one may let something through that the old
one would not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from stanchion.kernel.option import Stricter
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.loosening.directions import directions_within, keeps
from stanchion.policy.loosening.guards import guards_loosened
from stanchion.policy.loosening.said import Loosening, changed
from stanchion.policy.loosening.tables import TABLES, tables_loosened, told_otherwise
from stanchion.policy.schema import PolicyFile

WHOLE: Final = {
    path: stricter
    for path, stricter in directions_within(PolicyFile).items()
    if path not in {*TABLES, "guards", "prices"}
}
"""Which way what a policy says for all becomes stricter; guards and tables are compared entry by
entry."""


def loosenings(old: CompiledPolicy, new: CompiledPolicy) -> tuple[Loosening, ...]:
    """What the new policy may let through that the old one would not, judging one event on the same
    state.

    Whatever is not known to be the same or stricter is among it. An empty answer means that every
    event which the old policy refuses is refused by the new one.
    """
    told = told_otherwise(old, new)
    return (*_whole(old, new), *guards_loosened(old, new, told), *tables_loosened(old, new))


def _whole(old: CompiledPolicy, new: CompiledPolicy) -> Iterator[Loosening]:
    for path, stricter in WHOLE.items():
        before, after = _said(old.file, path), _said(new.file, path)
        if not keeps(stricter, before, after):
            yield changed("policy", path, before, after, sure=stricter is not Stricter.SAME)
    asked, later = old.file.escalation.roles, new.file.escalation.roles
    if (
        set(later) <= set(asked)
        and later != asked
        and (not later or tuple(role for role in asked if role in later) != later)
    ):
        yield changed("policy", "escalation.roles", asked, later)


def _said(file: Any, path: str) -> Any:
    for name in path.split("."):
        file = getattr(file, name)
    if path == "approved":
        # An entry that says something else is another one, whatever it is called.
        return tuple(
            [f"{name} {msgspec.json.encode(entry).decode()}" for name, entry in file.items()]
        )
    return file
