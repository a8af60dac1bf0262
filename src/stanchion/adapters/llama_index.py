"""LlamaIndex: agents and agent workflows whose models, tools and handoffs are judged.

LlamaIndex has no hooks before a call. A guarded agent is a copy of yours: its model is wrapped, and so are the two
places through which every call of a tool and every task of an agent go.
"""

from __future__ import annotations

import copy
import json
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from itertools import count
from typing import Any, Final, NamedTuple

from stanchion import Refused
from stanchion.hosting import EVERYTHING, Changed, Host, Hosted, Refusal

HANDOFF: Final = "handoff"
"""The tool by which LlamaIndex has an agent hand its work to another; no tool of yours can have this name."""
ASKS: Final = ("chat", "complete", "stream_chat", "stream_complete")


class Call(NamedTuple):
    """A call as LlamaIndex makes it."""

    tool: str
    args: dict[str, Any]
    pause: bool = False


class Waits(NamedTuple):
    """A call that a person was asked about."""

    refusal: Refusal


def _refused(refusal: Refusal) -> Any:
    call = refusal.about
    if call is None:
        raise refusal.error
    return Waits(refusal) if refusal.waits and call.pause and not refusal.happened else _failed(call, str(refusal))


def _failed(call: Call, words: str, error: Exception | None = None) -> Any:
    from llama_index.core.tools import ToolOutput

    return ToolOutput(
        tool_name=call.tool, content=words, raw_input=call.args, raw_output=words, is_error=True, exception=error
    )


def _shown(output: Any) -> Any:
    """What the model reads of a tool's output; what says that it failed is judged as a failure."""
    said = [getattr(block, "text", block) for block in output.blocks]
    content = said[0] if len(said) == 1 else said
    return {"is_error": True, "content": content} if output.is_error else content


def _changed(change: Changed) -> Any:
    from llama_index.core.base.llms.types import TextBlock
    from llama_index.core.tools import ToolOutput

    content = change.content
    if isinstance(content, dict) and set(content) == {"is_error", "content"}:
        content = content["content"]
    said = content if isinstance(content, list) else [content]
    blocks = [TextBlock(text=one) if isinstance(one, str) else one for one in said]
    call, failed = change.about, change.result is not None and change.result.is_error
    made = {"raw_input": call.args, "raw_output": content, "is_error": failed}
    return ToolOutput(tool_name=call.tool, blocks=blocks, **made)


def _guided(words: str) -> Any:
    from llama_index.core.base.llms.types import ChatMessage

    return ChatMessage(role="system", content=words)


LLAMA_INDEX: Final = Host(
    "llama-index", can=EVERYTHING, refused=_refused, shown=_shown, changed=_changed, guided=_guided
)
"""LlamaIndex as a host: a refused call of a tool or of a handoff is an output that says so. A prompt, a request or a
reply that is refused, and the end of the run, are raised: the workflow ends with `Refused`."""


def guarded(agent: Any, hosted: Hosted, *, pause: bool = False) -> Any:
    """A copy of an agent, or of an `AgentWorkflow`, that works in this run.

    With `pause`, a call that a person is asked about pauses the workflow: it writes an `InputRequiredEvent` with the
    `ticket`, and goes on when it gets a `HumanResponseEvent` with the same `ticket`. The call is judged anew then, and
    the ticket alone decides. Without it the agent reads that a person was asked.
    """
    made = copy.copy(agent)
    members = getattr(agent, "agents", None)
    team = Team(hosted, agent.name if members is None else agent.root_agent)
    if members is None:
        made.__dict__["llm"] = _model(agent.llm, team, agent.name)
    else:
        made.agents = {name: _with_model(member, team) for name, member in members.items()}
    kind = type(agent)
    made.__dict__["_init_context"] = partial(_begin, hosted, partial(kind._init_context, made))
    made.__dict__["_call_tool"] = partial(_call_tool, team, pause, partial(kind._call_tool, made))
    return made


def _with_model(agent: Any, team: Team) -> Any:
    made = copy.copy(agent)
    made.__dict__["llm"] = _model(agent.llm, team, agent.name)
    return made


class Team:
    """The agents of a workflow: the first works in the run itself, each of the others in a child of it."""

    def __init__(self, hosted: Hosted, first: str) -> None:
        self._hosted, self._runs = hosted, {first: hosted}
        self.numbers = count(1)

    def of(self, name: str) -> Hosted:
        """The run of an agent."""
        if name not in self._runs:
            self._runs[name] = self._hosted.host.on(self._hosted.run.spawn(agent=name))  # type: ignore[attr-defined]
        return self._runs[name]


async def _begin(hosted: Hosted, inner: Callable[..., Any], ctx: Any, event: Any) -> None:
    """What the user asks for is judged before an agent begins."""
    asked = event.get("user_msg", None)
    text = asked if isinstance(asked, str) else getattr(asked, "content", None)
    if text:
        told = await hosted.areport("prompt", text=text)
        if told.content != text:
            event.user_msg = told.content
    await inner(ctx, event)


async def _call_tool(team: Team, pause: bool, inner: Callable[..., Any], ctx: Any, tool: Any, args: Any) -> Any:
    from llama_index.core.workflow import HumanResponseEvent, InputRequiredEvent

    call = Call(tool.metadata.get_name(), args, pause)
    hosted = team.of(await ctx.store.get("current_agent_name", default=next(iter(team._runs))))
    if call.tool == HANDOFF:
        return await _hand_off(team, hosted, call, partial(inner, ctx, tool), ctx)
    came = await _judged(hosted, call, partial(inner, ctx, tool))
    if isinstance(came, Waits):
        ticket = came.refusal.ticket
        asks = InputRequiredEvent(prefix=str(came.refusal), ticket=ticket, tool=call.tool)
        known = {"waiter_id": f"stanchion-{ticket}", "requirements": {"ticket": ticket}, "timeout": None}
        await ctx.wait_for_event(HumanResponseEvent, waiter_event=asks, **known)
        came = await _judged(hosted, call._replace(pause=False), partial(inner, ctx, tool))
    return came


async def _judged(hosted: Hosted, call: Call, inner: Callable[..., Any]) -> Any:
    """A tool call as LlamaIndex gets it: an output, whether it ran, failed or was refused."""
    from workflows.runtime.types.results import WaitingForEvent

    pauses: list[Exception] = []

    async def carry(args: dict[str, Any]) -> Any:
        try:
            output = await inner(args)
        except WaitingForEvent as waiting:  # the tool itself pauses its workflow, which is no failure
            pauses.append(waiting)
            return _failed(call, "it waits for an event")
        if output.exception is not None:
            raise output.exception
        return output

    try:
        came = await hosted.acall(call.tool, call.args, carry, about=call)
    except Refused:
        raise
    except Exception as error:  # noqa: BLE001 - the tool's own, judged; LlamaIndex shows its text to the model
        came = _failed(call, str(error), error)
    if pauses:
        raise pauses[-1]
    return came


async def _hand_off(team: Team, hosted: Hosted, call: Call, inner: Callable[..., Any], ctx: Any) -> Any:
    to = call.args.get("to_agent", "")
    about = {"to": to, "key": f"{HANDOFF}-{next(team.numbers)}", "about": call._replace(pause=False)}
    rest = {name: value for name, value in call.args.items() if name != "to_agent"}
    told = await hosted.areport("handoff", payload=rest, **about)
    if not told.proceeds:
        return told.answer
    output = await inner({"to_agent": to, **told.content})
    if await ctx.store.get("next_agent", default=None) == to:
        await hosted.areport("handoff_done", **about)
    return output


def _model(llm: Any, team: Team, agent: str) -> Any:
    """A copy of a model whose requests and replies are judged. What it does beyond that goes through these."""
    made = copy.copy(llm)
    for how in ASKS:
        streams = how.startswith("stream_")
        made.__dict__[how] = partial(_streamed if streams else _asked, team, agent, llm, how)
        made.__dict__[f"a{how}"] = partial(_astreamed if streams else _aasked, team, agent, llm, f"a{how}")
    return made


def _request(llm: Any, how: str, asked: Any) -> tuple[list[Any], dict[str, Any]]:
    """The messages of a request, and what else is judged of it."""
    from llama_index.core.base.llms.types import ChatMessage

    messages = list(asked) if how.endswith("chat") else [ChatMessage(role="user", content=asked)]
    params = {"max_tokens": llm.max_tokens} if getattr(llm, "max_tokens", None) else {}
    return messages, {"model": llm.metadata.model_name, "params": params}


def _sent(llm: Any, how: str, messages: list[Any], params: dict[str, Any], options: dict[str, Any]) -> Any:
    """Send a request, to another model or with other limits where that was decided."""
    decided = {name: value for name, value in params.items() if getattr(llm, name, value) != value}
    if decided:
        llm = copy.copy(llm)
        llm.__dict__.update(decided)
    asked = messages if how.endswith("chat") else "\n".join([message.content for message in messages])
    return getattr(llm, how)(asked, **options)


def _asked(team: Team, agent: str, llm: Any, how: str, asked: Any = None, **options: Any) -> Any:
    replies: list[Any] = []
    messages, about = _request(llm, how, options.pop("messages", asked))

    def ask(messages: list[Any], **params: Any) -> Any:
        replies.append(_sent(llm, how, messages, params, options))
        return _told(replies[-1])

    return _put_back(replies, team.of(agent).model(ask, messages, **about))


async def _aasked(team: Team, agent: str, llm: Any, how: str, asked: Any = None, **options: Any) -> Any:
    replies: list[Any] = []
    messages, about = _request(llm, how, options.pop("messages", asked))

    async def ask(messages: list[Any], **params: Any) -> Any:
        replies.append(await _sent(llm, how, messages, params, options))
        return _told(replies[-1])

    return _put_back(replies, await team.of(agent).amodel(ask, messages, **about))


def _streamed(team: Team, agent: str, llm: Any, how: str, asked: Any = None, **options: Any) -> Iterator[Any]:
    reply = Reply()
    messages, about = _request(llm, how, options.pop("messages", asked))

    def ask(messages: list[Any], **params: Any) -> Iterator[Any]:
        for came in _sent(llm, how, messages, params, options):
            yield reply.piece(came)
        yield reply.calls()

    for piece in team.of(agent).model(ask, messages, **about):
        yield reply.grown(piece)
    yield reply.whole()


async def _astreamed(team: Team, agent: str, llm: Any, how: str, asked: Any = None, **options: Any) -> Any:
    reply = Reply()
    messages, about = _request(llm, how, options.pop("messages", asked))

    async def pieces(messages: list[Any], params: dict[str, Any]) -> AsyncIterator[Any]:
        async for came in await _sent(llm, how, messages, params, options):
            yield reply.piece(came)
        yield reply.calls()

    async def ask(messages: list[Any], **params: Any) -> AsyncIterator[Any]:
        return pieces(messages, params)

    async def judged() -> AsyncIterator[Any]:
        async for piece in await team.of(agent).amodel(ask, messages, **about):
            yield reply.grown(piece)
        yield reply.whole()

    return judged()


def _told(reply: Any) -> dict[str, Any]:
    """A reply as it is judged: block by block, with what it used in a word that every vendor has."""
    said: dict[str, Any] = {"usage": _usage(reply)}
    if hasattr(reply, "text"):
        return said | {"content": [{"type": "text", "text": reply.text}]}
    message = reply.message
    return said | {
        "content": [_block(block) for block in message.blocks],
        "additional_kwargs": dict(message.additional_kwargs),
    }


def _block(block: Any) -> dict[str, Any]:
    match block.block_type:
        case "text":
            return {"type": "text", "text": block.text}
        case "thinking":
            return {"type": "thinking", "thinking": block.content}
        case "tool_call":
            return {"type": "tool_call", "arguments": block.tool_kwargs}
        case other:
            return {"type": other}


FIELDS: Final = {
    "text": ("text", "text"),
    "thinking": ("thinking", "content"),
    "tool_call": ("arguments", "tool_kwargs"),
}
"""By the type of a block where its words are, as they are judged and in the block itself."""


def _put_back(replies: list[Any], said: dict[str, Any]) -> Any:
    """The reply with what was changed. Then nothing stays that says it once more as the provider has said it."""
    reply = replies[-1]
    if said == _told(reply):
        return reply
    clean = {"raw": {"usage": said["usage"]}, "delta": None, "logprobs": None}
    if hasattr(reply, "text"):
        return reply.model_copy(update=clean | {"text": said["content"][0]["text"]})
    blocks = [_with(block, one) for block, one in zip(reply.message.blocks, said["content"], strict=True)]
    kept = {"blocks": blocks, "additional_kwargs": said["additional_kwargs"]}
    return reply.model_copy(update=clean | {"message": reply.message.model_copy(update=kept)})


def _with(block: Any, said: dict[str, Any]) -> Any:
    judged, own = FIELDS.get(said["type"], ("", ""))
    return block.model_copy(update={own: said[judged]}) if own else block


def _usage(reply: Any) -> Any:
    """What a reply used: the provider's own word, or the counts that integrations put beside it."""
    raw = reply.raw
    said = raw.get("usage") if isinstance(raw, dict) else getattr(raw, "usage", None)
    if said is not None:
        return said
    beside = reply.additional_kwargs
    return {name: beside[name] for name in beside if name.endswith("_tokens")}


class Reply:
    """A streamed reply: what LlamaIndex shows of it grows as its pieces are judged."""

    def __init__(self) -> None:
        self._last: Any = None
        self._text = ""
        self._args: list[str] = []

    def piece(self, came: Any) -> dict[str, Any]:
        """What is new in the next response of a stream."""
        self._last = came
        thought = came.additional_kwargs.get("thinking_delta")
        return {"content": came.delta if came.delta else "", "reasoning": thought, "usage": _usage(came)}

    def calls(self) -> dict[str, Any]:
        """The calls of tools that a reply has ended with."""
        calls = [] if self._last is None else _calls(self._last)
        return {"content": "", "tool_calls": [{"arguments": _written(block.tool_kwargs)} for block in calls]}

    def grown(self, piece: dict[str, Any]) -> Any:
        """The reply until now, with a piece that was judged."""
        self._text += piece["content"]
        self._args += [call["arguments"] for call in piece.get("tool_calls", ())]
        thought = piece.get("reasoning")
        return self._response(piece["content"], {} if thought is None else {"thinking_delta": thought}, [])

    def whole(self) -> Any:
        """The reply at its end: what agents go on with."""
        calls = [] if self._last is None else _calls(self._last)
        given = zip(calls, self._args, strict=False)
        made = [block.model_copy(update={"tool_kwargs": _read(block.tool_kwargs, args)}) for block, args in given]
        usage = {} if self._last is None else {"usage": _usage(self._last)}
        return self._response("", {}, made, usage)

    def _response(self, delta: str, beside: dict[str, Any], calls: list[Any], raw: Any = None) -> Any:
        from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, TextBlock

        if hasattr(self._last, "text"):
            return CompletionResponse(text=self._text, delta=delta, raw=raw)
        said = [TextBlock(text=self._text)] if self._text else []
        message = ChatMessage(role="assistant", blocks=[*said, *calls])
        return ChatResponse(message=message, delta=delta, raw=raw, additional_kwargs=beside)


def _calls(reply: Any) -> list[Any]:
    blocks = [] if hasattr(reply, "text") else reply.message.blocks
    return [block for block in blocks if block.block_type == "tool_call"]


def _written(args: Any) -> str:
    return args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)


def _read(before: Any, args: str) -> Any:
    """Arguments in the type that they came in."""
    return args if isinstance(before, str) else json.loads(args)
