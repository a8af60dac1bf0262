"""Chat models of LangChain that have each request judged as it is sent, and each reply before
anybody hears of it.

A guarded model is a copy of a model, of a class made from the model's own. It judges in the methods
that speak to the provider. Those lie below LangChain's callbacks, so that tracers, token streams
and caches see what they see of the model itself, as far as it was let through.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextvars import ContextVar
from inspect import signature
from typing import Any, Final

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from stanchion.hosts.contract.frameworks import lesser
from stanchion.hosts.contract.host import Hosted
from stanchion.runtime.setting import setting

BEGUN: Final[ContextVar[bool]] = ContextVar("stanchion_langchain_begun", default=False)
"""Whether a guarded model is being asked here."""
PASSING: Final[ContextVar[bool]] = ContextVar("stanchion_langchain_passing", default=False)
"""Whether what a model does here was judged: some make their replies out of their streams, or the
other way round."""
REQUESTS: Final[ContextVar[list[Any] | None]] = ContextVar("stanchion_langchain", default=None)
"""The requests that were judged for whoever is asking here."""

MARK: Final = "stanchion"
NAMES: Final = ("model_name", "model")
"""Where chat models have the name of the model that they ask for."""
EVENTS: Final = ("_stream_chat_model_events", "_astream_chat_model_events")
"""Methods that give a stream in another form; without them LangChain makes it from the pieces."""
DERIVED: Final = frozenset({"type", "tool_calls", "invalid_tool_calls"})
"""What a piece of a message makes from the rest of it."""


class ChatRequest:
    """One request to a chat model: what came of it, and the same with what was let through."""

    def __init__(self, model: Any, ask: Callable[..., Any]) -> None:
        self._model, self._ask = model, ask
        self._result: Any = None
        self._sent: dict[int, tuple[Any, Any]] = {}
        self._held: list[Any] = []
        self.refusal: AIMessage | None = None
        requests = REQUESTS.get()
        if requests is not None:
            requests.append(self)

    @property
    def name(self) -> str:
        """The name of the model that is asked for."""
        return next((name for _, name in self._names()), "")

    def _names(self) -> Iterator[tuple[str, str]]:
        found = [(at, getattr(self._model, at, None)) for at in NAMES]
        return ((at, name) for at, name in found if isinstance(name, str))

    def refuse(self, words: str) -> AIMessage:
        """The words of a refusal as the reply."""
        self.refusal = AIMessage(words)
        return self.refusal

    def ask(self, messages: Sequence[Any], **decided: Any) -> Any:
        """Ask the model, or the lesser one that was decided on."""
        lesser_name = decided.pop("model", None)
        named = {} if lesser_name is None else {at: lesser_name for at, _ in self._names()}
        return self._ask(lesser(self._model, named), list(messages), **decided)

    def took(self, result: ChatResult) -> AIMessage:
        """The reply of a result, to be judged; raises `TypeError` for one of another kind."""
        message = result.generations[0].message
        if not isinstance(message, AIMessage):
            raise TypeError(f"a model has given a `{type(message).__name__}`")
        self._result = result
        return message

    def result(self, reply: AIMessage) -> ChatResult:
        """The result with the reply as it was let through, and no other."""
        if self._result is None or reply is self.refusal:
            return ChatResult(generations=[ChatGeneration(message=reply)])
        if self.is_as_it_came(reply):
            return self._result  # type: ignore[no-any-return] # it is what was taken
        first = self._result.generations[0]
        made = ChatGeneration(message=reply, generation_info=first.generation_info)
        return ChatResult(generations=[made], llm_output=self._result.llm_output)

    def is_as_it_came(self, reply: Any) -> bool:
        """Whether the reply is that of the model, and the only one."""
        result = self._result
        return result is not None and [reply] == [one.message for one in result.generations]

    def piece(self, chunk: Any) -> Any:
        """A piece of a stream to be judged, with the number by which it is known afterwards."""
        number, message = len(self._sent), chunk.message
        marked = {**message.additional_kwargs, MARK: number}
        made = message.model_copy(update={"additional_kwargs": marked})
        self._sent[number] = (made, chunk)
        return made

    def passed(self, message: Any) -> list[Any]:
        """The pieces that go out with one that was let through. What calls tools waits for the end:
        nothing is called by a reply that is refused as a whole."""
        if message is self.refusal and message is not None:
            self._held = []
            return [ChatGenerationChunk(message=AIMessageChunk(content=message.content))]
        chunk = self._as_sent(message)
        if self._held or getattr(chunk.message, "tool_call_chunks", None):
            self._held.append(chunk)
            return []
        return [chunk]

    def rest(self) -> list[Any]:
        """The pieces that have waited for the end."""
        return self._held

    def _as_sent(self, message: Any) -> Any:
        """The piece that was judged; made anew where it was changed."""
        fields = dict(message)
        number = fields["additional_kwargs"].get(MARK, -1)
        judged, chunk = self._sent.get(number, (None, None))
        if message == judged:
            return chunk
        fields = {name: value for name, value in fields.items() if name not in DERIVED}
        told = {name: it for name, it in fields["additional_kwargs"].items() if name != MARK}
        made = type(message)(**{**fields, "additional_kwargs": told})
        info = None if chunk is None else chunk.generation_info
        return ChatGenerationChunk(message=made, generation_info=info)


def guarded_model(model: Any, hosted_of: Callable[[ChatRequest], Hosted], kinds: Any) -> Any:
    """A copy of a chat model that judges in the run that it is given for a request. `kinds` keeps
    the classes that were made."""
    if not isinstance(model, BaseChatModel):
        raise TypeError(
            f"`{type(model).__name__}` is no chat model (`BaseChatModel`): give the agent one, or "
            f"make one with `init_chat_model(...)` of a fixed model"
        )
    kind: Any = type(model)
    kind = getattr(kind, "stanchion_kind", kind)
    if kind not in kinds:
        kinds[kind] = _guarded_kind(kind, hosted_of)
    made = copy.copy(model)
    object.__setattr__(made, "__class__", kinds[kind])
    return made


def _guarded_kind(kind: Any, hosted_of: Callable[[ChatRequest], Hosted]) -> Any:
    """A class of chat models like this one; what a model does not do itself it does by the rest."""
    own = {
        name: method
        for name, method in vars(JudgedMethods).items()
        if callable(method)
        and (name not in OPTIONAL or getattr(kind, name) is not getattr(BaseChatModel, name))
    }
    own |= dict.fromkeys([name for name in EVENTS if hasattr(kind, name)])
    own |= {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    made = type(kind)(kind.__name__, (kind,), own)
    made.stanchion_kind, made.stanchion_hosted = kind, staticmethod(hosted_of)
    return made


class JudgedMethods:
    """The methods of a guarded model. `stanchion_kind` is the model's own class, and
    `stanchion_hosted` gives the run for a request."""

    stanchion_kind: Any
    stanchion_hosted: Any

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any
    ) -> Any:
        if PASSING.get():
            given = _taken(self.stanchion_kind._generate, run_manager)
            return self.stanchion_kind._generate(self, messages, stop=stop, **given, **options)
        tokens = HeldTokens(run_manager)
        request = _requested(self, "_generate", stop, options, tokens)

        def ask(asked: Any, **decided: Any) -> AIMessage:
            with setting(PASSING, True):
                return request.took(request.ask(asked, **decided))

        hosted = self.stanchion_hosted(request)
        reply = hosted.model(ask, messages, model=request.name, about=request)
        for args, named in tokens.let_through(request, reply):
            run_manager.on_llm_new_token(*args, **named)
        return request.result(reply)

    async def _agenerate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any
    ) -> Any:
        if PASSING.get():
            given = _taken(self.stanchion_kind._agenerate, run_manager)
            coming = self.stanchion_kind._agenerate(self, messages, stop=stop, **given, **options)
            return await coming
        tokens = AsyncHeldTokens(run_manager)
        request = _requested(self, "_agenerate", stop, options, tokens)

        async def ask(asked: Any, **decided: Any) -> AIMessage:
            with setting(PASSING, True):
                return request.took(await request.ask(asked, **decided))

        hosted = self.stanchion_hosted(request)
        reply = await hosted.amodel(ask, messages, model=request.name, about=request)
        for args, named in tokens.let_through(request, reply):
            await run_manager.on_llm_new_token(*args, **named)
        return request.result(reply)

    def _stream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any
    ) -> Any:
        if PASSING.get():
            given = _taken(self.stanchion_kind._stream, run_manager)
            return self.stanchion_kind._stream(self, messages, stop=stop, **given, **options)
        request = _requested(self, "_stream", stop, options)
        return _streamed(request, self.stanchion_hosted, messages)

    def _astream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any
    ) -> Any:
        if PASSING.get():
            given = _taken(self.stanchion_kind._astream, run_manager)
            return self.stanchion_kind._astream(self, messages, stop=stop, **given, **options)
        request = _requested(self, "_astream", stop, options)
        return _astreamed(request, self.stanchion_hosted, messages)

    def _generate_with_cache(self, messages: Any, *given: Any, **options: Any) -> Any:
        requests: list[Any] = []
        with setting(REQUESTS, requests):
            result = self.stanchion_kind._generate_with_cache(self, messages, *given, **options)
        if requests or PASSING.get():
            return _told(result, requests)
        request, ask = _cached(self, result)
        hosted = self.stanchion_hosted(request)
        reply = hosted.model(ask, messages, model=request.name, about=request)
        return _told(request.result(reply), [request])

    async def _agenerate_with_cache(self, messages: Any, *given: Any, **options: Any) -> Any:
        requests: list[Any] = []
        with setting(REQUESTS, requests):
            coming = self.stanchion_kind._agenerate_with_cache(self, messages, *given, **options)
            result = await coming
        if requests or PASSING.get():
            return _told(result, requests)
        request, ask = _cached(self, result)
        hosted = self.stanchion_hosted(request)
        reply = await hosted.amodel(ask, messages, model=request.name, about=request)
        return _told(request.result(reply), [request])

    def invoke(self, *given: Any, **options: Any) -> Any:
        """Ask the model."""
        with setting(BEGUN, True):
            return self.stanchion_kind.invoke(self, *given, **options)

    async def ainvoke(self, *given: Any, **options: Any) -> Any:
        """The same for async code."""
        with setting(BEGUN, True):
            return await self.stanchion_kind.ainvoke(self, *given, **options)


class HeldTokens:
    """Stands for whom a model tells of its tokens, where it does so itself: they are told once the
    reply was judged."""

    def __init__(self, run_manager: Any) -> None:
        self._run_manager = run_manager
        self.held: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def __bool__(self) -> bool:
        return self._run_manager is not None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run_manager, name)

    def on_llm_new_token(self, *args: Any, **named: Any) -> Any:
        """Keep a token."""
        self.held.append((args, named))

    def let_through(self, request: ChatRequest, reply: Any) -> list[Any]:
        """The tokens of a reply that is as it came."""
        return self.held if self and request.is_as_it_came(reply) else []


class AsyncHeldTokens(HeldTokens):
    """The same for async code."""

    async def on_llm_new_token(self, *args: Any, **named: Any) -> Any:
        """Keep a token."""
        self.held.append((args, named))


OPTIONAL: Final = ("_agenerate", "_stream", "_astream")
"""Methods that not every chat model has."""


def _requested(
    model: Any, way: str, stop: Any, options: dict[str, Any], tokens: Any = None
) -> ChatRequest:
    own = getattr(model.stanchion_kind, way)
    given = {"stop": stop, **_taken(own, tokens), **options}

    def ask(asked: Any, messages: Any, **decided: Any) -> Any:
        if tokens is not None:
            tokens.held.clear()
        return own(asked, messages, **{**given, **decided})

    return ChatRequest(model, ask)


def _taken(method: Any, run_manager: Any) -> dict[str, Any]:
    """Whom a model tells of its tokens, where its method takes it."""
    takes = "run_manager" in signature(method).parameters
    return {"run_manager": run_manager} if takes and run_manager else {}


def _cached(model: Any, result: Any) -> tuple[ChatRequest, Callable[..., AIMessage]]:
    """The request for a result that is there before any was made: it was in a cache."""
    request = ChatRequest(model, lambda *_asked, **_decided: result)
    return request, lambda _asked, **_decided: request.took(result)


def _streamed(request: ChatRequest, hosted_of: Any, messages: Any) -> Iterator[Any]:
    def ask(asked: Any, **decided: Any) -> Iterator[Any]:
        with setting(PASSING, True):
            chunks = iter(request.ask(asked, **decided))
        return _pieces(request, chunks)

    came = hosted_of(request).model(ask, messages, model=request.name, about=request)
    for item in [came] if isinstance(came, BaseMessage) else came:
        yield from request.passed(item)
    yield from request.rest()


async def _astreamed(request: ChatRequest, hosted_of: Any, messages: Any) -> AsyncIterator[Any]:
    async def ask(asked: Any, **decided: Any) -> AsyncIterator[Any]:
        with setting(PASSING, True):
            chunks = aiter(request.ask(asked, **decided))
        return _apieces(request, chunks)

    hosted = hosted_of(request)
    came = await hosted.amodel(ask, messages, model=request.name, about=request)
    if isinstance(came, BaseMessage):
        came = _alone(came)
    async for item in came:
        for chunk in request.passed(item):
            yield chunk
    for chunk in request.rest():
        yield chunk


def _told(result: Any, requests: list[Any]) -> Any:
    """The result, once whoever asks is told of the requests."""
    around = REQUESTS.get()
    if around is not None:
        around += requests
    return result


def _pieces(request: ChatRequest, chunks: Iterator[Any]) -> Iterator[Any]:
    """The pieces of a stream, with what the model does for each as its own."""
    while True:
        with setting(PASSING, True):
            chunk = next(chunks, None)
        if chunk is None:
            return
        yield request.piece(chunk)


async def _apieces(request: ChatRequest, chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
    while True:
        with setting(PASSING, True):
            chunk = await anext(chunks, None)
        if chunk is None:
            return
        yield request.piece(chunk)


async def _alone(message: Any) -> AsyncIterator[Any]:
    yield message
