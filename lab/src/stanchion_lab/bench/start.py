"""What a process costs that starts: the import, and one check from a shell, beside an interpreter
that does nothing."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from stanchion_lab.bench.measure import Cost
from stanchion_lab.bench.table import Effort, Row, Section

BARE: Final = "bare python"
FEWEST: Final = 15
ONE_GUARD: Final = "name: one\nguards:\n  - use: shell\n"
CALL: Final = ("--tool", "bash", "--args", '{"command": "ls"}')


def starts(effort: Effort) -> Section:
    """CPU time of fresh processes, user and system, taken in turns, with bytecode and state as a
    second start has them."""
    took: dict[str, list[float]] = {}
    with TemporaryDirectory() as folder:
        commands = _commands(Path(folder))
        surroundings = _surroundings(Path(folder))
        for turn in range(1 + max(FEWEST, effort.rounds)):
            for name, command in commands.items():
                spent = _cpu_us(command, surroundings)
                if turn:
                    took.setdefault(name, []).append(spent)
    base = median(took[BARE])
    rows = [
        Row(
            name,
            Cost(median(times), max(times), len(times)),
            None if name == BARE else round(median(times) / base, 2),
        )
        for name, times in took.items()
    ]
    added = (median(took["import stanchion"]) - base) / 1000
    return Section(
        "import and start", f"CPU time of a process; `import stanchion` adds {added:.0f} ms", rows
    )


def _commands(folder: Path) -> dict[str, list[str]]:
    policy = folder / "one.yaml"
    policy.write_text(ONE_GUARD, encoding="utf-8")
    python, script = sys.executable, Path(sys.executable).with_name("stanchion")
    check = [python, "-m", "stanchion", "check", *CALL]
    found = {
        BARE: [python, "-c", "pass"],
        "import stanchion": [python, "-c", "import stanchion"],
        "from stanchion import Shield": [python, "-c", "from stanchion import Shield"],
        "stanchion --version": [python, "-m", "stanchion", "--version"],
        "stanchion check, one guard": [*check, "--policy", str(policy)],
        "stanchion check, default": [*check, "--policy", "default"],
    }
    if script.exists():
        found["the console script, default"] = [str(script), "check", *CALL, "--policy", "default"]
    return found


def _surroundings(folder: Path) -> dict[str, str]:
    """The environment, with bytecode and state in a folder that is gone afterwards."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {
        **kept,
        "PYTHONPYCACHEPREFIX": str(folder / "pyc"),
        "STANCHION_STATE_DIR": str(folder / "state"),
    }


def _cpu_us(command: list[str], surroundings: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, env=surroundings)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e6
