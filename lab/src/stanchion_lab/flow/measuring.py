"""Measuring a guard on traces: everything that some sources have, in every way of asking that is
wanted."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from stanchion.cli.printing import progress
from stanchion_lab.flow.replaying import May, Replayed, Replayer, Shields
from stanchion_lab.flow.report import Measured
from stanchion_lab.flow.rewriting import as_flat, as_given, rephrased
from stanchion_lab.flow.sources import Source
from stanchion_lab.flow.trace import Trace


class Manner(NamedTuple):
    """How traces are played: with results as flat text or as data, what a task may do, and the ways
    of asking beside the one that a set has."""

    flat: bool = False
    may: May = ""
    phrasings: tuple[str, ...] = ()
    note: str = ""


AS_RECORDED: Final = Manner()


def measure(found: list[Source], shields: Shields, manner: Manner = AS_RECORDED) -> Measured:
    """Play everything that these sources have."""
    replayer = Replayer(shields, manner.may)
    played: list[Replayed] = []
    idle: Counter[str] = Counter()
    unphrased: Counter[str] = Counter()
    started = time.perf_counter()
    with progress(
        "playing traces", lambda number: f"{number} sources" if number != 1 else "1 source"
    ) as told:
        for done, source in enumerate(found):
            tools = source.tools()
            for trace in source.traces():
                if told is not None:
                    told(done, len(found))
                if trace.idle:
                    idle[trace.set] += 1
                    continue
                declared = source.declared(trace)
                for one in _variants(trace, source, manner, unphrased):
                    played.append(replayer.play(one, source.name, tools, declared))
    seconds = time.perf_counter() - started
    return Measured(tuple(played), seconds, manner.note, dict(idle), dict(unphrased))


def _variants(
    trace: Trace, source: Source, manner: Manner, unphrased: Counter[str]
) -> Iterator[Trace]:
    """A trace, and if it is a recorded attack the same in other ways of asking."""
    if source.made:
        yield trace
        return
    declared = source.declared(trace)
    given = as_given(trace, declared, manner.flat)
    yield as_flat(given) if manner.flat else given
    for way in manner.phrasings if trace.kind == "attack" else ():
        other = rephrased(given, way, declared)
        if other is None:
            unphrased[trace.set] += 1
            return
        yield as_flat(other) if manner.flat else other
