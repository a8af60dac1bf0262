"""CrewAI: crews and agents whose models, tools and delegations are judged.

    crew = guarded(Crew(...), shield)
    crew.kickoff()

CrewAI keeps the state of a kickoff in the crew, its agents and its tasks, so each kickoff has a
copy of them all. Tools are judged by CrewAI's own hooks, which see every one of them. CrewAI
swallows whatever a hook raises and runs the tool, unless it is `HookAborted`: so nothing else ever
leaves a hook of this adapter. Models are wrapped, because hooks do not see replies that call tools.
"""

from __future__ import annotations

from asyncio import _get_running_loop
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from functools import partial
from typing import Any, Final, NamedTuple

from stanchion.hosts import Host, Hosted, Part, Refusal, Told, lesser, sealed, survey, tried
from stanchion.hosts.contract.canary import TOOL
from stanchion.hosts.contract.sealing import SEALED, CallSeal, seal_of
from stanchion.hosts.contract.works import Works

with tried("crewai", "1.15.30", "1.16"):
    from crewai import Agent, BaseLLM
    from crewai.hooks.dispatch import HookAborted, scoped_hooks
    from crewai.llms.base_llm import call_stream_override, llm_call_context
    from crewai.tools.base_tool import BaseTool
    from crewai.tools.tool_failure import detect_tool_failure
    from crewai.utilities.i18n import I18N_DEFAULT
    from pydantic import BaseModel

    from stanchion.hosts.crewai_copies import MODELS, copied
    from stanchion.hosts.crewai_tools import RAISED, again, coworker, hooks_of, once, watch

SOURCE: Final = "stanchion"
OF_TOOL: Final = object()
"""Said of a tool call or a delegation: the model reads the words of its refusal."""
BLOCKED: Final = "Tool execution blocked by hook."
"""How CrewAI begins the text that it hands on where a hook has aborted, ours or another one."""
WITHHELD: Final = (
    "the call may have run, and its result could not be judged: it is withheld; do "
    "not repeat the call"
)
FAILURES: Final = (
    "Error executing tool: ",
    I18N_DEFAULT.errors("tool_usage_exception").partition("{")[0],
)
"""How CrewAI begins the text that it hands on where a tool has raised."""
SPENT: ContextVar[list[dict[str, Any]] | None] = ContextVar("stanchion_crewai_spent", default=None)
"""What the call of a model that is at work says it used."""


def _said(refusal: Refusal) -> str:
    if refusal.about is not OF_TOOL:
        raise HookAborted(str(refusal), SOURCE) from refusal.error
    return str(refusal)


CREWAI: Final = Host(
    "crewai",
    can=("warn", "redact", "degrade", "queue", "escalate"),
    refused=_said,
    ended=_said,
    stream="buffer",
)
"""CrewAI as a host. It runs tools itself, so a failed call cannot be run again. A refused call is
text that the model reads. A request or a reply that is refused raises `HookAborted`, and so does
the next one after the run has ended."""


KICKOFFS: Final = ("kickoff", "kickoff_async", "akickoff")
UNGUARDED: Final = ("replay", "execute_task", "aexecute_task")
"""What a guarded crew or agent does not do: it would pass by what is judged."""


def guarded(crew: Any, given: Any, *, agent: str = "", task: str = "") -> Any:
    """A copy of a crew, or of a single agent, of which everything is judged that it does.

    Each kickoff works in a run of its own; a run that is given works for all of them. The run bears
    the role of the crew's first agent where `agent` names no other.
    """
    if not hasattr(crew, "kickoff"):
        raise TypeError(f"`guarded` takes a `Crew` or an `Agent`, not a `{type(crew).__name__}`")
    works = Works(CREWAI, given, lambda hosted: hosted, agent=agent, task=task)
    anew, made = partial(_anew, crew, works), copy(crew)
    made.__dict__.update({name: partial(_kicked_off, anew, name) for name in KICKOFFS})
    made.__dict__.update({name: partial(_unguarded, name) for name in UNGUARDED})
    made.__dict__["copy"] = anew
    return made


def _kicked_off(anew: Callable[[], Any], name: str, *args: Any, **named: Any) -> Any:
    return getattr(anew(), name)(*args, **named)


def _unguarded(name: str, *_args: Any, **_named: Any) -> Any:
    raise TypeError(
        f"`{name}` is not guarded: guard the crew that the agent is in, and kick it off"
    )


def _anew(crew: Any, works: Works[Hosted]) -> Any:
    """A copy for one kickoff, in which that is guarded."""
    made = copied(crew, {})
    awaited = "kickoff_async" if hasattr(crew, "role") else "akickoff"
    made.__dict__["kickoff"] = partial(_kickoff, made, works)
    made.__dict__[awaited] = partial(_akickoff, made, works, awaited)
    return made


def _role(crew: Any) -> str:
    """The role that a run is named for."""
    first = crew if hasattr(crew, "role") else next(iter(crew.agents), None)
    return str(getattr(first, "role", "crew"))


def _later(crew: Any, *given: Any) -> bool:
    """Whether CrewAI begins the kickoff later, by another call: where it streams, or where an agent
    is kicked off in an event loop."""
    if any(getattr(one, "restore_from", None) is not None for one in given):
        raise TypeError("a checkpoint restores another crew: restore it, and guard that one")
    return bool(getattr(crew, "stream", False)) or (
        hasattr(crew, "role") and _get_running_loop() is not None
    )


def _kickoff(crew: Any, works: Works[Hosted], *args: Any, **named: Any) -> Any:
    kickoff = partial(type(crew).kickoff, crew, *args, **named)
    if _later(crew, *args, *named.values()):
        return kickoff()
    with works.during(_role(crew)) as hosted, guarding(crew, hosted):
        return kickoff()


async def _akickoff(crew: Any, works: Works[Hosted], name: str, *args: Any, **named: Any) -> Any:
    kickoff = partial(getattr(type(crew), name), crew, *args, **named)
    if _later(crew, *args, *named.values()) and not hasattr(crew, "role"):
        return await kickoff()
    async with works.during(_role(crew)) as hosted:
        with guarding(crew, hosted):
            return await kickoff()


@contextmanager
def guarding(crew: Any, hosted: Hosted) -> Iterator[Any]:
    """Have the copy of a crew that one kickoff has work in a run: its models and tools for good,
    and the hooks as long as the context lasts."""
    team = CrewRuns(
        hosted, [crew, *getattr(crew, "agents", ()), getattr(crew, "manager_agent", None)]
    )
    survey(hosted.run, team.unguarded())
    for llm in team.models():
        _wrap(llm, team)
    for tool in team.tools():
        watch(tool)
    with scoped_hooks(hooks_of(team)):
        yield crew


class HookedCall(NamedTuple):
    """A call between the hook before it and the hook after it."""

    args: dict[str, Any]
    told: Told
    handed_to: str
    raised: list[Exception]
    outside: CallSeal | None


class CrewRuns:
    """The agents of a crew: the one that the run is named for works in the run itself, the others
    in children of it."""

    def __init__(self, hosted: Hosted, owners: list[Any]) -> None:
        self._hosted, self._owners = hosted, owners
        self._runs = {hosted.run.agent: hosted}
        self._begun: dict[int, HookedCall] = {}
        self._prompted: set[Any] = set()
        self._tasks = [task for owner in owners for task in getattr(owner, "tasks", ())]

    def of(self, agent: Any) -> Hosted:
        """The run of an agent."""
        role = getattr(agent, "role", None)
        if role is None:
            return self._hosted
        if role not in self._runs:
            self._runs[role] = self._hosted.child(role)
        return self._runs[role]

    def models(self) -> list[Any]:
        """Every model of the crew, once."""
        found = [getattr(owner, name, None) for owner in self._owners for name in MODELS]
        return list(
            {id(llm): llm for llm in found if hasattr(llm, "_track_token_usage_internal")}.values()
        )

    def unguarded(self) -> list[Part]:
        """What asks models past those of the crew and its agents: memories have models of their
        own."""
        owners = [one for one in self._owners if getattr(one, "memory", None)]
        return [
            Part("client", "memory", False, str(getattr(one, "role", "crew"))) for one in owners
        ]

    def tools(self) -> list[Any]:
        """Every tool that the crew has now, once."""
        found = [
            tool
            for owner in (*self._owners, *self._tasks)
            for tool in getattr(owner, "tools", None) or ()
        ]
        return list({id(tool): tool for tool in found if isinstance(tool, BaseTool)}.values())

    def prompt(self, agent: Any, task: Any) -> None:
        """What a task asks for is judged when an agent begins with it. What agents delegate to each
        other is no task of the crew, and was judged as a handoff."""
        if id(task) not in self._prompted and any(task is one for one in self._tasks):
            self._prompted.add(id(task))
            self.of(agent).report("prompt", text=task.description)

    def before(self, ctx: Any) -> None:
        """The hook before a tool: returns where it may run, with arguments that may have been
        changed in place."""
        try:
            to = coworker(ctx)
            raised: list[Exception] = []
            told = self._judged(ctx, to)
            self._begun[id(ctx.tool_input)] = HookedCall(
                ctx.tool_input, told, to, raised, SEALED.get()
            )
            if told.proceeds:
                RAISED.set(raised)
                changed = {"coworker": to, **told.content} if to else told.content
                ctx.tool_input.clear()
                ctx.tool_input.update(changed)
                SEALED.set(seal_of(ctx.tool_name, changed))
                once(ctx.tool, changed, raised)
        except Exception as error:
            raise HookAborted("the call could not be judged", SOURCE) from error
        if not told.proceeds:
            raise HookAborted(told.answer, SOURCE)

    def _judged(self, ctx: Any, to: str) -> Told:
        hosted, key = self.of(ctx.agent), str(id(ctx.tool_input))
        if not to:
            return hosted.report(
                "tool_call", tool=ctx.tool_name, args=dict(ctx.tool_input), key=key, about=OF_TOOL
            )
        rest = {
            name: value
            for name, value in ctx.tool_input.items()
            if name not in ("coworker", "co_worker")
        }
        return hosted.report("handoff", to=to, payload=rest, key=key, about=OF_TOOL)

    def after(self, ctx: Any) -> str:
        """The hook after a tool: gives what the model may read of it, also where it did not run."""
        try:
            again(ctx.tool)
            begun = self._begun.pop(id(ctx.tool_input), None)
            if begun is None:
                return (
                    str(ctx.tool_result) if str(ctx.tool_result).startswith(BLOCKED) else WITHHELD
                )
            SEALED.set(begun.outside)
            return str(begun.told.answer) if not begun.told.proceeds else self._outcome(ctx, begun)
        except Exception:  # noqa: BLE001 - CrewAI would show the result as it is
            return WITHHELD

    def _outcome(self, ctx: Any, begun: HookedCall) -> str:
        hosted, said = self.of(ctx.agent), str(ctx.tool_result)
        about: dict[str, Any] = {"key": str(id(ctx.tool_input)), "about": OF_TOOL}
        if begun.handed_to:
            told = hosted.report(
                "handoff_done", to=begun.handed_to, payload={"answer": said}, **about
            )
            return str(told.content["answer"] if told.proceeds else told.answer)
        about |= {"tool": ctx.tool_name, "args": begun.args}
        failure = detect_tool_failure(ctx.raw_tool_result)
        if ctx.raw_tool_result == ctx.tool_result and said.lstrip().startswith(FAILURES):
            return self._failure(hosted, said, begun.raised, about)
        if failure is not None:
            name = failure.code if failure.code else str(failure.reason.value)
            told = hosted.report("error", error=name, text=said, **about)
        else:
            told = hosted.report("tool_result", result=said, **about)
        return str(told.content if told.proceeds else told.answer)

    def _failure(
        self, hosted: Hosted, said: str, raised: list[Exception], about: dict[str, Any]
    ) -> str:
        """What the model may read of a tool that has raised: CrewAI's own words round those of the
        error."""
        if not raised:  # a tool that CrewAI has made while it ran
            told = hosted.report("error", error="ToolError", text=said, **about)
            return str(told.content if told.proceeds else told.answer)
        told = hosted.report("error", error=raised[0], **about)
        text = str(raised[0])
        if not told.proceeds or not text or text not in said:
            return str(told.content if told.proceeds else told.answer)
        return said.replace(text, str(told.content))


def _wrap(llm: Any, team: CrewRuns) -> None:
    """Have a model's requests and replies judged, in place: CrewAI has it in many places."""
    kind = type(llm)
    llm.__dict__.update(
        call=partial(_ask, team, llm, kind.call),
        acall=partial(_aask, team, llm, kind.acall),
        _track_token_usage_internal=partial(_tracked, llm, kind._track_token_usage_internal),
        _emit_stream_chunk_event=_unsaid,
        _emit_thinking_chunk_event=_unsaid,
    )


def _unsaid(*_args: Any, **_options: Any) -> None:
    """Pieces of a reply that nobody has judged yet: they are told with the whole."""


def _tracked(llm: Any, track: Callable[..., None], usage: dict[str, Any]) -> None:
    spent = SPENT.get()
    if spent is not None:
        spent.append(usage)
    track(llm, usage)


class CrewRequest(NamedTuple):
    """A request as CrewAI makes it."""

    messages: list[Any]
    options: dict[str, Any]
    about: dict[str, Any]
    streams: bool


NAMES: Final = (
    "tools",
    "callbacks",
    "available_functions",
    "from_task",
    "from_agent",
    "response_model",
)
"""What `call` takes after the messages, in its order."""


def _asked(
    team: CrewRuns, llm: Any, messages: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> CrewRequest:
    options = {**dict(zip(NAMES, args, strict=False)), **options}
    agent = options.get("from_agent")
    team.prompt(agent, options.get("from_task"))
    functions = options.get("available_functions")
    if functions:
        options["available_functions"] = {
            name: partial(_run, team.of(agent), name, functions[name]) for name in functions
        }
    said = [{"role": "user", "content": messages}] if isinstance(messages, str) else list(messages)
    params = {
        name: value for name in ("max_tokens",) if (value := getattr(llm, name, None)) is not None
    }
    return CrewRequest(
        said, options, {"model": llm.model, "params": params}, bool(llm._effective_stream())
    )


def _run(hosted: Hosted, tool: str, function: Callable[..., Any], **args: Any) -> Any:
    """A tool that a model's client runs by itself, past all hooks."""

    def carry(given: dict[str, Any]) -> Any:
        with sealed(tool, given):
            return function(**given)

    return hosted.call(tool, args, carry, about=OF_TOOL)


def _ask(
    team: CrewRuns, llm: Any, call: Callable[..., Any], messages: Any, *args: Any, **options: Any
) -> Any:
    asked = _asked(team, llm, messages, args, options)
    replies: list[Any] = []

    def ask(messages: list[Any], **params: Any) -> Any:
        with _counting() as spent, call_stream_override(llm, False):
            replies.append(call(lesser(llm, params), messages, **asked.options))
        return _told(replies[-1], spent)

    return _put_back(
        llm,
        asked,
        replies,
        team.of(options.get("from_agent")).model(ask, asked.messages, **asked.about),
    )


async def _aask(
    team: CrewRuns, llm: Any, call: Callable[..., Any], messages: Any, *args: Any, **options: Any
) -> Any:
    asked = _asked(team, llm, messages, args, options)
    replies: list[Any] = []

    async def ask(messages: list[Any], **params: Any) -> Any:
        with _counting() as spent, call_stream_override(llm, False):
            replies.append(await call(lesser(llm, params), messages, **asked.options))
        return _told(replies[-1], spent)

    hosted = team.of(options.get("from_agent"))
    return _put_back(llm, asked, replies, await hosted.amodel(ask, asked.messages, **asked.about))


@contextmanager
def _counting() -> Iterator[list[dict[str, Any]]]:
    spent: list[dict[str, Any]] = []
    token = SPENT.set(spent)
    try:
        yield spent
    finally:
        SPENT.reset(token)


def _told(reply: Any, spent: list[dict[str, Any]]) -> dict[str, Any]:
    """A reply as it is judged: a text, the JSON of a model of data, or calls of tools."""
    usage = {
        name: sum([one.get(name, 0) for one in spent if type(one.get(name, 0)) is int])
        for one in spent
        for name in one
    }
    if isinstance(reply, str):
        return {"content": reply, "usage": usage}
    if isinstance(reply, BaseModel):
        return {"content": reply.model_dump_json(), "usage": usage}
    return {"content": None, "tool_calls": reply, "usage": usage}


def _put_back(llm: Any, asked: CrewRequest, replies: list[Any], said: dict[str, Any]) -> Any:
    """The reply with what was changed; it is streamed now, where somebody reads the stream."""
    reply, text = replies[-1], said["content"]
    if asked.streams and isinstance(reply, str):
        about = {name: asked.options.get(name) for name in ("from_task", "from_agent")}
        with llm_call_context():
            type(llm)._emit_stream_chunk_event(llm, chunk=text, **about)
    if isinstance(reply, str):
        return text
    if isinstance(reply, BaseModel):
        return reply if text == reply.model_dump_json() else type(reply).model_validate_json(text)
    return said["tool_calls"]


CANARY_CALL = {"id": TOOL, "type": "function", "function": {"name": TOOL, "arguments": "{}"}}


class CrewCanaryModel(BaseLLM):
    """A model that asks for the canary until it is answered."""

    def supports_function_calling(self) -> bool:
        """It calls tools by JSON."""
        return True

    def call(self, messages: Any, *_: Any, **__: Any) -> Any:
        """The next reply."""
        return "done" if any(one["role"] == "tool" for one in messages) else [CANARY_CALL]


class CrewCanaryTool(BaseTool):
    """A function as a tool of the canary's name."""

    name: str = TOOL
    description: str = "must not run"
    body: Callable[[], str]

    def _run(self) -> str:
        return self.body()


def canary(shield: Any, body: Callable[[], str]) -> None:
    """Have a guarded agent call the canary."""
    agent = Agent(
        role=TOOL,
        goal=TOOL,
        backstory=TOOL,
        llm=CrewCanaryModel(model=TOOL),
        tools=[CrewCanaryTool(body=body)],
        max_iter=2,
    )
    guarded(agent, shield).kickoff("call it")
