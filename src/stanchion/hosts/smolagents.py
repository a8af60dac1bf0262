"""smolagents: agents whose tools, models, generated code and team members are judged.

smolagents has no hooks before a call, so what it calls is wrapped: each run of a guarded agent
works in a copy of yours whose tools, model, Python executor and managed agents are judged.
"""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any, Final

from stanchion.hosts import EVERYTHING, Host, Hosted, Part, Refusal, lesser, survey, tried
from stanchion.hosts.contract.canary import TOOL
from stanchion.hosts.contract.works import Work, Works
from stanchion.locks import Lock
from stanchion.runtime.errors import Ungoverned

with tried("smolagents", "1.23", "1.27"):
    from smolagents import LogLevel, Model, Tool, ToolCallingAgent
    from smolagents.local_python_executor import CodeOutput, LocalPythonExecutor
    from smolagents.models import (
        ChatMessage,
        ChatMessageToolCall,
        ChatMessageToolCallFunction,
        MessageRole,
    )

ANSWER: Final = "final_answer"
"""The tool by which an agent gives its answer: its argument is judged as a reply, and is no call of
a tool."""
PYTHON: Final = "python_interpreter"
"""The name under which code that an agent writes is judged; smolagents itself calls it so."""
BY_MODEL: Final = object()
"""Said of a call that the model makes by itself: it reads the words of a refusal. Code that made
the call would work on them as if they were a result, so what it calls raises."""
CLOSED: Final = ("run", "interrupt", "step", "execute_tool_call", "provide_final_answer")
"""What a guarded agent does in its runs, which have copies of it."""
PLAIN: Final = (str, int, float, bool, list, dict, tuple, type(None))


def _refused(refusal: Refusal) -> str:
    if refusal.about is not BY_MODEL:
        raise refusal.error
    return str(refusal)


def _guided(words: str) -> Any:
    return ChatMessage(role=MessageRole.USER, content=[{"type": "text", "text": words}])


SMOLAGENTS: Final = Host(
    "smolagents", can=EVERYTHING, refused=_refused, guided=_guided, stream="chunk"
)
"""smolagents as a host: a refused tool call is text that the model reads. What is refused otherwise
is raised: a prompt, a model's request or reply, whatever generated code calls, and the end of the
run."""


def guarded(whole: Any, given: Any, /, *, agent: str = "", task: str = "") -> Any:
    """A copy of an agent whose every run works in a run of the shield, with the tools and managed
    agents that the copy has then. Its task is judged as what the user asks for.

    A run that goes on with what the last one remembers (`reset=False`) goes on in that one's run. A
    run in the place of the shield is what everything works in. `agent` and `task` say whose work it
    is. Build it once; it serves any number of runs at once, each with a memory of its own.
    """
    return SmolRuns(whole, given, agent, task).agent


class SmolRuns:
    """The runs of a guarded agent. Each works in a copy of it; what the last one has left is in the
    agent then."""

    def __init__(self, whole: Any, given: Any, named: str, task: str) -> None:
        code = getattr(whole, "python_executor", None)
        if code is not None and not isinstance(code, LocalPythonExecutor):
            raise ValueError(
                f"code runs in `{type(code).__name__}`, where tools are copies that nobody can "
                f"judge: use `executor_type='local'`, or an agent that calls tools by JSON"
            )
        self.agent = copy.copy(whole)
        self.agent.tools, self.agent.managed_agents = dict(whole.tools), dict(whole.managed_agents)
        self.works: Works[Hosted] = Works(SMOLAGENTS, given, self._surveyed, agent=named, task=task)
        self._last: Work[Hosted] | None = None
        self._using: list[Work[Hosted]] = []
        self._running: list[Any] = []
        self._lock = Lock()
        self.agent.run, self.agent.interrupt = self._run, self._interrupt
        self.agent.step = self.agent.execute_tool_call = self.agent.provide_final_answer = _astray

    def _surveyed(self, hosted: Hosted) -> Hosted:
        self._made(hosted)
        return hosted

    def _made(self, hosted: Hosted) -> Any:
        """The agent for a run, with the methods of its class."""
        whole = copy.copy(self.agent)
        for name in CLOSED:
            vars(whole).pop(name, None)
        return _guarded(whole, hosted, self)

    def _run(
        self, task: str, stream: bool = False, reset: bool = True, *more: Any, **options: Any
    ) -> Any:
        with self._lock:
            work = None if reset else self._last
            if work is None:
                work = self.works.begin(_name(self.agent), "")
            self._using.append(work)
        made = None
        try:
            made = self._made(work.hosted)
            self._running.append(made)
            told = work.hosted.report("prompt", text=task)
            came = made.run(told.content, stream, reset, *more, **options)
        except BaseException:
            self._end(work, made)
            raise
        if stream:
            return self._items(came, work, made)
        self._end(work, made)
        return came

    def _items(self, items: Any, work: Work[Hosted], made: Any) -> Iterator[Any]:
        try:
            yield from items
        finally:
            self._end(work, made)

    def _end(self, work: Work[Hosted], made: Any) -> None:
        """Keep what a run has left, and its own run for one that goes on; that of the one before
        ends."""
        with self._lock:
            if made is not None:
                self._running.remove(made)
                _leave(made, self.agent)
            self._using.remove(work)
            before, self._last = self._last, work
            unused = before is not None and before is not work and before not in self._using
        over = self.works.end(before) if unused and before is not None else None
        if over is not None:
            over.close()

    def _interrupt(self) -> None:
        for one in list(self._running):
            one.interrupt_switch = True


def _astray(*_: Any, **__: Any) -> Any:
    raise Ungoverned("a guarded agent works in its runs alone: use `run`")


def _name(agent: Any) -> str:
    return str(agent.name if agent.name else type(agent).__name__)


def _guarded(agent: Any, hosted: Hosted, runs: SmolRuns) -> Any:
    """A copy of an agent for one run, with a memory of its own."""
    made = copy.copy(agent)
    made.memory, made.state = copy.copy(agent.memory), dict(agent.state)
    made.memory.steps = list(agent.memory.steps)
    made.monitor = copy.copy(agent.monitor)
    counts = {agent.monitor.update_metrics: made.monitor.update_metrics}
    made.step_callbacks = copy.copy(agent.step_callbacks)
    made.step_callbacks._callbacks = {
        kind: [counts.get(one, one) for one in those]
        for kind, those in agent.step_callbacks._callbacks.items()
    }
    code = getattr(agent, "python_executor", None)
    about = BY_MODEL if code is None else None
    made.model = _model(agent.model, hosted)
    made.tools = GuardedToolset(hosted, about, runs, agent.tools)
    made.managed_agents = {
        name: ManagedMember(one, hosted, about, runs) for name, one in agent.managed_agents.items()
    }
    if code is not None:
        made.python_executor = Python(code, hosted)
    survey(
        hosted.run,
        [Part("tool", name, "forward" in vars(tool)) for name, tool in made.tools.items()],
    )
    return made


def _leave(made: Any, agent: Any) -> None:
    """Leave what a run has done in the agent, where smolagents leaves it."""
    vars(agent.memory).update(vars(made.memory))
    vars(agent.monitor).update(vars(made.monitor))
    for name in ("state", "task", "step_number"):
        setattr(agent, name, getattr(made, name))
    if isinstance(getattr(made, "python_executor", None), Python):
        agent.python_executor.state = made.python_executor.state


class GuardedToolset(dict[str, Any]):
    """The tools of a guarded agent: one that it is given later (`agent.tools[name] = tool`) is
    guarded as well."""

    def __init__(self, hosted: Hosted, about: Any, runs: SmolRuns, tools: dict[str, Any]) -> None:
        super().__init__()
        self._given = hosted, about, runs
        self.update(tools)

    def __setitem__(self, name: str, tool: Any) -> None:
        super().__setitem__(name, _tool(tool, *self._given))

    def update(self, *given: Any, **named: Any) -> None:
        """Add tools, each guarded."""
        for name, tool in dict(*given, **named).items():
            self[name] = tool

    def setdefault(self, name: str, tool: Any = None) -> Any:
        """Add a tool, guarded, if there is none of this name."""
        if name not in self:
            self[name] = tool
        return self[name]

    def __ior__(self, tools: Any) -> Any:  # type: ignore[misc] # `|` gives a plain dictionary, and no agent has that one
        self.update(tools)
        return self


def _tool(tool: Any, hosted: Hosted, about: Any, runs: SmolRuns) -> Any:
    """A copy of a tool whose calls are judged, by name, whichever way they are made."""
    if getattr(vars(tool).get("forward"), "stanchion_run", None) is hosted:
        return tool
    made = copy.copy(tool)
    names, forward = list(tool.inputs), tool.forward

    def carry(given: dict[str, Any]) -> Any:
        with runs.works.inside(hosted, hosted):
            return forward(**given)

    def judged(*args: Any, **named: Any) -> Any:
        given = {**dict(zip(names, args, strict=False)), **named}
        return hosted.call(tool.name, given, carry, about=about)

    guarding: Any = partial(_answer, hosted, forward) if tool.name == ANSWER else judged
    guarding.stanchion_run = hosted
    made.forward = guarding
    return made


def _answer(hosted: Hosted, forward: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """An agent's answer, judged as the last of its replies."""
    answer = forward(*args, **named)
    said = _words(answer)
    told = hosted.report("model_reply", text=said, final=True)
    return answer if told.content == said else told.content


def _words(value: Any) -> str:
    return value if type(value) is str else json.dumps(value, default=str, ensure_ascii=False)


def _model(model: Any, hosted: Hosted) -> Any:
    """A copy of a model whose requests and replies are judged, streamed ones too."""
    made = copy.copy(model)
    made.generate = partial(_ask, hosted, model, "generate", _with_usage)
    if hasattr(model, "generate_stream"):
        made.generate_stream = partial(_ask, hosted, model, "generate_stream", _counted)
    return made


def _ask(
    hosted: Hosted, model: Any, how: str, told: Callable[[Any], Any], messages: Any, **options: Any
) -> Any:
    kept = getattr(model, "kwargs", {})

    def ask(messages: Any, **params: Any) -> Any:
        asked = lesser(model, {"model_id": params.pop("model", model.model_id), "kwargs": params})
        return told(getattr(asked, how)(messages, **options))

    return hosted.model(ask, messages, model=model.model_id if model.model_id else "", params=kept)


def _with_usage(reply: Any) -> Any:
    """A reply that says what it used in a word that every vendor has."""
    if reply.token_usage is not None:
        reply.usage = reply.token_usage.dict()
    return reply


def _counted(pieces: Any) -> Iterator[Any]:
    """Pieces of a reply; each says what was used until then, as smolagents adds up what they
    say."""
    spent = {"input_tokens": 0, "output_tokens": 0}
    for piece in pieces:
        if piece.token_usage is not None:
            spent["input_tokens"] += piece.token_usage.input_tokens
            spent["output_tokens"] += piece.token_usage.output_tokens
            piece.usage = dict(spent)
        yield piece


class Python:
    """The executor of an agent that writes code: the code is judged before it runs, and what it
    gives afterwards."""

    def __init__(self, inner: Any, hosted: Hosted) -> None:
        self._inner, self._hosted = copy.copy(inner), hosted
        self._inner.state, self._inner.custom_tools = dict(inner.state), dict(inner.custom_tools)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __call__(self, code: str) -> Any:
        outputs: list[Any] = []

        def carry(args: dict[str, Any]) -> dict[str, Any]:
            outputs.append(self._inner(args["code"]))
            return {"logs": outputs[-1].logs, "output": _readable(outputs[-1].output)}

        made = self._hosted.call(PYTHON, {"code": code}, carry, about=BY_MODEL)
        if not isinstance(made, dict):
            return CodeOutput(output=None, logs=str(made), is_final_answer=False)
        came = outputs[-1]
        kept = made["output"] == _readable(came.output)
        return dataclasses.replace(
            came, logs=made["logs"], output=came.output if kept else made["output"]
        )


def _readable(output: Any) -> Any:
    """What code gave, as the model reads it where it is no plain data."""
    return output if isinstance(output, PLAIN) else str(output)


class ManagedMember:
    """A managed agent: giving it a task is a handoff, and what it does is judged in a run of its
    own."""

    def __init__(self, agent: Any, hosted: Hosted, about: Any, runs: SmolRuns) -> None:
        self._agent, self._hosted, self._about, self._runs = agent, hosted, about, runs
        self._numbers = count(1)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._agent, name)

    def __call__(self, task: str, **options: Any) -> Any:
        name, hosted = self._agent.name, self._hosted
        about = {"to": name, "key": f"{name}-{next(self._numbers)}", "about": self._about}
        told = hosted.report("handoff", payload={"task": task, **options}, **about)
        if not told.proceeds:
            return told.answer
        with hosted.child(name) as own:
            made = _guarded(self._agent, own, self._runs)
            with self._runs.works.inside(own, own):
                answer = made(**told.content)
            _leave(made, self._agent)
        told = hosted.report("handoff_done", payload={"answer": answer}, **about)
        return told.content["answer"] if told.proceeds else told.answer


class SmolCanaryTool(Tool):
    """A function as a tool of the canary's name."""

    name, description = TOOL, "must not run"
    inputs: dict[str, Any] = {}  # noqa: RUF012 - where the framework wants it
    output_type = "string"

    def __init__(self, body: Callable[[], str]) -> None:
        self._body = body
        super().__init__()

    def forward(self) -> str:
        """Call the function."""
        return self._body()


class SmolCanaryModel(Model):
    """A model that asks for the canary, and then answers."""

    def __init__(self) -> None:
        super().__init__(model_id=TOOL)
        self._turns = [(TOOL, {}), (ANSWER, {"answer": "done"})]

    def generate(self, _messages: list[Any], **_options: Any) -> ChatMessage:
        """The next reply."""
        name, args = self._turns.pop(0)
        call = ChatMessageToolCall(ChatMessageToolCallFunction(args, name), TOOL, "function")
        return ChatMessage(MessageRole.ASSISTANT, "", [call])


def canary(shield: Any, body: Callable[[], str]) -> None:
    """Have a guarded agent call the canary."""
    tools, model = [SmolCanaryTool(body)], SmolCanaryModel()
    agent = ToolCallingAgent(tools, model, max_steps=2, verbosity_level=LogLevel.OFF)
    with SMOLAGENTS.run(shield, agent=TOOL) as hosted:
        guarded(agent, hosted).run("call it")
