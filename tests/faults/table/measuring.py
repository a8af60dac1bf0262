"""Measuring a cell: in a process of its own, because some faults end it, and in another one after
that."""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from select import select
from typing import Any, Final, NoReturn

from stanchion import Refused
from stanchion.audit.errors import TrailError
from tests.faults.table import of_clocks, of_guards, of_processes, of_stores, of_trails
from tests.faults.table.cells import ACCEPTED, PACKS, RESTART, RUN_BY_US, Cell, Outcome, Recorded
from tests.faults.table.fault import Fault
from tests.faults.table.scenes import SCENES
from tests.faults.table.world import World
from tests.operators import ANN

NO_FAULT: Final = "nothing is wrong"
GROUPS: Final[dict[str, tuple[Fault, ...]]] = {
    "No fault": (Fault(name=NO_FAULT),),
    "Guards": of_guards.FAULTS,
    "Stores": of_stores.FAULTS,
    "The trail": of_trails.FAULTS,
    "Signals": of_processes.FAULTS,
    "Clocks": of_clocks.FAULTS,
}
FAULTS: Final = {fault.name: fault for faults in GROUPS.values() for fault in faults}
CELLS: Final = [
    Cell(fault.name, stage, pack)
    for fault in FAULTS.values()
    for stage in fault.stages
    for pack in PACKS
]
PLACE: Final = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""Where files are that need not outlive the machine."""
PATIENCE_S: Final = 120.0
"""After so long a process that has not ended hangs."""


def measured(cell: Cell) -> Outcome:
    """Make a fault happen, and see what comes of it."""
    fault = FAULTS[cell.fault]
    _warm(cell.stage, cell.pack)
    with tempfile.TemporaryDirectory(dir=PLACE) as folder:

        def world(told: Callable[[str], None]) -> World:
            return World(fault, cell.stage, cell.pack, Path(folder), told)

        first, died = _apart(lambda told: _act(world(told), told))
        seen = world(lambda _: None)
        ran = "ran" in first
        said = _said(
            first,
            "acted",
            {"proceeded": died or "hangs", "admitted": True, "code": "", "records": []},
        )
        at_once = (
            [tuple(one) for one in said["records"]]
            if "records" in said and not died
            else _written(seen)
        )
        recovered = _said(first, "recovered", {"when": ""})["when"]
        if not recovered:
            second, _ = _apart(lambda told: _restart(world(told), told))
            recovered = _said(second, "recovered", {"when": "no"})["when"]
        later = _written(seen)
    outcome: Recorded | None = None
    if ran and cell.stage in RUN_BY_US:
        outcome = _when("outcome", at_once, later)
    return Outcome(
        said["proceeded"],
        ran,
        _when(cell.stage, at_once, later),
        recovered,
        outcome,
        said["admitted"],
        said["code"],
    )


@cache
def _warm(stage: str, pack: str) -> None:
    """Do the same here without a fault, once, so that forks find everything imported and
    compiled."""
    with tempfile.TemporaryDirectory(dir=PLACE) as folder:
        world = World(FAULTS[NO_FAULT], stage, pack, Path(folder), lambda _: None)
        world.open()
        world.begin()
        SCENES[stage](world)
        world.shield.close()


def _act(world: World, told: Callable[[str], None]) -> None:
    """Open a shield, do the action of the cell, and go on when the fault is over."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if world.fault.bars is not None:
        world.fault.bars(world)
        try:
            world.open()
        except TrailError:
            told(
                "acted "
                + json.dumps(
                    {"proceeded": "refused", "admitted": True, "code": "TrailError", "records": []}
                )
            )
            world.fault.over(world)
            world.open()
            world.begin()
            told("recovered " + json.dumps({"when": "yes"}))
            return
        raise AssertionError("the trail was opened")
    world.open()
    world.begin()
    acted: dict[str, Any] = {"admitted": True, "code": "", **_done(world)}
    told("acted " + json.dumps({**acted, "records": _written(world)}))
    world.over()
    when = _again(world)
    if when:
        told("recovered " + json.dumps({"when": when}))
    world.shield.close()


def _done(world: World) -> dict[str, Any]:
    """Do the action, and say what its caller finds."""
    try:
        proceeded = SCENES[world.stage](world)
    except Refused as error:
        admitted = not world.ran or bool(getattr(error, "happened", False))
        return {
            "proceeded": "withheld" if world.ran else "refused",
            "code": error.decision.code,
            "admitted": admitted,
        }
    except KeyboardInterrupt:
        return {"proceeded": "interrupted"}
    except Exception as error:  # noqa: BLE001 - what leaves the runtime raw is part of what is measured
        return {"proceeded": f"raised {type(error).__name__}"}
    return {
        "proceeded": "yes" if proceeded else "withheld" if world.ran else "refused",
        "code": world.code,
    }


def _again(world: World) -> str:
    """When the next ordinary call goes ahead in this process; empty where none does."""
    runs: list[tuple[str, Callable[[], Any]]] = [
        ("yes", lambda: world.run),
        ("at the second call", lambda: world.run),
        ("in a new run", lambda: world.shield.run("ann", "after")),
    ]
    for when, run in runs:
        if _goes(lambda run=run: world.ordinary(run())):  # type: ignore[misc]
            return when
    if _accepted(world):
        return ACCEPTED
    return ""


def _accepted(world: World) -> bool:
    def accept() -> None:
        world.shield.accept_store("after a drill", by=ANN)
        world.ordinary(world.shield.run("ann", "accepted"))

    return _goes(accept)


def _restart(world: World, told: Callable[[str], None]) -> None:
    """The same in a process that begins anew."""
    world.calls = 100
    when = "no"
    world.clock.advance(60_000)
    world.store_clock.advance(60_000)
    world.open()
    if _goes(lambda: world.ordinary(world.shield.run("ann", "cell", id="cell"))):
        when = RESTART
    elif _accepted(world):
        when = f"{RESTART}, {ACCEPTED}"
    told("recovered " + json.dumps({"when": when}))
    world.shield.close()


def _goes(call: Callable[[], None]) -> bool:
    try:
        call()
    except Exception:  # noqa: BLE001 - however it fails, it does not go
        return False
    return True


def _written(world: World) -> list[tuple[str, str]]:
    """What the trail has of the cell's run: stages and kinds."""
    return [(stub.stage, stub.kind) for stub in world.records()]


def _when(what: str, at_once: list[Any], later: list[Any]) -> Recorded:
    def has(records: list[Any]) -> bool:
        if what == "outcome":
            return any(kind == "outcome" for _, kind in records)
        if what == "model_chunk":
            return any(stage in ("model_chunk", "model_reply") for stage, _ in records)
        return any(stage == what for stage, _ in records)

    return "yes" if has(at_once) and has(later) else "later" if has(later) else "no"


def _said(lines: list[str], what: str, otherwise: dict[str, Any]) -> dict[str, Any]:
    found = [line.removeprefix(f"{what} ") for line in lines if line.startswith(f"{what} ")]
    said: dict[str, Any] = json.loads(found[0]) if found else otherwise
    return said


def _apart(work: Callable[[Callable[[str], None]], None]) -> tuple[list[str], str]:
    """Have something done in a fork of this process; gives the lines that it told, and how it
    died."""
    hear, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(hear)
        _forked(work, tell)
    os.close(tell)
    heard = bytearray()
    with os.fdopen(hear, "rb", buffering=0) as pipe:
        while select([pipe], [], [], PATIENCE_S)[0] and (part := pipe.read(1 << 16)):
            heard += part
        else:
            if not select([pipe], [], [], 0)[0]:
                os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    died = f"the process ends by {signal.Signals(-status).name}" if status < 0 else ""
    if status > 0:
        raise AssertionError(f"measuring failed: {heard.decode()}")
    return heard.decode().splitlines(), died


def _forked(work: Callable[[Callable[[str], None]], None], tell: int) -> NoReturn:
    status = 1
    try:
        faulthandler.disable()
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 2)
        work(lambda line: (os.write(tell, f"{line}\n".encode()), None)[1])
        status = 0
    except BaseException as error:  # noqa: BLE001 - told to the process that measures
        import traceback

        os.write(tell, "".join(traceback.format_exception(error)).encode())
    finally:
        sys.stdout.flush()
        os._exit(status)
