"""Playing cases: each on a shield of its own, on a clock that only the case moves, with the same
ids every time."""

from __future__ import annotations

import itertools
import time
from functools import cache
from typing import Any, Final

from stanchion import Refused, Shield
from stanchion.kernel.decision import Decision
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import load_policy
from stanchion.runtime.calling.tool import Tool
from stanchion.runtime.run import Run
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, LostStore
from tools.decisions.case import Call, Case, Judge, Model, Step, Stream
from tools.decisions.policies import source_of
from tools.decisions.telling import Told, digest, of_decision
from tools.decisions.writing import Written

TRIES: Final = 5
"""How often a case is played again in which an answer came late, until it comes out the same
twice."""


class Broke(Exception):
    """How a tool of a case fails where it names no error that Python has."""


def play(case: Case) -> list[Told]:
    """All that is decided in a case, in order, and what its callers get beside that."""
    told, late = _once(case)
    for _ in range(TRIES):
        if not late:
            break
        before = told
        told, late = _once(case)
        late = late and told != before
    return told


def _once(case: Case) -> tuple[list[Told], bool]:
    """What is told, and whether an answer came late on the way. A policy that does not load says
    why."""
    try:
        policy = _named(case.policy) if isinstance(case.policy, str) else load_policy(case.policy)
        return _played(case, policy)
    except PolicyError as error:
        return [{"policy": str(error)}], False


def _played(case: Case, policy: CompiledPolicy) -> tuple[list[Told], bool]:
    clock, written, ids = FakeClock(), Written(), itertools.count(1)
    store = LostStore(MemoryStore(clock))
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
    ) as shield:
        written.wait = lambda: _wait_for_rules(shield)
        told = _ingested(shield, case)
        store.on = {len(store.batches) + number for number in case.lost}
        runs = {
            name: shield.run(**{"id": f"run-{name}", **about}) for name, about in case.runs.items()
        }
        calls: dict[tuple[str, str], str] = {}
        for step in case.steps:
            clock.advance(step.advance_ms)
            came = _taken(runs[step.run], step, calls, written)
            told += [*written.taken(), *came]
        for name, run in runs.items():
            notices = list(run.notices())
            told += [{"notices": notices, "run": name}] if notices else []
        told += written.taken()
    return told, written.late


def _wait_for_rules(shield: Shield) -> None:
    """Wait for what deep rules say beside a call, so that the next event hears of it however busy
    the machine is."""
    while not getattr(shield.answers, "at_rest", True):  # revisions before this one have none
        time.sleep(0.0005)


@cache
def _named(policy: str) -> CompiledPolicy:
    return load_policy(source_of(policy))


def _ingested(shield: Shield, case: Case) -> list[Told]:
    if not case.tools:
        return []
    try:
        got = shield.ingest(list(case.tools))
        return [{"bad": dict(sorted(got.bad.items()))}] if got.bad else []
    except ValueError as error:
        return [{"ingest": str(error)}]


def _taken(run: Run, step: Step, calls: dict[tuple[str, str], str], written: Written) -> list[Told]:
    """What a step's caller gets, where that is more than what was written down."""
    try:
        match step:
            case Judge():
                decision = _judged(run, step, calls)
                return [] if written.has(decision) else [{"handed": of_decision(decision)}]
            case Call(tool, args, answers):
                return [{"gave": digest(run.call(_scripted(tool, answers), **args))}]
            case Stream(pieces, channel, final):
                passed: list[str] = []
                try:
                    passed.extend(run.stream(pieces, channel, final=final))
                except Refused as refused:
                    return [{"passed": digest(passed), "refused": str(refused)}]
                return [{"passed": digest(passed)}]
            case Model(messages, replies, model):
                said = itertools.chain(replies, itertools.repeat(replies[-1]))
                return [
                    {
                        "gave": digest(
                            run.model(lambda _messages, **_: next(said), messages, model=model)
                        )
                    }
                ]
    except Refused as refused:
        return [{"refused": str(refused)}]
    except (ValueError, TypeError, ConnectionError, TimeoutError, Broke) as error:
        return [{"raised": f"{type(error).__name__}: {error}"}]


def _judged(run: Run, step: Judge, calls: dict[tuple[str, str], str]) -> Decision:
    tool = str(step.fields.get("tool", ""))
    call = calls.get((step.run, tool), "") if step.of_call else ""
    fields: Any = {**step.fields, **({"call": call} if call else {})}
    decision = run.judge(step.stage, **fields)
    if step.stage == "tool_call":
        calls[step.run, tool] = decision.id
    return decision


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
