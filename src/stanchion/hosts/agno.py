"""Agno: agents and teams whose models, tools and delegations are judged.

A guarded agent is a copy of yours. Each of its runs works in a copy of its own, with a hook round
every tool, a guardrail before its input, and wrapped models. Agno skips async hooks in sync runs
and swallows most of what a guardrail raises: so the hook serves both, and the guardrail raises
`InputCheckError` whatever fails.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from itertools import count
from typing import Any, Final
from uuid import uuid4

from stanchion.hosts import (
    EVERYTHING,
    Changed,
    Host,
    Hosted,
    Refusal,
    Told,
    lesser,
    survey,
    tried,
)
from stanchion.hosts.contract.canary import TOOL
from stanchion.hosts.contract.frameworks import by_provider
from stanchion.hosts.contract.works import Work, Works
from stanchion.runtime.errors import Ungoverned

with tried("agno", "3.1", "3.2"):
    from agno.agent import Agent
    from agno.exceptions import InputCheckError
    from agno.guardrails.base import BaseGuardrail
    from agno.models.base import Model
    from agno.models.message import Message
    from agno.models.response import ModelResponse
    from agno.team._tools import _find_member_by_id
    from agno.tools.function import Function, ToolResult
    from agno.tools.toolkit import Toolkit

OF_TOOL: Final = object()
"""Said of a tool call or a delegation: the model reads the words of its refusal."""
ONE, ALL = "delegate_task_to_member", "delegate_task_to_members"
ASYNC: Final = ("arun", "acontinue_run")
RUNS: Final = ("run", "continue_run", *ASYNC)
"""The ways in which an agent is run; all others go through these."""
GUARDRAIL: Final = "stanchion"
"""What our guardrail is called in Agno's events; nobody hears of it."""
MEDIA: Final = ("images", "videos", "audios", "files")


def _said(refusal: Refusal) -> str:
    if refusal.about is not OF_TOOL:
        raise InputCheckError(str(refusal)) from refusal.error
    return str(refusal)


def _shown(result: Any) -> Any:
    """What the model gets of a tool's result: its text, and whatever media come with it."""
    if not isinstance(result, ToolResult) or any(getattr(result, name) for name in MEDIA):
        return result
    return result.content


def _changed(change: Changed) -> Any:
    if isinstance(change.result, ToolResult) and isinstance(change.content, str):
        return change.result.model_copy(update={"content": change.content, "metadata": None})
    return change.content


AGNO: Final = Host(
    "agno",
    can=EVERYTHING,
    refused=_said,
    ended=_said,
    shown=_shown,
    changed=_changed,
    guided=lambda words: Message(role="system", content=words),
    stream="chunk",
)
"""Agno as a host: a refused call is text that the model reads. An input, a request or a reply that
is refused ends the run with the status `error` and the words of the refusal, and so does the
model's next turn after the run has ended."""


def guarded(whole: Any, given: Any, /, *, agent: str = "", task: str = "") -> Any:
    """A copy of an agent or of a team that works in runs of a shield, one for each session; its
    members work in children of them. What the user asks for is judged as the prompt.

    A run of Agno that names no session, of an agent that remembers none, has a run of its own. A
    run in the place of the shield is what everything works in. `agent` and `task` say whose work it
    is. Build it once; it serves any number of requests at once.
    """
    return AgnoRuns(whole, given, agent, task).agent


class AgnoRuns:
    """The runs of a guarded agent. Each works in a copy of it, which is made for that run."""

    def __init__(self, agent: Any, given: Any, named: str, task: str) -> None:
        _check(agent)
        self._again: Callable[[Any], Any] = lambda other: guarded(
            other, given, agent=named, task=task
        )
        self._whole: Any = copy.copy(agent)
        self.agent = copy.copy(agent)
        self._whole.set_id()
        self.works: Works[tuple[Any, Any]] = Works(
            AGNO, given, self._copies, agent=named, task=task
        )
        remembers = agent.session_id or agent.db is not None or agent.cache_session
        if remembers and not agent.session_id:
            self._whole.session_id = str(uuid4())  # as Agno does, in the agent itself
        self._session = str(self._whole.session_id) if remembers else ""
        self.agent.id, self.agent.session_id = self._whole.id, self._whole.session_id
        for name, value in vars(agent).items():
            if isinstance(value, Model):
                setattr(self.agent, name, _closed(value))
        for how in RUNS:
            setattr(self.agent, how, partial(self._run, how))
        self.agent.deep_copy = self._copied

    def _copies(self, hosted: Hosted) -> tuple[Any, Any]:
        """The agent for a run, for sync and for async code: Agno keeps in it which hooks it has for
        which of them."""
        made = _guarded(self._whole, hosted, self)
        made.pre_hooks = [Input(hosted), *(made.pre_hooks if made.pre_hooks else ())]
        made._hooks_normalised = False
        return made, copy.copy(made)

    def _copied(self, *, update: Any = None) -> Any:
        """What a server has for each request: each run has a copy of its own."""
        return self.agent if not update else self._again(self._whole.deep_copy(update=update))

    def _run(self, how: str, *args: Any, **options: Any) -> Any:
        """Run the agent, in its session's run, or in one that ends with this."""
        before = args[0] if args else options.get("run_response")
        key = options.get("session_id") or getattr(before, "session_id", None) or self._session
        if options.get("background") and not key:
            key = options["session_id"] = str(uuid4())
        work = self.works.begin(_name(self._whole), str(key))
        try:
            came = getattr(work.made[how in ASYNC], how)(*args, **options)
        except BaseException:
            self._end(work)
            raise
        if isawaitable(came):
            return self._awaited(came, work)
        if isinstance(came, AsyncIterator):
            return self._aitems(came, work)
        if isinstance(came, Iterator):
            return self._items(came, work)
        self._end(work)
        return came

    def _end(self, work: Work[Any]) -> None:
        over = self.works.end(work)
        if over is not None:
            over.close()

    async def _aend(self, work: Work[Any]) -> None:
        over = self.works.end(work)
        if over is not None:
            await over.aclose()

    async def _awaited(self, coming: Any, work: Work[Any]) -> Any:
        try:
            return await coming
        finally:
            await self._aend(work)

    def _items(self, items: Any, work: Work[Any]) -> Iterator[Any]:
        try:
            yield from (item for item in items if not _ours(item))
        finally:
            self._end(work)

    async def _aitems(self, items: Any, work: Work[Any]) -> AsyncIterator[Any]:
        try:
            async with aclosing(items):
                async for item in items:
                    if not _ours(item):
                        yield item
        finally:
            await self._aend(work)


def _ours(event: Any) -> bool:
    """Whether an event tells of our guardrail, as Agno has it for every hook."""
    return getattr(event, "pre_hook_name", "") == GUARDRAIL


def _guarded(agent: Any, hosted: Hosted, runs: AgnoRuns) -> Any:
    _check(agent)
    survey(
        hosted.run, by_provider(agent.tools if isinstance(agent.tools, list) else (), _name(agent))
    )
    made = copy.copy(agent)
    for name, value in vars(agent).items():
        if isinstance(value, Model):
            setattr(made, name, _model(value, hosted))
    members = getattr(agent, "members", None)
    if members is not None:
        made.members = [_guarded(one, hosted.child(_name(one)), runs) for one in members]
    # Ours is the outermost: Agno runs a tool with the arguments that the first hook gets, whatever
    # later ones pass on.
    made.tool_hooks = [
        AgnoToolHook(hosted, made, runs).around,
        *(agent.tool_hooks if agent.tool_hooks else ()),
    ]
    return made


def _closed(model: Any) -> Any:
    """A copy of a model that is not asked: each run has a copy that is judged."""

    def closed(*_: Any, **__: Any) -> Any:
        raise Ungoverned("the model of a guarded agent is asked in its runs alone: use `run`")

    made = copy.copy(model)
    for how in ("invoke", "ainvoke", "invoke_stream", "ainvoke_stream"):
        setattr(made, how, closed)
    return made


def _name(agent: Any) -> str:
    return str(agent.name if agent.name else agent.id)


def _check(agent: Any) -> None:
    """Raise `ValueError` for what could not be guarded."""
    if not isinstance(agent.model, Model):
        raise ValueError(
            f"agent `{_name(agent)}` has no model of its own: give it one, as an object"
        )
    if callable(getattr(agent, "members", None)) or str(getattr(agent, "mode", "")).endswith(
        "tasks"
    ):
        raise ValueError(
            f"team `{_name(agent)}` finds its members while it runs, or works by tasks: list its "
            f"members"
        )
    tools = agent.tools if isinstance(agent.tools, list) else []
    functions = [one for one in tools if isinstance(one, Function)]
    functions += [
        one for kit in tools if isinstance(kit, Toolkit) for one in kit.functions.values()
    ]
    hooked = [one.name for one in functions if one.tool_hooks]
    if hooked:
        raise ValueError(
            f"the tool `{hooked[0]}` has hooks, which hooks of its agent replace: give them to the "
            f"agent"
        )


class Input(BaseGuardrail):
    """Judges what the user asks for. Agno goes on after any other error than `InputCheckError`."""

    def __init__(self, hosted: Hosted) -> None:
        self._hosted = hosted

    def check(self, run_input: Any) -> None:
        """Judge an input, and put what was decided in its place."""
        try:
            text = run_input.input_content_string()
            self._taken(run_input, text, self._hosted.report("prompt", text=text))
        except InputCheckError:
            raise
        except Exception as error:
            raise InputCheckError("the input could not be judged") from error

    async def async_check(self, run_input: Any) -> None:
        """The same for async code."""
        try:
            text = run_input.input_content_string()
            self._taken(run_input, text, await self._hosted.areport("prompt", text=text))
        except InputCheckError:
            raise
        except Exception as error:
            raise InputCheckError("the input could not be judged") from error

    check.__name__ = async_check.__name__ = GUARDRAIL

    def _taken(self, run_input: Any, text: str, told: Told) -> None:
        if told.content != text:
            run_input.input_content = told.content


class AgnoToolHook:
    """The hook round every tool of an agent."""

    def __init__(self, hosted: Hosted, agent: Any, runs: AgnoRuns) -> None:
        self._hosted, self._agent, self._runs = hosted, agent, runs
        self._numbers = count(1)

    def around(
        self, function_name: str, function_call: Callable[..., Any], arguments: dict[str, Any]
    ) -> Any:
        """Judge a call, run it, and judge what comes of it; in async runs that is something to
        await."""
        waits = iscoroutinefunction(function_call)
        if function_name in (ONE, ALL) and hasattr(self._agent, "members"):
            handed = self._ahanded if waits else self._handed
            return handed(function_name, function_call, arguments)

        def given(args: dict[str, Any]) -> dict[str, Any]:
            # Agno runs the tool with this very object, and hooks behind ours get what is given on:
            # each has its own.
            arguments.clear()
            arguments.update(copy.deepcopy(args))
            return args

        def carry(args: dict[str, Any]) -> Any:
            with self._runs.works.inside((self._agent, self._agent), self._hosted):
                return function_call(**given(args))

        async def acarry(args: dict[str, Any]) -> Any:
            with self._runs.works.inside((self._agent, self._agent), self._hosted):
                return await function_call(**given(args))

        if not waits:
            return self._hosted.call(function_name, dict(arguments), carry, about=OF_TOOL)
        return self._hosted.acall(function_name, dict(arguments), acarry, about=OF_TOOL)

    def _offers(self, tool: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
        """The handoffs that a delegation is, by the names of the members that Agno finds."""
        rest = {name: value for name, value in arguments.items() if name != "member_id"}
        if tool == ALL:
            members = [_name(one) for one in self._agent.members]
        else:
            wanted = str(arguments.get("member_id", ""))
            found = _find_member_by_id(self._agent, wanted)
            members = [wanted if found is None else _name(found[1])]
        return [
            {"to": one, "payload": rest, "key": f"{one}-{next(self._numbers)}", "about": OF_TOOL}
            for one in members
        ]

    def _handed(
        self, tool: str, function_call: Callable[..., Any], arguments: dict[str, Any]
    ) -> Any:
        offers = self._offers(tool, arguments)
        for offer in offers:
            told = self._hosted.report("handoff", **offer)
            if not told.proceeds:
                return told.answer
            arguments.update(told.content)
        return self._done(offers, function_call(**arguments))

    def _done(self, offers: list[dict[str, Any]], items: Any) -> Iterator[Any]:
        said = ""
        for item in items:
            said += item if isinstance(item, str) else ""
            yield item
        for offer in offers:
            self._hosted.report("handoff_done", **{**offer, "payload": {"answer": said}})

    async def _ahanded(
        self, tool: str, function_call: Callable[..., Any], arguments: dict[str, Any]
    ) -> Any:
        offers = self._offers(tool, arguments)
        for offer in offers:
            told = await self._hosted.areport("handoff", **offer)
            if not told.proceeds:
                return told.answer
            arguments.update(told.content)
        return self._adone(offers, await function_call(**arguments))

    async def _adone(self, offers: list[dict[str, Any]], items: Any) -> AsyncIterator[Any]:
        said = ""
        async for item in items:
            said += item if isinstance(item, str) else ""
            yield item
        for offer in offers:
            await self._hosted.areport("handoff_done", **{**offer, "payload": {"answer": said}})


def _model(model: Any, hosted: Hosted) -> Any:
    """A copy of a model whose requests and replies are judged, streamed ones too."""
    made = copy.copy(model)
    made.cache_response = False  # what an unguarded agent was told is in the same cache
    for how in ("invoke", "invoke_stream"):
        setattr(made, how, partial(_ask, hosted, model, how))
    made.ainvoke = partial(_aask, hosted, model)
    made.ainvoke_stream = partial(_astream, hosted, model)
    return made


def _about(model: Any) -> dict[str, Any]:
    most = getattr(model, "max_tokens", None)
    return {"model": str(model.id), "params": {} if most is None else {"max_tokens": most}}


def _lesser(model: Any, params: dict[str, Any]) -> Any:
    return lesser(
        model, {"id" if name == "model" else name: value for name, value in params.items()}
    )


def _ask(hosted: Hosted, model: Any, how: str, messages: list[Any], **options: Any) -> Any:
    def ask(messages: list[Any], **params: Any) -> Any:
        came = getattr(_lesser(model, params), how)(messages=messages, **options)
        return _with_usage(came) if how == "invoke" else map(UsageSum().counted, came)

    return hosted.model(ask, messages, **_about(model))


async def _aask(hosted: Hosted, model: Any, messages: list[Any], **options: Any) -> Any:
    async def ask(messages: list[Any], **params: Any) -> Any:
        return _with_usage(await _lesser(model, params).ainvoke(messages=messages, **options))

    return await hosted.amodel(ask, messages, **_about(model))


async def _astream(
    hosted: Hosted, model: Any, messages: list[Any], **options: Any
) -> AsyncIterator[Any]:
    async def pieces(messages: list[Any], params: dict[str, Any]) -> AsyncIterator[Any]:
        spent = UsageSum()
        async for piece in _lesser(model, params).ainvoke_stream(messages=messages, **options):
            yield spent.counted(piece)

    async def ask(messages: list[Any], **params: Any) -> Any:
        return pieces(messages, params)

    async for piece in await hosted.amodel(ask, messages, **_about(model)):
        yield piece


class UsageSum:
    """What the pieces of a reply have used until now: Agno adds up what each of them says."""

    def __init__(self) -> None:
        self._input, self._output = 0, 0

    def counted(self, piece: Any) -> Any:
        """The piece, which says it in a word that every vendor has."""
        if piece.response_usage is not None:
            self._input += piece.response_usage.input_tokens
            self._output += piece.response_usage.output_tokens
            piece.usage = {"input_tokens": self._input, "output_tokens": self._output}
        return piece


def _with_usage(reply: Any) -> Any:
    return UsageSum().counted(reply)


CANARY_CALL = {"id": TOOL, "type": "function", "function": {"name": TOOL, "arguments": "{}"}}


@dataclass
class AgnoCanaryModel(Model):
    """A model that asks for the canary until it is answered. It is asked for whole replies
    alone."""

    id: str = TOOL

    def invoke(self, messages: list[Any], **_options: Any) -> ModelResponse:
        """The next reply."""
        if any(one.role == "tool" for one in messages):
            return ModelResponse(role="assistant", content="done")
        return ModelResponse(role="assistant", tool_calls=[CANARY_CALL])

    async def ainvoke(self, *_: Any, **__: Any) -> ModelResponse:
        """Not asked for."""
        raise NotImplementedError

    def invoke_stream(self, *_: Any, **__: Any) -> Iterator[ModelResponse]:
        """Not asked for."""
        raise NotImplementedError

    def ainvoke_stream(self, *_: Any, **__: Any) -> AsyncIterator[ModelResponse]:
        """Not asked for."""
        raise NotImplementedError

    def _parse_provider_response(self, response: Any, **_options: Any) -> Any:
        return response

    def _parse_provider_response_delta(self, response: Any) -> Any:
        return response


def canary(shield: Any, body: Callable[[], str]) -> None:
    """Have a guarded agent call the canary; nothing of it is reported to Agno."""
    tool = Function(name=TOOL, description="must not run", entrypoint=body)
    agent = Agent(name=TOOL, model=AgnoCanaryModel(), tools=[tool], telemetry=False)
    guarded(agent, shield).run("call it")
