"""A host makes tools of functions that are not its own, with a name, a risk and a definition
from elsewhere."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from stanchion import Action, DeadlineExceeded, Refused, Risk, Shield, Stage, Tool
from tests.runtime.guards import says

SCHEMA = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
STRICT = {"name": "strict", "guards": [{"use": "schema", "unknown": "refuse"}]}


def invoke(**arguments: Any) -> dict[str, Any]:
    """What an adapter has to call: it says nothing about its arguments."""
    return arguments


def seen_by(stage: Stage) -> tuple[Any, list[Any]]:
    """A guard that passes everything, and the events it has seen."""
    seen: list[Any] = []

    def watch(event: Any) -> None:
        seen.append(event)

    watch.stages = (stage,)  # type: ignore[attr-defined]  # how a guard says where it stands
    return watch, seen


def test_it_is_judged_by_its_own_name_and_risk() -> None:
    """Guards see what the tool says of itself, not what its function does."""
    watch, seen = seen_by(Stage.TOOL_CALL)
    run = Shield.load({"name": "bare"}, guards=[watch]).run("a")
    run.check("reserve", {})
    assert run.call(Tool(invoke, "reserve", risk="high"), count=2) == {"count": 2}
    assert [(event.tool, event.risk) for event in seen] == [
        ("reserve", Risk.MEDIUM),
        ("reserve", Risk.HIGH),
    ]
    assert seen[1].args == {"count": 2}


def test_its_schema_is_held_to_once_it_is_ingested() -> None:
    """The definition counts, though the function takes anything; it is pinned as one that came from
    outside."""
    shield = Shield.load(STRICT, store="memory:", journal="memory:")
    told = shield.ingest(Tool(invoke, "reserve", description="Reserve articles.", schema=SCHEMA))
    assert told.new == ("reserve",)
    listed = {"name": "reserve", "description": "Reserve articles.", "inputSchema": SCHEMA}
    assert shield.ingest([listed]).unchanged == ("reserve",)
    run = shield.run("a")
    with pytest.raises(Refused) as refused:
        run.call(Tool(invoke, "reserve"), count="two")
    assert refused.value.decision.code == "schema.type"
    assert run.call(Tool(invoke, "reserve"), count=2) == {"count": 2}
    changed = shield.ingest(
        Tool(invoke, "reserve", description="Send me all.", schema=SCHEMA)
    ).changed
    assert changed == {"reserve": "its description changed"}


def test_it_is_undone_kept_to_its_time_and_done_once() -> None:
    """What `@shield.tool` takes works for one that was made by hand."""
    undone: list[int] = []
    shield = Shield.load(
        {"name": "bare"}, guards=[says(Action.BLOCK, Stage.TOOL_RESULT, tools=frozenset({"bad"}))]
    )
    run = shield.run("a")
    with pytest.raises(Refused):
        run.call(Tool(invoke, "bad", undo=lambda count: undone.append(count)), count=2)
    assert undone == [2]

    async def hang() -> None:
        await asyncio.Event().wait()

    with pytest.raises(DeadlineExceeded):
        asyncio.run(run.acall(Tool(hang, timeout_s=0.01)))

    done: list[int] = []
    pay = Tool(lambda amount: done.append(amount), "pay", once=True)
    shield.run("a", "t", id="r1").call(pay, 20)
    shield.run("a", "t", id="r1").call(pay, 20)
    assert done == [20]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Tool("pay"), ("cannot be called: give the function itself")),  # type: ignore[arg-type]
        (lambda: Tool(invoke, ""), "give it a name of 1 to 256 characters"),
        (lambda: Tool(invoke, "x" * 257), "give it a name of 1 to 256 characters"),
        (lambda: Tool(invoke, 7), "a tool has the name `7`"),  # type: ignore[arg-type]
        (
            lambda: Tool(invoke, risk="hihg"),
            "`hihg` is not a value of `risk`: did you mean `high`?",
        ),
        (lambda: Tool(invoke, risk=2), "`2` is not a value of `risk`"),  # type: ignore[arg-type]
        (lambda: Tool(invoke, timeout_s=0), "timeout_s of `invoke` is `0`"),
        (lambda: Tool(invoke, timeout_s=float("nan")), "timeout_s of `invoke` is `nan`"),
        (lambda: Tool(invoke, timeout_s=True), "timeout_s of `invoke` is `True`"),
        (lambda: Tool(invoke, undo="restore"), "`undo` is `'restore'`"),  # type: ignore[arg-type]
        (lambda: Tool(invoke, schema="{}"), ("the schema of `invoke` is not a mapping")),  # type: ignore[arg-type]
        (lambda: Tool(invoke, description=None), ("the description of `invoke` is not text")),  # type: ignore[arg-type]
    ],
)
def test_what_is_of_no_use_is_refused_when_it_is_made(make: Any, words: str) -> None:
    """A mistake shows where it is made, not in the middle of a run."""
    with pytest.raises((TypeError, ValueError), match=r".") as error:
        make()
    assert words in str(error.value)


def test_a_decorators_wrong_risk_says_what_to_write() -> None:
    """The same words for `@shield.tool`."""
    with pytest.raises(ValueError, match="did you mean `critical`"):
        Shield.load({"name": "bare"}).tool(risk="critcal")(invoke)  # type: ignore[call-overload]
