"""What sequences cost: by how many there are, and by how much has happened before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import MEMORY
from stanchion_lab.bench.measure import compare
from stanchion_lab.bench.table import Effort, Section, rows_of

EARLIER: Final = (10, 100, 1_000, 10_000)
RULES: Final = (0, 1, 10, 100)


def rules(count: int) -> list[dict[str, Any]]:
    """Entries that all concern the call that is measured, and let it pass."""
    return [
        {
            "use": "sequence",
            "id": f"s{number}",
            "after": {"tool": "open", "when": f"event.args.n == {number}", "outcome": "success"},
            "refuse": {"tool": ["send", f"other{number}"]},
        }
        for number in range(count)
    ]


def _run(count: int, earlier: int) -> Run:
    run = Shield.load({"name": "bench", "guards": rules(count)}, store=MEMORY).run(agent="bench")
    for number in range(earlier):
        run.check("open", {"n": 1_000 + number})
    return run


def sequences(effort: Effort) -> Section:
    """One call through the public face, judged by sequences that concern it."""

    def checked(run: Run) -> Callable[[], object]:
        return lambda: run.check("send", {"to": "a"})

    contenders: dict[str, Callable[[], object]] = {
        f"{count} sequences, 10 earlier calls": checked(_run(count, 10)) for count in RULES
    }
    contenders |= {
        f"10 sequences, {earlier:,} earlier calls": checked(_run(10, earlier))
        for earlier in EARLIER[1:]
    }
    costs = compare(contenders, effort.rounds, effort.calls)
    note = "each has a record of its own in memory; those of other tools cost nothing"
    return Section("sequences", note, rows_of(costs, "10 sequences, 10 earlier calls"))
