"""Google ADK: a plugin that has an app's prompts, requests to models, replies, streams, tools and
transfers judged."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import partial
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from stanchion.hosts import EVERYTHING, Host, Hosted, Part, Refusal, Told, survey, tried
from stanchion.hosts.contract.canary import TOOL
from stanchion.hosts.contract.sealing import CallSeal, put_round, seal_of
from stanchion.hosts.contract.terms import WaitingWords, in_words
from stanchion.hosts.contract.works import Works
from stanchion.kernel.stages import Stage
from stanchion.runtime.deciding.faults import text_of

with tried("google-adk", "1.20", "2.14"):
    from google.adk.agents import LlmAgent
    from google.adk.apps import App
    from google.adk.code_executors import BuiltInCodeExecutor
    from google.adk.models import (
        BaseLlm,
        LLMRegistry,
        LlmResponse,
    )
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.runners import InMemoryRunner
    from google.adk.tools import FunctionTool
    from google.adk.tools.agent_tool import AgentTool
    from google.genai import types

TRANSFER: Final = "transfer_to_agent"
"""The tool by which agents hand over to each other."""

ERROR: Final = "error"
"""Where a tool's response says that it has failed."""


def refused(refusal: Refusal) -> Any:
    """What ADK makes of a refusal: a response of the tool with the reason; a model's call
    raises."""
    if refusal.stage is Stage.TOOL_RESULT:
        return {"result": str(refusal)}
    if refusal.stage in (Stage.TOOL_CALL, Stage.HANDOFF, Stage.ERROR):
        return {ERROR: in_words(refusal)}
    raise refusal.error


def guided(words: str) -> Any:
    """Guidance as a message: Gemini has none of the system's own among the others."""
    return types.Content(role="user", parts=[types.Part(text=words)])


GOOGLE_ADK: Final = Host(
    "google-adk", can=EVERYTHING, refused=refused, guided=guided, pause="resume", stream="chunk"
)


class AdkRequest:
    """A request to a model: the run that it is for, and whether it was judged."""

    def __init__(self, hosted: Hosted) -> None:
        self.hosted = hosted
        self.judged = False


class AdkCall(NamedTuple):
    """A call that goes ahead: its seal, and what has it at work while it runs."""

    seal: CallSeal
    inside: Callable[[], AbstractContextManager[None]]


CALLS: Final[WeakKeyDictionary[Any, AdkCall | None]] = WeakKeyDictionary()
"""The calls that go ahead, each by the context that its tool and all callbacks share; nothing where
what stands in the place of a result is none."""

ADVICE: Final = "let callbacks that change calls be plugins, and stand before `Guarded`"

ASKING: Final[ContextVar[AdkRequest | None]] = ContextVar("stanchion_google_adk", default=None)
"""The request that is about to be sent here."""


def _alone(hosted: Hosted) -> dict[str, Hosted]:
    """The runs of a session's agents by their names; without one that of all who have not taken
    over."""
    return {"": hosted}


class Guarded(BasePlugin):
    """Has everything judged that the agents of an app do: `App(..., plugins=[Guarded(shield),
    ...])`.

    Each session works in a run of its own; a run that is given works for all of them. The plugin
    comes first in the list: ADK stops asking plugins at the first that has an answer. Only plugins
    that change calls stand before it: what is changed after it was judged does not run. It puts a
    guarded model in the place of each agent's own; that one does nothing by itself where an agent
    is used without the plugin.
    """

    def __init__(self, given: Any, *, agent: str = "", task: str = "") -> None:
        super().__init__(name="stanchion")
        self._works = Works(GOOGLE_ADK, given, _alone, agent=agent, task=task)

    def _at(self, session: Any, agent: str) -> dict[str, Hosted]:
        """The runs of a session's agents."""
        return self._works.at("/".join((session.app_name, session.user_id, session.id)), agent)

    def _of(self, context: Any) -> Hosted:
        """The run of the agent that a callback is about: its own where it has taken over."""
        name = context.agent_name
        runs = self._at(context._invocation_context.session, name)
        return runs.get(name, runs[""])

    async def on_user_message_callback(self, *, invocation_context: Any, user_message: Any) -> Any:
        """Judge what the user says."""
        name = invocation_context.agent.name
        runs = self._at(invocation_context.session, name)
        hosted = runs.get(name, runs[""])
        own = user_message.parts or []
        parts = [await self._prompted(hosted, part) for part in own]
        return None if parts == own else user_message.model_copy(update={"parts": parts})

    async def _prompted(self, hosted: Hosted, part: Any) -> Any:
        if not part.text:
            return part
        told = await hosted.areport("prompt", text=part.text)
        return part.model_copy(update={"text": told.content})

    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        """Put a guarded model in the place of an agent's own."""
        inner = agent.canonical_model if isinstance(agent, LlmAgent) else None
        if inner is not None and not isinstance(inner, GuardedLlm):
            agent.model = GuardedLlm(model=inner.model, inner=inner)
        executor = getattr(agent, "code_executor", None)
        if executor is not None and not isinstance(executor, BuiltInCodeExecutor):
            part = Part("tool", type(executor).__name__, False, agent.name)
            survey(self._of(callback_context).run, [part])

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Say for whom the guarded model is asked."""
        ASKING.set(AdkRequest(self._of(callback_context)))

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        """Let nothing pass that no guard has read."""
        asking = ASKING.get()
        if asking is None or not asking.judged:
            raise RuntimeError(
                f"a reply for agent `{callback_context.agent_name}` was not judged: its model is "
                f"not guarded"
            )

    async def before_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any
    ) -> Any:
        """Judge a call, or a handoff; what is given here stands in the place of what the tool would
        give."""
        if isinstance(tool, AgentTool) and not tool.include_plugins:
            raise RuntimeError(
                f"the tool `{tool.name}` runs its agent unguarded: let it include plugins"
            )
        confirmed = tool_context.tool_confirmation
        if confirmed is not None and not confirmed.confirmed:
            CALLS[tool_context] = None
            return {ERROR: "the user has not confirmed this call"}
        told = await self._judged(tool, tool_args, tool_context)
        if told.proceeds and isinstance(tool, AgentTool):
            told = await self._handed_over(tool.agent.name, tool_args, tool_context)
        if told.proceeds:
            if tool.name != TRANSFER:
                changed = dict(told.content)
                tool_args.clear()
                tool_args.update(changed)
            self._seal(tool, tool_args, tool_context)
            return None
        CALLS[tool_context] = None
        if isinstance(told.answer[ERROR], WaitingWords) and confirmed is None:
            tool_context.request_confirmation(hint="a person has to answer its ticket")
            tool_context.actions.skip_summarization = True
        return {ERROR: str(told.answer[ERROR])}

    async def _judged(self, tool: Any, args: dict[str, Any], context: Any) -> Told:
        if tool.name == TRANSFER:
            to = str(args.get("agent_name"))
            told = await self._handed_over(to, {}, context)
            if told.proceeds:
                child = await self._of(context).run.aspawn(to)
                runs = self._at(context._invocation_context.session, to)
                runs[to] = GOOGLE_ADK.on(child)
            return told
        return await self._of(context).areport(
            "tool_call", tool=tool.name, args=dict(args), key=context.function_call_id
        )

    async def _handed_over(self, to: str, payload: dict[str, Any], context: Any) -> Told:
        """Judge a handoff; the agent that takes over works in a child run."""
        hosted = self._of(context)
        told = await hosted.areport("handoff", to=to, payload=dict(payload))
        if told.proceeds:
            await hosted.areport("handoff_done", to=to, call=told.decision.id)
        return told

    def _seal(self, tool: Any, args: dict[str, Any], context: Any) -> None:
        """Have a tool run with these arguments or not at all: other plugins and the agent's own
        callbacks come between."""
        runs = self._at(context._invocation_context.session, context.agent_name)
        inside = partial(self._works.inside, runs, self._of(context))
        CALLS[context] = AdkCall(seal_of(tool.name, args), inside)
        put_round(tool, "run_async", _run_sealed)

    async def after_tool_callback(
        self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any
    ) -> Any:
        """Judge what came of a call that ran; nothing is given back where it stays as it is,
        because ADK asks no other plugin then."""
        if tool.name == TRANSFER or CALLS.get(tool_context, tool) is None:
            return None
        hosted, about = self._about(tool, tool_args, tool_context)
        if isinstance(result, dict) and list(result) == [ERROR]:
            said = str(result[ERROR])
            told = await hosted.areport("error", error="error", text=said, **about)
            now = {ERROR: told.content} if told.content != said else result
        else:
            told = await hosted.areport("tool_result", result=result, **about)
            now = told.content
        if not told.proceeds:
            return told.answer
        return None if now == result else now

    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: Any, tool_context: Any, error: Exception
    ) -> Any:
        """Judge a failure; the call is run once more where that is decided. What shows a secret is
        not raised."""
        hosted, about = self._about(tool, tool_args, tool_context)
        while True:
            told = await hosted.areport("error", error=error, **about)
            if not told.again:
                CALLS[tool_context] = None
                if not told.proceeds:
                    return told.answer
                return None if told.content == text_of(error) else {ERROR: told.content}
            again = await hosted.areport("tool_call", **about)
            if not again.proceeds:
                CALLS[tool_context] = None
                return again.answer
            self._seal(tool, again.content, tool_context)
            try:
                return await tool.run_async(args=again.content, tool_context=tool_context)
            except Exception as failed:  # noqa: BLE001 - a tool may raise anything
                error = failed

    def _about(self, tool: Any, args: Any, context: Any) -> tuple[Hosted, dict[str, Any]]:
        about = {"tool": tool.name, "args": dict(args), "key": context.function_call_id}
        return self._of(context), about


async def _run_sealed(run: Any, tool: Any, *, args: dict[str, Any], tool_context: Any) -> Any:
    """Run a tool, if this is the call that was judged; where an agent is used without the plugin
    none was."""
    call = CALLS.get(tool_context)
    if call is None:
        return await run(args=args, tool_context=tool_context)
    call.seal.check(tool.name, args, ADVICE)
    with call.inside():
        return await run(args=args, tool_context=tool_context)


class GuardedLlm(BaseLlm):
    """A model whose requests and replies are judged, piece by piece where they are streamed."""

    inner: BaseLlm

    @property
    def capabilities(self) -> Any:
        """What the model can do."""
        return self.inner.capabilities

    def connect(self, llm_request: Any) -> Any:
        """A live connection of the model, which is not judged."""
        return self.inner.connect(llm_request)

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncGenerator[Any, None]:
        """Ask the model."""
        asking = ASKING.get()
        if asking is None:
            async for response in self.inner.generate_content_async(llm_request, stream=stream):
                yield response
            return
        asking.judged = True
        survey(asking.hosted.run, _by_provider(llm_request.config.tools))
        reply = AdkReply()

        async def ask(messages: list[Any], **given: Any) -> Any:
            model = LLMRegistry.new_llm(given.pop("model")) if "model" in given else self.inner
            return reply.pieces_of(
                model.generate_content_async(_sent(llm_request, messages, given), stream=stream)
            )

        settings = llm_request.config
        params = (
            {}
            if settings.max_output_tokens is None
            else {"max_output_tokens": settings.max_output_tokens}
        )
        own = [settings.system_instruction] if isinstance(settings.system_instruction, str) else []
        system = [{"role": "system", "content": text} for text in own]
        named = llm_request.model if llm_request.model else self.model
        messages = [*system, *llm_request.contents]
        async for piece in await asking.hosted.amodel(ask, messages, model=named, params=params):
            for response in reply.passed_on(piece):
                yield response


def _by_provider(tools: Any) -> list[Part]:
    """The tools of a request that Google runs: all that is in them but functions that the caller
    runs."""
    given = [one for one in tools or () if isinstance(one, types.Tool)]
    named = [
        name
        for one in given
        for name in one.model_dump(exclude_none=True)
        if name != "function_declarations"
    ]
    return [Part("tool", name, False) for name in named]


def _sent(request: Any, messages: list[Any], given: dict[str, Any]) -> Any:
    """A request as it was decided."""
    first: Any = messages[0] if messages else None
    own = isinstance(first, dict)
    config = request.config.model_copy(
        update={**given, **({"system_instruction": first["content"]} if own else {})}
    )
    return request.model_copy(
        update={"contents": messages[1:] if own else messages, "config": config}
    )


class AdkReply:
    """The responses of a model as guards read them, and as they go on with what was let through.

    Where they are streamed each brings a piece, and the last one all of it again.
    """

    def __init__(self) -> None:
        self._responses: list[Any] = []
        self._said: dict[str, str] = {}
        self._passed: dict[str, str] = {}

    async def pieces_of(self, responses: AsyncIterator[Any]) -> AsyncIterator[dict[str, Any]]:
        """Each piece of text, and each response without its words."""
        async for response in responses:
            self._responses.append(response)
            parts = response.content.parts or [] if response.content else []
            for part in parts:
                kind = f"thought-{part.thought}" if response.partial else f"whole-{len(self._said)}"
                if part.text and (response.partial or part.text not in self._said.values()):
                    self._said[kind] = self._said.get(kind, "") + part.text
                    place = list(self._said).index(kind)
                    yield {
                        "type": "content_block_delta",
                        "index": place,
                        "response": len(self._responses) - 1,
                        "kind": kind,
                        "delta": {"text": part.text},
                    }
            calls = (
                {"function_call": {"name": "a tool"}}
                if any(part.function_call for part in parts)
                else {}
            )
            used = response.usage_metadata
            usage = (
                {}
                if used is None
                else {"usage_metadata": used.model_dump(exclude_none=True, mode="json")}
            )
            yield {"response": len(self._responses) - 1, **calls, **usage}

    def passed_on(self, piece: dict[str, Any]) -> Iterator[Any]:
        """The response of a piece as it goes on."""
        response = self._responses[piece["response"]]
        if "kind" not in piece:
            yield from self._rest_of(response)
            return
        kind, text = piece["kind"], piece["delta"]["text"]
        self._passed[kind] = self._passed.get(kind, "") + text
        if response.partial and text:
            part = types.Part(text=text, thought=True if kind == "thought-True" else None)
            yield response.model_copy(
                update={
                    "content": types.Content(role="model", parts=[part]),
                    "usage_metadata": None,
                }
            )

    def _rest_of(self, response: Any) -> Iterator[Any]:
        """A response without the pieces that have gone on; one that is whole has all of what was
        let through."""
        if not response.content or not response.content.parts:
            yield response
            return
        passed = {said: self._passed.get(kind, "") for kind, said in self._said.items()}
        parts = [
            part.model_copy(update={"text": passed[part.text]})
            if not response.partial and part.text
            else part
            for part in response.content.parts
            if not (response.partial and part.text)
        ]
        if parts or not response.partial:
            yield response.model_copy(
                update={"content": response.content.model_copy(update={"parts": parts})}
            )


class AdkCanaryModel(BaseLlm):
    """A model that asks for the canary until it is answered."""

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """The next turn."""
        call = types.FunctionCall(id=TOOL, name=TOOL, args={})
        part = (
            types.Part(function_call=call)
            if len(llm_request.contents) == 1
            else types.Part(text="done")
        )
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


class AdkCanaryTool(FunctionTool):
    """A function as a tool of the canary's name."""

    def __init__(self, body: Callable[[], str]) -> None:
        super().__init__(body)
        self.name, self.description = TOOL, "must not run"


async def canary(shield: Any, body: Callable[[], str]) -> None:
    """Have an app call the canary, with the plugin around it."""
    agent = LlmAgent(name=TOOL, model=AdkCanaryModel(model=TOOL), tools=[AdkCanaryTool(body)])
    runner = InMemoryRunner(app=App(name=TOOL, root_agent=agent, plugins=[Guarded(shield)]))
    session = await runner.session_service.create_session(app_name=TOOL, user_id=TOOL)
    said = types.Content(role="user", parts=[types.Part(text="call it")])
    async for _ in runner.run_async(user_id=TOOL, session_id=session.id, new_message=said):
        pass
