"""Cases that leave something to chance: threads, and batches of any shape."""

from __future__ import annotations

import random
import threading
from typing import Final

from stanchion.kernel.actions import Action
from stanchion.kernel.state import Batch, Expect, Line, Put, Settle, When
from stanchion.kernel.units import Amounts, Unit
from stanchion.testing.store_suite.cases import A, B, upto
from stanchion.testing.store_suite.desk import Desk, case, same

# Some belong to one run, or to one tool: a store may keep those together.
COUNTERS: Final = tuple(
    "{suite}" + name for name in ("a", "b", "c", "d", "errors:run:r", "steps:run:r")
)
RECORDS: Final = ("{suite}x", "{suite}loops:run:r")
REGISTERS: Final = ("{suite}errors:tool:t",)
KEYS: Final = tuple(
    shadow + name for name in (*COUNTERS, *RECORDS, *REGISTERS) for shadow in ("", "~")
)
"""Every cell that a random batch can touch."""

WINDOWED: Final = COUNTERS[:2]
ACTIONS: Final = (
    Action.WARN,
    Action.WARN,
    Action.DEGRADE,
    Action.ESCALATE,
    Action.BLOCK,
    Action.HALT,
)


def random_batch(drawn: random.Random, number: int) -> Batch:
    """The batch with that number: every kind of line, put, expectation and settle, its id now and
    then an old one."""
    again = number > 0 and drawn.random() < 0.05
    return Batch(
        id=f"r{number - 1 if again else number}",
        tenant="suite",
        go=drawn.random() < 0.9,
        expects=_expects(drawn),
        settles=_settles(drawn, number),
        lines=_lines(drawn),
        amounts=_amounts(drawn),
        puts=_puts(drawn, number),
        ceiling=drawn.choice((Action.DEGRADE, Action.DEGRADE, Action.DEGRADE, Action.ESCALATE)),
    )


def _amounts(drawn: random.Random) -> Amounts:
    return (drawn.randint(0, 5), drawn.randint(0, 5), 0, 0, 0)


def _lines(drawn: random.Random) -> tuple[Line, ...]:
    lines: list[Line] = []
    for name in drawn.sample(COUNTERS, drawn.randint(0, 5)):
        shadow = drawn.choice((0, 0, 0, 1, 2))
        line = Line(
            key=("~" if shadow else "") + name,
            bands=tuple(
                sorted(
                    (drawn.randint(0, 25), drawn.choice(ACTIONS))
                    for _ in range(drawn.randint(0, 2))
                )
            ),
            unit=drawn.choice((Unit.ONE, Unit.ONE, Unit.TOKENS)),
            when=drawn.choice((When.LOOK, When.JUDGED, When.PROCEED, When.PROCEED)),
            follows=drawn.choice((0, 0, drawn.randint(1, len(lines)))) if lines else 0,
            hold_ms=drawn.choice((0, 0, 2_000, 5_000)),
            keep=drawn.random() < 0.5,
            window_ms=16_000 if name in WINDOWED else 0,
            shadow=shadow,
        )
        lines.append(line)
        if drawn.random() < 0.15:
            lines.append(
                line._replace(
                    when=When.LOOK,
                    bands=((drawn.randint(0, 25), drawn.choice(ACTIONS)),),
                    follows=0,
                )
            )
    if drawn.random() < 0.3:
        lines.append(_register(drawn))
    return tuple(lines)


def _register(drawn: random.Random) -> Line:
    shadow = drawn.choice((0, 0, 0, 1))
    name = ("~" if shadow else "") + REGISTERS[0]
    when = drawn.choice((When.LOOK, When.JUDGED, When.PROCEED))
    return Line(name, when=when, shadow=shadow, bits=4, push=drawn.randint(0, 1))


def _puts(drawn: random.Random, number: int) -> tuple[Put, ...]:
    puts: list[Put] = []
    for name in RECORDS:
        if drawn.random() < 0.25:
            shadow = drawn.choice((0, 0, 1))
            when = drawn.choice((When.JUDGED, When.PROCEED))
            puts.append(
                (("~" if shadow else "") + name, [number], when, drawn.randint(0, 4), shadow)
            )
    return tuple(puts)


def _expects(drawn: random.Random) -> tuple[Expect, ...]:
    expects: list[Expect] = []
    for name in (*RECORDS, COUNTERS[-1]):
        if drawn.random() < 0.1:
            low = drawn.randint(0, 6)
            expects.append((name, low, low + drawn.randint(1, 12)))
    return tuple(expects)


def _settles(drawn: random.Random, number: int) -> tuple[Settle, ...]:
    held = {drawn.randint(max(0, number - 8), number) for _ in range(drawn.choice((0, 0, 1, 2)))}
    return tuple((f"r{each}", drawn.choice((None, _amounts(drawn)))) for each in sorted(held))


@case
def threads_never_overshoot_a_bound(desk: Desk) -> None:
    went: list[bool] = []
    lines = (Line(B, upto(1_000), when=When.JUDGED), Line(A, upto(60)))

    def work(worker: int) -> None:
        for number in range(25):
            went.append(desk.store.carry(Batch(f"{worker}.{number}", "suite", lines=lines)).go)

    workers = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in workers:
        thread.start()
    for thread in workers:
        thread.join()
    same((went.count(True), desk.store.read(A)[0], desk.store.read(B)[0]), (60, 60, 100))


@case
def random_batches_agree_with_the_memory_store(desk: Desk) -> None:
    drawn = random.Random(20)
    for number in range(300):
        desk.clock.advance(drawn.choice((0, 0, 1, 400, 3_000)))
        batch = random_batch(drawn, number)
        same((batch, desk.store.carry(batch)), (batch, desk.memory.carry(batch)))
    desk.carry(Batch("", "suite"))
    for name in KEYS:
        same((name, desk.store.read(name)), (name, desk.memory.read(name)))
