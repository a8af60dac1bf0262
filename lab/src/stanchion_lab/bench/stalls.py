"""Stalls: what hostile texts cost at every stage, and how that grows with their length."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count, pairwise
from typing import Any, Final

from stanchion.policy.load import packs
from stanchion.runtime.errors import Refused
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import MEMORY
from stanchion_lab.bench.hostile_texts import Make, family, of_rules
from stanchion_lab.bench.table import Effort, Row, Section

Play = Callable[[Run, str], object]
"""Brings a text into a run."""

SIZES: Final = (16_384, 32_768, 65_536, 131_072)
PIECE: Final = 16
SHOWN: Final = 20
QUICK: Final = 250
"""Of so many texts one is played where it has to be quick."""

_numbers = count()


def _pieces(text: str) -> list[str]:
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]


def _own() -> dict[str, Any]:
    """Arguments of a call that was not made before, so that no loop is seen."""
    return {"n": next(_numbers)}


PLAYS: Final[dict[str, Play]] = {
    "a result": lambda run, text: run.result("web", _own(), text),
    "a result, a list": lambda run, text: run.result("web", _own(), _pieces(text)),
    "a result, names": lambda run, text: run.result("web", _own(), dict.fromkeys(_pieces(text), 1)),
    "a message": lambda run, text: run.check("send", {"to": "ann", "text": text, **_own()}),
    "a file": lambda run, text: run.check("write_file", {"path": "a.py", "content": text}),
    "a command": lambda run, text: run.check("bash", {"command": text}),
    "a query": lambda run, text: run.check("query", {"sql": text}),
    "a path": lambda run, text: run.check("read_file", {"path": text}),
    "a prompt": lambda run, text: run.prompt(text, source="mail", trusted=False),
    "an answer": lambda run, text: run.model_reply(text, final=True),
    "a stream": lambda run, text: list(run.stream(_pieces(text))),
    "an error": lambda run, text: run.error("web", "ValueError", text=text, args=_own()),
    "a handoff": lambda run, text: run.handoff("ben", {"text": text}),
    "a request": lambda run, text: run.egress("https://a.example/", "POST", payload=text),
    "a request to a model": lambda run, text: run.model_call([{"role": "user", "content": text}]),
}
"""The ways by which a text comes in or leaves."""


def spent_ms(shield: Shield, play: Play, text: str) -> float:
    """What judging a text takes of the processor, in a run of its own, the better of two."""
    taken: list[float] = []
    for _ in range(2):
        run = shield.run(agent="a", task=f"t{next(_numbers)}")
        begun = time.process_time_ns()
        with suppress(Refused):
            play(run, text)
        taken.append((time.process_time_ns() - begun) / 1_000_000)
    return min(taken)


def _measured(every: int) -> Iterator[tuple[str, float, float]]:
    """What each text costs a KB at its worst size, and the worst ratio of a doubling."""
    texts = list((family() | of_rules()).items())
    for pack in packs():
        shield = Shield.load(pack, store=MEMORY, journal=MEMORY)
        for place, (how, play) in enumerate(PLAYS.items()):
            spent_ms(shield, play, "a warm call with 4111111111111111 in it")
            for name, make in texts[place % every :: every]:
                yield f"{pack}: {how} of {name}", *_grown(shield, play, make)


def _grown(shield: Shield, play: Play, make: Make) -> tuple[float, float]:
    costs = [spent_ms(shield, play, make(size)) for size in SIZES]
    a_kb = max(cost * 1_024 / size for cost, size in zip(costs, SIZES, strict=True))
    return a_kb, max(after / max(before, 1.0) for before, after in pairwise(costs))


def stalls(effort: Effort) -> Section:
    """The texts that cost most for each KB, of which none may cost more than 2 ms (commands and
    queries: 10; a stream has 64 events a KB), and how much twice the text costs."""
    found = sorted(_measured(QUICK if effort.rounds < 10 else 1), key=lambda one: -one[1])
    rows = [
        Row(name, ratio=round(ratio, 2), amount=a_kb * 1_000, unit="µs a KB")
        for name, a_kb, ratio in [*found[:SHOWN], max(found, key=lambda one: one[2])]
    ]
    note = (
        f"{len(found):,} ways and texts of 16 to 128 KB: the dearest, and the worst of a doubling"
    )
    return Section("texts that are meant to stall", note, rows)
