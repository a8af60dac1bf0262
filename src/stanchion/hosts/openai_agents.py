"""OpenAI Agents SDK: an agent whose model, tools and handoffs are judged, and all agents that it
hands over to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from stanchion.hosts import EVERYTHING, Host, Hosted, Part, Refusal, Works, survey, tried
from stanchion.hosts.contract.canary import TOOL
from stanchion.hosts.contract.prompts import Prompts
from stanchion.hosts.contract.streams import ResponseEvents
from stanchion.hosts.contract.terms import WaitingWords, in_words
from stanchion.kernel.stages import Stage
from stanchion.runtime.deciding.faults import text_of
from stanchion.runtime.errors import ToolFailed, raise_alone
from stanchion.runtime.run import Run
from stanchion.runtime.setting import setting
from stanchion.runtime.shield import Shield

with tried("openai-agents", "0.21", "0.25"):
    from agents import (
        Agent,
        AgentHooks,
        FunctionTool,
        Handoff,
        Model,
        MultiProvider,
        RunConfig,
        Runner,
        function_tool,
        get_current_trace,
        handoff,
    )
    from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
    from agents.tool import maybe_invoke_function_tool_failure_error_function as told_to_the_model
    from agents.util import _approvals

RUN_HERE: Final = frozenset(
    {"ComputerTool", "LocalShellTool", "ShellTool", "ApplyPatchTool", "CustomTool"}
)
"""Tools that the SDK runs in this process past every function that could be judged."""


def refused(refusal: Refusal) -> Any:
    """What the SDK makes of a refusal: a tool's output or a handoff's with the reason; a model's
    call raises."""
    if refusal.stage in (Stage.TOOL_CALL, Stage.TOOL_RESULT, Stage.ERROR, Stage.HANDOFF):
        return in_words(refusal)
    raise refusal.error


OPENAI_AGENTS: Final = Host(
    "openai-agents", can=EVERYTHING, refused=refused, pause="resume", stream="chunk"
)


class SdkPost:
    """Who is at work in a run of the SDK: the run that it works for, and the child runs of agents
    that took over."""

    def __init__(self, hosted: Hosted) -> None:
        self.hosted = hosted
        self.taken: dict[str, Hosted] = {}
        self.surveyed: set[str] = set()
        """The agents whose tools were looked at."""
        self.prompts = Prompts()
        self.unasked = 0
        """How many replies have come beyond the requests that were judged."""

    def of(self, agent: str) -> Hosted:
        """The run that an agent works in."""
        return self.taken.get(agent, self.hosted)


AT_WORK: Final[ContextVar[tuple[Any, SdkPost] | None]] = ContextVar(
    "stanchion_openai_agents", default=None
)
"""What is at work in a run of the SDK, and for whom: each turn says so before it asks."""


@dataclass
class GuardedAgent(Agent[Any]):
    """An agent that is judged; `guarded` makes them.

    Its model, hooks and handoffs are guarded whenever they are read: they may have been given to it
    later, or to a clone of it.
    """

    guarding: Any = field(default=None, repr=False, compare=False)
    refusal: str = field(default="", repr=False)

    def __getattribute__(self, name: str) -> Any:
        given = super().__getattribute__(name)
        if name not in ("model", "hooks", "handoffs"):
            return given
        guarding = super().__getattribute__("guarding")
        if guarding is None:
            return given
        made = guarding.of(self, name, given)
        if made is not given:
            setattr(self, name, made)
        return made

    async def get_all_tools(self, run_context: Any) -> list[Any]:
        """All tools, with those of MCP servers: each is judged, in the run of this context."""
        tools = [
            _tool(self.guarding, self.name, tool)
            for tool in await super().get_all_tools(run_context)
        ]
        self.guarding.begin(self.name, tools, run_context)
        return tools


class Handoffs(list[Any]):
    """The handoffs of a guarded agent: the list is its own, and what is added to it is guarded in
    its place."""


class Guarding:
    """How agents are guarded, each of them once, and in which runs they work."""

    def __init__(self, given: Any, task: str, provider: Any) -> None:
        self.works = Works(OPENAI_AGENTS, given, SdkPost, task=task)
        self.given = given.run if isinstance(given, Hosted) else given
        self.provider = MultiProvider() if provider is None else provider
        self._known: dict[int, tuple[Any, GuardedAgent]] = {}
        """Each guarded agent by the id of the one that it was made from, which is kept so that no
        other has its id."""

    def begin(self, agent: str, tools: list[Any], context: Any) -> None:
        """Have a turn work in the run of its conversation, which the SDK calls a group of traces,
        or else in one for its own context."""
        group = getattr(get_current_trace(), "group_id", None)
        post = self.works.at(group, agent) if group else self.works.tied(context, agent)
        AT_WORK.set((self.works, post))
        if agent not in post.surveyed and post.hosted.run is not self.given:
            post.surveyed.add(agent)
            survey(post.hosted.run, _parts(agent, tools))

    @property
    def now(self) -> SdkPost:
        """What is at work here; raises `Ungoverned` where nothing is."""
        at_work = AT_WORK.get()
        if at_work is None or at_work[0] is not self.works:
            return self.works.now
        return at_work[1]

    def agent(self, agent: Any) -> GuardedAgent:
        """The guarded agent for an agent."""
        if isinstance(agent, GuardedAgent):
            return agent
        if id(agent) in self._known:
            return self._known[id(agent)][1]
        if type(agent) is not Agent:
            raise TypeError(f"`{type(agent).__name__}` cannot be guarded: give an `Agent`")
        made = GuardedAgent(
            **{one.name: getattr(agent, one.name) for one in fields(agent) if one.init}
        )
        self._known[id(agent)] = agent, made
        made.tools = [_tool(self, agent.name, tool) for tool in agent.tools]
        survey(self.given, _parts(agent.name, made.tools))
        made.guarding = self
        self.of(made, "handoffs", made.handoffs)
        return made

    def of(self, agent: GuardedAgent, name: str, given: Any) -> Any:
        """An agent's model, hooks or handoffs, guarded."""
        match name:
            case "model":
                ready = isinstance(given, GuardedSdkModel)
                return given if ready else GuardedSdkModel(self, agent.name, given)
            case "hooks":
                return given if isinstance(given, Watched) else Watched(self, given)
        own = given if isinstance(given, Handoffs) else Handoffs(given)
        for place, one in enumerate(own):
            if not isinstance(one, GuardedHandoff):
                own[place] = _handoff(self, agent, one)
        return own


class Watched(AgentHooks[Any]):
    """The hooks of an agent, and a look at each reply: one that was not judged came from a model of
    somebody else's."""

    def __init__(self, guarding: Guarding, own: Any) -> None:
        self._guarding, self._own = guarding, AgentHooks() if own is None else own

    def __getattribute__(self, name: str) -> Any:
        named = name.startswith("on_") and name != "on_llm_end"
        return getattr(self._own, name) if named else super().__getattribute__(name)

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        """Let nothing pass that no guard has read."""
        at_work = self._guarding.now
        at_work.unasked += 1
        if at_work.unasked > 0:
            raise RuntimeError(
                f"a reply for agent `{agent.name}` was not judged: give its model to the agent, "
                f"and none to the run"
            )
        await self._own.on_llm_end(context, agent, response)


def guarded(
    agent: Agent[Any],
    shield: Shield | Run | Hosted,
    provider: Any = None,
    *,
    task: str = "",
) -> GuardedAgent:
    """An agent like this one that is judged, with all agents that it can hand over to.

    With a shield each conversation works in a run of its own: that of `RunConfig(group_id=...)`, or
    else of each `Runner.run`. Models that agents name by a text come from `provider`, which is the
    SDK's own unless another is given. Raises `TypeError` for tools that run in this process and
    cannot be judged, and for agents of other kinds.
    """
    return Guarding(shield, task, provider).agent(agent)


class GuardedTool:
    """Runs a tool, judged; it asks before, and tells after."""

    def __init__(self, guarding: Guarding, agent: str, tool: Any) -> None:
        self._guarding, self._agent, self._tool = guarding, agent, tool
        bare = replace(
            tool, _failure_error_function=None, _use_default_failure_error_function=False
        )
        self._run = bare.on_invoke_tool if not tool._is_agent_tool else self._agent_run(bare)

    async def waits(self, context: Any, args: dict[str, Any], call: str) -> bool:
        """Whether a person has to be asked first: the run stands still then."""
        if await _wants_approval(self._tool, context, args, call):
            return True
        hosted = self._guarding.now.of(self._agent)
        told = await hosted.areport("tool_call", tool=self._tool.name, args=args, key=call)
        return isinstance(told.answer, WaitingWords)

    async def __call__(self, context: Any, text: str) -> Any:
        """Run the call, and give what the model may read."""
        at_work = self._guarding.now
        hosted = at_work.of(self._agent)
        while True:
            about: dict[str, Any] = {
                "tool": self._tool.name,
                "args": _arguments(text),
                "key": context.tool_call_id,
            }
            told = await hosted.areport("tool_call", **about)
            if not told.proceeds:
                return str(told.answer)
            about["args"] = told.content
            try:
                with self._inside(at_work, hosted):
                    came = await self._run(context, json.dumps(told.content))
            except asyncio.CancelledError:
                await hosted.areport(
                    "error", error="CancelledError", text="it was cut off", **about
                )
                raise
            except Exception as error:  # noqa: BLE001 - a tool may raise anything
                failed = await hosted.areport("error", error=error, **about)
                if not failed.again:
                    return await self._failed(context, error, failed)
                continue
            told = await hosted.areport("tool_result", result=came, **about)
            return told.content if told.proceeds else told.answer

    @contextmanager
    def _inside(self, at_work: SdkPost, hosted: Hosted) -> Iterator[None]:
        """While the tool runs, agents that begin there work for this one."""
        works = self._guarding.works
        with works.inside(at_work, hosted), setting(AT_WORK, (works, at_work)):
            yield

    async def _failed(self, context: Any, error: Exception, failed: Any) -> Any:
        """A failure as the tool hands it on: as words for the model, or raised."""
        if not failed.proceeds:
            return failed.answer
        shown = error if failed.content == text_of(error) else ToolFailed(str(failed.content))
        words = await told_to_the_model(function_tool=self._tool, context=context, error=shown)
        if words is not None:
            return words
        if shown is error:
            raise error
        raise_alone(shown)

    def _agent_run(self, bare: Any) -> Callable[[Any, str], Awaitable[Any]]:
        """Another agent's work in the place of a tool's: it is handed over, and has a run of its
        own."""
        other = self._tool._agent_instance
        if not isinstance(other, GuardedAgent):
            raise TypeError(
                f"the tool `{self._tool.name}` runs the agent `{other.name}` unguarded: make it "
                f"with `guarded({other.name}, shield).as_tool(...)`"
            )

        async def run(context: Any, text: str) -> Any:
            hosted = self._guarding.now.of(self._agent)
            told = await hosted.areport("handoff", to=other.name, payload=json.loads(text))
            if not told.proceeds:
                return told.answer
            await hosted.areport("handoff_done", to=other.name, call=told.decision.id)
            return await bare.on_invoke_tool(context, json.dumps(told.content))

        return run


def _tool(guarding: Guarding, agent: str, tool: Any) -> Any:
    if type(tool).__name__ in RUN_HERE:
        raise TypeError(
            f"the tool `{tool.name}` runs here and cannot be judged: give a function tool in its "
            f"place"
        )
    if not isinstance(tool, FunctionTool) or isinstance(tool.on_invoke_tool, GuardedTool):
        return tool
    judged = GuardedTool(guarding, agent, tool)
    return replace(tool, on_invoke_tool=judged, needs_approval=judged.waits)


async def _wants_approval(tool: Any, context: Any, args: dict[str, Any], call: str) -> bool:
    """Whether a tool itself wants a person to be asked."""
    asked = getattr(_approvals, "evaluate_function_tool_approval", None)  # since 0.23
    if asked is None:
        wanted = _approvals.evaluate_needs_approval_setting
        return bool(await wanted(tool.needs_approval, context, args, call))
    return bool((await asked(tool, context, json.dumps(args), call)).outcome == "require_approval")


def _parts(agent: str, tools: list[Any]) -> list[Part]:
    """The tools of an agent: those that are no functions are run by the provider, who asks nobody
    here."""
    return [Part("tool", one.name, isinstance(one, FunctionTool), agent) for one in tools]


def _arguments(text: str) -> Any:
    """A call's arguments; nothing that could be run where they are no JSON."""
    try:
        return json.loads(text) if text else {}
    except ValueError:
        return None


class GuardedHandoff(Handoff[Any, Any]):
    """A handoff that tells the model why it was refused."""

    def get_transfer_message(self, agent: Any) -> str:
        """What the model reads of the handoff."""
        return (
            agent.refusal if getattr(agent, "refusal", "") else super().get_transfer_message(agent)
        )


def _handoff(guarding: Guarding, source: GuardedAgent, given: Any) -> Any:
    own = given if isinstance(given, Handoff) else handoff(given)
    other = own._agent_ref() if own._agent_ref is not None else None
    target = None if other is None else guarding.agent(other)

    async def invoke(context: Any, text: str) -> Any:
        at_work = guarding.now
        hosted = at_work.of(source.name)
        payload = _arguments(text)
        told = await hosted.areport("handoff", to=own.agent_name, payload=payload)
        if not told.proceeds:
            return replace(source, refusal=told.answer)
        asked = text if told.content == payload else json.dumps(told.content)
        taking = await own.on_invoke_handoff(context, asked)
        taking = target if target is not None and taking is other else guarding.agent(taking)
        at_work.taken[taking.name] = OPENAI_AGENTS.on(await hosted.run.aspawn(taking.name))
        await hosted.areport("handoff_done", to=taking.name, call=told.decision.id)
        return taking

    named = {one.name: getattr(own, one.name) for one in fields(own) if one.init}
    made = GuardedHandoff(**{**named, "on_invoke_handoff": invoke})
    made._agent_ref = None if target is None else lambda: target
    return made


class GuardedSdkModel(Model):
    """A model whose requests and replies are judged, piece by piece where they are streamed."""

    def __init__(self, guarding: Guarding, agent: str, model: Any) -> None:
        self._guarding, self._agent, self._given = guarding, agent, model

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    async def _cleanup_on_run_end(self, owner: object) -> None:
        await self.model._cleanup_on_run_end(owner)

    async def close(self) -> None:
        """Close the model."""
        await self.model.close()

    def get_retry_advice(self, request: Any) -> Any:
        """What the model says about trying again."""
        return self.model.get_retry_advice(request)

    @property
    def model(self) -> Any:
        """The model itself."""
        if not isinstance(self._given, Model):
            self._given = self._guarding.provider.get_model(self._given)
        return self._given

    async def get_response(
        self, system_instructions: Any, input: Any, model_settings: Any, *rest: Any, **more: Any
    ) -> Any:
        """Ask the model."""

        async def ask(messages: list[Any], **given: Any) -> Any:
            model, settings = self._as_decided(model_settings, given)
            return await model.get_response(*_request(messages), settings, *rest, **more)

        reply = await self._judged(ask, system_instructions, input, model_settings)
        self._guarding.now.unasked -= 1
        return reply

    async def stream_response(
        self, system_instructions: Any, input: Any, model_settings: Any, *rest: Any, **more: Any
    ) -> AsyncIterator[Any]:
        """Ask the model for a reply in pieces."""
        reply = ResponseEvents()

        async def ask(messages: list[Any], **given: Any) -> Any:
            model, settings = self._as_decided(model_settings, given)
            return reply.pieces_of(
                model.stream_response(*_request(messages), settings, *rest, **more)
            )

        at_work = self._guarding.now
        pieces = await self._judged(ask, system_instructions, input, model_settings)
        at_work.unasked -= 1
        try:
            async for piece in pieces:
                for event in reply.passed_on(piece):
                    yield event
        except (Exception, asyncio.CancelledError):
            at_work.unasked += 1  # of this one no end is told
            raise

    async def _judged(self, ask: Any, instructions: str | None, given: Any, settings: Any) -> Any:
        at_work = self._guarding.now
        hosted = at_work.of(self._agent)
        items = [{"role": "user", "content": given}] if isinstance(given, str) else list(given)
        sent = await at_work.prompts.judged(hosted, items)
        system = (
            []
            if instructions is None
            else [{"role": "system", "content": instructions, "type": "instructions"}]
        )
        params = {} if settings.max_tokens is None else {"max_tokens": settings.max_tokens}
        named = getattr(self.model, "model", "")
        return await hosted.amodel(
            ask, [*system, *sent], model=named if isinstance(named, str) else "", params=params
        )

    def _as_decided(self, settings: Any, given: dict[str, Any]) -> tuple[Any, Any]:
        """The model and the settings to ask with: a policy may have named a lesser model."""
        lesser = given.pop("model", None)
        model = self.model if lesser is None else self._guarding.provider.get_model(lesser)
        return model, replace(settings, **given)


def _request(messages: list[Any]) -> tuple[str | None, list[Any]]:
    """The instructions and the items of a request."""
    first = messages[0] if messages else {}
    own = isinstance(first, dict) and first.get("type") == "instructions"
    return (first["content"], messages[1:]) if own else (None, messages)


async def canary(shield: Any, body: Callable[[], str]) -> None:
    """Have a guarded agent call the canary; nothing of it is traced."""
    asks = ModelStep(output=[function_call(TOOL, {}, call_id=TOOL)])
    model = ScriptedModel([asks, ModelStep(output=[assistant_message("done")])])
    tool = function_tool(body, name_override=TOOL, description_override="must not run")
    async with OPENAI_AGENTS.run(shield, agent=TOOL) as hosted:
        agent = guarded(Agent(TOOL, tools=[tool], model=model), hosted)
        await Runner.run(agent, "call it", run_config=RunConfig(tracing_disabled=True))
