"""Risk levels: which guards are active at the level of a run, and what makes no sense about
levels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

import msgspec

from stanchion.kernel.actions import RISK_NAMES
from stanchion.kernel.guard import Placed
from stanchion.kernel.names import glob, is_glob, names
from stanchion.policy.compiled import CompiledPolicy, Seat
from stanchion.policy.errors import Fault
from stanchion.policy.risk import CRITICAL
from stanchion.policy.schema import PolicyFile, id_of
from stanchion.policy.sections import RiskEntry

NO_LEVEL: Final = "none"
"""What a policy calls the level of a run that has none."""


def at_levels(file: PolicyFile, seat: Seat, always: bool) -> Seat:
    """The seat of a guard with the levels at which it is active: where its entry and the level
    itself say so. What is always active is so at every level."""
    if always:
        return seat
    kept = [level for level in (NO_LEVEL, *RISK_NAMES) if seat.risks is None or level in seat.risks]
    kept = [
        level
        for level in kept
        if getattr(file.risk, level, None) is None or _named(_entry(file, level), seat.placed)
    ]
    whole = len(kept) == len(RISK_NAMES) + 1
    return msgspec.structs.replace(seat, risks=None if whole else names(kept))


def leaves_out(policy: CompiledPolicy, risk: str) -> bool:
    """Whether a guard that judges runs without a level does not judge those at this one."""
    return any(
        seat.risks is not None and NO_LEVEL in seat.risks and risk not in seat.risks
        for seat in policy.seats
        if not seat.placed.shadow
    )


def wrong_in(file: PolicyFile, where: Callable[..., str], whole: bool) -> Iterator[Fault]:
    """What makes no sense about risk levels: an id that no guard has, and a level that is milder
    than a lower one."""
    ids = {name for entry in file.guards for name in (id_of(entry), entry.part_of) if name}
    for level, said in file.risk.given().items():
        for at, pattern in enumerate(said.active):
            if whole and not is_glob(pattern) and pattern not in ids:
                from stanchion.policy.nearest import hint

                message = f"there is no guard `{pattern}` to be active: {hint(pattern, ids)}"
                yield Fault(where("risk", level, "active", at), message)
    for lower, higher in pairwise(RISK_NAMES):
        yield from _milder(file, lower, higher, where)


def _milder(
    file: PolicyFile, lower: str, higher: str, where: Callable[..., str]
) -> Iterator[Fault]:
    """What a level lets through that the one below it does not."""
    low, high = _entry(file, lower), _entry(file, higher)
    for entry in file.guards:
        name = entry.part_of if entry.part_of else id_of(entry)
        if not entry.always and _lists(low, name) and not _lists(high, name):
            message = (
                f"`{name}` is active at `{lower}` and not at `{higher}`: a higher level "
                f"keeps what a lower one has"
            )
            yield Fault(where("risk", higher, "active"), message)
            break
    for option in ("strict_marks", "approval"):
        if (
            getattr(low, option)
            and not getattr(high, option)
            and (option, higher) != ("approval", CRITICAL)
        ):
            message = (
                f"`{lower}` has `{option}: true` and `{higher}` does not: a higher level "
                f"keeps what a lower one has"
            )
            yield Fault(where("risk", higher), message)


def _entry(file: PolicyFile, level: str) -> RiskEntry:
    said: RiskEntry | None = getattr(file.risk, level)
    return RiskEntry() if said is None else said


def _named(said: RiskEntry, placed: Placed) -> bool:
    return _lists(said, placed.whole) or _lists(said, placed.id)


def _lists(said: RiskEntry, name: str) -> bool:
    return any(
        glob(pattern, name) if is_glob(pattern) else pattern == name for pattern in said.active
    )
