"""How many functions one check goes through: a count that no noise disturbs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final

from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield
from stanchion_lab.bench.calls import Calls
from stanchion_lab.bench.packs.engines import choose, sought
from stanchion_lab.bench.packs.hand import Hand, Scan
from stanchion_lab.bench.packs.pack import at_home, in_memory
from stanchion_lab.bench.table import Effort, Row, Section

PACK: Final = "default"
TENTH: Final = {"command": "ls"}
BEFORE: Final = 9


def frames(_effort: Effort) -> Section:
    """The call events of `sys.setprofile` for the tenth call of a run, by hand and under
    `default`."""
    with ExitStack() as stack:
        stack.enter_context(at_home())
        scanner = choose(PACK)
        shield = in_memory(PACK, stack)
        ready(shield).check("bash", TENTH)  # what is made once in a process is not counted
        run = ready(shield)
        seen = counted(lambda: run.check("bash", TENTH))
        hand = Hand(Scan(sought(PACK, scanner)), "run-0123456789abcdef")
        for number in range(BEFORE):
            hand.call("bash", _before(number))
        least = counted(lambda: hand.call("bash", TENTH))
    calls, floor = seen.total(), least.total()
    rows = [
        Row("by hand: call events", amount=floor, unit="calls"),
        Row("run.check: call events", amount=calls, unit="calls", ratio=round(calls / floor, 2)),
        Row("run.check: files they are in", amount=len(seen), unit="files"),
    ]
    note = (
        '`check("bash", {"command": "ls"})` as the tenth call of a run under `default`, Python '
        "functions only"
    )
    return Section("packs: call events", note, rows)


def ready(shield: Shield) -> Run:
    """A run whose next call is the tenth."""
    run = shield.run("ann", "work")
    for number in range(BEFORE):
        args = _before(number)
        decision = run.check("bash", args)
        run.result("bash", args, f"part {number}", call=decision.id)
    return run


def counted(work: Callable[[], object]) -> Counter[str]:
    """How often functions of Python are called meanwhile, by the file that each is in."""
    with Calls() as calls:
        work()
    return Counter([code.co_filename for code in calls.codes])


def _before(number: int) -> dict[str, str]:
    return {"command": f"cat src/part_{number}.py"}
