"""What is measured: each section gives rows of contenders that ran side by side."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, Final

from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.policy.conditions import compile_condition
from stanchion.policy.conditions.view import STANDARD, EventView
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import MEMORY
from stanchion_lab.bench.chain import ARGS, by_hand, checked, whole
from stanchion_lab.bench.durable import DURABLE
from stanchion_lab.bench.measure import Cost, compare, cost_of
from stanchion_lab.bench.sequence import sequences
from stanchion_lab.bench.sql import sql_statements
from stanchion_lab.bench.stores import batches_on_stores, decisions_on_stores
from stanchion_lab.bench.table import Effort, Row, Section, rows_of

RULES = (0, 1, 10, 100, 1_000, 10_000)


def sections(effort: Effort, only: str = "") -> Iterator[Section]:
    """All sections, one after the other, so that each can be shown as soon as it is done; with
    `only`, those with that in their titles."""
    for title in titles(only):
        yield MAKERS[title](effort)


def titles(only: str = "") -> list[str]:
    """The titles of all sections, or of those that have `only` in them."""
    return [title for title in MAKERS if only.lower() in title]


def _chain(effort: Effort) -> Section:
    _, run = whole()
    costs = compare({"by hand": by_hand(), "engine": checked(run)}, effort.rounds, effort.calls)
    note = "8 pure and 4 stateful guards apply: event, decision and chained record, state in memory"
    return Section("the whole chain, hot", note, rows_of(costs, "by hand"))


def _public(effort: Effort) -> Section:
    shield, run = whole()

    def tool(path: str, content: str) -> str:
        return path

    def judged() -> None:
        run.check("write_file", ARGS, tokens=1_200)

    shield_tool = shield.tool(name="write_file")(tool)
    contenders: dict[str, Callable[[], object]] = {
        "by hand": by_hand(),
        "run.check": judged,
        "run.call (judge, run, judge the result, settle)": lambda: run.call(shield_tool, **ARGS),
    }
    costs = compare(contenders, effort.rounds, effort.calls)
    costs["await run.acheck"] = asyncio.run(_asynchronous(run, effort))
    return Section(
        "the same through the public face",
        "arguments are projected to plain data first",
        rows_of(costs, "by hand"),
    )


async def _asynchronous(run: Run, effort: Effort) -> Cost:
    took = []
    for _ in range(effort.rounds * effort.calls):
        begun = time.perf_counter_ns()
        await run.acheck("write_file", ARGS, tokens=1_200)
        took.append(time.perf_counter_ns() - begun)
    return cost_of(took)


def _rules(effort: Effort) -> Section:
    contenders = {f"{rules:,} rules": checked(whole(rules)[1]) for rules in RULES}
    costs = compare(contenders, effort.rounds, effort.calls)
    note = (
        "the whole chain beside rules with conditions, for other tools, roles, tasks and arguments"
    )
    return Section("rules that do not apply", note, rows_of(costs, "10 rules"))


def _conditions(effort: Effort) -> Section:
    """The example of a guardrail that keeps implementers from changing tests, on a view that is
    made once."""
    run = RunInfo("r1", agent="implementer-1", role="implementer")
    args = {"file_path": "src/app/login.py", "content": "x"}
    view = EventView(ToolCall(id="e1", at=0, run=run, tool="Write", args=args))
    when = compile_condition(
        "agent.role == 'implementer' AND action.type == 'file_write'", STANDARD
    ).test
    source = (
        "not glob(action.target_file, '**/test_*') and not glob(action.target_file, '**/*_test.*')"
    )
    check = compile_condition(source, STANDARD).test

    def by_hand() -> bool:
        if view.agent_role == "implementer" and view.action_type == "file_write":
            name = (view.action_target_file or "").rpartition("/")[2]
            return not name.startswith("test_") and "_test." not in name
        return True

    contenders: dict[str, Callable[[], object]] = {
        "by hand": by_hand,
        "compiled": lambda: when(view) and check(view),
        "with the view made": lambda: when(made := EventView(view.event)) and check(made),
    }
    costs = compare(contenders, effort.rounds, effort.calls)
    return Section(
        "conditions",
        "implementers do not change tests: condition and check",
        rows_of(costs, "by hand"),
    )


def _guards(effort: Effort) -> Section:
    alone: dict[str, dict[str, Any]] = {
        "no guard": {},
        "size_limits": {"use": "size_limits"},
        "tool_allowlist": {"use": "tool_allowlist", "tools": ["write_file"]},
        "tool_denylist": {"use": "tool_denylist", "tools": ["rm"]},
        "step_limit": {"use": "step_limit", "max_steps": 1_000_000_000},
        "safe_mode (refuses)": {"use": "safe_mode"},
    }
    contenders = {name: _judging(entry) for name, entry in alone.items()}
    contenders["python (a thread a call)"] = _asking()
    costs = compare(contenders, max(2, effort.rounds // 2), effort.calls)
    return Section(
        "each guard alone", "run.check with one guard in the policy", rows_of(costs, "no guard")
    )


def _judging(entry: dict[str, Any]) -> Callable[[], object]:
    shield = Shield.load(
        {"name": "one", "guards": [entry] if entry else []}, store=MEMORY, journal=MEMORY
    )
    run = shield.run("a1", "t1")
    return lambda: run.check("write_file", ARGS)


def _asking() -> Callable[[], object]:
    def passes(_event: object) -> None:
        return None

    run = Shield.load({"name": "one"}, guards=[passes], store=MEMORY, journal=MEMORY).run(
        "a1", "t1"
    )
    return lambda: run.check("write_file", ARGS)


def _idle(effort: Effort) -> Section:
    rows = []
    for idle_ms in (0, 2, 20):
        _, run = whole()
        calls = effort.calls if not idle_ms else max(10, effort.calls // (idle_ms * 2))
        rounds = effort.rounds if not idle_ms else 4
        costs = compare(
            {"by hand": by_hand(), "engine": checked(run)}, rounds, calls, idle_ms / 1000
        )
        ratio = round(costs["engine"].p50_us / costs["by hand"].p50_us, 2)
        when = "hot" if not idle_ms else f"after {idle_ms} ms"
        rows += [
            Row(f"by hand, {when}", costs["by hand"]),
            Row(f"engine, {when}", costs["engine"], ratio),
        ]
    return Section("after idleness", "what an agent feels: caches are cold after a pause", rows)


def _of(module: str, name: str) -> Callable[[Effort], Section]:
    """A section of a module that is only loaded when it is measured."""

    def section(effort: Effort) -> Section:
        made: Section = getattr(import_module(f"stanchion_lab.bench.{module}"), name)(effort)
        return made

    return section


MAKERS: Final[dict[str, Callable[[Effort], Section]]] = {
    "the whole chain, hot": _chain,
    "the same through the public face": _public,
    "rules that do not apply": _rules,
    "packs: default": _of("packs.pack", "default"),
    "packs: strict": _of("packs.pack", "strict"),
    "packs: coding-agent": _of("packs.pack", "coding_agent"),
    "packs: agent-33": _of("packs.agent33", "agent33"),
    "packs that grow": _of("packs.grown", "grown"),
    "packs: call events": _of("packs.frames", "frames"),
    "conditions": _conditions,
    "each guard alone": _guards,
    "calls against schemas": _of("schema", "schemas"),
    "sql statements": sql_statements,
    "shell commands": _of("shell", "shells"),
    "scanning for patterns": _of("scan", "scanning"),
    "scanning long texts": _of("scan", "hostile"),
    "texts that are meant to stall": _of("stalls", "stalls"),
    "the secrets guard": _of("scan", "secrets"),
    "where values come from": _of("flow", "flow"),
    "sequences": sequences,
    "deep rules beside low risk": _of("deep", "deep"),
    "telemetry": _of("telemetry", "telemetry"),
    "after idleness": _idle,
    **DURABLE,
    "a batch on each store": batches_on_stores,
    "decisions on each store": decisions_on_stores,
    "experience": _of("experience", "experience"),
    "layers of guardian": _of("layers", "layers"),
    "where the time goes": _of("peers.shares", "shares"),
    "dialect agent33": _of("dialects.agent33", "agent33"),
    "dialect guardian": _of("dialects.guardian", "guardian"),
    "dialect ragix": _of("dialects.ragix", "ragix"),
    "dialect veronica": _of("dialects.veronica", "veronica"),
    "hot counters through leases": _of("leases", "leases"),
    "thousands of tasks at once": _of("crowds", "crowds"),
    "a broker that is flooded": _of("floods", "floods"),
    "an inbox that fills": _of("inbox", "inbox"),
    "dialect penguiflow": _of("dialects.penguiflow", "penguiflow"),
    "hooks over http": _of("hooks.endpoints", "hooks"),
    "the mcp proxy": _of("mcp.proxies", "proxies"),
    "starting a confined command": _of("confined", "confined"),
    "import and start": _of("start", "starts"),
}
"""What makes each section, by its title."""
