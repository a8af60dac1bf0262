"""Records in PostgreSQL as tests see them: what the tables hold, beside what the files hold; and
processes that ship.

`python -m tests.audit.postgres_records COMMAND FOLDER URL SCHEMA …` is such a process, told what to
do by a test.
"""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from stanchion.audit.options import TrailOptions
from stanchion.audit.postgres import PostgresTrail, Shipping, ship_trail, verify_database
from stanchion.audit.segment_scan import line_of
from stanchion.audit.trail import Trail
from tests.audit.workers import say, write
from tests.audit.written import allowed, moment
from tests.stores.servers import Place

ROOT = Path(__file__).resolve().parents[2]

Lines = dict[str, list[bytes]]

QUICK: dict[str, Any] = {
    "ship_ms": 1,
    "others_s": 0.02,
    "again_s": 0.05,
    "tidy_s": 0,
    "close_s": 30,
}
"""Shipping without the waits that spare a server."""


def quick(schema: str, **more: Any) -> Shipping:
    """Shipping to a schema that does not dawdle."""
    return Shipping(schema=schema, **{**QUICK, **more})


def shipped(place: Place) -> Lines:
    """All records of the database as lines, by chain, in the order of their numbers."""
    rows = place.do(
        "SELECT chain, body, hash, took, mac, seal, kept FROM {}.audit_record ORDER BY chain, seq, "
        "at"
    )
    found: Lines = {}
    for chain, body, digest, took, mac, seal, kept in rows:
        found.setdefault(chain, []).append(line_of(body, digest.hex(), took, mac.hex(), seal, kept))
    return found


def written(folder: Path) -> Lines:
    """All whole lines of a trail's files, by chain."""
    found: Lines = {}
    for segment in sorted(folder.glob("????????????????/*.jsonl")):
        text = segment.read_bytes()
        lines = text[: text.rfind(b"\n") + 1].splitlines(keepends=True)
        found.setdefault(segment.parent.name, []).extend(lines)
    return found


def until(holds: Callable[[], object], most_s: float = 60.0) -> None:
    """Go on when something holds; how often a thread gets its turn until then is the machine's
    business."""
    ends = time.monotonic() + most_s
    while time.monotonic() < ends:
        if holds():
            return
        time.sleep(0.001)
    raise AssertionError("it never held")


def start(*command: str) -> subprocess.Popen[str]:
    """Start a process; it says when it is ready, and goes on with every line it is given."""
    whole = [sys.executable, "-m", __name__, *command]
    return subprocess.Popen(
        whole, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def writes(folder: Path, url: str, schema: str, name: str, count: str) -> None:
    """Write so many decisions when told, shipping them; end when told again."""
    options = TrailOptions(segment_bytes=20_000, sync_ms=0.1, head_ms=1, checkpoint_records=5)
    trail = PostgresTrail(folder, url, options, quick(schema))
    say("ready")
    sys.stdin.readline()
    for number in range(int(count)):
        write(trail, f"{name}.{number}")
    say(trail.name)
    sys.stdin.readline()
    trail.close()


def only_writes(folder: Path, url: str, schema: str, name: str, count: str) -> None:
    """Write so many decisions when told, to the folder alone; then end without a word."""
    trail = Trail(folder, TrailOptions(sync_ms=0.1, head_ms=1))
    say("ready")
    sys.stdin.readline()
    write(trail, *[f"{name}.{number}" for number in range(int(count))])
    say(trail.name)
    os._exit(0)


def forks(folder: Path, url: str, schema: str) -> None:
    """Fork while records are shipped; parent and child both go on."""
    trail = PostgresTrail(folder, url, TrailOptions(sync_ms=0.1, head_ms=1), quick(schema))
    write(trail, *[f"before.{number}" for number in range(50)])
    assert trail.ship(30)
    child = os.fork()
    name = "parent" if child else "child"
    write(trail, *[f"{name}.{number}" for number in range(50)])
    if not child:
        arrived = trail.ship(30)
        trail.close()
        os._exit(0 if arrived else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0
    write(trail, "after")
    assert trail.ship(30)
    say(trail.name)
    trail.close()


def kills(folder: Path, url: str, schema: str, count: str, seed: str) -> None:
    """Kill processes that write and ship, each after a few more records have arrived; the rest is
    for the test."""
    chance = random.Random(int(seed))
    Trail(folder).close()
    ship_trail(folder, url, quick(schema))
    db = psycopg.connect(url, autocommit=True)
    for _ in range(int(count)):
        there, cursor = _arrived(db, schema)
        assert there == cursor, f"{there} records are there, and {cursor} are said to be"
        hear, tell = os.pipe()
        child = os.fork()
        if not child:
            _goes_on(folder, url, schema, chance, tell)
        os.close(tell)
        os.read(hear, 1)
        wanted = there + chance.choice((0, 0, 1, 5, 40))
        while _arrived(db, schema)[0] < wanted:
            pass
        for _ in range(chance.randrange(30_000)):
            pass
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL, f"it ended with {status}"
        os.close(hear)
    say(str(_arrived(db, schema)[0]))


def _goes_on(folder: Path, url: str, schema: str, chance: random.Random, tell: int) -> None:
    try:
        segment, batch = chance.choice((3_000, 30_000)), chance.choice((500, 5_000))
        options = TrailOptions(
            segment_bytes=segment, sync_ms=0.1, head_ms=0.5, checkpoint_records=20
        )
        trail = PostgresTrail(folder, url, options, quick(schema, batch_bytes=batch))
        os.write(tell, b"!")
        for number in itertools.count():
            about = moment(f"{os.getpid()}.{number}")
            trail.sync(trail.write(about, allowed(about), 0))
    finally:
        os._exit(1)


def _arrived(db: psycopg.Connection[Any], schema: str) -> tuple[int, int]:
    """How many records are there, and how many are said to be; as of one moment."""
    counted = sql.SQL(
        "SELECT (SELECT count(*) FROM {0}.audit_record), (SELECT coalesce(sum(shipped_seq + 1), 0) "
        "FROM {0}.audit_head)"
    )
    row = db.execute(counted.format(sql.Identifier(schema))).fetchone()
    assert row is not None
    return int(row[0]), int(row[1])


def whole(place: Place, key: bytes | None = None) -> None:
    """The verifier finds no fault with the database."""
    faults = verify_database(place.server.url, key, schema=place.schema).faults
    assert faults == (), faults


COMMANDS: dict[str, Callable[..., None]] = {
    "writes": writes,
    "only_writes": only_writes,
    "forks": forks,
    "kills": kills,
}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
