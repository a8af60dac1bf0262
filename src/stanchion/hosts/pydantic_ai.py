"""pydantic-ai: a capability that has an agent's prompts, requests to models, replies, streams and
tool calls judged."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Final, get_args

from stanchion.hosts import EVERYTHING, Changed, Host, Hosted, Part, Refusal, survey, tried
from stanchion.hosts.contract.canary import TOOL
from stanchion.hosts.contract.sealing import sealed
from stanchion.hosts.contract.streams import InOrder
from stanchion.hosts.contract.works import Works
from stanchion.kernel.stages import Stage
from stanchion.runtime.errors import ToolFailed as Withheld, raise_alone

with tried("pydantic-ai-slim", "2.62", "2.69"):
    from pydantic_ai import Agent
    from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering, CombinedCapability
    from pydantic_ai.exceptions import (
        ApprovalRequired,
        ModelRetry,
        SkipToolExecution,
        ToolFailed,
        ToolFailedError,
        ToolRetryError,
    )
    from pydantic_ai.messages import (
        ModelRequest,
        ModelResponse,
        PartDeltaEvent,
        PartStartEvent,
        SystemPromptPart,
        TextPart,
        TextPartDelta,
        ThinkingPart,
        ThinkingPartDelta,
        ToolCallPart,
        ToolCallPartDelta,
        ToolReturn,
        UserPromptPart,
    )
    from pydantic_ai.models import Model, StreamedResponse, infer_model
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.models.wrapper import WrapperModel
    from pydantic_ai.tools import DeferredToolRequests, Tool

    from stanchion.hosts.pydantic_ai_calls import OutputCall, SealedOutput, SealedToolset

NOTHING: Final = TextPartDelta("")
"""A piece of a stream that is held back."""

KEPT: Final = frozenset({
    "provider_response_id", "provider_details", "canonical_system", "finish_reason", "state",
    "metadata", "failed_attempts", "_usage", "_usage_received",
})  # fmt: skip
"""What a stream knows beside its parts; not each version has all of it."""


def refused(refusal: Refusal) -> Any:
    """What pydantic-ai makes of a refusal: the agent reads why a call failed, or waits for a
    person."""
    if isinstance(refusal.about, OutputCall):
        raise refusal.error if refusal.stage is Stage.TOOL_RESULT else ModelRetry(str(refusal))
    if refusal.stage is Stage.TOOL_RESULT:
        return str(refusal)
    if refusal.waits and refusal.ticket is not None and _pauses(refusal.about):
        raise ApprovalRequired(metadata={"ticket": refusal.ticket})
    if refusal.stage in (Stage.TOOL_CALL, Stage.HANDOFF):
        raise ToolFailed(str(refusal))
    raise refusal.error


def shown(result: Any) -> Any:
    """What the agent reads of a tool's result, and what is kept beside it in the messages."""
    if type(result) is not ToolReturn:
        return result
    return {
        "return_value": result.return_value,
        "content": result.content,
        "metadata": result.metadata,
    }


def changed(change: Changed) -> Any:
    """A result with what was changed in it."""
    if type(change.result) is not ToolReturn:
        return change.content
    return (
        replace(change.result, **change.content)
        if isinstance(change.content, dict)
        else change.content
    )


PYDANTIC_AI: Final = Host(
    "pydantic-ai",
    can=EVERYTHING,
    refused=refused,
    shown=shown,
    changed=changed,
    guided=lambda words: ModelRequest(parts=[SystemPromptPart(words)]),
    pause="resume",
    stream="chunk",
)


@dataclass
class Guarded(AbstractCapability[Any]):
    """Has everything judged that an agent does: `Agent(..., capabilities=[Guarded(shield)])`.

    Each conversation works in a run of its own; a run that is given works for all of them. Give
    the capability to sub-agents too. Where a tool of a guarded agent runs a guarded agent, that is
    a handoff, and the sub-agent works in a run of its own, a child of its caller's.
    """

    given: Any
    agent: str = ""
    task: str = ""
    works: Works[Hosted] = field(init=False, repr=False)
    hosted: Hosted = field(init=False, repr=False)
    """The run of this run of the agent."""
    prompts: dict[str, str] = field(default_factory=dict, init=False, repr=False)
    """What the model reads in the place of each prompt."""

    def __post_init__(self) -> None:
        self.works = Works(
            PYDANTIC_AI, self.given, lambda hosted: hosted, agent=self.agent, task=self.task
        )

    def get_ordering(self) -> CapabilityOrdering:
        """Outermost: what others make of a call or of its result is judged too."""
        return CapabilityOrdering(position="outermost")

    async def for_run(self, ctx: Any) -> AbstractCapability[Any]:
        """Each run of the agent has one of its own."""
        own = copy(self)
        own.prompts = {}
        return CombinedCapability([own, SealedOutput()])

    async def wrap_run(self, ctx: Any, *, handler: Any) -> Any:
        """Judge the prompt; where another agent's tool runs this one, first judge that the work is
        handed over."""
        name = "agent" if ctx.agent is None or not ctx.agent.name else ctx.agent.name
        caller, handed = self.works.around, ""
        if caller is not None:
            given = {str(place): text for place, text in enumerate(_texts(ctx.prompt))}
            told = await caller.areport("handoff", to=name, payload=given)
            self.prompts = {text: told.content[place] for place, text in given.items()}
            handed = told.decision.id
        work = self.works.begin(name, ctx.conversation_id if caller is None else "")
        self.hosted = work.hosted
        try:
            if caller is not None:
                await caller.areport("handoff_done", to=name, call=handed)
            return await self._prompted(ctx.prompt, handler)
        finally:
            over = self.works.end(work)
            if over is not None:
                await over.aclose()

    async def _prompted(self, prompt: Any, handler: Any) -> Any:
        for text in _texts(prompt):
            told = await self.hosted.areport("prompt", text=self.prompts.get(text, text))
            self.prompts[text] = told.content
        return await handler()

    async def wrap_tool_execute(
        self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any
    ) -> Any:
        """Judge a call, run it, and judge what comes of it."""

        async def run(given: dict[str, Any]) -> Any:
            with sealed(call.tool_name, given, call.tool_call_id):
                return await handler(given)

        return await self._carried(call.tool_name, args, run, ctx)

    async def wrap_output_process(
        self, ctx: Any, *, output_context: Any, output: Any, handler: Any
    ) -> Any:
        """Judge an output function as a tool call."""
        if not output_context.has_function:
            return await handler(output)
        made = OutputCall(output_context, output)

        async def run(given: dict[str, Any]) -> Any:
            with sealed(made.tool, given):
                return await handler(made.given(given))

        return await self._carried(made.tool, made.args, run, made)

    async def _carried(self, tool: str, args: Any, run: Any, about: Any) -> Any:
        signal: Exception | None = None

        async def carry(given: dict[str, Any]) -> Any:
            nonlocal signal
            try:
                with self.works.inside(self.hosted, self.hosted):
                    return await run(given)
            except SkipToolExecution as skipped:
                return skipped.result
            except Exception as error:
                signal = error
                raise

        try:
            return await self.hosted.acall(tool, args, carry, about=about)
        except Withheld as withheld:
            raise_alone(_said(signal, str(withheld)))

    def get_wrapper_toolset(self, toolset: Any) -> Any:
        """Run tools as they were judged."""
        return SealedToolset(toolset)

    def get_wrapper_model(self, model: Model) -> Model:
        """Judge each request and its reply."""
        return GuardedPydanticModel(model, self)


class GuardedPydanticModel(WrapperModel):
    """A model whose requests and replies are judged, piece by piece where they are streamed."""

    def __init__(self, wrapped: Model, guarded: Guarded) -> None:
        super().__init__(wrapped)
        self._guarded = guarded

    async def request(
        self, messages: Any, model_settings: Any, model_request_parameters: Any
    ) -> Any:
        """Ask the model."""

        async def ask(asked: list[Any], **given: Any) -> Any:
            model, settings = self._as_decided(given)
            return await model.request(asked, settings, model_request_parameters)

        return await self._judged(ask, messages, model_settings, model_request_parameters)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: Any,
        model_settings: Any,
        model_request_parameters: Any,
        run_context: Any = None,
    ) -> AsyncGenerator[Any]:
        """Ask the model for a reply in pieces."""
        made = GuardedStream(model_request_parameters)
        async with AsyncExitStack() as stack:

            async def ask(asked: list[Any], **given: Any) -> Any:
                model, settings = self._as_decided(given)
                asking = model.request_stream(
                    asked, settings, model_request_parameters, run_context
                )
                return made.pieces_of(await stack.enter_async_context(asking))

            made.judged = await self._judged(
                ask, messages, model_settings, model_request_parameters
            )
            yield made

    def _judged(self, ask: Any, messages: list[Any], settings: Any, parameters: Any) -> Any:
        # Native tools are run by the provider, who asks nobody here.
        survey(
            self._guarded.hosted.run,
            [Part("tool", one.unique_id, False) for one in parameters.native_tools],
        )
        given = {} if settings is None else dict(settings)
        sent = [_prompted(message, self._guarded.prompts) for message in messages]
        return self._guarded.hosted.amodel(ask, sent, model=self.wrapped.model_name, params=given)

    def _as_decided(self, given: dict[str, Any]) -> tuple[Any, Any]:
        """The model and the settings to ask with: a policy may have named a lesser model."""
        lesser = given.pop("model", None)
        return (self.wrapped if lesser is None else infer_model(lesser)), given


def _of_source(name: str) -> Any:
    return property(lambda self: getattr(self.source, name))


class GuardedStream(StreamedResponse):
    """A streamed reply as it was judged: its events are made again from the pieces that were let
    through."""

    def __init__(self, parameters: Any) -> None:
        super().__init__(parameters)
        self.source: Any = None
        self.judged: Any = None
        self._events: list[Any] = []

    async def pieces_of(self, source: Any) -> AsyncIterator[dict[str, Any]]:
        """The events of a stream as guards read them: each with its text, and which event it is."""
        self.source, self._events = source, []
        async for event in source:
            if isinstance(event, PartStartEvent | PartDeltaEvent):
                self._events.append(event)
                yield {
                    "type": "content_block_delta",
                    "index": event.index,
                    "event": len(self._events) - 1,
                    "delta": _spoken(event),
                }
        yield {
            "usage": {
                "input_tokens": source.usage.input_tokens,
                "output_tokens": source.usage.output_tokens,
            }
        }

    async def _get_event_iterator(self) -> AsyncIterator[Any]:
        order, begun = InOrder(), set[int]()
        async for judged in self.judged:
            for piece in order.ready(judged["event"], judged) if "event" in judged else ():
                made = _heard(self._events[piece["event"]], piece["delta"], begun)
                self._parts_manager.apply_event(made)
                if not isinstance(made, PartDeltaEvent) or made.delta != NOTHING:
                    yield made
        for name in KEPT:
            if hasattr(self.source, name):
                setattr(self, name, getattr(self.source, name))

    async def close_stream(self) -> None:
        """Close the model's own stream."""
        await self.source.close_stream()

    def get_stream_cancel_errors(self) -> tuple[type[BaseException], ...]:
        """What the model's own stream raises where it is cancelled."""
        errors: tuple[type[BaseException], ...] = self.source.get_stream_cancel_errors()
        return errors

    model_name, provider_name, provider_url, timestamp = map(
        _of_source, ("model_name", "provider_name", "provider_url", "timestamp")
    )


def _pauses(ctx: Any) -> bool:
    """Whether a tool's caller waits for people: an agent does that may give its deferred calls as
    its output."""
    agent = getattr(ctx, "agent", None)
    waiting = [] if agent is None else [agent.output_type]
    while waiting:
        kind = waiting.pop()
        if kind is DeferredToolRequests:
            return True
        waiting += kind if isinstance(kind, list | tuple) else get_args(kind)
    return False


def _spoken(event: Any) -> dict[str, Any]:
    """What an event says, under the name that says what kind of words it is."""
    match event.part if isinstance(event, PartStartEvent) else event.delta:
        case TextPart(content=text) | TextPartDelta(content_delta=text):
            return {"text": text}
        case ThinkingPart(content=text) | ThinkingPartDelta(content_delta=text):
            return {"thinking": "" if text is None else text}
        case ToolCallPart(args=str(text)) | ToolCallPartDelta(args_delta=str(text)):
            return {"type": "tool_use", "partial_json": text}
        case ToolCallPart() | ToolCallPartDelta():
            return {"type": "tool_use"}
    return {}


def _heard(event: Any, said: dict[str, Any], begun: set[int]) -> Any:
    """The event with what is left of its words; where its part has begun already, they are added to
    that."""
    match said:
        case {"text": text}:
            name, delta = "content", TextPartDelta(text)
        case {"thinking": text}:
            name, delta = "content", ThinkingPartDelta(content_delta=text)
        case {"partial_json": text}:
            name, delta = "args", ToolCallPartDelta(args_delta=text)
        case _:
            return event
    if not isinstance(event, PartStartEvent):
        return replace(event, delta=replace(event.delta, **{f"{name}_delta": text}))
    if event.index in begun:
        return PartDeltaEvent(index=event.index, delta=delta)
    begun.add(event.index)
    return replace(event, part=replace(event.part, **{name: text}))


def _texts(prompt: Any) -> list[str]:
    """The texts of a prompt."""
    if prompt is None or isinstance(prompt, str):
        return [prompt] if prompt else []
    return [item for item in prompt if isinstance(item, str)]


def _prompted(message: Any, prompts: dict[str, str]) -> Any:
    """A message with prompts as they were decided."""
    if not isinstance(message, ModelRequest) or all(text == new for text, new in prompts.items()):
        return message
    return replace(message, parts=[_part(part, prompts) for part in message.parts])


def _part(part: Any, prompts: dict[str, str]) -> Any:
    if not isinstance(part, UserPromptPart):
        return part
    if isinstance(part.content, str):
        return replace(part, content=prompts.get(part.content, part.content))
    return replace(
        part,
        content=[
            prompts.get(item, item) if isinstance(item, str) else item for item in part.content
        ],
    )


def _said(error: Exception | None, text: str) -> Exception:
    """A failure of a tool in the type in which pydantic-ai hands it to the model, without what must
    not be seen."""
    if isinstance(error, ToolRetryError):
        return ToolRetryError(replace(error.tool_retry, content=text))
    if isinstance(error, ToolFailedError):
        return ToolFailedError(replace(error.tool_failed, content=text))
    return ModelRetry(text) if isinstance(error, ModelRetry) else Withheld(text)


async def canary(shield: Any, body: Callable[[], str]) -> None:
    """Have an agent call the canary, with the capability around it."""
    tool: Any = Tool(body, name=TOOL, description="must not run")
    agent: Any = Agent(
        FunctionModel(_canary_asks), name=TOOL, tools=[tool], capabilities=[Guarded(shield)]
    )
    await agent.run("call it")


def _canary_asks(messages: list[Any], _info: Any) -> ModelResponse:
    """Ask for the canary until there is an answer."""
    return ModelResponse([ToolCallPart(TOOL, {})] if len(messages) == 1 else [TextPart("done")])
