"""LlamaIndex: agents and agent workflows whose models, tools and handoffs are judged.

LlamaIndex has no hooks before a call. A guarded agent is a copy of yours: its model is wrapped, and
so are the two places through which every call of a tool and every task of an agent go.
"""

from __future__ import annotations

import copy
import json
from collections.abc import AsyncIterator, Callable
from functools import partial
from hashlib import blake2b
from itertools import count
from typing import Any, Final, NamedTuple

from stanchion import Refused
from stanchion.hosts import EVERYTHING, Changed, Host, Hosted, Refusal, lesser, survey, tried
from stanchion.hosts.contract.canary import TOOL
from stanchion.hosts.contract.frameworks import by_provider
from stanchion.hosts.contract.works import Works

with tried("llama-index-core", "0.14.25", "0.15"):
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.base.llms.types import (
        ChatMessage,
        ChatResponse,
        TextBlock,
        ToolCallBlock,
    )
    from llama_index.core.llms.mock import MockFunctionCallingLLM
    from llama_index.core.tools import FunctionTool, ToolOutput
    from llama_index.core.workflow import HumanResponseEvent, InputRequiredEvent
with tried("llama-index-workflows", "2.26", "3", of="llama-index-core"):
    from workflows.runtime.types.results import WaitingForEvent

HANDOFF: Final = "handoff"
"""The tool by which LlamaIndex has an agent hand its work to another; no tool of yours can have
this name."""
PAUSED: Final = "stanchion_paused"
"""Where a workflow's state has the tickets of calls that wait for a person. LlamaIndex runs the
step that calls a tool from its beginning after a pause, so it has to know there that the call was
judged."""
UNUSED: Final = ("chat", "complete", "stream_chat", "stream_complete", "astream_complete")
"""Ways to ask a model that no agent uses."""


class PersonAsked(InputRequiredEvent):
    """A call of `tool` waits for a person, who was asked with `ticket`: for the host, and not for
    the agent."""


class PersonAnswered(HumanResponseEvent):
    """Somebody has answered a ticket: whatever waits for one is judged anew, and the ticket alone
    decides."""


class WorkflowCall(NamedTuple):
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
    return (
        Waits(refusal)
        if refusal.waits and call.pause and not refusal.happened
        else _failed(call, str(refusal))
    )


def _failed(call: WorkflowCall, words: str, error: Exception | None = None) -> Any:
    return ToolOutput(
        tool_name=call.tool,
        content=words,
        raw_input=call.args,
        raw_output=words,
        is_error=True,
        exception=error,
    )


def _shown(output: Any) -> Any:
    """What the model reads of a tool's output."""
    said = [getattr(block, "text", block) for block in output.blocks]
    return said[0] if len(said) == 1 else said


def _changed(change: Changed) -> Any:
    call, content = change.about, change.content
    said = content if isinstance(content, list) else [content]
    blocks = [TextBlock(text=one) if isinstance(one, str) else one for one in said]
    failed = change.result is not None and change.result.is_error
    return ToolOutput(
        tool_name=call.tool, blocks=blocks, raw_input=call.args, raw_output=content, is_error=failed
    )


def _guided(words: str) -> Any:
    return ChatMessage(role="system", content=words)


LLAMA_INDEX: Final = Host(
    "llama-index",
    can=EVERYTHING,
    refused=_refused,
    shown=_shown,
    changed=_changed,
    failed=lambda output: bool(output.is_error),
    guided=_guided,
    pause="resume",
    stream="chunk",
)
"""LlamaIndex as a host: a refused call of a tool or of a handoff is an output that says so. A
prompt, a request or a reply that is refused, and the end of the run, are raised: the workflow ends
with `Refused`."""


FRONT: Final = ("take_step", "_init_context", "_call_tool")
"""What a guarded agent does not do itself: it would pass by what is judged."""


def guarded(
    workflow: Any, given: Any, *, pause: bool = False, agent: str = "", task: str = ""
) -> Any:
    """A copy of an agent, or of an `AgentWorkflow`, of which everything is judged that it does.

    Each `run` works in a run of its own; a run that is given works for all of them. It bears the
    name of the first agent where `agent` names no other.

    With `pause`, a call that a person is asked about pauses the workflow: it writes `PersonAsked`
    to the stream of its events, and goes on when it is sent `PersonAnswered`. The call is judged
    anew then, and the ticket alone decides. Without `pause` the agent reads that a person was
    asked.
    """
    if not hasattr(workflow, "_call_tool"):
        kind = type(workflow).__name__
        raise TypeError(f"`guarded` takes an agent or an `AgentWorkflow`, not a `{kind}`")
    works = Works(LLAMA_INDEX, given, lambda hosted: hosted, agent=agent, task=task)
    made = copy.copy(workflow)
    made.__dict__["run"] = partial(_run, workflow, works, pause)
    made.__dict__.update({name: partial(_past, name) for name in FRONT})
    return made


def _past(name: str, *_args: Any, **_options: Any) -> Any:
    raise TypeError(f"`{name}` is not guarded: guard the workflow that the agent is in, and run it")


def _run(workflow: Any, works: Works[Hosted], pause: bool, *args: Any, **options: Any) -> Any:
    """Run a copy of a workflow, whose run is closed when that has ended."""
    work = works.begin(_first(workflow), "")

    def end(_handler: Any = None) -> None:
        over = works.end(work)
        if over is not None:
            over.close()

    try:
        handler = guarding(workflow, works, work.hosted, pause).run(*args, **options)
    except BaseException:
        end()
        raise
    handler._result_task.add_done_callback(end)
    return handler


def _first(workflow: Any) -> str:
    """The agent that a workflow begins with."""
    return str(workflow.root_agent if hasattr(workflow, "agents") else workflow.name)


def guarding(workflow: Any, works: Works[Hosted], hosted: Hosted, pause: bool = False) -> Any:
    """A copy of a workflow that works in this run."""
    made = copy.copy(workflow)
    members = getattr(workflow, "agents", None)
    team = WorkflowRuns(works, hosted, _first(workflow))
    if members is not None:
        made.agents = {name: _with_model(member, team) for name, member in members.items()}
    else:
        made = _with_model(workflow, team)
    kind = type(workflow)
    made.__dict__["_init_context"] = partial(_begin, hosted, partial(kind._init_context, made))
    made.__dict__["_call_tool"] = partial(_call_tool, team, pause, partial(kind._call_tool, made))
    return made


def _with_model(agent: Any, team: WorkflowRuns) -> Any:
    made = copy.copy(agent)
    survey(
        team.of(team.first).run,
        by_provider(getattr(agent.llm, "built_in_tools", None) or (), agent.name),
    )
    made.__dict__["llm"] = _model(agent.llm, team, agent.name)
    return made


class WorkflowRuns:
    """The agents of a workflow: the first works in the run itself, each of the others in a child of
    it."""

    def __init__(self, works: Works[Hosted], hosted: Hosted, first: str) -> None:
        self.works, self._hosted = works, hosted
        self._runs, self.first = {first: hosted}, first
        self.numbers = count(1)

    def of(self, name: str) -> Hosted:
        """The run of an agent."""
        if name not in self._runs:
            self._runs[name] = self._hosted.child(name)
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


async def _call_tool(
    team: WorkflowRuns, pause: bool, inner: Callable[..., Any], ctx: Any, tool: Any, args: Any
) -> Any:
    call, carry = WorkflowCall(tool.metadata.get_name(), args, pause), partial(inner, ctx, tool)
    hosted = team.of(await ctx.store.get("current_agent_name", default=team.first))
    if call.tool == HANDOFF:
        return await _hand_off(team, hosted, call, carry, ctx)
    place = f"{PAUSED}_{blake2b(repr((call.tool, call.args)).encode(), digest_size=8).hexdigest()}"
    ticket = await ctx.store.get(place, default=None) if pause else None
    if ticket is None:
        came = await _judged(team, hosted, call, carry)
        if not isinstance(came, Waits):
            return came
        ticket = came.refusal.ticket
        await ctx.store.set(place, ticket)
    asks = PersonAsked(prefix=f"`{call.tool}` waits for a person", ticket=ticket, tool=call.tool)
    await ctx.wait_for_event(PersonAnswered, waiter_event=asks, timeout=None)
    await ctx.store.set(place, None)
    return await _judged(team, hosted, call._replace(pause=False), carry)


async def _judged(
    team: WorkflowRuns, hosted: Hosted, call: WorkflowCall, inner: Callable[..., Any]
) -> Any:
    """A tool call as LlamaIndex gets it: an output, whether it ran, failed or was refused."""
    pauses: list[Exception] = []

    async def carry(args: dict[str, Any]) -> Any:
        try:
            with team.works.inside(hosted, hosted):
                output = await inner(args)
        except (
            WaitingForEvent
        ) as waiting:  # the tool itself pauses its workflow, which is no failure
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


async def _hand_off(
    team: WorkflowRuns, hosted: Hosted, call: WorkflowCall, inner: Callable[..., Any], ctx: Any
) -> Any:
    to = call.args.get("to_agent", "")
    about = {
        "to": to,
        "key": f"{HANDOFF}-{next(team.numbers)}",
        "about": call._replace(pause=False),
    }
    rest = {name: value for name, value in call.args.items() if name != "to_agent"}
    told = await hosted.areport("handoff", payload=rest, **about)
    if not told.proceeds:
        return told.answer
    output = await inner({"to_agent": to, **told.content})
    if await ctx.store.get("next_agent", default=None) == to:
        await hosted.areport("handoff_done", **about)
    return output


def _model(llm: Any, team: WorkflowRuns, agent: str) -> Any:
    """A copy of a model whose requests and replies are judged. Agents ask with these methods, or
    with others that go through them."""
    made = copy.copy(llm)
    asks = {"achat": _asked, "acomplete": _asked, "astream_chat": _streamed}
    for how, ask in asks.items():
        made.__dict__[how] = partial(ask, team, agent, llm, how)
    for how in UNUSED:
        made.__dict__[how] = partial(_unguarded, how)
    return made


def _unguarded(how: str, *_args: Any, **_options: Any) -> Any:
    raise TypeError(f"`{how}` is not guarded: ask with `achat`, `astream_chat` or `acomplete`")


def _request(llm: Any, how: str, asked: Any) -> tuple[list[Any], dict[str, Any]]:
    """The messages of a request, and what else is judged of it."""
    messages = list(asked) if how.endswith("chat") else [ChatMessage(role="user", content=asked)]
    params = {"max_tokens": llm.max_tokens} if getattr(llm, "max_tokens", None) else {}
    return messages, {"model": llm.metadata.model_name, "params": params}


def _sent(
    llm: Any, how: str, messages: list[Any], params: dict[str, Any], options: dict[str, Any]
) -> Any:
    """Send a request, to another model or with other limits where that was decided."""
    asked = (
        messages if how.endswith("chat") else "\n".join([message.content for message in messages])
    )
    return getattr(lesser(llm, params), how)(asked, **options)


async def _asked(
    team: WorkflowRuns, agent: str, llm: Any, how: str, asked: Any = None, **options: Any
) -> Any:
    replies: list[Any] = []
    messages, about = _request(llm, how, options.pop("messages", asked))

    async def ask(messages: list[Any], **params: Any) -> Any:
        replies.append(await _sent(llm, how, messages, params, options))
        return _told(replies[-1])

    return _put_back(replies, await team.of(agent).amodel(ask, messages, **about))


async def _streamed(
    team: WorkflowRuns, agent: str, llm: Any, how: str, asked: Any = None, **options: Any
) -> Any:
    reply = GrowingReply()
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
    """A reply as it is judged: block by block, with what it used in a word that every vendor
    has."""
    said: dict[str, Any] = {"usage": _usage(reply)}
    if hasattr(reply, "text"):
        return said | {"content": [{"type": "text", "text": reply.text}]}
    message = reply.message
    return said | {
        "content": [_block(block) for block in message.blocks],
        "additional_kwargs": dict(message.additional_kwargs),
    }


FIELDS: Final = {
    "text": ("text", "text"),
    "thinking": ("thinking", "content"),
    "tool_call": ("arguments", "tool_kwargs"),
}
"""By the type of a block where its words are, as they are judged and in the block itself."""


def _block(block: Any) -> dict[str, Any]:
    judged, own = FIELDS.get(block.block_type, ("", ""))
    return {"type": block.block_type} | ({judged: getattr(block, own)} if own else {})


def _put_back(replies: list[Any], said: dict[str, Any]) -> Any:
    """The reply with what was changed. Then nothing stays that says it once more as the provider
    has said it."""
    reply = replies[-1]
    if said == _told(reply):
        return reply
    clean = {"raw": {"usage": said["usage"]}, "delta": None, "logprobs": None}
    if hasattr(reply, "text"):
        return reply.model_copy(update=clean | {"text": said["content"][0]["text"]})
    blocks = [
        _with(block, one) for block, one in zip(reply.message.blocks, said["content"], strict=True)
    ]
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


class GrowingReply:
    """A streamed reply: what LlamaIndex shows of it grows as its pieces are judged."""

    def __init__(self) -> None:
        self._last: Any = None
        self._text, self._thought = "", ""
        self._args: dict[int, str] = {}
        self._beside: dict[str, Any] = {}

    def piece(self, came: Any) -> dict[str, Any]:
        """What is new in the next response of a stream."""
        self._last = came
        thought = came.additional_kwargs.get("thinking_delta")
        return {
            "content": came.delta if came.delta else "",
            "reasoning": thought,
            "usage": _usage(came),
        }

    def calls(self) -> dict[str, Any]:
        """What a reply has ended with beside its text: calls of tools, in blocks or as integrations
        keep them."""
        calls = enumerate(self._blocks("tool_call"))
        made = [
            {"index": place, "function": {"arguments": _written(block.tool_kwargs)}}
            for place, block in calls
        ]
        beside = {} if self._last is None else dict(self._last.message.additional_kwargs)
        return {"content": "", "tool_calls": made, "additional_kwargs": beside}

    def grown(self, piece: dict[str, Any]) -> Any:
        """The reply until now, with a piece that was judged."""
        for call in piece.get("tool_calls", ()):
            self._args[call["index"]] = (
                self._args.get(call["index"], "") + call["function"]["arguments"]
            )
        thought = piece.get("reasoning")
        self._text, self._thought = (
            self._text + piece["content"],
            self._thought + (thought if thought else ""),
        )
        self._beside = piece.get("additional_kwargs", self._beside)
        return self._response(piece["content"], {"thinking_delta": thought} if thought else {})

    def whole(self) -> Any:
        """The reply at its end, which agents go on with. A changed thought is left out: its
        signature would not fit."""
        thoughts = self._blocks("thinking")
        kept = (
            thoughts
            if "".join([one.content for one in thoughts if one.content]) == self._thought
            else []
        )
        calls = [
            block.model_copy(update={"tool_kwargs": _read(block.tool_kwargs, self._args[place])})
            for place, block in enumerate(self._blocks("tool_call"))
        ]
        raw = None if self._last is None else {"usage": _usage(self._last)}
        made = self._response("", {}, raw)
        made.message.blocks = [*kept, *made.message.blocks, *calls]
        made.message.additional_kwargs = self._beside
        return made

    def _blocks(self, kind: str) -> list[Any]:
        return (
            []
            if self._last is None
            else [one for one in self._last.message.blocks if one.block_type == kind]
        )

    def _response(self, delta: str, beside: dict[str, Any], raw: Any = None) -> Any:
        message = ChatMessage(role="assistant", content=self._text if self._text else None)
        return ChatResponse(message=message, delta=delta, raw=raw, additional_kwargs=beside)


def _written(args: Any) -> str:
    return args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)


def _read(before: Any, args: str) -> Any:
    """Arguments in the type that they came in."""
    return args if isinstance(before, str) else json.loads(args)


class LlamaIndexCanaryModel(MockFunctionCallingLLM):
    """A model that asks for the canary until it is answered."""

    async def achat(self, messages: Any, **_options: Any) -> ChatResponse:
        """The next reply."""
        if any(one.role == "tool" for one in messages):
            return ChatResponse(message=ChatMessage(role="assistant", content="done"))
        asks = ToolCallBlock(tool_call_id=TOOL, tool_name=TOOL, tool_kwargs={})
        return ChatResponse(message=ChatMessage(role="assistant", blocks=[asks]))


async def canary(shield: Any, body: Callable[[], str]) -> None:
    """Have a guarded agent call the canary."""
    tool = FunctionTool.from_defaults(body, name=TOOL, description="must not run")
    agent = FunctionAgent(
        name=TOOL,
        description=TOOL,
        tools=[tool],
        llm=LlamaIndexCanaryModel(is_chat_model=True),
        streaming=False,
    )
    await guarded(agent, shield).run(user_msg="call it")
