"""The runs of one command: begun by their first event, found again by every later one."""

from __future__ import annotations

from typing import Final, NamedTuple

from stanchion import Decision, Run, Shield
from stanchion.cli.events import Report
from stanchion.runtime.reports import BadEvent

MAX_RUNS: Final = 100_000
"""How many runs one command keeps apart. One more is refused: a run that is forgotten would lose its agent."""


class Judged(NamedTuple):
    """An event, the run it belongs to, and what was decided."""

    report: Report
    run: Run
    decision: Decision


class Runs:
    """Judges events in their runs, all under one shield."""

    def __init__(self, shield: Shield, max_runs: int = MAX_RUNS) -> None:
        self.shield = shield
        self._max_runs = max_runs
        self._runs: dict[str, Run] = {}

    def judge(self, report: Report) -> Judged:
        """Judge an event. One that is bad raises `BadEvent` and leaves no trace, not even a run begun by it."""
        run = self._runs.get(report.run)
        if run is None:
            run = self._begin(report)
        else:
            _agree(run, report)
        decision = run.judge(report.stage, **report.fields)
        self._runs.setdefault(report.run, run)
        return Judged(report, run, decision)

    def _begin(self, report: Report) -> Run:
        if len(self._runs) >= self._max_runs:
            most = f"at most {self._max_runs:,} are kept apart"
            raise BadEvent(f"run `{report.run}` is one too many: {most}; split the batch")
        said = report.identity
        agent, role, task, tenant = said.get("agent", ""), said.get("role"), said.get("task"), said.get("tenant")
        name = said.get("parent")
        if name is None:
            return self.shield.run(agent, "" if task is None else task, id=report.run, role=role, tenant=tenant)
        parent = self._runs.get(name)
        if parent is None:
            raise BadEvent(f"the parent `{name}` of run `{report.run}` is not known: its own first event comes before")
        above = parent.desk.info.tenant
        if tenant is not None and tenant != above:
            raise BadEvent(f"`tenant` is `{tenant}`, but the parent `{name}` belongs to `{above}`: leave it out")
        return parent.spawn(agent, task, id=report.run, role=role)


def _agree(run: Run, report: Report) -> None:
    info = run.desk.info
    parent = info.parents[0] if info.parents else ""
    is_so = {"agent": info.agent, "role": info.role, "task": info.task, "tenant": info.tenant, "parent": parent}
    for name, said in report.identity.items():
        if said != is_so[name]:
            began = f"with `{is_so[name]}`" if is_so[name] else "without one"
            raise BadEvent(
                f"`{name}` is `{said}`, but run `{run.id}` began {began}: "
                "leave it out, or give the other work a run of its own"
            )
