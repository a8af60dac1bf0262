"""smolagents: agents whose tools, models, generated code and team members are judged.

smolagents has no hooks before a call, so what it calls is wrapped: a guarded agent is a copy of
yours whose tools, model, Python executor and managed agents go through a run.
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

with tried("smolagents", "1.26", "1.27"):
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


def guarded(agent: Any, hosted: Hosted) -> Any:
    """A copy of an agent that works in this run. It shares memory, logger and settings with the
    agent that it is a copy of; managed agents are those that the agent has now. Its task is judged
    as what the user asks for."""
    made = _guarded(agent, hosted)
    made.run = partial(_run, made, hosted)
    return made


def _guarded(agent: Any, hosted: Hosted) -> Any:
    made = copy.copy(agent)
    code = getattr(agent, "python_executor", None)
    about = BY_MODEL if code is None else None
    made.model = _model(agent.model, hosted)
    made.tools = GuardedToolset(hosted, about, agent.tools)
    made.managed_agents = {
        name: ManagedMember(one, hosted, about) for name, one in agent.managed_agents.items()
    }
    if code is not None:
        made.python_executor = Python(code, hosted)
    survey(
        hosted.run,
        [Part("tool", name, "forward" in vars(tool)) for name, tool in made.tools.items()],
    )
    return made


class GuardedToolset(dict[str, Any]):
    """The tools of a guarded agent: one that it is given later (`agent.tools[name] = tool`) is
    guarded as well."""

    def __init__(self, hosted: Hosted, about: Any, tools: dict[str, Any]) -> None:
        super().__init__()
        self._hosted, self._about = hosted, about
        self.update(tools)

    def __setitem__(self, name: str, tool: Any) -> None:
        super().__setitem__(name, _tool(tool, self._hosted, self._about))

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


def _run(agent: Any, hosted: Hosted, task: str, *args: Any, **options: Any) -> Any:
    told = hosted.report("prompt", text=task)
    return type(agent).run(agent, told.content, *args, **options)


def _tool(tool: Any, hosted: Hosted, about: Any) -> Any:
    """A copy of a tool whose calls are judged, by name, whichever way they are made."""
    if getattr(vars(tool).get("forward"), "stanchion_run", None) is hosted:
        return tool
    made = copy.copy(tool)
    names, forward = list(tool.inputs), tool.forward

    def judged(*args: Any, **named: Any) -> Any:
        given = {**dict(zip(names, args, strict=False)), **named}
        return hosted.call(tool.name, given, lambda given: forward(**given), about=about)

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
        if not isinstance(inner, LocalPythonExecutor):
            raise ValueError(
                f"code runs in `{type(inner).__name__}`, where tools are copies that nobody can "
                f"judge: "
                "use `executor_type='local'`, or an agent that calls tools by JSON"
            )
        self._inner, self._hosted = inner, hosted

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

    def __init__(self, agent: Any, hosted: Hosted, about: Any) -> None:
        self._agent, self._hosted, self._about = agent, hosted, about
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
            answer = _guarded(self._agent, own)(**told.content)
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
    with SMOLAGENTS.run(shield, agent=TOOL) as hosted:
        agent = ToolCallingAgent(
            [SmolCanaryTool(body)], SmolCanaryModel(), max_steps=2, verbosity_level=LogLevel.OFF
        )
        guarded(agent, hosted).run("call it")
