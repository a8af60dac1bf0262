"""`python -m stanchion_lab.endurance`: a million decisions in one process; neither memory nor time
may grow."""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import MEMORY
from stanchion_lab.bench.measure import Cost, cost_of

PARTS: Final = 10
"""Into how many parts the decisions are divided; the first warms up."""
CALLS: Final = 200
"""How many calls an agent makes in one run."""
GROWTH: Final = 1.1
"""How much more memory the last parts may have than those right behind the first: what counts for a
run is kept for a week, so a store has a little more of it with each."""
TREND: Final = 1.5
"""How much longer a decision may take in the last parts; machines are noisy, and what grows with
history grows more."""


class Part(NamedTuple):
    """A tenth of all decisions: what they cost, and how much memory the process had behind them."""

    cost: Cost
    resident: int


def endure(shield: Shield, decisions: int) -> Iterator[Part]:
    """Let agents work, one run after the other, until so many decisions are made; gives each part
    when it is done."""
    each, number = max(2, decisions // PARTS), 0
    for _ in range(PARTS):
        took: list[int] = []
        while len(took) < each:
            number += 1
            _work(shield, number, min(CALLS, (each - len(took) + 1) // 2), took)
        gc.collect()
        yield Part(cost_of(took), resident())


def _work(shield: Shield, number: int, calls: int, took: list[int]) -> None:
    """One run of an agent that reads, edits and runs things; none of its calls is like another."""
    clock = time.thread_time_ns  # what others do on this machine is not ours
    with shield.run(f"agent-{number % 50}", f"task-{number}") as run:
        for turn in range(calls):
            tool = ("read_file", "edit_file", "search")[turn % 3]
            args = {
                "path": f"src/part_{number}/module_{turn}.py",
                "text": f"line {turn} of {number}",
            }
            begun = clock()
            run.check(tool, args)
            judged = clock()
            run.result(tool, args, f"def step_{turn}(order):\n    return order.total + {number}\n")
            took += (judged - begun, clock() - judged)


def resident() -> int:
    """How many bytes of memory this process has at the moment."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def trends(parts: list[Part]) -> dict[str, float]:
    """Medians of the last three parts beside those of the three behind the first, for memory and
    times."""
    early, late = parts[1:4], parts[-3:]
    return {
        "memory": median(part.resident for part in late) / median(part.resident for part in early),
        "p50": median(part.cost.p50_us for part in late)
        / median(part.cost.p50_us for part in early),
        "p99": median(part.cost.p99_us for part in late)
        / median(part.cost.p99_us for part in early),
    }


def grown(found: dict[str, float]) -> list[str]:
    """What has grown."""
    return [
        name for name, ratio in found.items() if ratio > (GROWTH if name == "memory" else TREND)
    ]


def main(argv: list[str] | None = None) -> int:
    """Run it, a line for each part; status 1 where something has grown."""
    parser = argparse.ArgumentParser(prog="python -m stanchion_lab.endurance", description=__doc__)
    parser.add_argument(
        "--decisions", type=int, default=1_000_000, metavar="N", help="how many (1,000,000)"
    )
    parser.add_argument("--policy", default="default", help="a pack or a policy file (default)")
    parser.add_argument(
        "--durable", action="store_true", help="state in SQLite and records on disk, not in memory"
    )
    asked = parser.parse_args(argv)
    with TemporaryDirectory() as folder:
        store = str(Path(folder) / "state.db") if asked.durable else MEMORY
        journal = str(Path(folder) / "trail") if asked.durable else MEMORY
        with Shield.load(asked.policy, store=store, journal=journal) as shield:
            print("decisions       memory        p50        p99")
            parts = []
            for part in endure(shield, asked.decisions):
                parts.append(part)
                done = sum(one.cost.calls for one in parts)
                size = f"{part.resident / (1 << 20):.1f} MiB"
                print(
                    f"{done:>9,} {size:>12} {part.cost.p50_us:>7.1f} µs "
                    f"{part.cost.p99_us:>7.1f} µs",
                    flush=True,
                )
    found = trends(parts)
    print("late beside early: " + ", ".join(f"{name} {ratio:.3f}" for name, ratio in found.items()))
    more = grown(found)
    print(f"grown: {', '.join(more)}" if more else "nothing has grown")
    return 1 if more else 0


if __name__ == "__main__":
    sys.exit(main())
