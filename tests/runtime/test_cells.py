"""Every cell of the action × stage table is carried out as the table says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stanchion import Action, PolicyError, Refused, Run, Shield, Stage
from stanchion.kernel.actions import PROCEEDS, STOPS
from stanchion.kernel.findings import Patch, Wait
from stanchion.kernel.table import ONLY_WARNS, TABLE, carried, sensible
from tests.runtime.guards import says

CELLS = [(stage, action) for stage in Stage for action in Action]
BARE = {"name": "bare"}
NOW = Wait(pause_ms=1, timeout_ms=0)

REPORT: dict[Stage, Callable[[Run], Any]] = {
    Stage.PROMPT: lambda run: run.prompt("hello"),
    Stage.MODEL_CALL: lambda run: run.model_call([{"role": "user", "content": "hello"}], "m"),
    Stage.MODEL_CHUNK: lambda run: run.model_chunk("hel"),
    Stage.MODEL_REPLY: lambda run: run.model_reply("hello"),
    Stage.TOOL_CALL: lambda run: run.check("tool", {"x": "hello"}),
    Stage.TOOL_RESULT: lambda run: run.result("tool", {}, "hello"),
    Stage.EGRESS: lambda run: run.egress("https://example.org"),
    Stage.ERROR: lambda run: run.error("tool", ValueError("hello")),
    Stage.CHARGE: lambda run: run.charge(tokens=10),
    Stage.HANDOFF: lambda run: run.handoff("other", {"context": "hello"}),
    Stage.HANDOFF_DONE: lambda run: run.handoff_done("other"),
}


@pytest.mark.parametrize(("stage", "action"), CELLS)
def test_a_reported_event_gets_the_action_of_its_cell(stage: Stage, action: Action) -> None:
    """A cell that makes sense is decided as it is; any other becomes the next stricter that does.
    Here nothing makes a lesser request, so what asks for one refuses."""
    shield = Shield.load(BARE, guards=[says(action, stage, terms=NOW)])
    decision = REPORT[stage](shield.run("a"))
    expected = next(a for a in Action if a >= action and a in TABLE[stage])
    if stage in ONLY_WARNS and Action.WARN < expected < Action.QUARANTINE:
        expected = Action.WARN
    if expected == Action.DEGRADE:
        assert (decision.action, decision.code) == (Action.BLOCK, "kernel.no_lesser")
        return
    assert decision.action == expected
    assert decision.proceeds == (expected <= PROCEEDS)
    assert decision.findings[-1].said == (None if expected == action else action)


@pytest.mark.parametrize(("stage", "action"), CELLS)
def test_what_stands_in_the_table_is_what_is_carried(stage: Stage, action: Action) -> None:
    """The lookup the engine uses agrees with the table, and never becomes milder; but what has been
    handed over is not taken back, so there is a warning instead."""
    happens = carried(stage)[action]
    assert sensible(stage, happens)
    if stage in ONLY_WARNS and Action.WARN < action < Action.QUARANTINE:
        assert happens == Action.WARN
        return
    assert happens >= action
    assert sensible(stage, action) == (happens == action)


@pytest.mark.parametrize("stage", list(Stage))
def test_a_host_that_can_only_stop_gets_the_stricter_thing(stage: Stage) -> None:
    """What a host cannot carry out becomes the next stricter thing it can; HALT always can be."""
    happens = carried(stage, (Action.ALLOW, Action.BLOCK))
    assert happens[Action.ALLOW] == Action.ALLOW
    assert all(happens[action] >= STOPS for action in Action if action > Action.ALLOW)


@pytest.mark.parametrize("action", list(Action))
def test_a_tool_runs_only_where_its_cell_says_so(action: Action) -> None:
    """The tool runs under ALLOW to DEGRADE and under nothing else."""
    ran: list[str] = []
    patch = (Patch(("x",), "patched"),)
    shield = Shield.load(BARE, guards=[says(action, Stage.TOOL_CALL, terms=NOW, patches=patch)])
    run = shield.run("a")

    def tool(x: str) -> str:
        ran.append(x)
        return "done"

    if action <= PROCEEDS:
        assert run.call(tool, x="hello") == "done"
        assert ran == ["patched"]
    else:
        with pytest.raises(Refused) as refused:
            run.call(tool, x="hello")
        assert refused.value.decision.action == action
        assert ran == []
    assert (run.check("tool", {}).action == Action.HALT) == (action == Action.HALT)


@pytest.mark.parametrize("action", [a for a in Action if a in TABLE[Stage.TOOL_RESULT]])
def test_a_result_reaches_the_agent_only_where_its_cell_says_so(action: Action) -> None:
    """A refused result is thrown away, and undone from BLOCK on."""
    undone: list[str] = []
    shield = Shield.load(
        BARE, guards=[says(action, Stage.TOOL_RESULT, patches=(Patch((), "patched"),))]
    )

    @shield.tool(undo=lambda user: undone.append(user))
    def delete(user: str) -> str:
        return f"deleted {user}"

    with shield.run("a"):
        if action <= PROCEEDS:
            assert delete("ada") == "patched"
        else:
            with pytest.raises(Refused):
                delete("ada")
    assert undone == (["ada"] if action >= STOPS else [])


@pytest.mark.parametrize("action", [a for a in Action if a in TABLE[Stage.ERROR]])
def test_an_error_is_retried_only_under_retry(action: Action) -> None:
    """Only RETRY tries again; HALT ends the run instead of handing the error on; REDACT withholds
    its text."""
    calls: list[int] = []
    patches = (Patch((), "withheld"),) if action == Action.REDACT else ()
    shield = Shield.load(BARE, guards=[says(action, Stage.ERROR, patches=patches)])
    run = shield.run("a")

    def fails() -> None:
        calls.append(1)
        raise ValueError("secret")

    with pytest.raises(Exception, match=r".") as raised:
        run.call(fails)
    assert len(calls) == (3 if action == Action.RETRY else 1)
    assert isinstance(raised.value, Refused) == (action == Action.HALT)
    assert ("secret" in str(raised.value)) == (action not in (Action.HALT, Action.REDACT))


@pytest.mark.parametrize("action", [a for a in Action if a in TABLE[Stage.MODEL_CHUNK]])
def test_a_stream_ends_where_its_cell_says_so(action: Action) -> None:
    """Chunks are delivered up to DEGRADE; from BLOCK on the stream ends and its source is
    closed."""
    closed: list[bool] = []

    def source() -> Any:
        try:
            yield from ("a", "b")
        finally:
            closed.append(True)

    patches = (Patch((), "x"),) if action == Action.REDACT else ()
    run = Shield.load(BARE, guards=[says(action, Stage.MODEL_CHUNK, patches=patches)]).run("a")
    if action <= PROCEEDS:
        assert list(run.stream(source())) == (["x", "x"] if patches else ["a", "b"])
    else:
        with pytest.raises(Refused):
            list(run.stream(source()))
    assert closed == [True]


@pytest.mark.parametrize("action", [a for a in Action if a in TABLE[Stage.MODEL_REPLY]])
def test_a_reply_is_handed_on_only_where_its_cell_says_so(action: Action) -> None:
    """RETRY asks again with guidance, HALT gives its message as the answer, the rest refuses."""
    heard: list[list[Any]] = []
    guard = says(action, Stage.MODEL_REPLY, guidance="be brief")
    run = Shield.load(BARE, guards=[guard]).run("a")

    def model(messages: list[Any]) -> str:
        heard.append(list(messages))
        return "reply"

    if action <= PROCEEDS:
        assert run.model(model, []) == "reply"
    elif action == Action.HALT:
        assert run.model(model, []) == "says says HALT"
    else:
        with pytest.raises(Refused):
            run.model(model, [])
    assert len(heard) == (3 if action == Action.RETRY else 1)
    if action == Action.RETRY:
        assert heard[1][-1] == {"role": "system", "content": "be brief"}


def test_a_policy_that_asks_for_a_senseless_cell_is_refused() -> None:
    """A cell that makes no sense is an error when the policy loads, not a surprise at run time."""
    with pytest.raises(PolicyError, match="`retry` makes no sense at `charge`"):
        Shield.load(
            {
                "name": "p",
                "guards": [{"use": "step_limit", "stages": ["charge"], "action": "retry"}],
            }
        )


def test_a_chunk_takes_no_guard_that_keeps_state() -> None:
    """A counter at `model_chunk` would cost a round trip a chunk; it is refused at load."""
    with pytest.raises(PolicyError, match="`model_chunk` takes pure guards only"):
        Shield.load({"name": "p", "guards": [{"use": "step_limit", "stages": ["model_chunk"]}]})
