"""Layers: what each of the pack `guardian` costs beside the latency that its specification
states."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from stanchion.experience.advice_context import AdviceContext, ToolText
from stanchion.experience.incident import DAY_MS
from stanchion.experience.styles import AdviceCache
from stanchion.runtime.learning.shelves import shelf_of
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import MEMORY
from stanchion.stores.memory import wall_ms
from stanchion_lab.bench.measure import Cost, compare
from stanchion_lab.bench.table import Effort, Row, Section

PACK: Final = "guardian"
TOOL: Final = "search"
TENANT: Final = "default"
STATED_US: Final[dict[str, float]] = {
    "breaker and health": 1_000,
    "loops": 1_000,
    "schema, not seen before": 5_000,
    "experience, read from SQLite": 50_000,
    "advice, at hand": 1_000,
    "advice, worded": 5_000,
    "the whole check with advice after a failure, memory": 60_000,
    "the whole check with advice after a failure, SQLite": 60_000,
    "the whole check with advice and the report, SQLite": 60_000,
}
"""The longest that the specification states for each, in microseconds."""

GUARDS: Final[dict[str, list[dict[str, Any]]]] = {
    "breaker and health": [
        {"use": "breaker"},
        {"use": "health", "stages": ["tool_call", "tool_result", "error"]},
    ],
    "loops": [{"use": "loops"}],
    "schema, not seen before": [{"use": "schema"}],
}
SCHEMA: Final = {
    "type": "object",
    "properties": {"q": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
    "required": ["q"],
    "additionalProperties": False,
}
TOOLS: Final = {TOOL: {"schema": SCHEMA}}
LAYERS: Final[dict[str, Any]] = {"extends": PACK, "tools": TOOLS}

Call = Callable[[], object]


def layers(effort: Effort) -> Section:
    """Every layer alone, and all of them together with their advice."""
    with ExitStack() as ends:
        calls = {name: _alone(guards, ends) for name, guards in GUARDS.items()}
        calls["advice, at hand"], calls["advice, worded"] = _at_hand(), _worded()
        costs = compare(calls, effort.rounds, effort.calls)
    # Apart from those: what these learn is redacted in a thread beside them.
    with TemporaryDirectory(prefix="stanchion-bench-") as folder, ExitStack() as ends:
        # Each has a run of its own: in one that reports successes, advice has nothing to compare.
        whole: dict[str, Call] = {
            "experience, read from SQLite": _read(Path(folder) / "read", ends),
            "the whole check with advice after a failure, memory": _advised(_run(LAYERS, ends)),
            "the whole check with advice after a failure, SQLite": _advised(
                _run(LAYERS, ends, Path(folder) / "checked")
            ),
            "the whole check with advice and the report, SQLite": _reported(
                _run(LAYERS, ends, Path(folder) / "reported")
            ),
        }
        costs |= compare(whole, effort.rounds, effort.calls)
    rows = [_row(name, costs[name], stated_us) for name, stated_us in STATED_US.items()]
    return Section(
        "layers of guardian",
        "the ratio is that of p99 to the longest that the specification states",
        rows,
    )


def _row(name: str, cost: Cost, stated_us: float) -> Row:
    return Row(f"{name} (stated: {stated_us / 1000:g} ms)", cost, round(cost.p99_us / stated_us, 3))


def _read(folder: Path, ends: ExitStack) -> Call:
    """What is known of a tool, from the file each time: a shield asks it once a minute."""
    shield: Any = _run(LAYERS, ends, folder).desk.shield
    shield.experience.flush()
    shelf = shelf_of(shield.store, reading=True)
    ends.callback(shelf.close)
    today = wall_ms() // DAY_MS
    return lambda: shelf.known(TENANT, TOOL, today)


def _run(policy: dict[str, Any], ends: ExitStack, folder: Path | None = None) -> Run:
    store, trail = (
        (MEMORY, MEMORY) if folder is None else (str(folder / "state.db"), str(folder / "trail"))
    )
    if folder is not None:
        folder.mkdir()
    shield = Shield.load({"name": "bench", **policy}, store=store, journal=trail, tenant=TENANT)
    ends.callback(shield.close)
    run = shield.run("a1", "t1")
    run.result(TOOL, {"q": "a"}, "found")
    run.error(TOOL, "timeout", args={"q": "b"})
    return run


def _given() -> Callable[[], dict[str, Any]]:
    numbers = itertools.count()
    return lambda: {"q": f"words {next(numbers)}", "limit": 5}


def _alone(guards: list[dict[str, Any]], ends: ExitStack) -> Call:
    tools = TOOLS if any(entry["use"] == "schema" for entry in guards) else {}
    run, args = _run({"guards": guards, "tools": tools}, ends), _given()
    return lambda: run.check(TOOL, args())


def _advised(run: Run) -> Call:
    args = _given()

    def call() -> None:
        given = args()
        run.check(TOOL, given).guardian_result(run.advice(TOOL, given))

    return call


def _reported(run: Run) -> Call:
    args = _given()

    def call() -> None:
        given = args()
        decision = run.check(TOOL, given)
        decision.guardian_result(run.advice(TOOL, given))
        run.result(TOOL, given, given["q"], call=decision.id)

    return call


def _at_hand() -> Call:
    cache, context = AdviceCache(), AdviceContext(TOOL, 3, ToolText("timeout"))
    return lambda: cache.advice("expert", context)


def _worded() -> Call:
    cache, numbers = AdviceCache(), itertools.count(1)
    return lambda: cache.advice(
        "expert", AdviceContext(TOOL, next(numbers), ToolText("it is not there"))
    )
