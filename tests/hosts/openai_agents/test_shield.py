"""An agent that is built once with a shield: each run of the SDK works in a run of its own, and
nothing that others see of it is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

pytest.importorskip("agents")

from agents import (
    Agent,
    Model,
    RunConfig,
    RunHooks,
    Runner,
    Usage,
    function_tool,
    set_trace_processors,
    set_tracing_disabled,
)
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from agents.tracing import TracingProcessor

from stanchion import Refused, Shield
from stanchion.hosts.openai_agents import guarded
from tests.hosts.office import called_with
from tests.hosts.openai_agents.test_openai_agents import scripted
from tests.rules import rule

POLICY: dict[str, Any] = {
    "name": "office",
    "guards": [
        called_with("root"),
        rule("over", "prompt", when="event.text == 'stop'", action="block"),
    ],
}


USED = Usage(requests=1, input_tokens=10, output_tokens=2, total_tokens=12)


@function_tool
async def look(name: str) -> str:
    """Look."""
    await asyncio.sleep(0)
    return f"page of {name}"


class Looking(Model):
    """A model that many ask at once: it looks at whom the prompt names, and says what it has
    read."""

    async def get_response(self, *_given: Any, **more: Any) -> Any:
        """The next turn."""
        said = more.get("input", _given[1] if len(_given) > 1 else None)
        step = ModelStep(output=self._turn(said), usage=USED)
        return await ScriptedModel([step]).get_response(*_given, **more)

    def stream_response(self, *_given: Any, **more: Any) -> Any:
        """The same in pieces."""
        said = more.get("input", _given[1] if len(_given) > 1 else None)
        step = ModelStep(output=self._turn(said), usage=USED)
        return ScriptedModel([step]).stream_response(*_given, **more)

    def _turn(self, said: Any) -> list[Any]:
        last = said if isinstance(said, str) else said[-1].get("output", said[-1].get("content"))
        if isinstance(said, list) and said[-1].get("type") == "function_call_output":
            return [assistant_message(str(last))]
        return [function_call("look", {"name": str(last)}, call_id="c1")]


def shield_with(policy: dict[str, Any] | None = None) -> Shield:
    made = POLICY if policy is None else policy
    return Shield.load(made, store="memory:", journal="memory:", notify="none")


def runs_of(shield: Shield) -> set[str]:
    return {kept.read().run for kept in shield.journal.kept()}


def names(number: int) -> tuple[str, str]:
    """Whom a request asks about, and what its answer begins with."""
    return ("root", "a rule of the policy") if number % 2 else (f"u{number}", f"page of u{number}")


def test_a_hundred_requests_at_once_have_runs_of_their_own() -> None:
    shield = shield_with()
    agent = guarded(Agent("helper", tools=[look], model=Looking()), shield, task="t")

    async def streamed(who: str) -> str:
        result = Runner.run_streamed(agent, who)
        async for _ in result.stream_events():
            pass
        return str(result.final_output)

    async def one(number: int) -> tuple[str, str]:
        who, wanted = names(number)
        if number % 4 < 2:
            return str((await Runner.run(agent, who)).final_output), wanted
        return await streamed(who), wanted

    async def play() -> list[tuple[str, str]]:
        return await asyncio.gather(*[one(number) for number in range(100)])

    for found, wanted in asyncio.run(play()):
        assert found.startswith(wanted)
    assert len(runs_of(shield)) == 100


def test_so_have_requests_of_many_threads() -> None:
    shield = shield_with()
    agent = guarded(Agent("helper", tools=[look], model=Looking()), shield)

    def one(number: int) -> bool:
        who, wanted = names(number)
        return str(asyncio.run(Runner.run(agent, who)).final_output).startswith(wanted)

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(one, range(100)))
    assert len(runs_of(shield)) == 100


def test_a_conversation_goes_on_in_its_run() -> None:
    shield = shield_with()
    agent = guarded(Agent("helper", tools=[look], model=Looking()), shield)

    async def play() -> None:
        for group in ("a", "b", "a", None, None):
            await Runner.run(agent, "ann", run_config=RunConfig(group_id=group))

    set_tracing_disabled(False)
    set_trace_processors([])
    try:
        asyncio.run(play())
    finally:
        set_tracing_disabled(True)
    assert len(runs_of(shield)) == 4


def test_an_agent_as_a_tool_works_in_a_child_of_the_run() -> None:
    shield = shield_with()
    desk = guarded(Agent("desk", tools=[look], model=Looking()), shield)
    tool = desk.as_tool("ask", "Ask another agent.")

    async def play() -> None:
        model = scripted(("ask", {"input": "ann"}), "done")
        await Runner.run(guarded(Agent("helper", tools=[tool], model=model), shield), "go")

    asyncio.run(play())
    kept = [one.read() for one in shield.journal.kept()]
    agents = {one.run: one.agent for one in kept}
    assert sorted(agents.values()) == ["desk", "helper"]
    (parent,) = [run for run, name in agents.items() if name == "helper"]
    assert all(one.beside.get("parent", parent) == parent for one in kept)


def test_a_request_that_was_refused_lets_no_other_model_answer() -> None:
    shield = shield_with()
    agent = guarded(Agent("helper", model=Looking(), tools=[look]), shield)

    async def play() -> None:
        config = RunConfig(group_id="a")
        with pytest.raises(Refused):
            await Runner.run(agent, "stop", run_config=config)
        with pytest.raises(RuntimeError, match="was not judged"):
            await Runner.run(agent, "go", run_config=RunConfig(group_id="a", model=Looking()))

    set_tracing_disabled(False)
    set_trace_processors([])
    try:
        asyncio.run(play())
    finally:
        set_tracing_disabled(True)


@pytest.mark.parametrize("given", [None, object(), "policy.yaml"])
def test_what_is_no_shield_is_refused_when_the_agent_is_built(given: Any) -> None:
    with pytest.raises(TypeError, match="give it the shield"):
        guarded(Agent("helper"), given)


class Recorder(TracingProcessor):
    """Writes down the spans of a run in their order."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def on_trace_start(self, trace: Any) -> None:
        self.seen.append(("trace", trace.name))

    def on_trace_end(self, trace: Any) -> None:
        self.seen.append(("trace ends", trace.name))

    def on_span_start(self, span: Any) -> None:
        self.seen.append(("begins", span.span_data.type))

    def on_span_end(self, span: Any) -> None:
        said = span.span_data.export()
        kept = ("type", "name", "input", "output", "tools", "handoffs", "from_agent", "to_agent")
        self.seen.append({name: said.get(name) for name in kept})

    def shutdown(self) -> None:
        """Nothing is held."""

    def force_flush(self) -> None:
        """Nothing is held."""


class Hooks(RunHooks[Any]):
    """Writes down what a run tells its hooks."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    async def on_agent_start(self, _context: Any, agent: Any) -> None:
        self.seen.append(("agent", agent.name))

    async def on_agent_end(self, _context: Any, agent: Any, output: Any) -> None:
        self.seen.append(("agent ends", agent.name, output))

    async def on_handoff(self, context: Any, from_agent: Any, to_agent: Any) -> None:
        self.seen.append(("handoff", from_agent.name, to_agent.name))

    async def on_tool_start(self, _context: Any, agent: Any, tool: Any) -> None:
        self.seen.append(("tool", agent.name, tool.name))

    async def on_tool_end(self, _context: Any, _agent: Any, tool: Any, result: Any) -> None:
        self.seen.append(("tool ends", tool.name, result))

    async def on_llm_start(self, _context: Any, agent: Any, system: Any, items: Any) -> None:
        self.seen.append(("model", agent.name, system, len(items)))

    async def on_llm_end(self, _context: Any, agent: Any, response: Any) -> None:
        self.seen.append(("model ends", agent.name, response.usage.total_tokens))


@pytest.fixture
def spans() -> Iterator[Recorder]:
    recorder = Recorder()
    set_tracing_disabled(False)
    set_trace_processors([recorder])
    yield recorder
    set_trace_processors([])
    set_tracing_disabled(True)


def office() -> Agent[Any]:
    """An agent that looks, has another one work, and hands over."""

    def model(*said: Any) -> ScriptedModel:
        turns = [
            assistant_message(one)
            if isinstance(one, str)
            else function_call(*one, call_id=f"{one[0]}-{one[1]}")
            for one in said
        ]
        return ScriptedModel([ModelStep(output=[one], usage=USED) for one in turns])

    desk = Agent("desk", tools=[look], model=model(("look", {"name": "bob"}), "the desk is done"))
    said = model(("look", {"name": "ann"}), ("transfer_to_desk", {}))
    return Agent("helper", "help", tools=[look], handoffs=[desk], model=said)


def shown(event: Any) -> Any:
    """What matters of a streamed event: what it is, and what it brings."""
    data = getattr(event, "data", None)
    if data is not None:
        return data.type, getattr(data, "delta", None)
    item = getattr(event, "item", None)
    return event.type, getattr(event, "name", None), getattr(item, "output", None)


@pytest.mark.parametrize("streams", [False, True])
def test_others_see_the_same_with_a_guard_and_without(streams: bool, spans: Recorder) -> None:
    async def play(agent: Any) -> list[Any]:
        hooks = Hooks()
        if streams:
            result: Any = Runner.run_streamed(agent, "go", hooks=hooks)
            events = [shown(event) async for event in result.stream_events()]
        else:
            result, events = await Runner.run(agent, "go", hooks=hooks), []
        usage = result.context_wrapper.usage
        new = [(item.type, item.agent.name) for item in result.new_items]
        return [
            hooks.seen, events, new, result.final_output, result.last_agent.name,
            (usage.requests, usage.input_tokens, usage.output_tokens, usage.total_tokens),
        ]  # fmt: skip

    seen = []
    for guard in (lambda agent: agent, lambda agent: guarded(agent, shield_with({"name": "bare"}))):
        spans.seen.clear()
        told = asyncio.run(play(guard(office())))
        seen.append([*told, list(spans.seen)])
    plain, judged = seen
    for before, after in zip(plain, judged, strict=True):
        assert after == before
    assert len(plain[-1]) > 10


def test_a_run_that_is_cut_off_ends_as_without_a_guard() -> None:
    @function_tool
    async def wait() -> str:
        """Wait."""
        await asyncio.sleep(30)
        return "never"

    async def play(agent: Any) -> str:
        task = asyncio.ensure_future(Runner.run(agent, "go"))
        await asyncio.sleep(0.2)
        task.cancel()
        try:
            await task
        except BaseException as error:  # noqa: BLE001 - it is compared
            return type(error).__name__
        return "ended"

    made = [Agent("helper", tools=[wait], model=scripted(("wait", {}), "x")) for _ in range(2)]
    plain = asyncio.run(play(made[0]))
    assert asyncio.run(play(guarded(made[1], shield_with({"name": "bare"})))) == plain
