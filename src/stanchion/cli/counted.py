"""One check that counts: judged on the project's store, as an event of a run, and written to its
trail."""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout
from typing import Any, Final

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from stanchion import Run, Shield, typed
from stanchion.cli.check_output import JudgedEvent, Taking, Unasked, agree
from stanchion.cli.command import Args
from stanchion.cli.events import EventReport
from stanchion.cli.whose import whose
from stanchion.kernel.compare_and_set import LEFT, ChangedRecord, change
from stanchion.kernel.stages import Stage
from stanchion.ops.views.names import began_key
from stanchion.policy.compiled import CompiledPolicy
from stanchion.runtime.calling.reports import BadEvent
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.sync import drive

# Runs that count: each check is one event of a run that other checks have begun, or will go on
# with.
#
# Counters, loops, holds and tickets of a run are in the store. Who is at work in it is kept beside
# them, by the first
# check: a later one that leaves it out is judged as the same agent at the same task.

FRESH_MS: Final = 3_600_000
"""After so long it is written again who is at work, though nothing changed, so that it is not
forgotten."""
DEEPEST: Final = 32
"""How many parents a run may have above it."""

SETTLES: Final = frozenset({Stage.TOOL_RESULT, Stage.HANDOFF_DONE})
"""Outcomes that belong to a start which was checked before them, by another process."""


class RunBeginning(Struct, frozen=True, omit_defaults=True):
    """What the first check of a run has said of it, and when this was written."""

    agent: str = ""
    task: str = ""
    role: str = ""
    parent: str = ""
    written: int = 0


class CountedRuns:
    """Judges events in runs that outlive the process."""

    def __init__(self, shield: Shield, unresolved: Taking) -> None:
        self.shield = shield
        self._unresolved = unresolved

    def judge(self, report: EventReport) -> JudgedEvent:
        """Judge an event and count it; one that is bad raises `BadEvent`."""
        if report.stage in SETTLES and not report.fields.get("call"):
            said = (
                f"`{report.stage}` of a run that counts needs `call`, the `id` of the answer "
                f"that let it start"
            )
            raise BadEvent(f"{said}: give it with `--call ID`")
        run = self._run(report.run, report.identity, begins=True)
        agree(run, report)
        decision = run.judge(report.stage, **report.fields)
        return JudgedEvent(report, run, decision, self._unresolved())

    def _run(self, name: str, said: dict[str, str], begins: bool, depth: int = 0) -> Run:
        """A run as it began; where it has not, it begins as is said, or is bad where it has to be
        known."""
        if depth > DEEPEST:
            raise BadEvent(f"the run `{name}` has more than {DEEPEST} parents: start another one")
        tenant = self.shield.tenancy.of(said.get("tenant"))
        parent = said.get("parent", "")
        if begins and parent:
            self._run(parent, {"tenant": tenant}, begins=False, depth=depth + 1)
        first = RunBeginning(
            said.get("agent", ""), said.get("task", ""), said.get("role", ""), parent
        )
        began = self._began(tenant, name, first if begins else None)
        if began is None:
            raise BadEvent(
                f"the parent `{name}` is not known: send the parent's first event before"
            )
        role = began.role if began.role else None
        if not began.parent:
            run = self.shield.run(began.agent, began.task, id=name, role=role, tenant=tenant)
            # Whoever has a shell can check an event of a run: nobody knows that it is the user.
            run.desk.hears_user = False
            return run
        above = self._run(began.parent, {"tenant": tenant}, begins=False, depth=depth + 1)
        return above.spawn(began.agent, began.task, id=name, role=role)

    def _began(self, tenant: str, name: str, first: RunBeginning | None) -> RunBeginning | None:
        """What is kept of a run; of two processes that begin one at once, the first says how."""

        def kept(value: Any, now: int) -> Any:
            known = first if value is None else typed.convert(value, RunBeginning)
            if known is None or (value is not None and now - known.written < FRESH_MS):
                return LEFT
            return to_builtins(replace(known, written=now))

        def written() -> Flow[ChangedRecord]:
            batch = f"began-{os.urandom(8).hex()}"
            return (
                yield from change(self.shield.records, batch, tenant, began_key(tenant, name), kept)
            )

        value = drive(written(), self.shield).value
        return None if value is None else typed.convert(value, RunBeginning)


def judge_counted(args: Args, report: EventReport) -> tuple[JudgedEvent, CompiledPolicy]:
    """Judge an event in its run; what cannot be opened or reached is bad input, and nothing may go
    ahead then."""
    whose(args.project)
    unasked = Unasked(strict=True)
    options: dict[str, Any] = {} if args.env is None else {"env": args.env}
    options |= {} if args.project is None else {"project": args.project}
    options |= {} if args.resolve else {"resolver": unasked}
    with redirect_stdout(sys.stderr), args.load(args.policy, **options) as shield:
        return CountedRuns(shield, unasked.take).judge(report), shield.policy
