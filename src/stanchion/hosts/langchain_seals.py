"""Holds LangChain to what was judged: callbacks tell, past every middleware, what is about to run
or to be asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from copy import deepcopy
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.runnables.config import var_child_runnable_config

from stanchion.hosts.langchain_models import BEGUN
from stanchion.runtime.errors import Ungoverned
from stanchion.runtime.setting import setting


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


def sealed(request: Any, args: dict[str, Any]) -> AbstractContextManager[None]:
    """Have a tool run with these arguments or not at all."""
    return _heard_by(ToolSeal(request, args), request.runtime.config, inherit=False)


class AskingSeal(BaseCallbackHandler):
    """Hears each request to a model begin, and stops one to a model that does not judge it."""

    raise_error = True
    run_inline = True

    def on_chat_model_start(self, serialized: Any, messages: Any, **_: Any) -> None:
        """Let only the guarded model be asked."""
        if not BEGUN.get():
            self.on_llm_start(serialized, [])

    def on_llm_start(self, serialized: Any, prompts: Any, **_: Any) -> None:
        """A model that takes texts is none that was judged."""
        if not BEGUN.get():
            raise Ungoverned(
                "a middleware has made another request of the one to a model that was judged: put "
                "`Guarded` behind it, so that what it makes is judged"
            )


@contextmanager
def asked_alone() -> Iterator[None]:
    """Have nothing asked but guarded models."""
    before = var_child_runnable_config.get()
    config: Any = {} if before is None else dict(before)
    with _heard_by(AskingSeal(), config), setting(var_child_runnable_config, config):
        yield


@contextmanager
def _heard_by(seal: BaseCallbackHandler, config: Any, inherit: bool = True) -> Iterator[None]:
    """Have a seal listen beside all others that a configuration has."""
    before = config.get("callbacks")
    if isinstance(before, BaseCallbackManager):
        config["callbacks"] = before.copy()
        config["callbacks"].add_handler(seal, inherit=inherit)
    else:
        config["callbacks"] = [*([] if before is None else before), seal]
    try:
        yield
    finally:
        config["callbacks"] = before
