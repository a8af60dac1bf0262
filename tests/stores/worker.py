"""A process that carries batches out on a file, told by its arguments; the tests of processes start
some of them."""

import os
import sys

from stanchion.kernel.actions import Action
from stanchion.kernel.state import Batch, Line, When, key
from stanchion.stores.sqlite import SqliteStore

# Three counters of one tool, which share a row, and a record of a run
TRIED = key("t", "errors", "tool", "x")
BOUNDED = key("t", "reliability", "x", "calls")
HELD = key("t", "health", "x")
RECORD = key("t", "loops", "run", "r")


def lines(limit: int) -> tuple[Line, ...]:
    """Every batch counts itself; those within the bound take one, and hold one for a moment."""
    return (
        Line(TRIED, when=When.JUDGED),
        Line(BOUNDED, ((limit, Action.BLOCK),)),
        Line(HELD, hold_ms=1_000, keep=False),
    )


def count(path: str, name: str, batches: int, limit: int) -> None:
    """Carry batches out, settle what they hold, and print how many went ahead."""
    store = SqliteStore(path, busy_s=60)
    fixed = lines(limit)
    went = 0
    for number in range(batches):
        settles = ((f"{name}.{number - 1}", (0, 0, 0, 0, 0)),) if number else ()
        puts = ((RECORD, [name, number], When.JUDGED, 0, 0),)
        went += store.carry(
            Batch(f"{name}.{number}", "t", settles=settles, lines=fixed, puts=puts)
        ).go
    store.close()
    print(went)


def tell(path: str) -> None:
    """Carry batches out until killed; write the number of each when it is answered."""
    store = SqliteStore(path, busy_s=60)
    number = store.read(TRIED)[0]
    fixed = lines(1 << 40)
    while True:
        store.carry(
            Batch(f"told.{number}", "t", lines=fixed, puts=((RECORD, number, When.JUDGED, 0, 0),))
        )
        number += 1
        os.write(1, b"%d\n" % number)


def fork(path: str) -> None:
    """Carry batches out before and after a fork, in both processes, by stores that were opened
    before it."""
    store, other = SqliteStore(path, busy_s=60), SqliteStore(path, busy_s=60)
    fixed = lines(1 << 40)
    for number in range(10):
        (store, other)[number % 2].carry(Batch(f"before.{number}", "t", lines=fixed))
    child = os.fork()
    name = "parent" if child else "child"
    for number in range(300):
        (store, other)[number % 2].carry(Batch(f"{name}.{number}", "t", lines=fixed))
    if child == 0:
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), store.read(TRIED)[0], other.read(BOUNDED)[0])
    store.close()
    other.close()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["count", path, name, batches, limit]:
            count(path, name, int(batches), int(limit))
        case ["tell", path]:
            tell(path)
        case ["fork", path]:
            fork(path)
