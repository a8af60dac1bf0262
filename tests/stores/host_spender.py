"""A process on a host whose clock is wrong: its threads spend a shared budget and tell every step
they take.

It says `ready`, waits for a line, and then writes lines of a thread's number and a word: what it is
about to do (`slot?`, `spend?`), and what came of it (`taken` by others; `spent` and `settled`, or
`refused`; `free`). `lost` is an answer that did not come.
"""

import os
import random
import sys
import threading
import time
from typing import Final

import msgspec

from stanchion import Shield
from stanchion.kernel.decision import Decision
from stanchion.runtime.run import Run
from tests.stores.slots import TAKEN, TOOL, Slots

HOLD_MS: Final = 60_000
"""How long a slot is held at the most; less than the clocks of two hosts are apart."""

EXCEEDED: Final = "budget.exceeded"
MOST_LOST: Final = 200


class Orders(msgspec.Struct, frozen=True):
    """What a process is told."""

    store: str
    tenant: str
    name: str
    ahead_s: int
    limit: int
    slots: int
    threads: int
    for_ever: bool = False
    """Whether it goes on after the budget is spent, until it is killed."""


def policy(limit: int) -> dict[str, object]:
    """A budget of a task, under a larger one of its tenant and beside those of runs."""
    levels = {"run": limit, "task": limit, "tenant": 2 * limit}
    return {"name": "shared", "guards": [_budget(per, most) for per, most in levels.items()]}


def _budget(per: str, tokens: int) -> dict[str, object]:
    return {"id": per, "use": "budget", "tokens": tokens, "per": per}


def shielded(orders: Orders) -> Shield:
    """The shield of a process."""
    slots = Slots(orders.slots, HOLD_MS)
    return Shield.load(policy(orders.limit), store=orders.store, journal="memory:", guards=[slots])


class Worker:
    """One thread's run, which tells what it does."""

    def __init__(self, shield: Shield, orders: Orders, number: int) -> None:
        name = f"{orders.name}.{number}"
        self._run: Run = shield.run("spender", "shared", id=name, tenant=orders.tenant)
        self._drawn = random.Random(f"{orders.tenant} {name}")
        self._number = number
        self._for_ever = orders.for_ever
        self._lost = 0

    def work(self) -> None:
        """Take a slot, spend one token, give the slot back; until the budget refuses a single
        token."""
        is_over = False
        while self._for_ever or not is_over:
            self._say("slot?")
            slot = self._run.check(TOOL, {})
            if slot.proceeds:
                is_over = not self._spend(self._drawn.randint(1, 3))
                self._tell(self._run.result(TOOL, {}, None, call=slot.id), "free")
            else:
                self._tell(slot, "taken", TAKEN)

    def _spend(self, estimate: int) -> bool:
        """Reserve an estimate and settle it to one token; `False` where not even one was left."""
        self._say("spend?")
        call = self._run.check("spend", {}, tokens=estimate)
        if call.proceeds:
            self._say("spent")
            self._tell(self._run.result("spend", {}, None, call=call.id, tokens=1), "settled")
            return True
        is_refused = self._tell(call, "refused", EXCEEDED)
        return not is_refused or (estimate > 1 and self._spend(1))

    def _tell(self, decision: Decision, word: str, code: str = "") -> bool:
        """Say the word where that is what was decided, for the only reason there is; else the
        answer was lost."""
        said = "" if decision.determining is None else decision.determining.code
        if said == code:
            self._say(word)
            return True
        self._say("lost")
        self._lost += 1
        if said != "kernel.store_lost" or self._lost > MOST_LOST:
            os.write(2, f"refused with `{said}`, {self._lost} answers lost\n".encode())
            os._exit(1)
        return False

    def _say(self, word: str) -> None:
        os.write(1, f"{self._number} {word}\n".encode())


def main(orders: Orders) -> None:
    """Spend as told, on a host whose clock is so many seconds ahead."""
    right, right_ns = time.time, time.time_ns
    time.time = lambda: right() + orders.ahead_s
    time.time_ns = lambda: right_ns() + orders.ahead_s * 1_000_000_000
    with shielded(orders) as shield:
        workers = [Worker(shield, orders, number) for number in range(orders.threads)]
        os.write(1, b"ready\n")
        sys.stdin.readline()
        threads = [threading.Thread(target=worker.work) for worker in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    main(msgspec.json.decode(sys.argv[1], type=Orders))
