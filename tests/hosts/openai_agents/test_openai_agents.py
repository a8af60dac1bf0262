"""The OpenAI Agents SDK under its adapter: the behaviour suite, and what is this host's own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agents")

from agents import (
    Agent,
    AgentHooks,
    RunConfig,
    Runner,
    RunState,
    ShellTool,
    ToolOutputText,
    function_tool,
)
from agents.exceptions import UserError
from agents.mcp import MCPServer
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from mcp.types import CallToolResult, TextContent, Tool as McpTool

from stanchion import Refused, Shield, ToolFailed
from stanchion.hosts.openai_agents import OPENAI_AGENTS, guarded
from stanchion.testing.host_suite import BEHAVIOURS, KEY, check, check_probes
from tests.hosts.office import GONE, called_with
from tests.hosts.openai_agents.driver import DRIVER
from tests.rules import rule

POLICY: dict[str, Any] = {
    "name": "office",
    "guards": [
        {"use": "secrets"},
        {"id": "ask", "use": "tool_denylist", "tools": ["pay"], "action": "escalate"},
        called_with("root"),
        rule("vault", "handoff", when="event.to == 'vault'", action="block"),
        rule("over", "prompt", when="event.text == 'stop'", action="halt"),
    ],
}


def scripted(*said: Any) -> ScriptedModel:
    """A model that says this, one after the other: texts, and calls as `(tool, args)`."""
    items = [
        assistant_message(one)
        if isinstance(one, str)
        else function_call(*one, call_id=f"c{number}")
        for number, one in enumerate(said)
    ]
    return ScriptedModel([ModelStep(output=[item]) for item in items])


def run(agent: Any, prompt: Any = "do it") -> Any:
    """Run an agent under the adapter."""

    async def play() -> Any:
        async with OPENAI_AGENTS.run(
            Shield.load(POLICY, store="memory:"), agent="helper", task="t"
        ) as hosted:
            made = agent(hosted) if callable(agent) else guarded(agent, hosted)
            return await Runner.run(made, prompt)

    return asyncio.run(play())


def outputs(model: Any) -> list[Any]:
    """What the model read of its calls."""
    return [
        item["output"]
        for item in model.calls[-1].input
        if item.get("type") == "function_call_output"
    ]


@function_tool(failure_error_function=None)
def pay() -> str:
    """Pay."""
    raise AssertionError("it was not approved")


@pytest.mark.parametrize("way", DRIVER.ways)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_behaviour(behaviour: str, way: str, tmp_path: Path) -> None:
    check(DRIVER, behaviour, way, tmp_path)


def test_probes() -> None:
    check_probes(DRIVER, globals())


def test_a_result_keeps_its_type() -> None:
    @function_tool
    def look() -> ToolOutputText:
        """Look."""
        return ToolOutputText(text=f"the key is {KEY}")

    model = scripted(("look", {}), "done")
    run(Agent("helper", tools=[look], model=model))
    assert outputs(model) == [[{"type": "input_text", "text": f"the key is {GONE}"}]]


def test_arguments_that_are_no_json_are_never_run() -> None:
    ran: list[str] = []

    @function_tool
    def look(name: str) -> str:
        """Look."""
        ran.append(name)
        return name

    model = ScriptedModel(
        [
            ModelStep(output=[function_call("look", "{", call_id="c1")]),
            ModelStep(output=[assistant_message("x")]),
        ]
    )
    result = run(Agent("helper", tools=[look], model=model))
    assert ran == []
    assert [one.arguments for one in result.interruptions] == ["{"]


def test_the_hosts_own_yes_is_none_of_the_inbox() -> None:
    model = scripted(("pay", {}), "later")

    async def play(hosted: Any) -> Any:
        agent = guarded(Agent("helper", tools=[pay], model=model), hosted)
        state = (await Runner.run(agent, "pay")).to_state()
        for waiting in state.get_interruptions():
            state.approve(waiting)
        return await Runner.run(
            agent, await RunState.from_json(agent, json.loads(json.dumps(state.to_json())))
        )

    async def played() -> Any:
        async with OPENAI_AGENTS.run(
            Shield.load(POLICY, store="memory:"), agent="helper", task="t"
        ) as hosted:
            return await play(hosted)

    assert asyncio.run(played()).final_output == "later"
    assert "a person has been asked" in outputs(model)[0]


def test_nobody_waits_where_nobody_could_be_asked() -> None:
    model = ScriptedModel(
        [ModelStep(output=[function_call("pay", {"to": name}, call_id=name) for name in "ab"])]
    )
    model.enqueue(ModelStep(output=[assistant_message("x")]))

    @function_tool
    def pay(to: str) -> str:
        """Pay."""
        raise AssertionError("it was not approved")

    async def play() -> Any:
        shield = Shield.load({**POLICY, "escalation": {"tickets_for_a_run": 1}}, store="memory:")
        async with OPENAI_AGENTS.run(shield, agent="helper", task="t") as hosted:
            return await Runner.run(
                guarded(Agent("helper", tools=[pay], model=model), hosted), "pay"
            )

    assert [json.loads(one.arguments) for one in asyncio.run(play()).interruptions] == [{"to": "a"}]


def test_a_call_that_is_cut_off_is_reported() -> None:
    @function_tool(timeout=0.05)
    async def look() -> str:
        """Look."""
        await asyncio.sleep(30)
        return "never"

    shield = Shield.load({"name": "p"}, store="memory:", journal="memory:")

    async def play() -> Any:
        async with OPENAI_AGENTS.run(shield, agent="helper", task="t") as hosted:
            made = guarded(
                Agent("helper", tools=[look], model=scripted(("look", {}), "done")), hosted
            )
            return await Runner.run(made, "go")

    assert asyncio.run(play()).final_output == "done"
    assert ("error", "look") in [
        (one.stage, one.tool) for one in [kept.read() for kept in shield.journal.kept()]
    ]


def test_a_tools_own_need_for_approval_stays() -> None:
    async def never(*_: Any) -> bool:
        return False

    @function_tool(needs_approval=True)
    def ask() -> str:
        """Ask."""
        raise AssertionError("it was not approved")

    @function_tool(needs_approval=never)
    def guess(name: str, times: int = 3) -> str:
        """Guess."""
        raise AssertionError("the SDK wants a person to see the arguments that it fills in")

    for named in (ask, guess):
        args = {} if named is ask else {"name": "ann"}
        plain, judged = [
            Agent("helper", tools=[named], model=scripted((named.name, args), "x"))
            for _ in range(2)
        ]
        waits = [one.name for one in asyncio.run(Runner.run(plain, "do it")).interruptions]
        assert [one.name for one in run(judged).interruptions] == waits
        assert waits == [named.name] or named is guess  # the SDK asks about defaults since 0.23


def test_a_prompt_is_judged_and_the_model_reads_it_redacted() -> None:
    model = scripted("done", "done")
    run(Agent("helper", model=model), f"my key is {KEY}")
    parts = [{"type": "input_text", "text": f"it is {KEY}"}]
    run(Agent("helper", model=model), [{"role": "user", "content": parts}])
    assert [call.input[0]["content"] for call in model.calls] == [
        f"my key is {GONE}",
        [{"type": "input_text", "text": f"it is {GONE}"}],
    ]
    with pytest.raises(Refused) as refused:
        run(Agent("helper", model=model), "stop")
    assert refused.value.ended


def test_an_agent_as_a_tool_is_a_handoff_and_guarded() -> None:
    @function_tool
    def look(name: str) -> str:
        """Look."""
        return f"{name} has {KEY}"

    for name, read in (("desk", "they have it"), ("vault", "a rule of the policy forbids this")):
        inner = scripted(("look", {"name": "root"}), ("look", {"name": "ann"}), "they have it")
        model = scripted(("ask", {"input": "look"}), "done")
        other = Agent(name, tools=[look], model=inner)

        def agent(hosted: Any, other: Any = other, model: Any = model) -> Any:
            tool = guarded(other, hosted).as_tool("ask", "Ask another agent.")
            return guarded(Agent("helper", tools=[tool], model=model), hosted)

        run(agent)
        assert outputs(model)[0].startswith(read)
        if name == "desk":
            assert outputs(inner)[0].startswith("a rule of the policy forbids this")
            assert outputs(inner)[1] == f"ann has {GONE}"
        else:
            assert not inner.calls


def test_what_would_run_unjudged_is_refused_before_anything_runs() -> None:
    tool = Agent("desk", model=scripted("x")).as_tool("ask", "Ask another agent.")
    with pytest.raises(TypeError, match="runs the agent `desk` unguarded"):
        run(Agent("helper", tools=[tool], model=scripted("x")))
    shell = ShellTool(executor=lambda request: "ran")
    with pytest.raises(TypeError, match="cannot be judged"):
        run(Agent("helper", tools=[shell], model=scripted("x")))


@pytest.mark.parametrize("streams", [False, True])
def test_a_model_that_is_given_to_the_run_is_found_out(streams: bool) -> None:
    other, seen = scripted(("pay", {}), "never"), list[str]()

    class Hooks(AgentHooks[Any]):
        async def on_start(self, *_: Any) -> None:
            seen.append("start")

        async def on_llm_end(self, *_: Any) -> None:
            seen.append("end")

    async def play(config: Any) -> None:
        async with OPENAI_AGENTS.run(
            Shield.load(POLICY, store="memory:"), agent="helper", task="t"
        ) as hosted:
            made = guarded(
                Agent("helper", tools=[pay], model=scripted("own"), hooks=Hooks()), hosted
            )
            if streams:
                async for _ in Runner.run_streamed(made, "go", run_config=config).stream_events():
                    pass
            else:
                await Runner.run(made, "go", run_config=config)

    with pytest.raises(RuntimeError, match="was not judged"):
        asyncio.run(play(RunConfig(model=other)))
    assert seen == ["start"]
    asyncio.run(play(RunConfig()))
    assert seen == ["start", "start", "end"]


class Server(MCPServer):
    """An MCP server in this process."""

    name = "pages"

    async def connect(self) -> None:
        """Nothing to connect to."""

    async def cleanup(self) -> None:
        """Nothing to clean up."""

    async def list_tools(self, *_: Any, **__: Any) -> list[McpTool]:
        """One tool."""
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        return [McpTool(name="look", description="Look.", inputSchema=schema)]

    async def call_tool(self, tool_name: str, arguments: Any, *_: Any, **__: Any) -> CallToolResult:
        """Run it."""
        assert arguments["name"] != "root", "it was refused"
        return CallToolResult(content=[TextContent(type="text", text=f"the key is {KEY}")])

    async def list_prompts(self) -> Any:
        """None."""

    async def get_prompt(self, *_: Any) -> Any:
        """None."""


def test_tools_of_mcp_servers_are_judged_also_after_the_agent_is_cloned() -> None:
    for clone in (False, True):
        model = scripted(("look", {"name": "root"}), ("look", {"name": "ann"}), "done")

        def agent(hosted: Any, model: Any = model, clone: bool = clone) -> Any:
            made = guarded(Agent("helper", mcp_servers=[Server()], model=model), hosted)
            return made.clone(name="helper") if clone else made

        run(agent)
        first, second = outputs(model)
        assert "a rule of the policy forbids this" in str(first)
        assert GONE in str(second)
        assert KEY not in str(second)


class Whole(ScriptedModel):
    """A model whose stream repeats the reply, and never brings it in pieces."""

    async def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """Only what is whole."""
        async for event in super().stream_response(*args, **kwargs):
            if not event.type.endswith(".delta"):
                yield event


@pytest.mark.parametrize("kind", [Whole, ScriptedModel])
def test_what_a_stream_repeats_as_a_whole_is_redacted_too(kind: Any) -> None:
    called = function_call("look", {"name": "ann"}, call_id="c1")
    model = kind(
        [ModelStep(output=[called]), ModelStep(output=[assistant_message(f"it is {KEY}, so")])]
    )

    @function_tool
    def look(name: str) -> str:
        """Look."""
        return f"page of {name}"

    async def play() -> Any:
        async with OPENAI_AGENTS.run(
            Shield.load(POLICY, store="memory:"), agent="helper", task="t"
        ) as hosted:
            result = Runner.run_streamed(
                guarded(Agent("helper", tools=[look], model=model), hosted), "go"
            )
            return [event async for event in result.stream_events()], result.final_output

    events, answer = asyncio.run(play())
    assert answer == f"it is {GONE}, so"
    assert KEY not in repr([getattr(event, "data", event) for event in events])
    assert outputs(model) == ["page of ann"]


def test_a_failure_that_is_raised_does_not_hold_what_was_redacted() -> None:
    @function_tool(failure_error_function=None)
    def look(name: str) -> str:
        """Look."""
        raise ValueError(f"no {name} for {KEY}")

    with pytest.raises(UserError) as raised:
        run(Agent("helper", model=scripted(("look", {"name": "page"})), tools=[look]))
    withheld = raised.value.__cause__
    assert isinstance(withheld, ToolFailed)
    assert (str(withheld), withheld.__context__) == (f"no page for {GONE}", None)
