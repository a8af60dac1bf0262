"""Strands Agents: a plugin that has an agent's prompts, requests to models, streams, tools and
sub-agents judged."""

from __future__ import annotations

from asyncio import Queue, create_task, wait
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from functools import partial
from inspect import getclosurevars
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakSet

from stanchion.hosts import EVERYTHING, Changed, Host, Hosted, Refusal, tried
from stanchion.hosts.contract.canary import TOOL
from stanchion.hosts.contract.prompts import Prompts
from stanchion.hosts.contract.sealing import sealed, unbroken
from stanchion.hosts.contract.streams import InOrder
from stanchion.hosts.contract.works import Works
from stanchion.kernel.stages import Stage
from stanchion.runtime.errors import ToolFailed

with tried("strands-agents", "1.62", "1.63"):
    from strands import Agent, tool
    from strands.agent._agent_as_tool import _AgentAsTool
    from strands.middleware import ExecuteToolStage, InvokeModelStage
    from strands.models import Model
    from strands.plugins import Plugin
    from strands.types._events import (
        AgentAsToolStreamEvent,
        ToolInterruptEvent,
        ToolResultEvent,
        ToolStreamEvent,
    )

HAND_OVER: Final = "handoff_to_agent"
"""The tool by which agents of a swarm hand over to each other."""

ADVICE: Final = "change calls in `BeforeToolCallEvent`, which comes before"

PAUSE: Final = "stanchion"
"""What an interrupt is called that waits for a person."""


def refused(refusal: Refusal) -> Any:
    """What Strands makes of a refusal: a failed tool result with the reason, or an interrupt; a
    model's call raises."""
    if refusal.about is None:
        raise refusal.error
    if refusal.waits and refusal.ticket is not None and refusal.stage is Stage.TOOL_CALL:
        refusal.about.interrupt(PAUSE, reason={"ticket": refusal.ticket})
    return _result(refusal.about, str(refusal), "success" if refusal.happened else "error")


def shown(event: Any) -> Any:
    """What the agent reads of a tool's result: a text, or blocks where there is more."""
    if not isinstance(event, ToolResultEvent):
        return []
    content = event.tool_result["content"]
    return content[0]["text"] if len(content) == 1 and list(content[0]) == ["text"] else content


def changed(change: Changed) -> Any:
    """A result with what was changed in it."""
    if change.result is None:
        return _result(change.about, str(change.content), "success")
    content = [{"text": change.content}] if isinstance(change.content, str) else change.content
    return ToolResultEvent({**change.result.tool_result, "content": content})


def failed(event: Any) -> bool:
    """Whether a result reports a failure: Strands hands on what a tool raises as a text."""
    return isinstance(event, ToolResultEvent) and event.tool_result.get("status") == "error"


def _result(context: Any, text: str, status: str) -> Any:
    content = [{"text": text}]
    return ToolResultEvent(
        {"toolUseId": context.tool_use["toolUseId"], "status": status, "content": content}
    )


STRANDS: Final = Host(
    "strands",
    can=EVERYTHING,
    refused=refused,
    shown=shown,
    changed=changed,
    failed=failed,
    guided=lambda words: {"role": "user", "content": [{"text": words}]},
    pause="resume",
    stream="chunk",
)


class StrandsPost:
    """What works for an agent: its run, what users have said to it, and which agent that is where
    it was begun for one."""

    def __init__(self, hosted: Hosted) -> None:
        self.hosted, self.prompts = hosted, Prompts()
        self.agent: Any = None


class Guarded(Plugin):
    """Has everything judged that an agent does: `Agent(..., plugins=[Guarded(shield)])`.

    Each agent works in a run of its own, or in that of its session where it has a session manager;
    a run that is given works for all of them. A sub-agent that is a tool is guarded with its
    caller. Give the plugin to every agent of a swarm or a graph. `models` are those that a policy
    may name for a lesser request.
    """

    def __init__(
        self,
        given: Any,
        models: Mapping[str, Any] | None = None,
        *,
        agent: str = "",
        task: str = "",
    ) -> None:
        super().__init__()
        self._works = Works(STRANDS, given, StrandsPost, agent=agent, task=task)
        self._models = {} if models is None else dict(models)
        self._agents: WeakSet[Any] = WeakSet()
        self._taken: WeakKeyDictionary[Any, StrandsPost] = WeakKeyDictionary()

    @property
    def name(self) -> str:
        """The plugin's name."""
        return "stanchion"

    def init_agent(self, agent: Any) -> None:
        """Guard an agent; once is enough."""
        if agent not in self._agents:
            self._agents.add(agent)
            agent.add_middleware(ExecuteToolStage, self._run_tool)
            registry = agent._middleware_registry
            registry.compose = partial(self._composed, registry.compose)

    def _composed(self, compose: Any, stage: Any, terminal: Any) -> Any:
        """The middleware of a stage round what Strands itself does then, guarded: what other
        middleware has made of a request is judged, and what it has made of a call that was judged
        does not run."""
        guarding = {ExecuteToolStage: self._as_judged, InvokeModelStage: self._ask_model}.get(stage)
        return compose(stage, terminal if guarding is None else partial(guarding, terminal))

    def _of(self, agent: Any) -> StrandsPost:
        """What works for an agent: its own where it was called or has taken over."""
        around = self._works.around
        if around is not None and around.agent is agent:
            return around
        if agent in self._taken:
            return self._taken[agent]
        session = getattr(getattr(agent, "_session_manager", None), "session_id", "")
        if session:
            return self._works.at(f"{session}/{agent.agent_id}", agent.name)
        return self._works.tied(agent, agent.name)

    async def _run_tool(self, context: Any, next_fn: Any) -> AsyncGenerator[Any, None]:
        """Judge a call, run it, and judge what comes of it; what it tells while it runs goes on at
        once."""
        told: Queue[Any] = Queue()
        doing = create_task(self._done(context, next_fn, told))
        doing.add_done_callback(told.put_nowait)
        try:
            while (event := await told.get()) is not doing:
                yield event
            yield doing.result()
        finally:
            doing.cancel()
            await wait([doing])

    async def _done(self, context: Any, next_fn: Any, told: Queue[Any]) -> Any:
        """The result of a call, when it has run as it was judged."""
        post, name, came = self._of(context.agent), _runs_as(context), None
        hosted = post.hosted

        async def carry(args: dict[str, Any]) -> Any:
            nonlocal came
            with sealed(name, args):
                async for event in next_fn(
                    context.replace(tool_use={**context.tool_use, "input": args})
                ):
                    if isinstance(event, ToolResultEvent | ToolInterruptEvent):
                        came = event
                    else:
                        await _tell(hosted, name, event, told)
            if isinstance(came, ToolResultEvent) and came.exception is not None:
                raise came.exception
            return came

        async def run(args: dict[str, Any]) -> Any:
            with self._works.inside(post, hosted):
                if not isinstance(context.tool, _AgentAsTool):
                    return await carry(args)
                other = context.tool.agent
                handed = await hosted.areport("handoff", to=other.name, payload=args, about=context)
                if not handed.proceeds:
                    return handed.answer
                self.init_agent(other)
                async with self._works.during(other.name) as child:
                    child.agent = other
                    await hosted.areport("handoff_done", to=other.name, call=handed.decision.id)
                    return await carry(handed.content)

        if name == HAND_OVER:
            return await self._handed_over(hosted, context, carry)
        try:
            return await hosted.acall(name, context.tool_use["input"], run, about=context)
        except ToolFailed as withheld:
            return _result(context, f"Error: {withheld}", "error")
        except Exception as error:
            if not isinstance(came, ToolResultEvent) or error is not came.exception:
                raise
            return came

    async def _handed_over(self, hosted: Hosted, context: Any, carry: Any) -> Any:
        """Judge that an agent of a swarm hands over; the other one works in a child run."""
        given = dict(context.tool_use["input"])
        to = str(given.pop("agent_name", ""))
        told = await hosted.areport("handoff", to=to, payload=given, about=context)
        if not told.proceeds:
            return told.answer
        came = await carry({**told.content, "agent_name": to})
        if not failed(came):
            child = StrandsPost(STRANDS.on(await hosted.run.aspawn(to)))
            self._taken[_agent_of(context.tool, to)] = child
            await hosted.areport("handoff_done", to=to, call=told.decision.id)
        return came

    async def _as_judged(self, terminal: Any, context: Any) -> AsyncGenerator[Any, None]:
        """Run a tool, if this is the call that was judged."""
        unbroken(_runs_as(context), context.tool_use["input"], ADVICE)
        async for event in terminal(context):
            yield event

    async def _ask_model(self, terminal: Any, context: Any) -> AsyncGenerator[Any, None]:
        """Have a guarded model asked in the place of the one that would be asked."""
        post = self._of(context.agent)
        model = GuardedStrandsModel(context.model, post.hosted, post.prompts, self._models)
        async for event in terminal(context.replace(model=model)):
            yield event


def _runs_as(context: Any) -> str:
    """The name of the tool that a call would run: a hook may have put another in the place of the
    one asked for."""
    name: str = context.tool_use["name"] if context.tool is None else context.tool.tool_name
    return name


def _agent_of(tool: Any, name: str) -> Any:
    """The agent of that name in the swarm whose tool this is."""
    swarm = getclosurevars(tool._tool_func).nonlocals["swarm_ref"]
    return swarm.nodes[name].executor


async def _tell(hosted: Hosted, tool: str, event: Any, told: Queue[Any]) -> None:
    """Pass on what a tool tells while it runs, as it is decided; what a sub-agent tells was judged
    in its own run."""
    if isinstance(event, ToolStreamEvent) and not isinstance(event, AgentAsToolStreamEvent):
        said = event["tool_stream_event"]
        judged = await hosted.areport("tool_result", tool=tool, result=said["data"])
        if not judged.proceeds:
            return
        if judged.content != said["data"]:
            event = ToolStreamEvent(said["tool_use"], judged.content)
    told.put_nowait(event)


class GuardedStrandsModel(Model):
    """A model whose requests and replies are judged, piece by piece."""

    def __init__(
        self, inner: Any, hosted: Hosted, prompts: Prompts, models: dict[str, Any]
    ) -> None:
        self._inner, self._hosted, self._prompts, self._models = inner, hosted, prompts, models

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @property
    def stateful(self) -> bool:
        """Whether the provider keeps the conversation."""
        return bool(self._inner.stateful)

    def update_config(self, **model_config: Any) -> None:
        """Change the model's settings."""
        self._inner.update_config(**model_config)

    def get_config(self) -> Any:
        """The model's settings."""
        return self._inner.get_config()

    def structured_output(self, *_: Any, **__: Any) -> Any:
        """Not judged: Strands has another way for it."""
        raise NotImplementedError(
            "a guarded model is asked for structured output with `structured_output_model`"
        )

    async def stream(
        self, messages: Any, tool_specs: Any = None, system_prompt: str | None = None, **more: Any
    ) -> AsyncGenerator[Any, None]:
        """Ask the model."""
        own = more.pop("system_prompt_content", None)
        system = (
            own
            if own is not None
            else [{"text": system_prompt}]
            if system_prompt is not None
            else []
        )
        reply = StrandsReply()

        async def ask(sent: list[Any], **given: Any) -> Any:
            first, *rest = sent
            blocks = first["content"] if own is not None else None
            text = (
                "\n".join([block["text"] for block in first["content"] if "text" in block])
                if system
                else None
            )
            asked = self._model(given).stream(
                _merged(rest), tool_specs, text, system_prompt_content=blocks, **more
            )
            return reply.pieces_of(asked)

        prompted = await self._prompts.judged(self._hosted, messages)
        request = [{"role": "system", "content": system}, *prompted]
        async for piece in await self._hosted.amodel(ask, request, model=self._named()):
            for event in reply.passed_on(piece):
                yield event

    def _named(self) -> str:
        config = self._inner.get_config()
        named = config.get("model_id", "") if isinstance(config, Mapping) else ""
        return named if isinstance(named, str) else ""

    def _model(self, given: dict[str, Any]) -> Any:
        lesser = given.get("model")
        if lesser is None:
            return self._inner
        if lesser not in self._models:
            raise LookupError(
                f"the policy names the model `{lesser}`: give it to `Guarded` in `models`"
            )
        return self._models[lesser]


def _merged(messages: list[Any]) -> list[Any]:
    """Messages whose roles take turns, as some providers want them: guidance goes into the user's
    last one."""
    made: list[Any] = []
    for message in messages:
        if made and made[-1]["role"] == message["role"]:
            made[-1] = {**made[-1], "content": [*made[-1]["content"], *message["content"]]}
        else:
            made.append(message)
    return made


class StrandsReply:
    """The events of a streamed reply as guards read them, and as they go on with what was let
    through."""

    def __init__(self) -> None:
        self._events: list[Any] = []
        self._order = InOrder()

    async def pieces_of(self, events: AsyncIterator[Any]) -> AsyncIterator[dict[str, Any]]:
        """Each event with its words, in which block they are, and which event it is."""
        self._events, self._order, block = [], InOrder(), 0
        async for event in events:
            self._events.append(event)
            block += "contentBlockStart" in event
            spoken = _spoken(event.get("contentBlockDelta", {}).get("delta", {}))
            called = (
                {"toolUse": {"name": "a tool"}}
                if "toolUse" in str(event.get("contentBlockStart"))
                else {}
            )
            usage = event.get("metadata", {}).get("usage")
            used = {"usage": dict(usage)} if usage is not None else {}
            number = len(self._events) - 1
            yield {
                "type": "content_block_delta",
                "index": block,
                "event": number,
                "delta": spoken,
                **called,
                **used,
            }

    def passed_on(self, piece: dict[str, Any]) -> list[Any]:
        """The events whose turn it is, with what is left of their words."""
        ready = self._order.ready(piece["event"], piece)
        return [_heard(self._events[one["event"]], one["delta"]) for one in ready]


def _spoken(delta: Any) -> dict[str, Any]:
    """What a piece says, under the name that says what kind of words it is."""
    match delta:
        case {"text": str(text)}:
            return {"text": text}
        case {"reasoningContent": {"text": str(text)}}:
            return {"thinking": text}
        case {"toolUse": {"input": str(text)}}:
            return {"partial_json": text}
    return {}


def _heard(event: Any, said: dict[str, Any]) -> Any:
    match said:
        case {"text": text}:
            delta: Any = {"text": text}
        case {"thinking": text}:
            delta = {
                "reasoningContent": {
                    **event["contentBlockDelta"]["delta"]["reasoningContent"],
                    "text": text,
                }
            }
        case {"partial_json": text}:
            delta = {"toolUse": {"input": text}}
        case _:
            return event
    return {"contentBlockDelta": {**event["contentBlockDelta"], "delta": delta}}


class StrandsCanaryModel(Model):
    """A model that asks for the canary until it is answered."""

    def update_config(self, **_: Any) -> None:
        """There is nothing to set."""

    def get_config(self) -> dict[str, Any]:
        """Its name."""
        return {"model_id": TOOL}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        """Not asked for."""
        raise NotImplementedError

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncGenerator[Any, None]:
        """The next turn."""
        asks = len(messages) == 1
        start = {"toolUse": {"toolUseId": TOOL, "name": TOOL}} if asks else {}
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": start}}
        yield {
            "contentBlockDelta": {
                "delta": {"toolUse": {"input": "{}"}} if asks else {"text": "done"}
            }
        }
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if asks else "end_turn"}}


async def canary(shield: Any, body: Callable[[], str]) -> None:
    """Have an agent call the canary, with the plugin around it."""
    tools: list[Any] = [tool(body, name=TOOL, description="must not run")]
    agent = Agent(
        StrandsCanaryModel(),
        name=TOOL,
        tools=tools,
        callback_handler=None,
        plugins=[Guarded(shield)],
    )
    await agent.invoke_async("call it")
