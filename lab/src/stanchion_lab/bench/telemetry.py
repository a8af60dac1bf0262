"""What telemetry adds to a decision: the same checks with and without it, in turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import MEMORY
from stanchion_lab.bench.chain import ARGS
from stanchion_lab.bench.measure import compare
from stanchion_lab.bench.table import Effort, Section, rows_of


def telemetry(effort: Effort) -> Section:
    """A check without guards with and without metrics, and what telemetry is told alone. Logging is
    as it is usual: on for warnings, and nobody listens."""
    allowed = Decision("r1.a.1", Action.ALLOW, "hash")
    refused = Decision(
        "r1.a.1", Action.BLOCK, "hash", findings=(Finding(Action.BLOCK, "own.no", guard="own"),)
    )
    contenders = {
        "check, metrics off": _check(False),
        "check, metrics on": _check(True),
        "an allowed decision told, metrics off": _told(False, allowed),
        "an allowed decision told, metrics on": _told(True, allowed),
        "a refused decision told, metrics on": _told(True, refused),
    }
    costs = compare(contenders, effort.rounds * 4, effort.calls)
    note = "a policy without guards, state and records in memory"
    return Section("telemetry", note, rows_of(costs, "check, metrics off"))


def _shield(metrics: bool) -> Shield:
    return Shield.load({"name": "one"}, store=MEMORY, journal=MEMORY, metrics=metrics)


def _check(metrics: bool) -> Callable[[], object]:
    run = _shield(metrics).run("a1", "t1")
    return lambda: run.check("write_file", ARGS)


def _told(metrics: bool, decision: Decision) -> Callable[[], object]:
    tell: Any = _shield(metrics).telemetry.decided
    event = ToolCall(id="r1.a.1", at=0, run=RunInfo("r1", agent="a1"), tool="write_file", args={})
    return lambda: tell(event, decision, 20_000)
