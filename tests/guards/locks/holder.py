"""A process that locks a file, says so, and waits to be killed."""

from __future__ import annotations

import sys
import time

from stanchion import Shield
from stanchion.stores.sqlite import SqliteStore
from tests.guards.locks.driven import policy

if __name__ == "__main__":
    run = Shield.load(policy(), store=SqliteStore(sys.argv[1])).run("dies", id="dies")
    assert run.check("write_file", {"path": "a"}).proceeds
    sys.stdout.write("locked\n")
    sys.stdout.flush()
    time.sleep(600)
