"""An async host reports whatever a sync one can, an exception as it is among it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import pytest

from stanchion import Action, Run, Shield, Stage
from stanchion.runtime.calling.report_methods import Reporting
from tests.runtime.guards import says
from tests.runtime.test_cells import REPORT

BARE = {"name": "bare"}

AREPORT: dict[Stage, Callable[[Run], Any]] = {
    Stage.PROMPT: lambda run: run.aprompt("hello"),
    Stage.MODEL_CALL: lambda run: run.amodel_call([{"role": "user", "content": "hello"}], "m"),
    Stage.MODEL_CHUNK: lambda run: run.amodel_chunk("hel"),
    Stage.MODEL_REPLY: lambda run: run.amodel_reply("hello"),
    Stage.TOOL_CALL: lambda run: run.acheck("tool", {"x": "hello"}),
    Stage.TOOL_RESULT: lambda run: run.aresult("tool", {}, "hello"),
    Stage.EGRESS: lambda run: run.aegress("https://example.org"),
    Stage.ERROR: lambda run: run.aerror("tool", ValueError("hello")),
    Stage.CHARGE: lambda run: run.acharge(tokens=10),
    Stage.HANDOFF: lambda run: run.ahandoff("other", {"context": "hello"}),
    Stage.HANDOFF_DONE: lambda run: run.ahandoff_done("other"),
}


@pytest.mark.parametrize("stage", list(Stage))
def test_both_kinds_of_host_get_the_same_decision(stage: Stage) -> None:
    """What is reported by `await run.a…` is judged as what is reported by its twin."""

    def decided(report: Callable[[Run], Any]) -> Any:
        run = Shield.load(BARE, guards=[says(Action.WARN, stage)]).run("a", id="r")
        answer = report(run)
        return asyncio.run(answer) if inspect.iscoroutine(answer) else answer

    one, other = decided(REPORT[stage]), decided(AREPORT[stage])
    assert (one.action, one.code, one.findings) == (other.action, other.code, other.findings)
    assert one.code == "test.said"


@pytest.mark.parametrize(
    "error", [TimeoutError("too slow"), "TimeoutError"], ids=["exception", "name"]
)
def test_an_exception_or_its_name_is_reported_at_any_door(error: BaseException | str) -> None:
    """`error`, `aerror`, `judge` and `ajudge` all take both, and say the same of it."""
    seen: list[Any] = []

    def watch(event: Any) -> None:
        seen.append((event.tool, event.error, event.bases, event.fault, event.text))

    watch.stages = (Stage.ERROR,)  # type: ignore[attr-defined]  # how a guard says where it stands
    run = Shield.load(BARE, guards=[watch]).run("a")

    async def report() -> None:
        await run.aerror("t", error)
        await run.ajudge("error", tool="t", error=error)

    run.error("t", error)
    run.judge("error", tool="t", error=error)
    asyncio.run(report())
    assert len(seen) == 4
    assert len(set(seen)) == 1
    assert seen[0][:2] == ("t", "TimeoutError")
    if isinstance(error, TimeoutError):
        assert "OSError" in seen[0][2]
        assert seen[0][4] == "too slow"


def test_what_a_host_knows_besides_beats_what_an_exception_tells() -> None:
    """Fields beside an exception stand, at every door."""
    seen: list[Any] = []

    def watch(event: Any) -> None:
        seen.append((event.text, event.status))

    watch.stages = (Stage.ERROR,)  # type: ignore[attr-defined]  # how a guard says where it stands
    run = Shield.load(BARE, guards=[watch]).run("a")
    asyncio.run(
        run.ajudge("error", tool="t", error=ValueError("raw"), text="said better", status=503)
    )
    assert seen == [("said better", 503)]


def test_every_reporting_method_has_a_twin_that_takes_the_same() -> None:
    """A method of one kind alone would be a hole for the other kind of host."""
    public = {
        name: getattr(Reporting, name)
        for name in vars(Reporting)
        if not name.startswith("_") and name != "desk"
    }
    waits = {name for name, method in public.items() if inspect.iscoroutinefunction(method)}
    assert {f"a{name}" for name in set(public) - waits} == waits
    for name in waits:
        assert inspect.signature(public[name]) == inspect.signature(public[name[1:]])
        assert inspect.signature(public[name]).return_annotation == "Decision"
        assert public[name].__name__ == name
