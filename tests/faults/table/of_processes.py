"""Faults of the process: interrupted while it judges, works or records; ended; killed."""

from __future__ import annotations

import os
import signal
from typing import Final

from tests.faults.table.boundary import nothing
from tests.faults.table.cells import AFTER
from tests.faults.table.fault import Fault
from tests.faults.table.world import World


def _judging(world: World) -> None:
    def once() -> None:
        world.store.before = nothing
        signal.raise_signal(signal.SIGINT)

    world.store.before = once


def _working(world: World) -> None:
    def once() -> None:
        world.in_effect = nothing
        signal.raise_signal(signal.SIGINT)

    world.in_effect = once


def _recording(world: World) -> None:
    def once() -> None:
        world.journal.writing = nothing
        signal.raise_signal(signal.SIGINT)

    world.journal.writing = once


def _ended(number: int) -> Fault:
    def end() -> None:
        os.kill(os.getpid(), number)

    def strike(world: World) -> None:
        if world.stage in AFTER:
            end()
        world.in_effect = end

    return Fault(
        name=f"the process gets {signal.Signals(number).name} while the action is at work",
        strike=strike,
    )


FAULTS: Final = (
    Fault(name="KeyboardInterrupt while a batch is sent", strike=_judging),
    Fault(
        name="KeyboardInterrupt while the action is at work",
        strike=_working,
        stages=("tool_call", "model_call", "model_chunk"),
    ),
    Fault(name="KeyboardInterrupt while a record is written", strike=_recording),
    _ended(signal.SIGTERM),
    _ended(signal.SIGKILL),
)
