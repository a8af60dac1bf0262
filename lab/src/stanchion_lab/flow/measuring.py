"""Measuring a guard on traces: all of what some sources have, or a sample of it in parts that are
left out in turn."""

from __future__ import annotations

import time
from collections import Counter
from random import Random
from typing import Final, NamedTuple

from stanchion.cli.progress import progress
from stanchion_lab.flow.replaying import Replayed, Replayer, Shields
from stanchion_lab.flow.report import Measured
from stanchion_lab.flow.sources import Source
from stanchion_lab.flow.trace import Definitions, Trace

PARTS: Final = {
    "agentdojo": "AgentDojo",
    "dyn": "AgentDyn",
    "injecagent": "InjecAgent",
    "bfcl": "BFCL + API-Bank",
    "apibank": "BFCL + API-Bank",
    "honest": "sessions",
    "benign": "sessions",
}
"""The part that a source belongs to, by the first word of its name; any other is a part of its
own."""


class Sampled(NamedTuple):
    """Some traces of a source, and the definitions of their tools."""

    source: str
    tools: dict[str, Definitions]
    traces: list[Trace]


def measure(found: list[Source], shields: Shields, approve: bool = False) -> Measured:
    """Play everything that these sources have."""
    replayer = Replayer(shields, approve)
    played: list[Replayed] = []
    idle: Counter[str] = Counter()
    started = time.perf_counter()
    with progress(
        "playing traces", lambda number: f"{number} sources" if number != 1 else "1 source"
    ) as told:
        for done, source in enumerate(found):
            tools = source.tools()
            for trace in source.traces():
                if trace.idle:
                    idle[trace.set] += 1
                    continue
                played.append(replayer.play(trace, source.name, tools))
                if told is not None:
                    told(done, len(found))
    note = ", questions about honest calls answered with yes" if approve else ""
    return Measured(tuple(played), time.perf_counter() - started, note, dict(idle))


def part_of(source: Source) -> str:
    """The part that a source belongs to: what is alike is left out together."""
    word = source.name.partition("_")[0]
    return PARTS.get(word, word)


def in_parts(found: list[Source]) -> dict[str, list[Source]]:
    """The sources by part."""
    parts: dict[str, list[Source]] = {}
    for source in found:
        parts.setdefault(part_of(source), []).append(source)
    return parts


def sampled(source: Source, most: int, seed: int) -> Sampled:
    """At most so many honest traces and so many attacks of a source, the same for the same seed."""
    kinds: dict[str, list[Trace]] = {}
    for trace in source.some(most, seed):
        if not trace.idle:
            kinds.setdefault(trace.kind, []).append(trace)
    chance = Random(f"{seed}/{source.name}")
    chosen = [
        trace
        for traces in kinds.values()
        for trace in chance.sample(traces, min(most, len(traces)))
    ]
    return Sampled(source.name, source.tools(), chosen)


def play_sample(samples: list[Sampled], shields: Shields) -> list[Replayed]:
    """What becomes of sampled traces."""
    replayer = Replayer(shields)
    return [replayer.play(trace, one.source, one.tools) for one in samples for trace in one.traces]
