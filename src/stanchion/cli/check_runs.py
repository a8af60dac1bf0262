"""The runs of one command: begun by their first event, found again by every later one."""

from __future__ import annotations

from typing import Final

from stanchion import Decision, Run, Shield
from stanchion.cli.events import Report
from stanchion.cli.unresolved import Taking, looked_up
from stanchion.kernel.tuples import NamedTuple
from stanchion.runtime.calling.reports import BadEvent

MAX_RUNS: Final = 100_000
"""How many runs one command keeps apart. One more is refused: a run that is forgotten would lose
its agent."""


class JudgedEvent(NamedTuple):
    """An event, the run it belongs to, what was decided, and the names whose addresses were not
    looked up for it."""

    report: Report
    run: Run
    decision: Decision
    unresolved: tuple[str, ...] = ()


class Runs:
    """Judges events in their runs, all under one shield."""

    def __init__(
        self, shield: Shield, max_runs: int = MAX_RUNS, unresolved: Taking = looked_up
    ) -> None:
        self.shield = shield
        self._unresolved = unresolved
        self._max_runs = max_runs
        self._runs: dict[str, Run] = {}

    def judge(self, report: Report) -> JudgedEvent:
        """Judge an event. One that is bad raises `BadEvent` and leaves no trace, not even a run
        begun by it."""
        run = self._runs.get(report.run)
        if run is None:
            run = self._begin(report)
        else:
            agree(run, report)
        decision = run.judge(report.stage, **report.fields)
        self._runs.setdefault(report.run, run)
        return JudgedEvent(report, run, decision, self._unresolved())

    def _begin(self, report: Report) -> Run:
        if len(self._runs) >= self._max_runs:
            most = f"at most {self._max_runs:,} are judged at once"
            raise BadEvent(f"run `{report.run}` is one too many: {most}; split the batch")
        said = report.identity
        agent, role, task, tenant = (
            said.get("agent", ""),
            said.get("role"),
            said.get("task"),
            said.get("tenant"),
        )
        name = said.get("parent")
        if name is None:
            return self.shield.run(
                agent, "" if task is None else task, id=report.run, role=role, tenant=tenant
            )
        parent = self._runs.get(name)
        if parent is None:
            raise BadEvent(
                f"the parent `{name}` of run `{report.run}` is not known: send the parent's first "
                f"event before"
            )
        above = parent.desk.info.tenant
        if tenant is not None and tenant != above:
            raise BadEvent(
                f"`tenant` is `{tenant}`, but the parent `{name}` belongs to `{above}`: leave it "
                f"out"
            )
        return parent.spawn(agent, task, id=report.run, role=role)


def agree(run: Run, report: Report) -> None:
    """Raise `BadEvent` where an event says of its run what it is not."""
    info = run.desk.info
    parent = info.parents[0] if info.parents else ""
    is_so = {
        "agent": info.agent,
        "role": info.role,
        "task": info.task,
        "tenant": info.tenant,
        "parent": parent,
    }
    for name, said in report.identity.items():
        if said != is_so[name]:
            began = f"with `{is_so[name]}`" if is_so[name] else "without one"
            raise BadEvent(
                f"`{name}` is `{said}`, but run `{run.id}` began {began}: "
                "leave it out, or use another run for other work"
            )
