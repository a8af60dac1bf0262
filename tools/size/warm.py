"""Files and calls of one warm check: how many functions of Stanchion an event goes through where
everything is made that is made once, and in how many of its files they stand.

The six kinds of event are what every agent does all day: it reads a file, searches, runs a command,
gets a result, asks a model, and is told something. Each is judged by a policy without guards and by
the pack `default`, with state and records in memory, and on disk (SQLite and a trail). Only the
calling thread is counted, in a process that does nothing else. The figure is the least of eighteen
checks: now and then one does work that others are spared (an anchor, a lock that another has).
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import Final

import msgspec

import stanchion
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield
from stanchion_lab.bench.calls import Calls
from tools.size.table import Table

ROOT: Final = Path(__file__).resolve().parents[2]
HOUSE: Final = os.path.dirname(stanchion.__file__) + os.sep
RUNS: Final = (
    ("tree", "lake", "wind", "road", "ship", "lamp", "door", "wall"),
    ("bird", "leaf", "rain", "sand", "gate", "roof", "boat", "coat"),
    ("fish", "moon", "snow", "hill", "ring", "bell", "desk", "nest"),
)
"""For each run the files of its rounds, the first two to warm it. Their names are alike, so that no
check does more because of its own; a run has fewer than 64 records, of which the last is whole."""
MILLISECOND_S: Final = 0.001


def count_warm_checks(tree: Path = ROOT) -> Table:
    """The table of warm checks by the code of a checkout, in a process of its own."""
    with TemporaryDirectory(prefix="stanchion-size-") as folder:
        paths = [str(tree / "src"), str(ROOT), str(ROOT / "lab/src")]
        environ = {"PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": "0", "HOME": folder}
        command = [sys.executable, "-m", "tools.size.warm"]
        done = subprocess.run(command, cwd=folder, env=environ, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=Table)


def count_here() -> Table:
    """The table by the code that this process imports, with its files in the working directory."""
    gc.disable()  # what was left behind is not cleared away while calls are counted
    sys.setswitchinterval(1)  # no other thread comes between where this one does not wait
    rows: dict[str, tuple[int, ...]] = {}
    for policy in ("default", "empty"):
        source = "default" if policy == "default" else {"name": "empty"}
        with Shield.load(source, store="memory:", journal="memory:") as shield:
            in_memory = _count_rounds(shield)
        with Shield.load(source, store=f"{policy}.db", journal=f"{policy}-trail") as shield:
            on_disk = _count_rounds(shield)
        rows |= {f"{event}/{policy}": in_memory[event] + on_disk[event] for event in on_disk}
    columns = ("memory-files", "memory-calls", "sqlite-files", "sqlite-calls")
    return Table("warm", columns, dict(sorted(rows.items())))


def _count_rounds(shield: Shield) -> dict[str, tuple[int, int]]:
    least: dict[str, tuple[int, int]] = {}
    for names in RUNS:
        with shield.run("ann", names[0]) as run:
            for turn, name in enumerate(names):
                checks = list(_list_checks(run, name).items())
                # Each event comes first in some round: what is due after a time meets all of them.
                for event, check in checks[turn % 6 :] + checks[: turn % 6]:
                    sleep(MILLISECOND_S)  # two batches of one millisecond are fewer calls
                    with Calls() as calls:
                        check()
                    codes = calls.below(HOUSE)
                    found = len({code.co_filename for code in codes}), len(codes)
                    if turn >= 2:
                        least[event] = min(found, least.get(event, found))
    return least


def _list_checks(run: Run, name: str) -> dict[str, Callable[[], object]]:
    """A check of each event; the result is that of a call which the run began before."""
    asked = {"path": f"src/{name}.py"}
    call = run.check("read_file", asked)
    messages = [{"role": "user", "content": f"What does the {name} do?"}]
    return {
        "read_file": lambda: run.check("read_file", {"path": f"docs/{name}.md"}),
        "search": lambda: run.check("search", {"query": f"where the {name} is made"}),
        "bash": lambda: run.check("bash", {"command": f"cat src/{name}.py"}),
        "tool_result": lambda: run.result("read_file", asked, f"the {name}", call=call.id),
        "model_call": lambda: run.model_call(messages, model="gpt-4o"),
        "prompt": lambda: run.prompt(f"Please mend the {name}."),
    }


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(count_here()))
