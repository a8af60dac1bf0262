"""A process that carries batches out on a server, told by its arguments; the tests of processes
start some of them."""

import os
import sys

from stanchion.kernel.actions import Action
from stanchion.kernel.state import Batch, Line, When, key
from stanchion.stores.postgres import PostgresStore

TRIED, BOUNDED, PERMITS, SPENT, RECORD = (
    key("t", name) for name in ("tried", "bounded", "permits", "spent", "record")
)
PERMIT_MS = 400


def lines(limit: int) -> tuple[Line, ...]:
    """Every batch counts itself; those within the bound take one, have a permit for a moment, and
    spend."""
    return (
        Line(TRIED, when=When.JUDGED),
        Line(BOUNDED, ((limit, Action.BLOCK),)),
        Line(PERMITS, hold_ms=PERMIT_MS, keep=False),
        Line(SPENT, hold_ms=PERMIT_MS),
    )


def count(store: PostgresStore, name: str, batches: int, limit: int) -> None:
    """Carry batches out, settle what they hold, and print how many went ahead."""
    fixed = lines(limit)
    went = 0
    for number in range(batches):
        settles = ((f"{name}.{number - 1}", (1, 0, 0, 0, 0)),) if number else ()
        puts = ((RECORD, [name, number], When.JUDGED, 0, 0),)
        went += store.carry(
            Batch(f"{name}.{number}", "t", settles=settles, lines=fixed, puts=puts)
        ).go
    print(went)


def tell(store: PostgresStore, name: str) -> None:
    """Carry batches out until killed; write the number of each when it is answered."""
    fixed = lines(1 << 40)
    number = 0
    while True:
        store.carry(
            Batch(f"{name}.{number}", "t", lines=fixed, puts=((RECORD, number, When.JUDGED, 0, 0),))
        )
        number += 1
        os.write(1, b"%d\n" % number)


def fork(store: PostgresStore, other: PostgresStore) -> None:
    """Carry batches out before and after a fork, in both processes, by stores that were opened
    before it."""
    fixed = lines(1 << 40)
    for number in range(10):
        (store, other)[number % 2].carry(Batch(f"before.{number}", "t", lines=fixed))
    child = os.fork()
    name = "parent" if child else "child"
    for number in range(40):
        (store, other)[number % 2].carry(Batch(f"{name}.{number}", "t", lines=fixed))
    if child == 0:
        store.close()
        sys.exit(0)
    _, status = os.waitpid(child, 0)
    store.carry(Batch("after", "t", lines=fixed))
    print(os.waitstatus_to_exitcode(status), store.read(TRIED)[0], other.read(BOUNDED)[0])


if __name__ == "__main__":
    what, url, schema, *rest = sys.argv[1:]
    opened = PostgresStore(url, schema=schema, timeout_s=60)
    match (what, *rest):
        case ("count", name, batches, limit):
            count(opened, name, int(batches), int(limit))
        case ("tell", name):
            tell(opened, name)
        case ("fork",):
            also = PostgresStore(url, schema=schema, timeout_s=60)
            fork(opened, also)
            also.close()
    opened.close()
