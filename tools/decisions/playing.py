"""Playing cases: each on a shield of its own, on a clock that only the case moves, with the same
ids every time."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from typing import Any, Final
from zlib import crc32

from stanchion import Action, Refused, Shield
from stanchion.approvals.errors import TicketError
from stanchion.kernel.decision import Decision
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import load_policy
from stanchion.runtime.calling.tool import Tool
from stanchion.testing import FakeClock, LostStore
from tools.decisions.case import Call, Case, Judge, Model, Step, Stream
from tools.decisions.policies import source_of
from tools.decisions.telling import (
    GOT,
    Told,
    digest,
    of_batch,
    of_figures,
    of_ticket,
    show_decision,
)
from tools.decisions.ways import PLAIN, Way
from tools.decisions.writing import Written

TRIES: Final = 5
"""How often a case is played again in which an answer came late, until it comes out the same
twice."""

OPERATOR: Final = "kim"
"""Who answers tickets, where somebody does."""


class Broke(Exception):
    """How a tool of a case fails where it names no error that Python has."""


def play(case: Case, way: Way = PLAIN) -> list[Told]:
    """All that is written down of a case, in order, and behind each step, under `got`, what its
    caller gets."""
    told, late = _once(case, way)
    for _ in range(TRIES):
        if not late:
            break
        before = told
        told, late = _once(case, way)
        late = late and told != before
    return told


def _once(case: Case, way: Way) -> tuple[list[Told], bool]:
    """What is told, and whether an answer came late on the way. A policy that does not load says
    why."""
    try:
        policy = _named(case.policy) if isinstance(case.policy, str) else load_policy(case.policy)
        return _staged(case, way, policy)
    except PolicyError as error:
        return [{GOT: {"policy": str(error)}}], False


def _staged(case: Case, way: Way, policy: CompiledPolicy) -> tuple[list[Told], bool]:
    with ExitStack() as life:
        clock, written, ids = FakeClock(), Written(), itertools.count(1)
        place = way.open(life, clock, written)
        store = LostStore(place.store)
        with Shield(
            policy,
            store=store,
            journal=written,
            clock=clock,
            awake_ns=lambda: clock() * 1_000_000,
            nonces=lambda: f"n{next(ids)}",
            chance=lambda: 0.5,
            safe_mode=case.safe_mode,
            resolver=lambda host, _port: case.addresses.get(host, ()),
            metrics=way.counts,
        ) as shield:
            written.wait = lambda: _wait_for_rules(shield)
            told = list(_Scene(case, way, shield, store, written).played(clock))
            told += [of_figures(shield.telemetry.collect())] if way.counts else []
        told += [*written.taken(), *place.leave()]
    return (told if way.writes else [each for each in told if GOT in each]), written.late


def _wait_for_rules(shield: Shield) -> None:
    """Wait for what deep rules say beside a call, so that the next event hears of it however busy
    the machine is."""
    while not getattr(shield.answers, "at_rest", True):  # revisions before this one have none
        time.sleep(0.0005)


@cache
def _named(policy: str) -> CompiledPolicy:
    return load_policy(source_of(policy))


class _Scene:
    """A case while it is played: its shield, what was written so far, and which call each tool had
    last."""

    def __init__(
        self, case: Case, way: Way, shield: Shield, store: LostStore, written: Written
    ) -> None:
        self._case, self._way, self._shield, self._store, self._written = (
            case,
            way,
            shield,
            store,
            written,
        )
        self._calls: dict[tuple[str, str], str] = {}
        self._waits: Decision | None = None
        """The decision of the last step, where it waits for a person."""

    def played(self, clock: FakeClock) -> Iterator[Told]:
        """What is written down and what callers get, step by step."""
        case, store = self._case, self._store
        with ExitStack() as life:
            begin = self._way.reach(life, self._shield)
            yield from self._ingested()
            store.on = {len(store.batches) + number for number in case.lost}
            runs = {
                name: begin(**{"id": f"run-{name}", **about}) for name, about in case.runs.items()
            }
            for number, step in enumerate(case.steps):
                clock.advance(step.advance_ms)
                yield from self._step(runs[step.run], step)
                if self._way.answers and self._waits is not None:
                    yield {
                        GOT: self._answered(runs[step.run], self._waits, f"{case.name} {number}")
                    }
                    yield from self._step(runs[step.run], step)
            for name, run in runs.items():
                notices = list(run.notices())
                if notices:
                    yield {GOT: {"notices": notices, "run": name}}

    def _ingested(self) -> Iterator[Told]:
        if self._case.tools:
            try:
                got = self._shield.ingest(list(self._case.tools))
                if got.bad:
                    yield {GOT: {"bad": dict(sorted(got.bad.items()))}}
            except ValueError as error:
                yield {GOT: {"ingest": str(error)}}

    def _step(self, run: Any, step: Step) -> Iterator[Told]:
        sent, self._waits = len(self._store.batches), None
        got = self._taken(run, step)
        yield from self._written.taken()
        batches = [of_batch(batch) for batch in self._store.batches[sent:]]
        if batches:
            yield {"batches": batches}
        yield {GOT: got}

    def _taken(self, run: Any, step: Step) -> Told:
        """What a step's caller gets."""
        try:
            match step:
                case Judge():
                    decision = self._judged(run, step)
                    self._written.hand(decision)
                    self._waits = decision if decision.action is Action.ESCALATE else None
                    return show_decision(decision, step.stage, step.fields) | self._asked()
                case Call(tool, args, answers):
                    return {"gave": digest(run.call(_scripted(tool, answers), **args))}
                case Stream(pieces, channel, final):
                    passed: list[str] = []
                    try:
                        passed.extend(run.stream(pieces, channel, final=final))
                    except Refused as refused:
                        return {"passed": digest(passed), "refused": str(refused)}
                    return {"passed": digest(passed)}
                case Model(messages, replies, model):
                    said = itertools.chain(replies, itertools.repeat(replies[-1]))
                    return {
                        "gave": digest(
                            run.model(lambda _messages, **_: next(said), messages, model=model)
                        )
                    }
        except Refused as refused:
            return {"refused": str(refused)}
        except (ValueError, TypeError, ConnectionError, TimeoutError, Broke) as error:
            return {"raised": f"{type(error).__name__}: {error}"}

    def _judged(self, run: Any, step: Judge) -> Decision:
        tool = str(step.fields.get("tool", ""))
        call = self._calls.get((step.run, tool), "") if step.of_call else ""
        decision: Decision = run.judge(
            step.stage, **{**step.fields, **({"call": call} if call else {})}
        )
        if step.stage == "tool_call":
            self._calls[step.run, tool] = decision.id
        return decision

    def _asked(self) -> Told:
        """What people see who are asked, where a step waits for one."""
        waiting = [] if self._waits is None else self._shield.tickets("*")
        return {"tickets": [of_ticket(ticket) for ticket in waiting]} if waiting else {}

    def _answered(self, run: Any, decision: Decision, draw: str) -> Told:
        """Answer the ticket of a decision, yes or no by its place in the case; gives what became of
        it."""
        id = run.ticket(decision)
        if id is None:
            return {"ticket": None}
        try:
            if crc32(draw.encode()) >> 7 & 1:
                self._shield.approve(id, by=OPERATOR, comment="go ahead")
            else:
                self._shield.deny(id, by=OPERATOR, comment="not today")
        except TicketError as error:
            return {"unanswered": str(error)}
        return {"ticket": self._shield.ticket(id).state.value}


ERRORS: Final[dict[str, type[Exception]]] = {
    each.__name__: each for each in (ConnectionError, TimeoutError, ValueError, Broke)
}


def _scripted(name: str, answers: tuple[dict[str, Any], ...]) -> Tool:
    """A tool that gives its answers in turn, the last one again and again."""
    turns = itertools.chain(answers, itertools.repeat(answers[-1]))

    def answer(**_arguments: Any) -> Any:
        turn = next(turns)
        if "error" in turn:
            raise ERRORS[turn["error"]](turn.get("text", ""))
        return turn["result"]

    return Tool(answer, name)
