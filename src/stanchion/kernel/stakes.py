"""Stakes in a batch: the records that an action rests on."""

from __future__ import annotations

from stanchion.kernel.events import Moment
from stanchion.kernel.state import CLOCK, FOREVER, Expect, Put, Records, Reply, When


def rests_on(moment: Moment) -> tuple[list[Expect], tuple[Put, ...]]:
    """What a batch expects of a moment's stakes, and what it makes of them; they stand behind the
    puts of guards."""
    expects = [(stake.key, stake.version, stake.version + 1) for stake in moment.stakes]
    expects += [(CLOCK, 0, stake.until) for stake in moment.stakes if stake.until < FOREVER]
    return expects, tuple(
        [(stake.key, stake.value, stake.when, 0, 0) for stake in moment.stakes if stake.when]
    )


def lost_stake(moment: Moment, reply: Reply) -> str:
    """The record that somebody else was first to change, or that it is too late for; empty where it
    was something else that moved."""
    fresh = {cell.key for cell in reply.fresh}
    return next(
        (stake.key for stake in moment.stakes if stake.key in fresh or stake.until <= reply.now), ""
    )


def keep_stakes(
    records: Records, moment: Moment, puts: tuple[Put, ...], reply: Reply
) -> tuple[Put, ...]:
    """Remember the stakes that were written; returns the puts of guards alone."""
    written = [stake for stake in moment.stakes if stake.when]
    for stake in written:
        if reply.go or stake.when == When.JUDGED:
            records[stake.key] = (stake.version + 1, stake.value)
    return puts[: len(puts) - len(written)]
