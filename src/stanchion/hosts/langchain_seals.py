"""Holds LangChain to what was judged: callbacks tell, past every middleware, what is about to run
or to be asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.language_models.chat_models import BaseChatModel, _format_for_tracing
from langchain_core.load import dumpd
from langchain_core.runnables.config import var_child_runnable_config

from stanchion.runtime.errors import Ungoverned


class ToolSeal(BaseCallbackHandler):
    """Hears each tool begin, and stops one that is not the call that was judged.

    LangChain tells it by the configuration that the tool is run with, past every middleware.
    """

    raise_error = True
    run_inline = True

    def __init__(self, request: Any, args: dict[str, Any]) -> None:
        self._tool, self._name, self._id = request.tool, runs_as(request), request.tool_call["id"]
        self._args = deepcopy(args)
        self._begun = False

    def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        *,
        inputs: Any = None,
        tool_call_id: Any = None,
        **options: Any,
    ) -> None:
        """Compare what is about to run with what was judged; what a tool itself runs later is its
        own affair."""
        if self._begun and tool_call_id != self._id:
            return
        if (
            serialized["name"] != self._name
            or not isinstance(inputs, dict)
            or not self._is_judged(inputs)
        ):
            raise Ungoverned(
                f"a middleware has made another call of the call of `{self._name}` that was "
                f"judged: put `Guarded` "
                "behind it, so that what it makes is judged"
            )
        self._begun = True

    def _is_judged(self, inputs: dict[str, Any]) -> bool:
        """Whether these are the arguments that were judged; LangChain leaves out those that a model
        may not give."""
        left_out = self._args.keys() - inputs.keys()
        if left_out and (self._tool is None or left_out & self._tool.args.keys()):
            return False
        return all(
            name in self._args and self._args[name] == value for name, value in inputs.items()
        )


def runs_as(request: Any) -> str:
    """The name of the tool that a request would run: a middleware may have put another in the place
    of the one asked for."""
    name: str = request.tool_call["name"] if request.tool is None else request.tool.name
    return name


@contextmanager
def sealed(request: Any, args: dict[str, Any]) -> Iterator[None]:
    """Have a tool run with these arguments or not at all."""
    config, seal = request.runtime.config, ToolSeal(request, args)
    before = config.get("callbacks")
    if isinstance(before, BaseCallbackManager):
        config["callbacks"] = before.copy()
        config["callbacks"].add_handler(seal, inherit=False)
    else:
        config["callbacks"] = [*([] if before is None else before), seal]
    try:
        yield
    finally:
        config["callbacks"] = before


class AskingSeal(BaseCallbackHandler):
    """Hears each request to a model begin, and stops one that is not the request that was
    judged."""

    raise_error = True
    run_inline = True

    def __init__(self, model: Any, messages: Sequence[Any]) -> None:
        self._model = dumpd(model) if isinstance(model, BaseChatModel) else None
        self._messages = said_in(_format_for_tracing(list(messages)))

    def on_chat_model_start(self, serialized: Any, messages: Any, **_: Any) -> None:
        """Compare what is about to be asked with what was judged."""
        if self._model not in (None, serialized) or [said_in(one) for one in messages] != [
            self._messages
        ]:
            self.on_llm_start(serialized, [])

    def on_llm_start(self, serialized: Any, prompts: Any, **_: Any) -> None:
        """A model that takes texts is none that was judged."""
        raise Ungoverned(
            "a middleware has made another request of the one to a model that was judged: put "
            "`Guarded` behind it, so that what it makes is judged"
        )


def said_in(messages: Sequence[Any]) -> list[dict[str, Any]]:
    """What messages say; nobody can change it by changing them in place."""
    return [deepcopy(message.model_dump()) for message in messages]


@contextmanager
def quietly(request: Any, messages: Sequence[Any]) -> Iterator[None]:
    """Have a model asked this and nothing else, without anybody listening: what streams tokens and
    events listens by callbacks, and would hear the reply before it is judged. The message that the
    agent gets is streamed afterwards."""
    before = var_child_runnable_config.get()
    token = var_child_runnable_config.set(
        {**({} if before is None else before), "callbacks": [AskingSeal(request.model, messages)]}
    )
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)
