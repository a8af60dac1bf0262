"""What is given to an agent after it was guarded, or to a clone of it, is guarded as well."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("agents")

from agents import Agent, AgentHooks, RunConfig, Runner, function_tool, handoff
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call

from stanchion import Shield
from stanchion.hosts.openai_agents import OPENAI_AGENTS, guarded
from stanchion.testing.host_suite import KEY
from tests.hosts.office import GONE
from tests.hosts.openai_agents.test_openai_agents import POLICY, outputs, run, scripted

RAN: list[str] = []


@function_tool
def look(name: str) -> str:
    """Look."""
    RAN.append(name)
    return f"{name} has {KEY}"


def other(name: str = "desk") -> Agent[Any]:
    """Another agent: it makes a call that is forbidden, one that is not, and says a secret."""
    RAN.clear()
    calls = [
        function_call("look", {"name": who}, call_id=f"{name}-{who}") for who in ("root", "ann")
    ]
    said = [*calls, assistant_message(f"the key is {KEY}")]
    return Agent(name, model=ScriptedModel([ModelStep(output=[one]) for one in said]), tools=[look])


def cloned(agent: Any, *given: Any) -> Any:
    return agent.clone(handoffs=list(given))


def appended(agent: Any, *given: Any) -> Any:
    agent.handoffs.extend(given)
    return agent


def assigned(agent: Any, *given: Any) -> Any:
    agent.handoffs = list(given)
    return agent


def to_a_list_of_before(agent: Any, *given: Any) -> Any:
    kept = agent.handoffs
    kept.append(handoff(Agent("nobody", model=scripted("never said"))))
    assert len(agent.handoffs) == 1
    kept.extend(given)
    return agent


@pytest.mark.parametrize("way", [cloned, appended, assigned, to_a_list_of_before])
@pytest.mark.parametrize("as_object", [True, False])
def test_an_agent_that_is_handed_over_to_is_guarded(way: Any, as_object: bool) -> None:
    desk, model = other(), scripted(("transfer_to_desk", {}))
    given = handoff(desk) if as_object else desk
    result = run(lambda hosted: way(guarded(Agent("helper", model=model), hosted), given))
    assert (result.final_output, RAN) == (f"the key is {GONE}", ["ann"])
    assert KEY not in str(result.new_items)


def test_so_is_the_one_that_this_one_hands_over_to() -> None:
    on = ModelStep(output=[function_call("transfer_to_desk", {}, call_id="on")])
    middle = Agent("middle", model=ScriptedModel([on]), handoffs=[other()])
    middle.handoffs.append(middle)
    result = run(
        lambda hosted: cloned(
            guarded(Agent("helper", model=scripted(("transfer_to_middle", {}))), hosted), middle
        )
    )
    assert (result.final_output, RAN) == (f"the key is {GONE}", ["ann"])


def test_a_handoff_that_is_refused_stays_with_the_clone() -> None:
    model = scripted(("transfer_to_vault", {}), ("look", {"name": "ann"}), "done")
    result = run(
        lambda hosted: guarded(Agent("helper", model=model), hosted).clone(
            handoffs=[other("vault")], tools=[look]
        )
    )
    assert (result.final_output, RAN) == ("done", ["ann"])
    assert "a rule of the policy forbids this" in outputs(model)[0]


def test_the_list_that_was_given_is_left_alone() -> None:
    desk, model = other(), scripted("done")
    given = [desk]
    run(lambda hosted: guarded(Agent("helper", model=model), hosted).clone(handoffs=given))
    assert given == [desk]
    assert type(given[0]) is Agent


def test_a_model_that_a_clone_is_given_is_judged() -> None:
    result = run(
        lambda hosted: guarded(Agent("helper", tools=[look]), hosted).clone(model=other().model)
    )
    assert (result.final_output, RAN) == (f"the key is {GONE}", ["ann"])


def test_hooks_that_a_clone_is_given_do_not_let_a_model_of_the_run_pass() -> None:
    async def play() -> Any:
        async with OPENAI_AGENTS.run(
            Shield.load(POLICY, store="memory:"), agent="helper", task="t"
        ) as hosted:
            agent = guarded(Agent("helper", tools=[look], model=scripted("done")), hosted).clone(
                hooks=AgentHooks()
            )
            return await Runner.run(agent, "do it", run_config=RunConfig(model=other().model))

    with pytest.raises(RuntimeError, match="was not judged"):
        asyncio.run(play())
    assert RAN == []
