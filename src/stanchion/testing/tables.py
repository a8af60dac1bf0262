"""Running tables: every case on a new store, on either driver, compared with what it expects."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, Literal

import msgspec

from stanchion.kernel.actions import NAMES
from stanchion.kernel.content import content_of
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import OF_STAGE, RunInfo
from stanchion.kernel.findings import Finding
from stanchion.kernel.stages import Stage
from stanchion.policy.errors import PolicyError
from stanchion.runtime.run import Run
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.testing.clock import FakeClock
from stanchion.testing.shields import LostStore, shield_for
from stanchion.testing.table_file import Case, Step, read_table

Driver = Literal["sync", "async"]
StoreFactory = Callable[[FakeClock], Store]
"""Gives an empty store that reads its time from that clock."""

Outcome = Decision | ValueError


class Ran(msgspec.Struct, frozen=True):
    """What came of a case: each event's decision, or the text of its error; and what was not as
    expected."""

    name: str
    outcomes: tuple[Decision | str, ...]
    complaints: tuple[str, ...]


def run_table(
    source: str | Path | dict[str, Any],
    store_factory: StoreFactory = MemoryStore,
    driver: Driver = "sync",
) -> tuple[Ran, ...]:
    """Run every case of a table, each on a new store; raises `AssertionError` with all that was not
    as expected."""
    ran = tuple(run_case(case, store_factory, driver) for case in read_table(source).cases)
    complaints = [f"{one.name}: {complaint}" for one in ran for complaint in one.complaints]
    if complaints:
        raise AssertionError("\n".join(["the table does not hold:", *complaints]))
    return ran


def run_case(case: Case, store_factory: StoreFactory = MemoryStore, driver: Driver = "sync") -> Ran:
    """Run one case of a table that `read_table` gave, on a new store, and say what came of it."""
    clock = FakeClock()
    store = LostStore(store_factory(clock))
    try:
        play = _play(case, clock, store)
        if driver == "sync":
            return _drive(play, lambda run, step: run.judge(step.stage, **step.fields))
        with asyncio.Runner() as loop:
            return _drive(play, lambda run, step: loop.run(run.ajudge(step.stage, **step.fields)))
    finally:
        store.close()


Play = Generator[tuple[Run, Step], Outcome, Ran]
"""A case as it goes: yields an event to be judged, receives what came of it."""


def _drive(play: Play, judge: Callable[[Run, Step], Decision]) -> Ran:
    try:
        run, step = next(play)
        while True:
            try:
                outcome: Outcome = judge(run, step)
            except ValueError as error:
                outcome = error
            run, step = play.send(outcome)
    except StopIteration as done:
        ran: Ran = done.value
        return ran


def _play(case: Case, clock: FakeClock, store: LostStore) -> Play:
    try:
        policy = case.policy if case.policy is not None else "default"
        known = case.addresses

        def resolver(host: str, _port: int) -> tuple[str, ...]:
            return known.get(host, ())

        shield = shield_for(
            policy, clock=clock, store=store, safe_mode=case.safe_mode, resolver=resolver
        )
    except PolicyError as error:
        return Ran(case.name, (str(error),), _compare_policy(case, str(error)))
    if case.refused is not None:
        return Ran(case.name, (), _compare_policy(case, None))
    if case.ingest:
        shield.ingest(list(case.ingest))
    store.on = {len(store.batches) + number for number in case.lost}
    runs = {}
    for name, spec in case.began().items():
        given = msgspec.structs.asdict(spec)
        runs[name] = shield.run(
            **{**given, "id": spec.id if spec.id else f"run-{name}" if name else "run"}
        )
    outcomes: list[Decision | str] = []
    complaints: list[str] = []
    for number, step in enumerate(case.steps(), start=1):
        clock.advance(step.advance_ms)
        for time in range(1, step.times + 1):
            outcome = yield runs[step.run], step
            outcomes.append(str(outcome) if isinstance(outcome, ValueError) else outcome)
            where = f"event {number}" if step.times == 1 else f"event {number}, time {time}"
            complaints += [f"{where} ({step.stage}): {wrong}" for wrong in _compare(step, outcome)]
    return Ran(case.name, tuple(outcomes), tuple(complaints))


def _compare_policy(case: Case, error: str | None) -> tuple[str, ...]:
    if case.refused is None:
        return (f"the policy does not load: {error}",)
    if error is None:
        return (f"the policy loads, expected an error with `{case.refused}`",)
    return (
        ()
        if case.refused in error
        else (f"the policy's error is `{error}`, expected `{case.refused}` in it",)
    )


def _compare(step: Step, outcome: Outcome) -> list[str]:
    expected = step.expect.error
    if isinstance(outcome, ValueError):
        if expected is not None and expected in str(outcome):
            return []
        return [
            f"the event cannot be read: {outcome}"
            + (f"; expected `{expected}` in it" if expected else "")
        ]
    if expected is not None:
        return [
            (
                f"the event is judged ({NAMES[outcome.action].lower()}), expected an error with "
                f"`{expected}`"
            )
        ]
    wrong = []
    for name, wanted in step.expect.wanted().items():
        got = _seen(name, step, outcome)
        holds = wanted in got if name in ("message", "advice") else got == wanted
        if not holds:
            wrong.append(f"{name} is `{got}`, expected `{wanted}`")
    if wrong and (first := outcome.determining) is not None:
        wrong[-1] += f"; determined by `{first.guard}` ({first.code}): {outcome.message}"
    return wrong


def _seen(name: str, step: Step, decision: Decision) -> Any:
    match name:
        case "action":
            return NAMES[decision.action].lower()
        case "guard":
            return decision.determining.guard if decision.determining else ""
        case "findings":
            return _codes(decision.findings)
        case "shadow":
            return _codes(decision.shadow)
        case "content":
            return decision.patched(_content(step))
        case _:
            return getattr(decision, name)


def _codes(findings: tuple[Finding, ...]) -> tuple[str, ...]:
    return tuple(finding.code for finding in findings)


def _content(step: Step) -> Any:
    kind: Any = OF_STAGE[Stage(step.stage)]
    known = {field.name for field in msgspec.structs.fields(kind)}
    fields = {name: value for name, value in step.fields.items() if name in known}
    return content_of(kind(id="", at=0, run=RunInfo(""), **fields))
