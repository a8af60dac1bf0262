"""Microsoft Agent Framework: middleware that has an agent's prompts, models, streams, tools and
sub-agents judged."""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import AsyncIterator, Callable
from functools import partial
from itertools import zip_longest
from typing import Any, Final

from stanchion.hosts import EVERYTHING, Changed, Host, Hosted, Refusal, survey, tried
from stanchion.hosts.contract.canary import TOOL
from stanchion.hosts.contract.frameworks import by_provider
from stanchion.hosts.contract.prompts import Prompts
from stanchion.hosts.contract.sealing import SEALED, opened, put_round, sealed
from stanchion.hosts.contract.streams import InOrder
from stanchion.hosts.contract.works import Works
from stanchion.kernel.stages import Stage

with tried("agent-framework-core", "1.20", "1.24"):
    from agent_framework import (
        Agent,
        AgentMiddleware,
        BaseChatClient,
        ChatMiddleware,
        ChatMiddlewareLayer,
        ChatResponse,
        ChatResponseUpdate,
        Content,
        FunctionInvocationLayer,
        FunctionMiddleware,
        FunctionTool,
        Message,
        MiddlewareFailure,
        ResponseStream,
        tool,
    )

ADVICE: Final = "put the middleware that changes it before the shield's"

APPROVED: Final = "approval_response"
"""Where the framework says that a call was approved in its own way."""


def refused(refusal: Refusal) -> Any:
    """What the framework makes of a refusal: a tool's result with the reason, or a request for
    approval; a model's call raises."""
    if refusal.about is None:
        raise refusal.error
    told = refusal.about.metadata
    if (
        refusal.waits
        and refusal.ticket is not None
        and refusal.stage is Stage.TOOL_CALL
        and APPROVED not in told
    ):
        name = told.get("function_call_occurrence_id")
        args = json.dumps(dict(refusal.about.arguments))
        call = Content.from_function_call(
            told["call_id"], refusal.about.function.name, arguments=args
        )
        call.id = name
        return Content.from_function_approval_request(
            told["call_id"] if name is None else name, call
        )
    return str(refusal)


def ended(refusal: Refusal) -> Any:
    """The end of a run: the framework turns any other exception around a tool into a result, and
    goes on."""
    if refusal.about is None:
        raise refusal.error
    raise MiddlewareFailure(str(refusal)) from refusal.error


def shown(result: Any) -> Any:
    """What the agent reads of a tool's result: a text, or contents where there is more."""
    if not isinstance(result, list) or not all(isinstance(one, Content) for one in result):
        return result
    return (
        result[0].text
        if len(result) == 1 and result[0].type == "text"
        else [one.to_dict() for one in result]
    )


def changed(change: Changed) -> Any:
    """A result with what was changed in it."""
    if not isinstance(change.result, list) or isinstance(change.content, str):
        return change.content
    return [Content.from_dict(one) for one in change.content]


AGENT_FRAMEWORK: Final = Host(
    "agent-framework",
    can=EVERYTHING,
    refused=refused,
    ended=ended,
    shown=shown,
    changed=changed,
    guided=lambda words: {"role": "system", "content": [{"type": "text", "text": words}]},
    pause="resume",
    stream="chunk",
)


def guarded(given: Any, *, agent: str = "", task: str = "") -> list[Any]:
    """The middleware that has everything judged that an agent does: `Agent(...,
    middleware=guarded(shield))`.

    Each session works in a run of its own, and so does each invocation without one; a run that is
    given works for all of them. Give all of the list, and before middleware of your own. An agent
    that is a tool (`agent.as_tool()`) is guarded with it, and works in a child run.
    """
    return _middleware(Works(AGENT_FRAMEWORK, given, AgentPost, agent=agent, task=task))


class AgentPost:
    """What works for a session or an invocation: its run, and what users have said."""

    def __init__(self, hosted: Hosted) -> None:
        self.hosted, self.prompts = hosted, Prompts()


def _middleware(works: Works[AgentPost]) -> list[Any]:
    return [GuardedAgents(works), GuardedTools(works), GuardedModels(works)]


class GuardedAgents(AgentMiddleware):
    """Has a run at work while an agent runs, and while its stream is read."""

    def __init__(self, works: Works[AgentPost]) -> None:
        self._works = works

    async def process(self, context: Any, call_next: Any) -> None:
        """Run the agent in the run of its session, or in one of its own."""
        name = _name(context.agent)
        key = "" if context.session is None else context.session.session_id
        if not context.stream:
            async with self._works.during(name, key):
                await call_next()
            return
        await call_next()
        post = self._works.at(key, name) if key else self._works.tied(context.result, name)
        context.result.with_pull_context_manager(partial(self._works.inside, post, post.hosted))


class GuardedTools(FunctionMiddleware):
    """Judges tool calls and what comes of them."""

    def __init__(self, works: Works[AgentPost]) -> None:
        self._works = works

    async def process(self, context: Any, call_next: Any) -> None:
        """Judge a call, run it, and judge what comes of it."""
        hosted, other = self._works.now.hosted, _agent_of(context.function)

        async def carry(args: dict[str, Any]) -> Any:
            context.arguments = args
            for one in [context.function, *([] if context.tools is None else context.tools)]:
                if isinstance(one, FunctionTool):
                    put_round(one, "invoke", _invoke_sealed)
            with sealed(context.function.name, args):
                await call_next()
            return context.result

        async def delegate(args: dict[str, Any]) -> Any:
            told = await hosted.areport("handoff", to=_name(other), payload=args, about=context)
            if not told.proceeds:
                return told.answer
            own = [] if other.middleware is None else list(other.middleware)
            if not any(isinstance(one, GuardedTools) for one in own):
                other.middleware = [*_middleware(self._works), *own]
            await hosted.areport("handoff_done", to=_name(other), call=told.decision.id)
            return await carry(told.content)

        doing = carry if other is None else delegate
        context.result = await hosted.acall(
            context.function.name, _args(context), doing, about=context
        )


def _args(context: Any) -> Any:
    return _plain(context.arguments)


def _plain(given: Any) -> Any:
    return given.model_dump() if hasattr(given, "model_dump") else given


async def _invoke_sealed(invoke: Any, tool: Any, **given: Any) -> Any:
    """Run a tool, if this is the call that was judged; where an agent is used without the
    middleware none was."""
    if SEALED.get() is None:
        return await invoke(**given)
    with opened(tool.name, _plain(given["arguments"]), ADVICE):
        return await invoke(**given)


def _agent_of(tool: Any) -> Any:
    """The agent that a tool runs, where it is one that was made by `as_tool`."""
    fn: Any = getattr(tool, "func", None)
    if not getattr(fn, "__qualname__", "").endswith("as_tool.<locals>._agent_wrapper"):
        return None
    return inspect.getclosurevars(fn).nonlocals["self"]


def _name(agent: Any) -> str:
    return agent.name if agent.name else "agent"


class GuardedModels(ChatMiddleware):
    """Judges requests to models and their replies, piece by piece where they are streamed."""

    def __init__(self, works: Works[AgentPost]) -> None:
        self._works = works

    async def process(self, context: Any, call_next: Any) -> None:
        """Judge a request, send it, and judge the reply."""
        post = self._works.now
        hosted = post.hosted
        messages = list(context.messages)
        views = [_seen(message, place) for place, message in enumerate(messages)]
        reply = ReplyUpdates()

        async def ask(sent: list[Any], **given: Any) -> Any:
            context.messages = [_message(view, messages, views) for view in sent]
            context.options = {**(context.options or {}), **given}
            await call_next()
            return reply.pieces_of(context.result) if context.stream else _reply(context.result)

        options = context.options or {}
        survey(hosted.run, by_provider(options.get("tools") or ()))
        limit = options.get("max_tokens")
        asked = await post.prompts.judged(hosted, views)
        named = options.get("model", getattr(context.client, "model", None))
        judged = await hosted.amodel(
            ask,
            asked,
            model=named if isinstance(named, str) else "",
            params={"max_tokens": limit} if isinstance(limit, int) else {},
        )
        if context.stream:
            context.result = ResponseStream(
                reply.updates_of(judged), finalizer=ChatResponse.from_updates
            )
        else:
            context.result = _replied(context.result, judged)


def _seen(message: Any, place: int) -> dict[str, Any]:
    """A message as guards read it."""
    return {
        "role": str(message.role),
        "content": [one.to_dict() for one in message.contents],
        "place": place,
    }


def _message(view: dict[str, Any], messages: list[Any], views: list[Any]) -> Any:
    """The message of a view, with what was changed; guidance is a message of its own."""
    if "place" not in view:
        return Message(view["role"], [one["text"] for one in view["content"]])
    own = messages[view["place"]]
    if view == views[view["place"]]:
        return own
    made = copy.copy(own)
    made.contents = [Content.from_dict(one) for one in view["content"]]
    return made


def _contents(response: Any) -> list[Any]:
    return [one for message in response.messages for one in message.contents]


def _reply(response: Any) -> dict[str, Any]:
    """A reply as guards read it."""
    used = {} if response.usage_details is None else response.usage_details
    return {"content": [_spoken(one) for one in _contents(response)], "usage": _usage(used)}


def _replied(response: Any, judged: dict[str, Any]) -> Any:
    """The reply with what was changed in it; what the provider has sent would show what is
    hidden."""
    if judged == _reply(response):
        return response
    said = iter(judged["content"])
    for message in response.messages:
        message.contents = [_heard(one, next(said)) for one in message.contents]
        message.raw_representation = None
    response.raw_representation = None
    return response


def _spoken(content: Any) -> dict[str, Any]:
    """What a content says, under the name that says what kind of words it is."""
    if content.type == "text":
        return {"type": "text", "text": content.text}
    if content.type == "text_reasoning" and content.text:
        return {"type": "thinking", "thinking": content.text}
    if content.type == "function_call":
        said = content.arguments
        return (
            {"type": "function_call", "partial_json": said}
            if isinstance(said, str)
            else {"type": "function_call"}
        )
    return {"type": content.type}


def _heard(content: Any, said: dict[str, Any]) -> Any:
    """A content with what is left of its words."""
    if said == _spoken(content):
        return content
    made = copy.copy(content)
    made.raw_representation = None
    match said:
        case {"partial_json": text}:
            made.arguments = text
        case {"text": text} | {"thinking": text}:
            made.text = text
    return made


class ReplyUpdates:
    """The updates of a streamed reply as guards read them, and as they go on with what was let
    through."""

    def __init__(self) -> None:
        self._updates: list[tuple[Any, Any, bool]] = []

    async def pieces_of(self, updates: Any) -> AsyncIterator[dict[str, Any]]:
        """Each content with its words, in which block they are, and which content it is. Between
        blocks is a piece without words: it waits for all that is held back, and whatever comes
        later waits for it."""
        block, last = 0, ""
        async for update in updates:
            contents = update.contents if update.contents else [None]
            for place, content in enumerate(contents):
                kind = _kind(content, last)
                if kind != last:
                    block, last = block + 1, kind
                    yield self._piece(None, None, False, block)
                yield self._piece(update, content, place == len(contents) - 1, block)

    def _piece(self, update: Any, content: Any, ends: bool, block: int) -> dict[str, Any]:
        self._updates.append((update, content, ends))
        spoken = {} if content is None else _spoken(content)
        used = content.usage_details if content is not None and content.type == "usage" else None
        usage = {} if used is None else {"usage": _usage(used)}
        number = len(self._updates) - 1
        return {
            "type": "content_block_delta",
            "index": block,
            "event": number,
            "delta": spoken,
            **usage,
        }

    async def updates_of(self, judged: Any) -> AsyncIterator[ChatResponseUpdate]:
        """The updates in their order, with what is left of their words. What comes later of a
        content that has gone on is an update of its own."""
        order, begun, contents = InOrder(), 0, list[Any]()
        async for piece in judged:
            for one in order.ready(piece["event"], piece):
                update, content, ends = self._updates[one["event"]]
                heard = [] if content is None else [_heard(content, one["delta"])]
                if one["event"] < begun:
                    yield _with(update, heard)
                    continue
                begun = one["event"] + 1
                contents += heard
                if ends:
                    yield _with(update, contents)
                    contents = []


def _with(update: Any, contents: list[Any]) -> Any:
    """An update with these contents; what the provider has sent would show what is hidden."""
    if all(one is own for one, own in zip_longest(contents, update.contents or ())):
        return update
    made = copy.copy(update)
    made.contents, made.raw_representation = contents, None
    return made


def _kind(content: Any, last: str) -> str:
    """What tells the blocks of a reply from each other: what they are, and of calls which one,
    where it is said again with each piece."""
    if content is None:
        return ""
    if content.type != "function_call":
        return str(content.type)
    return (
        f"{content.type} {content.call_id}"
        if content.call_id or not last.startswith(content.type)
        else last
    )


def _usage(used: Any) -> dict[str, Any]:
    return {
        "input_tokens": used.get("input_token_count"),
        "output_tokens": used.get("output_token_count"),
    }


class AgentFrameworkCanaryModel(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """A chat client whose model asks for the canary until it is answered."""

    async def _inner_get_response(self, *, messages: Any, **_: Any) -> Any:
        asks = len(messages) == 1
        said = (
            Content.from_function_call(TOOL, TOOL, arguments="{}")
            if asks
            else Content.from_text("done")
        )
        return ChatResponse(messages=[Message("assistant", [said])], response_id=TOOL)


async def canary(shield: Any, body: Callable[[], str]) -> None:
    """Have an agent call the canary, with the middleware around it."""
    tools: list[Any] = [
        tool(body, name=TOOL, description="must not run", approval_mode="never_require")
    ]
    await Agent(
        client=AgentFrameworkCanaryModel(), name=TOOL, tools=tools, middleware=guarded(shield)
    ).run("call it")
