"""A model that remembers nothing: what it says follows from what it is asked, so that a hundred can
ask at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain.tools import tool
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

USED: Any = {"input_tokens": 7, "output_tokens": 5, "total_tokens": 12}


@tool
def look(name: str) -> str:
    """Look at a page."""
    return f"{name} is in order"


class Clerk(BaseChatModel):
    """Looks at the page that it is asked for, and says what it found; `tool` is the one it uses."""

    tool: str = "look"
    heard: Any = None
    """Is told of each piece before it is sent."""

    @property
    def _llm_type(self) -> str:
        return "clerk"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self.bind(tools=[one.name for one in tools])

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any
    ) -> ChatResult:
        whole: Any = None
        for chunk in self._stream(messages, stop, run_manager, **options):
            whole = chunk if whole is None else whole + chunk
        said = whole.message
        made = AIMessage(said.content, tool_calls=said.tool_calls, usage_metadata=USED)
        info = {"finish_reason": "stop"}
        return ChatResult(
            generations=[ChatGeneration(message=made, generation_info=info)],
            llm_output={"model_name": "clerk-1"},
        )

    def _stream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any
    ) -> Iterator[ChatGenerationChunk]:
        last = messages[-1]
        wanted = [name for name in options.get("tools", ()) if name not in ("look", "ask", "send")]
        words = ["I", " will", " look"] if isinstance(last, HumanMessage) else last.text.split(" ")
        for word in words:
            if self.heard is not None:
                self.heard(word)
            piece = ChatGenerationChunk(message=AIMessageChunk(content=f"{word} "))
            if run_manager is not None:
                run_manager.on_llm_new_token(piece.text, chunk=piece)
            yield piece
        called = self.tool if isinstance(last, HumanMessage) else wanted[0] if wanted else ""
        given = f'"{last.text}"}}' if isinstance(last, HumanMessage) else '"fine"}'
        for name, args in ((called, '{"name": '), (None, given)) if called else ():
            call: Any = {"name": name, "args": args, "id": name and "call-1", "index": 0}
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[call]))
        yield ChatGenerationChunk(
            message=AIMessageChunk(content="", usage_metadata=USED),
            generation_info={"finish_reason": "stop"},
        )


class Recorder(BaseCallbackHandler):
    """Writes down everything that LangChain tells it, as tracers do; the shield's own node is left
    out."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self._names: dict[Any, str] = {}

    def _note(self, event: str, said: Any, run_id: Any, parent: Any = None, name: str = "") -> None:
        around = self._names.get(parent, "")
        named = self._names.setdefault(run_id, around if around.startswith("Guarded") else name)
        if not named.startswith("Guarded"):
            self.events.append((event, named, around, plain(said)))

    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: Any,
        parent_run_id: Any = None,
        **more: Any,
    ) -> None:
        self._note("chain_start", inputs, run_id, parent_run_id, str(more.get("name")))

    def on_chain_end(self, outputs: Any, *, run_id: Any, **more: Any) -> None:
        self._note("chain_end", outputs, run_id)

    def on_chain_error(self, error: Any, *, run_id: Any, **more: Any) -> None:
        self._note("chain_error", repr(error), run_id)

    def on_chat_model_start(
        self, serialized: Any, messages: Any, *, run_id: Any, parent_run_id: Any = None, **more: Any
    ) -> None:
        said = [serialized, messages, more["invocation_params"], more["options"]]
        self._note("model_start", said, run_id, parent_run_id, str(more.get("name")))

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: Any, **more: Any) -> None:
        self._note("token", [token, chunk], run_id)

    def on_llm_end(self, response: Any, *, run_id: Any, **more: Any) -> None:
        self._note("model_end", [response.generations, response.llm_output], run_id)

    def on_llm_error(self, error: Any, *, run_id: Any, **more: Any) -> None:
        self._note("model_error", repr(error), run_id)

    def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        *,
        run_id: Any,
        parent_run_id: Any = None,
        inputs: Any = None,
        **more: Any,
    ) -> None:
        said = [serialized, input_str, inputs]
        self._note("tool_start", said, run_id, parent_run_id, serialized["name"])

    def on_tool_end(self, output: Any, *, run_id: Any, **more: Any) -> None:
        self._note("tool_end", output, run_id)

    def on_tool_error(self, error: Any, *, run_id: Any, **more: Any) -> None:
        self._note("tool_error", repr(error), run_id)


def plain(said: Any) -> Any:
    """What was said without what is new each time."""
    if isinstance(said, dict):
        return {name: plain(one) for name, one in said.items() if name not in ("id", "repr")}
    if isinstance(said, list | tuple):
        return [plain(one) for one in said]
    if hasattr(said, "model_dump"):
        return plain(dict(said))
    return said if isinstance(said, str | int | float | None) else type(said).__name__
