"""LangChain and LangGraph under a shield: a middleware for `create_agent`, sync and async.

    with LANGCHAIN.run(shield, agent="helper", task="tidy-up") as hosted:
        create_agent(model, tools, middleware=[Guarded(hosted)]).invoke(...)

Put it first, so that it sees what other middlewares make of a result. A middleware behind it that
makes another call or another request to a model of the one that was judged is stopped with
`Ungoverned`. Needs the extra `langchain`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, Final

import msgspec

from stanchion.hosts import EVERYTHING, Changed, Host, Hosted, Refusal, Told, survey, tried
from stanchion.hosts.contract.canary import TOOL
from stanchion.hosts.contract.frameworks import by_provider
from stanchion.kernel.stages import Stage

with tried("langchain", "1.4", "2"):
    from langchain.agents import create_agent
    from langchain.agents.middleware import AgentMiddleware, ModelResponse, hook_config
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import (
        AIMessage,
        BaseMessage,
        HumanMessage,
        SystemMessage,
        ToolMessage,
    )
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import StructuredTool
with tried("langgraph", "1.2", "2", of="langchain"):
    from langgraph.errors import GraphBubbleUp, ParentCommand
    from langgraph.graph import END
    from langgraph.types import Command, Send, interrupt

    from stanchion.hosts.langchain_seals import quietly, runs_as, sealed

CHECKPOINTER: Final = "__pregel_checkpointer"
"""Where LangGraph has a graph's checkpointer; one that has it elsewhere does not pause, and the
model is told."""


class Bubble(msgspec.Struct, frozen=True):
    """A tool did not end: the graph stands still or goes elsewhere, by an exception that is no
    failure."""

    error: GraphBubbleUp


def as_message(refusal: Refusal) -> Any:
    """A refusal as the model reads it: the result of its call, or the reply in place of the model's
    own. One that waits for a person is handed on as it is, for the middleware to pause at."""
    if refusal.about is None:
        return AIMessage(str(refusal))
    if refusal.waits and refusal.stage is Stage.TOOL_CALL and pauses(refusal.about):
        return refusal
    call = refusal.about.tool_call
    return ToolMessage(str(refusal), tool_call_id=call["id"], name=call["name"], status="error")


def shown(result: Any) -> Any:
    """What a model would see of a tool's result, and what a command would write into the graph's
    state."""
    if isinstance(result, ToolMessage):
        return result.content
    if isinstance(result, Command):
        update = result.update
        return {**update, "messages": contents(update)} if isinstance(update, dict) else update
    return None if isinstance(result, Bubble) else result


def put_back(changed: Changed) -> Any:
    """The result with what may be seen of it; what only code would see goes, because nobody has
    redacted it."""
    result, content = changed.result, changed.content
    if isinstance(result, ToolMessage):
        return result.model_copy(update={"content": content, "artifact": None})
    if isinstance(result, Command):
        if isinstance(result.update, dict):
            pairs = zip(result.update.get("messages", []), content["messages"], strict=True)
            content = {**content, "messages": [with_content(*pair) for pair in pairs]}
        return replace(result, update=content)
    if result is None:
        call = changed.about.tool_call
        return ToolMessage(content, tool_call_id=call["id"], name=call["name"])
    raise TypeError(f"a tool has given a `{type(result).__name__}`, which cannot be changed")


def contents(update: dict[str, Any]) -> list[Any]:
    """What the messages of an update say."""
    return [
        one.content if isinstance(one, BaseMessage) else one for one in update.get("messages", [])
    ]


def with_content(message: Any, content: Any) -> Any:
    """A message that says this."""
    if not isinstance(message, BaseMessage):
        return content
    hidden = (
        {"artifact": None}
        if isinstance(message, ToolMessage) and message.content != content
        else {}
    )
    return message.model_copy(update={"content": content, **hidden})


def failed(result: Any) -> bool:
    """Whether a message says that its tool has failed."""
    return isinstance(result, ToolMessage) and result.status == "error"


LANGCHAIN: Final = Host(
    "langchain",
    can=EVERYTHING,
    refused=as_message,
    shown=shown,
    changed=put_back,
    failed=failed,
    guided=SystemMessage,
    pause="resume",
    stream="buffer",
)
"""What LangChain can carry out, and how it says no."""


class Guarded(AgentMiddleware):
    """Has everything judged that an agent is asked, asks its model, calls and hands over.

    A call that waits for a person interrupts the graph where it has a checkpointer:
    `Command(resume=True)` asks again, and the call goes ahead once an operator has said yes.
    Without one the model reads that it waits.
    """

    def __init__(self, hosted: Hosted) -> None:
        super().__init__()
        self._hosted = hosted

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Judge what the agent is asked."""
        return heard(
            [(one, self._hosted.report("prompt", text=one.text)) for one in asked_in(state)]
        )

    @hook_config(can_jump_to=["end"])
    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """The same for async code."""
        return heard(
            [(one, await self._hosted.areport("prompt", text=one.text)) for one in asked_in(state)]
        )

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Judge a request to the model, and its reply before anybody sees a piece of it."""
        asking = LangChainRequest(request)
        survey(self._hosted.run, by_provider(request.tools))

        def ask(messages: Sequence[Any], **_: Any) -> Any:
            with quietly(request, messages):
                return asking.took(handler(asking.with_messages(messages)))

        return asking.answered(self._hosted.model(ask, asking.messages, model=asking.model))

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """The same for async code."""
        asking = LangChainRequest(request)
        survey(self._hosted.run, by_provider(request.tools))

        async def ask(messages: Sequence[Any], **_: Any) -> Any:
            with quietly(request, messages):
                return asking.took(await handler(asking.with_messages(messages)))

        return asking.answered(await self._hosted.amodel(ask, asking.messages, model=asking.model))

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Judge a call, carry it out as it was decided, and judge what comes of it."""
        call, name = request.tool_call, runs_as(request)

        def carry(args: dict[str, Any]) -> Any:
            try:
                with sealed(request, args):
                    return handler(request.override(tool_call={**call, "args": args}))
            except GraphBubbleUp as bubble:
                return Bubble(bubble)

        made = self._hosted.call(name, call["args"], carry, about=request)
        while isinstance(made, Refusal):
            pause_at(made)
            made = self._hosted.call(name, call["args"], carry, about=request)
        for to, payload in handoffs_in(made):
            told = self._hosted.report("handoff", to=to, payload=payload, about=request)
            if not told.proceeds:
                return told.answer
        return settled(made)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """The same for async code."""
        call, name = request.tool_call, runs_as(request)

        async def carry(args: dict[str, Any]) -> Any:
            try:
                with sealed(request, args):
                    return await handler(request.override(tool_call={**call, "args": args}))
            except GraphBubbleUp as bubble:
                return Bubble(bubble)

        made = await self._hosted.acall(name, call["args"], carry, about=request)
        while isinstance(made, Refusal):
            pause_at(made)
            made = await self._hosted.acall(name, call["args"], carry, about=request)
        for to, payload in handoffs_in(made):
            told = await self._hosted.areport("handoff", to=to, payload=payload, about=request)
            if not told.proceeds:
                return told.answer
        return settled(made)


class LangChainRequest:
    """One request to a model: what is judged of it, and its response with what was judged put
    back."""

    def __init__(self, request: Any) -> None:
        self._request = request
        self._response: Any = None
        system = request.system_message
        self.messages = [*([] if system is None else [system]), *request.messages]
        named = [getattr(request.model, name, None) for name in ("model_name", "model")]
        self.model = next((name for name in named if isinstance(name, str)), "")

    def with_messages(self, messages: Sequence[Any]) -> Any:
        """The request with messages that may have been changed, or have guidance among them."""
        if self._request.system_message is None:
            return self._request.override(messages=list(messages))
        return self._request.override(system_message=messages[0], messages=list(messages[1:]))

    def took(self, response: Any) -> AIMessage:
        """The reply to be judged; raises `TypeError` for a response of another shape."""
        self._response = (
            ModelResponse(result=[response]) if isinstance(response, AIMessage) else response
        )
        if not isinstance(self._response, ModelResponse) or not isinstance(
            self._response.result[0], AIMessage
        ):
            raise TypeError(f"a model has given a `{type(response).__name__}`")
        return self._response.result[0]

    def answered(self, reply: Any) -> Any:
        """The response with the reply that was judged. What was parsed from a reply that was
        changed is left out."""
        if self._response is None or not isinstance(reply, AIMessage):
            return ModelResponse(result=[reply])
        if reply is self._response.result[0]:
            return self._response
        rest = self._response.result[1:] if reply.tool_calls else []
        return ModelResponse(result=[reply, *rest])


def pauses(request: Any) -> bool:
    """Whether the graph of a call can stand still and go on later: it has a checkpointer."""
    return request.runtime.config.get("configurable", {}).get(CHECKPOINTER) is not None


def pause_at(refusal: Refusal) -> None:
    """Have the graph stand still at a call that waits for a person; returns where it has been told
    to go on."""
    interrupt({"ticket": refusal.ticket, "tool": refusal.tool, "message": str(refusal)})


def handoffs_in(made: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The agents to which a tool's command hands over, each with what it is handed."""
    if isinstance(made, Bubble) and isinstance(made.error, ParentCommand):
        made = made.error.args[0]
    if not isinstance(made, Command):
        return
    for to in [made.goto] if isinstance(made.goto, str | Send) else made.goto:
        if isinstance(to, Send):
            yield to.node, to.arg if isinstance(to.arg, dict) else {"argument": to.arg}
        elif to and to != END:
            yield to, {}


def settled(made: Any) -> Any:
    """The result of a call; what is no result goes on as the exception that it was."""
    if isinstance(made, Bubble):
        raise made.error
    return made


def asked_in(state: Any) -> list[Any]:
    """What people have said since the agent last did."""
    said = list(takewhile(lambda one: isinstance(one, HumanMessage), reversed(state["messages"])))
    return said[::-1]


def heard(judged: list[tuple[Any, Told]]) -> dict[str, Any] | None:
    """What becomes of the state where a prompt was changed, or the agent must not answer it."""
    refused = [told for _, told in judged if not told.proceeds]
    if refused:
        return {"messages": [refused[0].answer], "jump_to": "end"}
    changed = [
        one.model_copy(update={"content": told.content})
        for one, told in judged
        if told.content != one.text
    ]
    return {"messages": changed} if changed else None


class LangChainCanaryModel(BaseChatModel):
    """A model that asks for the canary until it is answered."""

    @property
    def _llm_type(self) -> str:
        return TOOL

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        """It knows its tool."""
        return self

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any
    ) -> ChatResult:
        calls = (
            []
            if isinstance(messages[-1], ToolMessage)
            else [{"name": TOOL, "args": {}, "id": TOOL}]
        )
        return ChatResult(generations=[ChatGeneration(message=AIMessage("done", tool_calls=calls))])


def canary(shield: Any, body: Callable[[], str]) -> None:
    """Have an agent call the canary, with the middleware around it."""
    tool = StructuredTool.from_function(body, name=TOOL, description="must not run")
    with LANGCHAIN.run(shield, agent=TOOL) as hosted:
        agent: Any = create_agent(LangChainCanaryModel(), [tool], middleware=[Guarded(hosted)])
        agent.invoke({"messages": [("user", "call it")]})
