"""Killing writers: `python -m tests.audit.killing FOLDER KILLS SEED` kills that many processes at
moments of chance.

Each is a fork of this one, so that a kill costs milliseconds. It judges calls of low and of high
risk through a shield, and says what it was told is recorded. After each kill all of that has to be
in the trail, which has to be whole, and the next process has to go on with the same chain.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import sys
import threading
from pathlib import Path
from typing import Any, NoReturn

from stanchion import Shield
from stanchion.audit.keys import load_key, make_key
from stanchion.audit.options import TrailOptions
from stanchion.audit.trail import Trail
from stanchion.audit.verify import verify
from stanchion.policy.load import load_policy
from stanchion.stores.open_store import open_store
from tests.audit.written import Record, of_kind, whole

POLICY: dict[str, Any] = {
    "name": "killed",
    "tools": {"low": {"risk": "low"}, "high": {"risk": "high"}},
    "guards": [{"use": "step_limit", "max_steps": 1_000_000, "per": "task", "counter": "steps"}],
}
COMPILED = load_policy(POLICY)
PER_TRAIL = 25
"""How many kills one trail sees before another is begun."""


def keyed(folder: Path, chance: random.Random) -> tuple[Path | None, Path | None]:
    """The key of a trail and what verifies it: none, a shared secret, or one that is replaced at
    every use."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "key"
    match chance.choice(("none", "shared", "ratcheting")):
        case "shared":
            path.write_bytes(bytes(range(32)))
            return path, path
        case "ratcheting":
            return path, make_key(path)
        case _:
            return None, None


def work(folder: Path, tell: int, chance: random.Random, key: Path | None) -> None:
    """Judge calls until killed; say every decision that was made, and every tool that ran."""
    trail = Trail(folder / "trail", options(chance, key))
    shield = Shield(COMPILED, store=open_store(str(folder / "state.db")), journal=trail)
    threads = chance.choice((1, 1, 2))
    for _ in range(threads - 1):
        threading.Thread(target=judge, args=(shield, tell), daemon=True).start()
    judge(shield, tell)


def options(chance: random.Random, key: Path | None) -> TrailOptions:
    """Small segments and frequent checkpoints, so that every kind of writing is under way when it
    is killed."""
    return TrailOptions(
        key=None if key is None else load_key(key),
        segment_bytes=chance.choice((5_000, 40_000)),
        sync_ms=chance.choice((0.1, 2.0)),
        head_ms=chance.choice((0.0, 5.0)),
        checkpoint_records=chance.choice((10, 100)),
    )


def judge(shield: Shield, tell: int) -> None:
    """Judge one call after the other."""
    run = shield.run("ann", "t1")

    def high(name: str) -> None:
        os.write(tell, f"ran {name}\n".encode())

    tool = shield.tool(name="high")(high)
    for number in itertools.count():
        decision = run.check("low", {"number": number})
        assert decision.proceeds
        os.write(tell, f"decided {decision.id}\n".encode())
        if number % 3 == 0:
            result = run.result("low", {"number": number}, "done", call=decision.id)
            os.write(tell, f"decided {result.id}\n".encode())
        if number % 5 == 0:
            run.call(tool, f"{run.id}-{number}")


def kill(folder: Path, chance: random.Random, key: Path | None) -> set[str]:
    """Start a process and kill it after it has said a few things; gives all that it has said."""
    hear, tell = os.pipe()
    child = os.fork()
    if not child:
        _child(folder, hear, tell, chance, key)
    os.close(tell)
    wanted = chance.choice((0, 1, 2, 5, 20, 60))
    heard = b""
    while heard.count(b"\n") < wanted:
        more = os.read(hear, 4_096)
        assert more, "the process ended by itself"
        heard += more
    for _ in range(chance.randrange(30_000)):
        pass
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL, f"it ended with {status}"
    while more := os.read(hear, 65_536):
        heard += more
    os.close(hear)
    return set(heard.decode().splitlines())


def _child(folder: Path, hear: int, tell: int, chance: random.Random, key: Path | None) -> NoReturn:
    try:
        os.close(hear)
        work(folder, tell, chance, key)
    finally:
        os._exit(1)


def missing(said: set[str], found: list[Record]) -> set[str]:
    """What a process said that is not in the trail."""
    known = {f"decided {record['id']}" for record in of_kind(found, "intent", "outcome")}
    calls = [record for record in of_kind(found, "intent") if record["tool"] == "high"]
    return said - known - {f"ran {record['content']['name']}" for record in calls}


def one_trail(folder: Path, kills: int, chance: random.Random) -> dict[str, int]:
    """Kill that many processes on one trail, looking at it after each; then go on with it and close
    it."""
    said: set[str] = set()
    writers = 0
    found: list[Record] = []
    key, verifies = keyed(folder, chance)
    for _ in range(kills):
        before = len(found)
        said |= kill(folder, chance, key)
        chains = (
            whole(folder / "trail", verifies)
            if any((folder / "trail").glob("*[0-9a-f]/head"))
            else {}
        )
        assert len(chains) <= 1, f"{len(chains)} chains of processes that came one after the other"
        found = next(iter(chains.values()), [])
        assert not missing(said, found), missing(said, found)
        if len(found) > max(before, 1):
            writers += 1
            follows = [record for record in found[max(before, 1) :] if record["kind"] != "segment"]
            assert not follows or follows[0]["kind"] == "open", follows[0]
    trail = Trail(folder / "trail", TrailOptions(key=None if key is None else load_key(key)))
    store = open_store(str(folder / "state.db"))
    with Shield(COMPILED, store=store, journal=trail) as shield, shield.run("ann", "t1") as run:
        assert run.check("low", {"number": -1}).proceeds
        (steps,) = [cell.number for cell in store.look() if "steps" in cell.key]
    assert verify(folder / "trail").chains[0].closed
    (found,) = whole(folder / "trail", verifies).values()
    assert not missing(said, found)
    intents = len(of_kind(found, "intent"))
    assert intents <= steps <= intents + 2 * kills, (
        f"{intents} calls were recorded, and {steps} counted"
    )
    cut = sum(record.get("cut", 0) > 0 for record in found)
    return {
        "kills": kills,
        "said": len(said),
        "writers": writers,
        "records": len(found),
        "torn": cut,
    }


def main(folder: str, kills: str, seed: str) -> None:
    """Kill, look, and print what was seen as JSON."""
    chance = random.Random(int(seed))
    total: dict[str, int] = {}
    left = int(kills)
    while left:
        count = min(left, PER_TRAIL)
        part = one_trail(Path(folder) / f"{left}", count, chance)
        total = {name: total.get(name, 0) + number for name, number in part.items()}
        left -= count
    print(json.dumps(total))


if __name__ == "__main__":
    main(*sys.argv[1:])
