"""The answer to one event: judged in the runs of a command, as one JSON object, and for people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType

from stanchion import Run, Shield
from stanchion.cli.events import EventReport
from stanchion.cli.printing import headline, labelled
from stanchion.cli.terminal import Terminal, visible
from stanchion.kernel.actions import NAMES, Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import order
from stanchion.kernel.table import TABLE
from stanchion.kernel.tuples import NamedTuple
from stanchion.locks import Lock
from stanchion.ops.views.amounts import in_pages
from stanchion.ops.views.veiled import json_line
from stanchion.policy.compiled import CompiledPolicy
from stanchion.runtime.answers.resolver import NOT_ASKED
from stanchion.runtime.calling.reports import BadEvent

MOST: Final = 100
"""How many names of one event are told."""


class Unasked:
    """A resolver that looks nothing up and notes the names it was asked for. A name is then judged
    by itself alone, and where the check counts (`strict`), because something happens behind it, as
    one that has no address."""

    def __init__(self, strict: bool = False) -> None:
        self._given: Any = () if strict else NOT_ASKED
        self._lock = Lock()
        self._names: dict[str, None] = {}

    def __call__(self, host: str, _port: int) -> Any:
        with self._lock:
            if len(self._names) < MOST:
                self._names[host] = None
        return self._given

    def take(self) -> tuple[str, ...]:
        """The names that were asked for since the last time."""
        with self._lock:
            names, self._names = tuple(self._names), {}
        return names


def looked_up() -> tuple[str, ...]:
    """What is told of names where they are looked up: none was left out."""
    return ()


Taking = Callable[[], tuple[str, ...]]
"""Gives the names that the event just judged would have had looked up."""


MAX_RUNS: Final = 100_000
"""How many runs one command keeps apart. One more is refused: a run that is forgotten would lose
its agent."""


class JudgedEvent(NamedTuple):
    """An event, the run it belongs to, what was decided, and the names whose addresses were not
    looked up for it."""

    report: EventReport
    run: Run
    decision: Decision
    unresolved: tuple[str, ...] = ()


class CommandRuns:
    """Judges events in their runs, all under one shield."""

    def __init__(
        self, shield: Shield, max_runs: int = MAX_RUNS, unresolved: Taking = looked_up
    ) -> None:
        self.shield = shield
        self._unresolved = unresolved
        self._max_runs = max_runs
        self._runs: dict[str, Run] = {}

    def judge(self, report: EventReport) -> JudgedEvent:
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

    def _begin(self, report: EventReport) -> Run:
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


def agree(run: Run, report: EventReport) -> None:
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


PROCEEDS: Final = 0
REFUSED: Final = 3
WAITS: Final = 4


class FindingAnswer(Struct, frozen=True, omit_defaults=True):
    """One finding. `said` is what the guard asked for where that became something stricter."""

    guard: str
    action: str
    code: str
    message: str
    advice: str
    said: str | UnsetType = UNSET


class CheckAnswer(Struct, frozen=True, kw_only=True):
    """What is to be done with an event.

    `event` is the id the caller gave it. `content` is what goes ahead, after patches: there is none
    where nothing does, and none at a stage without content. `shadow` is what guards in shadow mode
    would have said. `unresolved` are names whose addresses were not looked up, so that they were
    judged as if they had none. `ticket` is the id of what a person is asked, or would be.
    """

    id: str
    event: str | UnsetType = UNSET
    run: str
    action: str
    proceeds: bool
    code: str
    message: str
    advice: str
    findings: tuple[FindingAnswer, ...]
    skipped: tuple[str, ...]
    shadow: tuple[FindingAnswer, ...] | UnsetType = UNSET
    content: Any = UNSET
    unresolved: tuple[str, ...] | UnsetType = UNSET
    ticket: str | UnsetType = UNSET


class UnreadLine(Struct, frozen=True):
    """The answer to a line that is no event: nothing was judged, so nothing may go ahead."""

    line: int
    error: str


def answer_of(judged: JudgedEvent) -> CheckAnswer:
    """The answer to an event that was judged."""
    report, run, decision, unresolved = judged
    return CheckAnswer(
        id=decision.id,
        event=UNSET if report.id is None else report.id,
        run=run.id,
        action=NAMES[decision.action],
        proceeds=decision.proceeds,
        code=decision.code,
        message=decision.message,
        advice=decision.advice,
        findings=_said(decision.findings),
        skipped=decision.skipped,
        shadow=_said(decision.shadow) if decision.shadow else UNSET,
        content=decision.patched(report.content)
        if decision.proceeds and report.has_content
        else UNSET,
        unresolved=unresolved if unresolved else UNSET,
        ticket=ticket if (ticket := run.ticket(decision)) is not None else UNSET,
    )


def _said(findings: tuple[Finding, ...]) -> tuple[FindingAnswer, ...]:
    return tuple(
        FindingAnswer(
            f.guard,
            NAMES[f.action],
            f.code,
            f.message,
            f.advice,
            UNSET if f.said is None else NAMES[f.said],
        )
        for f in findings
    )


def line_of(answer: CheckAnswer | UnreadLine) -> bytes:
    """An answer as one line of JSON."""
    return json_line(answer)


def status_of(decision: Decision) -> int:
    """The exit status for one decision."""
    if decision.proceeds:
        return PROCEEDS
    return WAITS if decision.action == Action.ESCALATE else REFUSED


MAX_LINES: Final = 40
"""How many lines of content are shown."""


def verdict(judged: JudgedEvent, policy: CompiledPolicy, terminal: Terminal) -> list[str]:
    """The lines to show: a headline, then one row for each thing that is known."""
    report, _, decision, unresolved = judged
    action = decision.action
    head = headline(NAMES[action], TABLE[report.stage][action], terminal)
    tool = visible(policy.veil.name(str(report.fields.get("tool", ""))))
    rows = [("tool", tool) if tool else ("stage", str(report.stage))]
    determining = decision.determining
    if determining is not None:
        rows += _reasons(determining)
    rows += [
        ("also", _in_short(finding)) for finding in decision.findings if finding is not determining
    ]
    rows += [("shadow", f"would be {_in_short(finding)}") for finding in decision.shadow]
    if unresolved:
        rows.append(
            (
                "dns",
                (
                    f"{_names(unresolved)} not looked up: `--resolve` asks for the addresses, as a "
                    f"run does"
                ),
            )
        )
    rows += _guards(judged, policy)
    if decision.proceeds and decision.patches:
        rows.append(("content", _shown(decision.patched(report.content))))
    return [*head, *labelled(rows, terminal)]


def _names(hosts: tuple[str, ...]) -> str:
    listed = ", ".join([f"`{host}`" for host in hosts])
    return f"{listed} was" if len(hosts) == 1 else f"{listed} were"


def _reasons(finding: Finding) -> list[tuple[str, str]]:
    rows = [
        ("why", finding.message),
        ("instead", finding.advice),
        ("guard", f"{finding.guard} ({finding.code})"),
    ]
    if finding.said is not None:
        rows.append(
            (
                "asked",
                f"{NAMES[finding.said]}, which cannot be done here, so the next stricter action",
            )
        )
    return [(label, words) for label, words in rows if words]


def _in_short(finding: Finding) -> str:
    return f"{NAMES[finding.action]} by {finding.guard} ({finding.code}): {finding.message}"


def _guards(judged: JudgedEvent, policy: CompiledPolicy) -> list[tuple[str, str]]:
    """Which guards had nothing to say, and which were not asked."""
    report, run, decision, _ = judged
    chain = policy.guards(
        report.stage, report.fields.get("tool", ""), run.desk.info, decision.inputs.mode
    )
    spoke = {finding.guard for finding in (*decision.findings, *decision.shadow)} | set(
        decision.skipped
    )
    passed = [placed.id for placed in sorted(chain, key=order) if placed.id not in spoke]
    rows = [("passed", ", ".join(passed)), ("skipped", ", ".join(decision.skipped))]
    if not chain and not decision.findings:
        rows.append(("guards", f"no guard of this policy judges `{report.stage}`"))
    return [
        *[(label, words) for label, words in rows if words],
        ("policy", policy.file.name),
        ("id", decision.id),
    ]


def _shown(content: Any) -> str:
    lines = in_pages(content).split("\n")
    if len(lines) > MAX_LINES:
        lines = [*lines[:MAX_LINES], f"… {len(lines) - MAX_LINES} more lines: `--json` shows all"]
    return "\n".join(lines)
