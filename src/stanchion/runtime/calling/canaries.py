"""Canaries of a run: tokens to put where nobody should read them, or where nothing should leave
from."""

from __future__ import annotations

from typing import Protocol

from stanchion.kernel.contract.powers import all_having
from stanchion.runtime.deciding.desk import Desk


class Planting(Protocol):
    """A run, as far as something is planted in it."""

    @property
    def desk(self) -> Desk: ...

    @property
    def id(self) -> str: ...


def canary(run: Planting, label: str = "system prompt", lasting: bool = False) -> str:
    """A token for a prompt, a file or a decoy record of this run: the guard `canary` refuses what
    would carry it out.

    It is the same for the same run and label, in every process. A `lasting` one belongs to the
    tenant instead of the run, for what stays where it is. Raises `ValueError` where the policy has
    no guard that would find it.
    """
    finding = all_having([seat.placed.guard for seat in run.desk.shield.policy.seats], "plant")
    if not finding:
        raise ValueError(
            "no guard of the policy looks for canaries: add `- use: canary` to its guards"
        )
    return finding[0].plant(run.desk.info.tenant, "" if lasting else run.id, label)
