"""Google ADK under its adapter: the behaviour suite, and what is this host's own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("google.adk")

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai import types
from pydantic import Field

from stanchion import Refused, Shield
from stanchion.hosts.google_adk import GOOGLE_ADK, Guarded
from stanchion.testing.host_suite import BEHAVIOURS, KEY, check, check_probes
from tests.hosts.google_adk.driver import DRIVER
from tests.hosts.office import GONE, OFFICE


class Scripted(BaseLlm):
    """A model that says this, one after the other: texts, and calls as `(tool, args)`."""

    model: str = "scripted"
    said: list[Any] = Field(default_factory=list)
    read: list[Any] = Field(default_factory=list)

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncGenerator[Any, None]:
        """The next reply."""
        self.read.append([part for one in llm_request.contents for part in one.parts])
        one = self.said[len(self.read) - 1]
        call = (
            None
            if isinstance(one, str)
            else types.FunctionCall(id=f"c{len(self.read)}", name=one[0], args=one[1])
        )
        part = types.Part(text=one) if call is None else types.Part(function_call=call)
        yield LlmResponse(content=types.Content(role="model", parts=[part]))

    @property
    def responses(self) -> list[Any]:
        """What it read of its calls."""
        return [part.function_response.response for part in self.read[-1] if part.function_response]


def scripted(*said: Any) -> Scripted:
    """A model with this script."""
    return Scripted(said=list(said))


def run(agent: Any, *messages: Any, plugin: Any = Guarded) -> list[Any]:
    """Run an agent under the plugin; each message is given after the events of the last."""

    async def play() -> list[Any]:
        events: list[Any] = []
        async with GOOGLE_ADK.run(
            Shield.load(OFFICE, store="memory:"), agent="helper", task="t"
        ) as hosted:
            runner = InMemoryRunner(app=App(name="app", root_agent=agent, plugins=[plugin(hosted)]))
            session = await runner.session_service.create_session(app_name="app", user_id="u")
            for one in messages:
                part = one(events) if callable(one) else types.Part(text=one)
                message = types.Content(role="user", parts=[part])
                told = runner.run_async(user_id="u", session_id=session.id, new_message=message)
                events += [event async for event in told]
        return events

    return asyncio.run(play())


def confirming(yes: bool) -> Any:
    """The host's own answer to what it was asked last."""

    def answer(events: list[Any]) -> types.Part:
        calls = [call for event in events for call in event.get_function_calls()]
        asked = [call for call in calls if call.name == "adk_request_confirmation"][-1]
        given = types.FunctionResponse(id=asked.id, name=asked.name, response={"confirmed": yes})
        return types.Part(function_response=given)

    return answer


def pay() -> str:
    """Pay."""
    raise AssertionError("it was not approved")


def look(name: str) -> dict[str, Any]:
    """Look."""
    return {"name": name, "keys": [KEY], "rows": 3}


@pytest.mark.parametrize("way", DRIVER.ways)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_behaviour(behaviour: str, way: str, tmp_path: Path) -> None:
    check(DRIVER, behaviour, way, tmp_path)


def test_probes() -> None:
    check_probes(DRIVER, globals())


def test_a_result_keeps_its_shape() -> None:
    model = scripted(("look", {"name": "ann"}), "done")
    run(LlmAgent(name="helper", model=model, tools=[look]), "go")
    assert model.responses == [{"name": "ann", "keys": [GONE], "rows": 3}]


@pytest.mark.parametrize(
    ("yes", "read"), [(True, "a person has been asked"), (False, "has not confirmed")]
)
def test_the_hosts_own_yes_is_none_of_the_inbox_and_its_no_is_a_no(yes: bool, read: str) -> None:
    model = scripted(("pay", {}), "later")
    events = run(LlmAgent(name="helper", model=model, tools=[pay]), "go", confirming(yes))
    calls = [call.name for event in events for call in event.get_function_calls()]
    assert calls == ["pay", "adk_request_confirmation"]
    assert read in str(model.responses)
    assert events[-1].content.parts[0].text == "later"


def test_a_prompt_is_judged_and_the_model_reads_it_redacted() -> None:
    model = scripted("done", "done")
    run(LlmAgent(name="helper", model=model), f"my key is {KEY}")
    assert model.read[0][0].text == f"my key is {GONE}"
    with pytest.raises(RuntimeError) as raised:
        run(LlmAgent(name="helper", model=model), "stop")
    assert isinstance(raised.value.__cause__, Refused)
    assert len(model.read) == 1


@pytest.mark.filterwarnings("ignore:The `plugins` argument")
def test_an_agent_as_a_tool_is_a_handoff_and_guarded() -> None:
    inner = scripted(("look", {"name": "root"}), ("look", {"name": "ann"}), f"they have {KEY}")
    model = scripted(("desk", {"request": "look"}), "done")
    desk = LlmAgent(name="desk", model=inner, tools=[look])
    run(LlmAgent(name="helper", model=model, tools=[AgentTool(desk)]), "go")
    assert "a rule of the policy forbids this" in str(inner.responses[0])
    assert inner.responses[1]["keys"] == [GONE]
    assert model.responses == [{"result": f"they have {GONE}"}]
    vault, model = (
        LlmAgent(name="vault", model=scripted("never")),
        scripted(("vault", {"request": "x"}), "done"),
    )
    run(LlmAgent(name="helper", model=model, tools=[AgentTool(vault)]), "go")
    assert "a rule of the policy forbids this" in str(model.responses)


def test_an_agent_that_would_run_without_the_plugin_does_not_run() -> None:
    inner, model = scripted("never"), scripted(("desk", {"request": "look"}), "done")
    desk = AgentTool(LlmAgent(name="desk", model=inner), include_plugins=False)
    with pytest.raises(RuntimeError, match="runs its agent unguarded"):
        run(LlmAgent(name="helper", model=model, tools=[desk]), "go")
    assert not inner.read


def test_a_reply_that_was_not_judged_is_not_passed_on() -> None:
    class Half(Guarded):
        async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
            """Leave the model as it is."""

    with pytest.raises(RuntimeError, match="was not judged"):
        run(LlmAgent(name="helper", model=scripted("never")), "go", plugin=Half)


def test_a_failed_call_is_run_again_where_that_is_decided_and_its_result_is_judged() -> None:
    tries: list[int] = []

    def fetch() -> dict[str, str]:
        """Fetch."""
        tries.append(1)
        if len(tries) == 1:
            raise ConnectionResetError("try again")
        return {"key": KEY}

    model = scripted(("fetch", {}), "done")
    run(LlmAgent(name="helper", model=model, tools=[fetch]), "go")
    assert (len(tries), model.responses) == (2, [{"key": GONE}])


def test_an_error_without_a_secret_is_raised_as_it_is_without_us() -> None:
    def fetch() -> str:
        """Fetch."""
        raise ValueError("no such page")

    with pytest.raises(ValueError, match="no such page"):
        run(LlmAgent(name="helper", model=scripted(("fetch", {})), tools=[fetch]), "go")


def test_an_error_that_comes_as_a_response_is_judged_as_one() -> None:
    def fetch() -> dict[str, str]:
        """Fetch."""
        return {"error": f"no page with {KEY}"}

    model = scripted(("fetch", {}), "done")
    run(LlmAgent(name="helper", model=model, tools=[fetch]), "go")
    assert model.responses == [{"error": f"no page with {GONE}"}]
