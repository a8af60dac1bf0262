"""The shield's states and the edges between them, as a table; how long a state lasts, by the
store's clock."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

import msgspec

from stanchion.kernel.state import FOREVER
from stanchion.kernel.tuples import NamedTuple

NORMAL: Final = ""
WARNING: Final = "warning"
QUARANTINE: Final = "quarantine"
SAFE: Final = "safe"
HALTED: Final = "halt"

STATES: Final = (NORMAL, WARNING, QUARANTINE, SAFE, HALTED)


class Signal(StrEnum):
    """What moves a state; those of operators are the last four."""

    FAILING = "failing"
    RECOVERED = "recovered"
    REPEATED = "repeated"
    WORSENED = "worsened"
    LAPSED = "lapsed"
    EXHAUSTED = "exhausted"
    ESCALATED = "escalated"
    SAFE_ON = "safe_on"
    SAFE_OFF = "safe_off"
    HALT = "halt"
    RESTART = "restart"


class StateEdge(NamedTuple):
    """One edge: from where to where, on which signals, and what that means."""

    start: str
    end: str
    on: tuple[Signal, ...]
    means: str


EDGES: Final = (
    StateEdge(NORMAL, WARNING, (Signal.FAILING,), "too many of the last calls failed"),
    StateEdge(NORMAL, SAFE, (Signal.SAFE_ON,), "an operator switches safe mode on"),
    StateEdge(NORMAL, HALTED, (Signal.HALT,), "an operator stops everything"),
    StateEdge(WARNING, NORMAL, (Signal.RECOVERED,), "for a while no more than usual has failed"),
    StateEdge(WARNING, QUARANTINE, (Signal.REPEATED,), "the same thing failed again and again"),
    StateEdge(WARNING, SAFE, (Signal.SAFE_ON,), "an operator switches safe mode on"),
    StateEdge(
        WARNING,
        HALTED,
        (Signal.EXHAUSTED, Signal.WORSENED, Signal.HALT),
        "its budget is gone, more calls fail, or an operator stops it",
    ),
    StateEdge(
        QUARANTINE, WARNING, (Signal.LAPSED,), "the quarantine is over, or an operator ends it"
    ),
    StateEdge(QUARANTINE, SAFE, (Signal.SAFE_ON,), "an operator switches safe mode on"),
    StateEdge(
        QUARANTINE,
        HALTED,
        (Signal.ESCALATED, Signal.HALT),
        "it was quarantined too often, or an operator stops it",
    ),
    StateEdge(SAFE, NORMAL, (Signal.SAFE_OFF,), "an operator switches safe mode off"),
    StateEdge(SAFE, HALTED, (Signal.HALT,), "an operator stops everything"),
    StateEdge(HALTED, NORMAL, (Signal.RESTART,), "an operator restarts it"),
)

_next: Final = {(edge.start, signal): edge.end for edge in EDGES for signal in edge.on}


class Mark(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The state of one thing. `until` is when it ends by itself, 0 where somebody has to end it; a
    quarantine is then a warning for `after_ms` more. `times` counts its quarantines. It concerns
    the runs `only`, or all."""

    state: str = NORMAL
    why: str = ""
    until: int = 0
    after_ms: int = 0
    times: int = 0
    only: tuple[str, ...] = ()


class Phase(NamedTuple):
    """The state that a mark means at some time, and the span of store time for which it does."""

    state: str
    since: int
    until: int


def phase(mark: Mark, now: int) -> Phase:
    """What a mark means now: what ends by itself has ended when its time has come."""
    if not mark.until:
        return Phase(mark.state, 0, FOREVER)
    if now < mark.until:
        return Phase(mark.state, 0, mark.until)
    ends = mark.until + mark.after_ms
    if mark.state == QUARANTINE and now < ends:
        return Phase(WARNING, mark.until, ends)
    return Phase(NORMAL, ends if mark.state == QUARANTINE else mark.until, FOREVER)


def follows(state: str, signal: Signal) -> str | None:
    """The state that a signal leads to; `None` where it leads nowhere from here."""
    return _next.get((state, signal))


Runs = Annotated[int, msgspec.Meta(ge=1, le=8)]
"""How many runs have to meet something before it concerns all."""


class Terms(NamedTuple):
    """How long an automatic state lasts, how many quarantines are too many, and how many runs have
    to give its signals before it concerns all."""

    recover_ms: int = 60_000
    quarantine_ms: int = 300_000
    halt_after: int = 3
    runs: int = 1


def join_runs(met: tuple[str, ...] | None, run: str, runs: int) -> tuple[str, ...]:
    """The runs that something concerns when one more has met it: an empty tuple, which is all, once
    there are so many `runs`. `None` is where nobody has met it before."""
    if met == ():
        return ()
    joined = tuple(dict.fromkeys((*(met if met else ()), run)))
    return joined if len(joined) < runs else ()


USUAL: Final = Terms()


def moved(
    mark: Mark, signal: Signal, now: int, why: str, terms: Terms = USUAL, run: str = ""
) -> Mark | None:
    """A mark after a signal, which a `run` gives or somebody else; `None` where it stays as it is.

    A warning or a quarantine whose cause goes on lasts longer. A quarantine too many is a halt.
    """
    state = phase(mark, now).state
    only = join_runs(None if state == NORMAL else mark.only, run, terms.runs)
    after = _after(mark, state, signal, now, why, terms)
    if after is None and state in (QUARANTINE, HALTED) and only != mark.only:
        after = mark if signal in (Signal.REPEATED, Signal.WORSENED) else None
    return None if after is None else msgspec.structs.replace(after, only=only)


def _after(mark: Mark, state: str, signal: Signal, now: int, why: str, terms: Terms) -> Mark | None:
    end = follows(state, signal)
    if state == WARNING and signal is Signal.FAILING and mark.state == WARNING:
        lasts = now + terms.recover_ms
        return (
            msgspec.structs.replace(mark, until=lasts)
            if 0 < mark.until < lasts - terms.recover_ms // 2
            else None
        )
    if state == QUARANTINE and signal is Signal.REPEATED:
        lasts = now + terms.quarantine_ms
        return msgspec.structs.replace(mark, until=lasts) if mark.until < lasts else None
    if end is None:
        return None
    if end == WARNING:
        return Mark(WARNING, why, now + terms.recover_ms, times=mark.times)
    if end == QUARANTINE:
        quarantined = Mark(
            QUARANTINE, why, now + terms.quarantine_ms, terms.recover_ms, mark.times + 1
        )
        if quarantined.times < terms.halt_after:
            return quarantined
        return _after(quarantined, QUARANTINE, Signal.ESCALATED, now, why, terms)
    if end == NORMAL:
        return Mark(times=mark.times if signal is Signal.RECOVERED else 0)
    return Mark(end, why, times=mark.times)
