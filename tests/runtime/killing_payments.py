"""Killing payers: `python -m tests.runtime.killing_payments FOLDER` kills a process before and
after every step of a payment's life, and resumes it in another one.

Each is a fork of this one, so that a kill costs milliseconds. State is in a file, and so is what
was paid.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stanchion import Shield
from stanchion.policy.load import load_policy
from stanchion.stores.memory import wall_ms
from stanchion.stores.open_store import open_store
from tests.operators import KNOWN
from tests.runtime.payments import HOUR_MS, POLICY, Cut, Life, brought_to_an_end

COMPILED = load_policy(POLICY)
MOST_STEPS = 100


def shield_on(folder: Path, clock: Callable[[], int] = wall_ms) -> Shield:
    """A process's own shield on the shared file."""
    store = open_store(str(folder / "state.db"), clock)
    return Shield(COMPILED, store=store, clock=clock, safe_mode=False, operators=[KNOWN])


def payer(folder: Path) -> Callable[[int], Any]:
    """The tool: one line in a file for each payment, on the disk before it returns."""

    def pay(amount: int) -> dict[str, int]:
        place = os.open(folder / "paid", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(place, f"{amount}\n".encode())
        os.fsync(place)
        os.close(place)
        return {"paid": amount}

    return pay


def paid(folder: Path) -> int:
    """How often was paid."""
    ledger = folder / "paid"
    return len(ledger.read_text(encoding="utf-8").splitlines()) if ledger.exists() else 0


def killed_at(folder: Path, cut: Cut) -> bool:
    """Pay in a process that is killed at a step; false where it has not so many steps."""
    child = os.fork()
    if not child:
        try:
            run = shield_on(folder).run("clerk", "bills", id="r")
            Life(run, cut, lambda: os.kill(os.getpid(), signal.SIGKILL)).pay(
                payer(folder), 10, "invoice-7"
            )
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL, f"it ended with {status}"
        return True
    assert os.WEXITSTATUS(status) == 0, f"it failed at {cut}"
    return False


def resumed(folder: Path) -> tuple[str, int]:
    """Bring a payment to its end in this process; what came of it, and how often one had to
    wait."""
    late = [0]

    def later() -> None:
        late[0] += 1

    def process() -> Shield:
        return shield_on(folder, lambda: wall_ms() + late[0] * HOUR_MS)

    final = brought_to_an_end(process, payer(folder), "invoice-7", lambda: paid(folder), later)
    return final, late[0]


def main(folder: str) -> None:
    """Kill, resume, and print what was seen as JSON."""
    told = {"kills": 0, "paid": 0, "unknown": 0}
    for step in range(MOST_STEPS):
        for after in (False, True):
            place = Path(folder) / f"{step}-{after}"
            place.mkdir()
            if not killed_at(place, Cut(step, after, "killed")):
                print(json.dumps(told))
                return
            assert paid(place) <= 1
            final, waited = resumed(place)
            assert final in ("paid", "ledger.result_not_kept"), final
            assert paid(place) == 1, (
                f"paid {paid(place)} times after a kill at step {step}, after: {after}"
            )
            told["kills"] += 1
            told["paid"] += paid(place)
            told["unknown"] += waited > 0 and final == "ledger.result_not_kept"
    raise AssertionError("a payment has more steps than it can have")


if __name__ == "__main__":
    main(*sys.argv[1:])
