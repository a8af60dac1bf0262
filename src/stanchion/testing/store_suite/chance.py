"""Cases that leave something to chance: threads, and batches of any shape."""

from __future__ import annotations

import random
import threading

from stanchion.kernel.state import Batch, Line, When
from stanchion.stores.memory import MemoryStore
from stanchion.testing.store_suite.desk import A, B, Desk, case, same, upto
from stanchion.testing.store_suite.random_batch import KEYS, random_batch


@case
def threads_never_overshoot_a_bound(desk: Desk) -> None:
    went: list[bool] = []

    def work(worker: int) -> None:
        for number in range(25):
            lines = (Line(B, upto(1_000), when=When.JUDGED), Line(A, upto(60)))
            went.append(desk.store.carry(Batch(f"{worker}.{number}", "suite", lines=lines)).go)

    workers = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in workers:
        thread.start()
    for thread in workers:
        thread.join()
    same((went.count(True), desk.total(A), desk.total(B)), (60, 60, 100))


@case
def random_batches_agree_with_the_memory_store(desk: Desk) -> None:
    drawn = random.Random(20)
    other = MemoryStore(desk.clock)
    for number in range(300):
        desk.clock.advance(drawn.choice((0, 0, 1, 400, 3_000)))
        batch = random_batch(drawn, number)
        same((batch, desk.store.carry(batch)), (batch, other.carry(batch)))
    desk.carry()
    other.carry(Batch(desk.last))
    for name in KEYS:
        same((name, desk.store.read(name)), (name, other.read(name)))
