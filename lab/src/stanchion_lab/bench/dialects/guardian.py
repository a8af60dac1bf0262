"""GuardianLayer's words: a check and a report, beside the same through a run under the same
policy."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time_ns
from typing import Any, Final

from stanchion.dialects.guardian import GuardianLayer
from stanchion.runtime.shield import Shield
from stanchion_lab.bench.measure import compare
from stanchion_lab.bench.table import Effort, Row, Section, rows_of

TITLE: Final = "dialect guardian"
TOOL: Final = "search"
TOOLS: Final = [
    {
        "name": TOOL,
        "inputSchema": {
            "type": "object",
            "properties": {"q": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
            "required": ["q"],
            "additionalProperties": False,
        },
    }
]
STORES: Final = ("memory", "SQLite")

Call = Callable[[], object]


def guardian(effort: Effort) -> Section:
    """A check, and a check with its report, in memory and in SQLite."""
    rows: list[Row] = []
    for store in STORES:
        for what, made in (("check", _checks), ("check and report", _reports)):
            with TemporaryDirectory(prefix="stanchion-bench-") as folder, ExitStack() as ends:
                direct, dialect = made(store, Path(folder), ends)
                contenders = {
                    f"{what}, {store}: Shield": direct,
                    f"{what}, {store}: GuardianLayer": dialect,
                }
                costs = compare(contenders, effort.rounds, effort.calls, clock=process_time_ns)
            rows += rows_of(costs, f"{what}, {store}: Shield")
    return Section(
        TITLE,
        "processor time of the process; ratios are to the same through a run, same policy",
        rows,
    )


def _made(store: str, folder: Path, ends: ExitStack) -> tuple[Any, GuardianLayer]:
    """A run, and a guardian, under the same policy; each has its own store."""
    places: list[dict[str, Any]] = [
        {"store": "memory:", "journal": "memory:"}
        if store == STORES[0]
        else {"store": str(folder / name / "state.db"), "journal": str(folder / name / "trail")}
        for name in ("shield", "guardian")
    ]
    for name in ("shield", "guardian"):
        (folder / name).mkdir()
    path = None if store == STORES[0] else places[1]["store"]
    spoken = ends.enter_context(GuardianLayer(path, journal=places[1]["journal"], tenant="default"))
    spoken.ingest_tools(TOOLS)
    shield = ends.enter_context(Shield.load(spoken.policy, tenant="default", **places[0]))
    shield.ingest(TOOLS)
    return shield.run(), spoken


def _given() -> Callable[[], dict[str, Any]]:
    numbers = itertools.count()
    return lambda: {"q": f"words {next(numbers)}", "limit": 5}


def _checks(store: str, folder: Path, ends: ExitStack) -> tuple[Call, Call]:
    run, spoken = _made(store, folder, ends)
    one, other = _given(), _given()

    def direct() -> None:
        args = one()
        run.check(TOOL, args).guardian_result(run.advice(TOOL, args))

    return direct, lambda: spoken.check({"tool": TOOL, "arguments": other()})


def _reports(store: str, folder: Path, ends: ExitStack) -> tuple[Call, Call]:
    run, spoken = _made(store, folder, ends)
    one, other = _given(), _given()

    def direct() -> None:
        args = one()
        decision = run.check(TOOL, args)
        decision.guardian_result(run.advice(TOOL, args))
        run.result(TOOL, args, args["q"], call=decision.id)

    def dialect() -> None:
        call = {"tool": TOOL, "arguments": (args := other())}
        spoken.check(call)
        spoken.report_result(call, True, result=args["q"])

    return direct, dialect
