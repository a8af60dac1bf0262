"""What happens to a drawn policy: moments, answers, the passing of time, operators, a store that is
lost."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from model.drawn.case import Case, Feature
from stanchion.kernel.actions import Action, Risk
from stanchion.kernel.events import (
    Charge,
    Egress,
    Event,
    Failure,
    Handoff,
    HandoffDone,
    ModelCall,
    ModelChunk,
    ModelReply,
    Moment,
    Prompt,
    RunInfo,
    ToolCall,
    ToolResult,
)
from stanchion.kernel.findings import Finding
from stanchion.kernel.gates import ending_key, standing_key
from stanchion.kernel.lookups import Answer, Answered, Expired, Failed
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Settle
from stanchion.kernel.units import Amounts

RUNS = (
    RunInfo("r1", agent="ann", task="t1"),
    RunInfo("r2", agent="bob", task="t1", parents=("r1",)),
    RunInfo("r3", agent="cid"),
)
TEXTS = ("plain words", "a secret here", "secret", "secret and secret", "already [gone]")
PAIRED = (Stage.TOOL_CALL, Stage.TOOL_RESULT, Stage.ERROR, Stage.MODEL_CALL)


class Step(NamedTuple):
    """One thing that happens: time passes, an operator perhaps changes a gate, then a moment is
    judged."""

    wait_ms: int
    put: tuple[str, Any] | None
    moment: Moment
    answers: dict[str, Answer]
    lost: bool
    process: int


def draw_step(case: Case, number: int, now: int) -> Step:
    """The step with that number of a case, where the store's clock shows `now` before it."""
    drawn = case.drawn(100 + number)
    wait_ms = drawn.choice((0, 0, 1, 30, 100, 450, 1_000))
    put = (
        _operator(drawn, now + wait_ms)
        if case.has(Feature.GATES) and drawn.random() < 0.25
        else None
    )
    lost = case.has(Feature.LOSSES) and drawn.random() < 0.12
    moment = _moment(case, drawn, number, now + wait_ms)
    return Step(wait_ms, put, moment, _answers(case, drawn), lost, drawn.randrange(3))


def _operator(drawn: random.Random, now: int) -> tuple[str, Any]:
    """A gate changed by somebody: a state of the shield, the fleet or something in it, the end of a
    run or its pause; or all is well again."""
    if drawn.random() < 0.2:
        ended = {"code": drawn.choice(("kernel.cancelled", "kernel.ended")), "why": "drawn"}
        scope = drawn.choice(("step", "run"))
        paused = {"ticket": "t1", "scope": scope, "until": now + drawn.choice((-5, 1, 60, 800))}
        return ending_key("default", drawn.choice(("r1", "r2", "r3", "r9"))), drawn.choice(
            (ended, paused, None, None)
        )
    until = now + drawn.choice((-5, 1, 60, 800))
    standing = drawn.choice(
        (
            None,
            {},
            {"own": {"state": "safe", "why": "drawn"}},
            {"own": {"state": "halt", "why": "drawn"}},
            {"own": {"state": "warning", "until": until}},
            {"marks": {"tool:a": {"state": "quarantine", "until": until, "after_ms": 40}}},
            {
                "own": {"state": "safe"},
                "marks": {"agent:bob": {"state": "quarantine", "until": until}},
            },
            {
                "marks": {
                    "tool:b": {"state": "halt", "why": "drawn"},
                    drawn.choice(("run:r2", "run:r9")): {"state": "halt"},
                }
            },
            {
                "marks": {
                    "tool:a": {"state": "safe"},
                    "agent:bob": {"state": "warning", "until": until},
                }
            },
        )
    )
    return standing_key(drawn.choice(("default", "default", "*"))), standing


def _answers(case: Case, drawn: random.Random) -> dict[str, Answer]:
    answers: dict[str, Answer] = {}
    for number in range(case.guards):
        for name in (f"g{number}", f"g{number}#1"):
            kind = drawn.random()
            if kind < 0.7:
                answers[name] = Answered(drawn.randint(0, 2))
            else:
                answers[name] = Expired(50) if kind < 0.85 else Failed("TimeoutError")
    return answers


def _moment(case: Case, drawn: random.Random, number: int, now: int) -> Moment:
    stage = drawn.choice(tuple(Stage)) if case.has(Feature.STAGES) else Stage.TOOL_CALL
    event = _event(drawn, stage, number, now + drawn.choice((0, 0, 0, -20, 20)))
    events: tuple[Event, ...] = (event,)
    if case.has(Feature.PAIRS) and stage in PAIRED and drawn.random() < 0.6:
        charge = Charge(
            id=f"{event.id}.c",
            at=event.at,
            run=event.run,
            call=event.call,
            tool=event.tool,
            risk=event.risk,
        )
        events = (event, charge)
    late = _late(case, drawn) if case.has(Feature.LATE) and drawn.random() < 0.25 else ()
    amounts: Amounts = (1, drawn.randint(0, 3), 0, 0, 0)
    return Moment(
        events,
        amounts,
        _settles(case, drawn, number),
        late,
        drawn.choice((1, 1, 2)),
        again=drawn.random() < 0.3,
    )


def _settles(case: Case, drawn: random.Random, number: int) -> tuple[Settle, ...]:
    if not case.has(Feature.HOLDS):
        return ()
    holds = [max(0, number - drawn.randint(1, 4)) for _ in range(drawn.choice((0, 0, 1, 2)))]
    actual: Amounts = (drawn.randint(0, 2), drawn.randint(0, 5), 0, 0, 0)
    return tuple((f"m{hold}", drawn.choice((None, actual, actual))) for hold in holds)


def _late(case: Case, drawn: random.Random) -> tuple[Finding, ...]:
    late = []
    for _ in range(drawn.choice((1, 1, 2))):
        guard = f"g{drawn.randrange(case.guards)}"
        action = drawn.choice(
            (Action.WARN, Action.WARN, Action.ESCALATE, Action.QUARANTINE, Action.HALT)
        )
        shadow = case.has(Feature.SHADOW) and drawn.random() < 0.4
        late.append(
            Finding(action, "kernel.late_answer", (guard, "drawn"), guard=guard, shadow=shadow)
        )
    return tuple(late)


def _event(drawn: random.Random, stage: Stage, number: int, at: int) -> Event:
    text = drawn.choice(TEXTS)
    common: dict[str, Any] = {
        "id": f"m{number}",
        "at": at,
        "run": drawn.choice(RUNS),
        "call": str(drawn.randint(0, 2)),
        "tool": drawn.choice(("a", "b")),
        "risk": drawn.choice(tuple(Risk)),
    }
    match stage:
        case Stage.PROMPT:
            return Prompt(**common, text=text)
        case Stage.MODEL_CALL:
            return ModelCall(**common, model="m", messages=[{"text": text}])
        case Stage.MODEL_CHUNK:
            return ModelChunk(**common, text=text)
        case Stage.MODEL_REPLY:
            return ModelReply(**common, text=text)
        case Stage.TOOL_CALL:
            return ToolCall(**common, args={"text": text, "other": [1, 2]})
        case Stage.TOOL_RESULT:
            return ToolResult(**common, result={"text": text})
        case Stage.EGRESS:
            return Egress(**common, url="https://example.org", payload={"text": text})
        case Stage.ERROR:
            return Failure(**common, error="TimeoutError", text=text)
        case Stage.CHARGE:
            return Charge(**common)
        case Stage.HANDOFF:
            return Handoff(**common, to="bob", payload={"text": text})
        case Stage.HANDOFF_DONE:
            return HandoffDone(**common, to="bob", payload={"text": text})
