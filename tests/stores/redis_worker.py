"""A process that carries batches out on a Redis, told by its arguments; the tests of processes
start some of them."""

import os
import sys
import time

from stanchion.kernel.actions import Action
from stanchion.kernel.state import Batch, Line, When, key
from stanchion.stores.redis import RedisStore

TRIED, BOUNDED, SPENT, PERMITS, RECORD = (
    key("t", name) for name in ("tried", "bounded", "spent", "permits", "record")
)
HOLD_MS = 60_000


def lines(limit: int) -> tuple[Line, ...]:
    """Every batch counts itself; those within the bound take one, spend one, and have one permit
    for a minute."""
    return (
        Line(TRIED, when=When.JUDGED),
        Line(BOUNDED, ((limit, Action.BLOCK),)),
        Line(SPENT, hold_ms=HOLD_MS),
        Line(PERMITS, hold_ms=HOLD_MS, keep=False),
    )


def count(url: str, name: str, batches: int, limit: int) -> None:
    """Carry batches out, settle what they hold, and print how many went ahead."""
    store = RedisStore(url, timeout_s=60)
    fixed = lines(limit)
    went = 0
    for number in range(batches):
        settles = ((f"{name}.{number - 1}", (1, 0, 0, 0, 0)),) if number else ()
        puts = ((RECORD, [name, number], When.JUDGED, 0, 0),)
        went += store.carry(
            Batch(f"{name}.{number}", "t", settles=settles, lines=fixed, puts=puts)
        ).go
    store.carry(Batch(f"{name}.last", "t", settles=((f"{name}.{batches - 1}", (1, 0, 0, 0, 0)),)))
    store.close()
    print(went)


def tell(url: str) -> None:
    """Carry batches out until killed; write the number of each when it is answered."""
    store = RedisStore(url, timeout_s=60)
    number = store.read(TRIED)[0]
    fixed = lines(1 << 40)
    while True:
        store.carry(
            Batch(f"told.{number}", "t", lines=fixed, puts=((RECORD, number, When.JUDGED, 0, 0),))
        )
        number += 1
        os.write(1, b"%d\n" % number)


def fork(url: str) -> None:
    """Carry batches out before and after a fork, in both processes, by stores that were opened
    before it."""
    store, other = RedisStore(url, timeout_s=60), RedisStore(url, timeout_s=60)
    fixed = lines(1 << 40)
    for number in range(10):
        (store, other)[number % 2].carry(Batch(f"before.{number}", "t", lines=fixed))
    child = os.fork()
    name = "parent" if child else "child"
    for number in range(200):
        (store, other)[number % 2].carry(Batch(f"{name}.{number}", "t", lines=fixed))
    if child == 0:
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), store.read(TRIED)[0], other.read(BOUNDED)[0])
    store.close()
    other.close()


def apart(url: str, name: str, seconds: int) -> None:
    """Take the one permit there is on a host whose clock is wrong by that much; print the time and
    whether it went."""
    right, right_ns = time.time, time.time_ns
    time.time = lambda: right() + seconds
    time.time_ns = lambda: right_ns() + seconds * 1_000_000_000
    store = RedisStore(url, timeout_s=60)
    permit = Line(PERMITS, ((1, Action.BLOCK),), hold_ms=HOLD_MS, keep=False)
    reply = store.carry(Batch(name, "t", lines=(permit,)))
    store.close()
    print(reply.now, reply.go)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["count", url, name, batches, limit]:
            count(url, name, int(batches), int(limit))
        case ["tell", url]:
            tell(url)
        case ["fork", url]:
            fork(url)
        case ["apart", url, name, seconds]:
            apart(url, name, int(seconds))
