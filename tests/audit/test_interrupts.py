"""A writer that a signal handler cuts off leaves the trail whole, and the next one writes to it."""

import gc
import random
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from stanchion.audit.trail import Trail
from tests.audit.written import AT, allowed, moment, whole
from tests.interrupts import SOAK, CutByTimer, soon

INTERRUPTS = 5_000 if SOAK else 80


@pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="the system has no timers that send signals"
)
@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # files that nobody got to close
def test_a_writer_that_a_signal_cuts_off(tmp_path: Path) -> None:
    trail = Trail(tmp_path / "trail", clock=lambda: AT)
    chance = random.Random(3)
    armed = False
    struck = written = 0

    def strike(*_: object) -> None:
        nonlocal armed, struck
        if armed:
            armed = False
            struck += 1
            raise CutByTimer

    def write() -> None:
        nonlocal written
        written += 1
        about = moment(f"e{written}")
        trail.sync(trail.write(about, allowed(about), 7))

    def cut() -> None:
        nonlocal armed
        armed = True
        write()
        armed = False

    before = signal.signal(signal.SIGALRM, strike)
    try:
        while struck < INTERRUPTS:
            signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.000_02, 0.000_5))
            with suppress(CutByTimer):
                cut()
            if struck % 20 == 19:
                signal.setitimer(signal.ITIMER_REAL, 0)
                soon(write)
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    soon(write)
    trail.close()
    gc.collect()  # who was cut off is gone before the test ends, and so is what it could not close
    whole(tmp_path / "trail")
