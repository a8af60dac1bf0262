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

from stanchion.hosts import (
    EVERYTHING,
    Changed,
    Host,
    Hosted,
    Refusal,
    Told,
    Works,
    survey,
    tried,
)
from stanchion.hosts.contract.canary import TOOL
from stanchion.hosts.contract.frameworks import by_provider
from stanchion.kernel.stages import Stage
from stanchion.runtime.run import Run
from stanchion.runtime.setting import setting
from stanchion.runtime.shield import Shield

with tried("langchain", "1.1", "2"):
    from langchain.agents import create_agent
    from langchain.agents.middleware import AgentMiddleware, ModelResponse, hook_config
    from langchain.agents.structured_output import StructuredOutputError
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import (
        AIMessage,
        BaseMessage,
        HumanMessage,
        SystemMessage,
        ToolMessage,
    )
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.runnables.config import var_child_runnable_config
    from langchain_core.tools import StructuredTool
with tried("langgraph", "1.0.2", "2", of="langchain"):
    from langgraph.errors import GraphBubbleUp, ParentCommand
    from langgraph.graph import END
    from langgraph.types import Command, Send, interrupt

    from stanchion.hosts.langchain_models import REQUESTS, ChatRequest, guarded_model
    from stanchion.hosts.langchain_seals import asked_alone, runs_as, sealed

RUNTIME: Final = "__pregel_runtime"
"""Where LangGraph has what it makes for an invocation of a graph."""
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
    if isinstance(refusal.about, ChatRequest):
        return refusal.about.refuse(str(refusal))
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
    stream="chunk",
)
"""What LangChain can carry out, and how it says no."""


class Guarded(AgentMiddleware):
    """Has everything judged that an agent is asked, asks its model, calls and hands over.

    A call that waits for a person interrupts the graph where it has a checkpointer:
    `Command(resume=True)` asks again, and the call goes ahead once an operator has said yes.
    Without one the model reads that it waits.
    """

    def __init__(self, given: Shield | Run | Hosted, *, agent: str = "", task: str = "") -> None:
        super().__init__()
        self._works = Works(LANGCHAIN, given, lambda hosted: hosted, agent=agent, task=task)
        self._kinds: dict[Any, Any] = {}

    def model(self, model: BaseChatModel) -> Any:
        """A chat model like this one that judges what it is asked and says, for a node of your own,
        in the same runs."""
        return guarded_model(model, self._at_work, self._kinds)

    def _at_work(self, to: object) -> Hosted:
        """The run of the thread that is at work here, or of its invocation; `to` stands for one
        outside of a graph."""
        found = var_child_runnable_config.get()
        config: Any = {} if found is None else found
        given, about = config.get("configurable", {}), config.get("metadata", {})
        thread, runtime = given.get("thread_id"), given.get(RUNTIME)
        agent = about.get("lc_agent_name")
        named = agent if isinstance(agent, str) else ""
        if thread is not None:
            return self._works.at(str(thread), named)
        return self._works.tied(to if runtime is None else runtime.stream_writer, named)

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Judge what the agent is asked."""
        hosted = self._at_work(runtime.stream_writer)
        return heard([(one, hosted.report("prompt", text=one.text)) for one in asked_in(state)])

    @hook_config(can_jump_to=["end"])
    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """The same for async code."""
        hosted = self._at_work(runtime.stream_writer)
        return heard(
            [(one, await hosted.areport("prompt", text=one.text)) for one in asked_in(state)]
        )

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Have a request to the model and its reply judged where they leave and come."""
        survey(self._at_work(request.runtime.stream_writer).run, by_provider(request.tools))
        asked: list[ChatRequest] = []
        with asked_alone(), setting(REQUESTS, asked):
            try:
                response = handler(request.override(model=self.model(request.model)))
            except (StructuredOutputError, ValueError):
                response = None
                if refusal_in(asked) is None:
                    raise
        return answered(response, asked)

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """The same for async code."""
        survey(self._at_work(request.runtime.stream_writer).run, by_provider(request.tools))
        asked: list[ChatRequest] = []
        with asked_alone(), setting(REQUESTS, asked):
            try:
                response = await handler(request.override(model=self.model(request.model)))
            except (StructuredOutputError, ValueError):
                response = None
                if refusal_in(asked) is None:
                    raise
        return answered(response, asked)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Judge a call, carry it out as it was decided, and judge what comes of it."""
        call, name = request.tool_call, runs_as(request)
        hosted = self._at_work(request.runtime.stream_writer)

        def carry(args: dict[str, Any]) -> Any:
            try:
                with self._works.inside(hosted, hosted), sealed(request, args):
                    return handler(request.override(tool_call={**call, "args": args}))
            except GraphBubbleUp as bubble:
                return Bubble(bubble)

        made = hosted.call(name, call["args"], carry, about=request)
        while isinstance(made, Refusal):
            pause_at(made)
            made = hosted.call(name, call["args"], carry, about=request)
        for to, payload in handoffs_in(made):
            told = hosted.report("handoff", to=to, payload=payload, about=request)
            if not told.proceeds:
                return told.answer
        return settled(made)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """The same for async code."""
        call, name = request.tool_call, runs_as(request)
        hosted = self._at_work(request.runtime.stream_writer)

        async def carry(args: dict[str, Any]) -> Any:
            try:
                with self._works.inside(hosted, hosted), sealed(request, args):
                    return await handler(request.override(tool_call={**call, "args": args}))
            except GraphBubbleUp as bubble:
                return Bubble(bubble)

        made = await hosted.acall(name, call["args"], carry, about=request)
        while isinstance(made, Refusal):
            pause_at(made)
            made = await hosted.acall(name, call["args"], carry, about=request)
        for to, payload in handoffs_in(made):
            told = await hosted.areport("handoff", to=to, payload=payload, about=request)
            if not told.proceeds:
                return told.answer
        return settled(made)


def refusal_in(asked: Sequence[ChatRequest]) -> AIMessage | None:
    """The refusal in the place of the last reply, where there is one."""
    return asked[-1].refusal if asked else None


def answered(response: Any, asked: Sequence[ChatRequest]) -> Any:
    """The response, or the refusal in its place: nothing else of a refused reply goes on, and
    nothing can be parsed from it."""
    refusal = refusal_in(asked)
    if refusal is None:
        return response
    result = getattr(response, "result", ())
    named = {"id": result[0].id, "name": result[0].name} if result else {}
    return ModelResponse(result=[refusal.model_copy(update=named)])


def guarded(
    model: BaseChatModel, given: Shield | Run | Hosted, *, agent: str = "", task: str = ""
) -> Any:
    """A chat model like this one that judges what it is asked and says, wherever it is used: in a
    node of a graph, in a chain, alone."""
    return Guarded(given, agent=agent, task=task).model(model)


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
