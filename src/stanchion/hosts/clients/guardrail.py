"""The guardrail of LiteLLM's proxy: its hooks, on exchanges that somebody else sends."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any, Final

from stanchion.hosts import Host, Hosted
from stanchion.hosts.clients.events import Frames
from stanchion.hosts.clients.forms import CHAT, COMPLETIONS, RESPONSES, RequestForm
from stanchion.runtime.errors import Refused


class Exchange:
    """Judged like a request that is made here, from its first hook to its last. Whoever sends it
    cannot be asked to send it again, so their host must not `retry`."""

    def __init__(self, hosted: Hosted, form: RequestForm, body: Mapping[str, Any]) -> None:
        self.hosted = hosted
        self._form, self._body = form, body
        loop = asyncio.get_running_loop()
        self._sent: asyncio.Future[dict[str, Any]] = loop.create_future()
        self._came: asyncio.Future[Any] = loop.create_future()
        self._judging: asyncio.Task[Any] | None = None

    async def begin(self) -> dict[str, Any]:
        """The body as it may be sent; raises `Refused` where it may not."""
        self._judging = asyncio.create_task(
            self.hosted.amodel(self._ask, **self._form.asked(self._body))
        )
        await asyncio.wait({self._judging, self._sent}, return_when=asyncio.FIRST_COMPLETED)
        return self._sent.result() if self._sent.done() else await self._judging

    async def _ask(self, messages: list[Any], **params: Any) -> Any:
        self._sent.set_result(self._form.written(self._body, messages, params))
        return await self._came

    async def end(self, reply: Any) -> Any:
        """The reply as it may be seen, or its items where it is streamed; raises `Refused` where it
        may not."""
        assert self._judging is not None
        if not self._came.done():
            self._came.set_result(reply)
        return await self._judging

    async def fail(self, error: Exception) -> None:
        """The request has failed: that is judged, and whoever has sent it raises what they like."""
        if not self._came.done():
            self._came.set_exception(error)
        if self._judging is not None:
            with suppress(Exception):
                await self._judging

    def drop(self) -> None:
        """Nobody will ever say what came of it: what it may have used stays charged."""
        if self._judging is not None:
            self._judging.cancel()


MESSAGES: Final = RequestForm("messages", apart="system", among=False)
FORMS: Final = {
    "anthropic_messages": MESSAGES,
    "messages": CHAT,
    "input": RESPONSES,
    "prompt": COMPLETIONS,
}
"""The form of a request by its type, or by the field that it has."""
CALL: Final = "litellm_call_id"
SESSIONS: Final = ("litellm_session_id", "session_id")
MOST: Final = 10_000
"""How many requests and sessions are remembered; the oldest is forgotten first."""
REFUSED: Final = 400
OWN: Final = frozenset({"metadata", "litellm_metadata", "guardrails", CALL, *SESSIONS})
"""Fields of a request that are for the proxy, and are not sent on."""


class ProxyRuns:
    """The runs behind a proxy: one for each session of a key, or one for each request without a
    session."""

    def __init__(self, shield: Any, host: Host, agent: str) -> None:
        self._shield, self._host, self._agent = shield, host, agent
        self._known: OrderedDict[tuple[str, str], Hosted] = OrderedDict()

    def of(self, user: Any, data: Mapping[str, Any]) -> Hosted:
        """The run of a request. A session belongs to the key that names it."""
        session = session_of(data)
        key = (str(getattr(user, "api_key", "")), session)
        known = self._known.get(key) if session else None
        if known is None:
            known = self._host.run(self._shield, agent=self._agent, task=session)
        if session:
            self._known[key] = known
            self._known.move_to_end(key)
            if len(self._known) > MOST:
                self._known.popitem(last=False)[1].close()
        return known


def session_of(data: Mapping[str, Any]) -> str:
    """The session that a request says it is part of; empty where it says nothing."""
    places = [
        data,
        *[
            data[name]
            for name in ("metadata", "litellm_metadata")
            if isinstance(data.get(name), Mapping)
        ],
    ]
    said = [place.get(name) for place in places for name in SESSIONS]
    return next((one for one in said if isinstance(one, str) and one), "")


def guardrail_class(shield: Any, host: Host, agent: str) -> type[Any]:
    """A class of guardrails that judge for a shield."""
    from litellm.integrations.custom_guardrail import CustomGuardrail

    runs = ProxyRuns(shield, host, agent)
    under_way: OrderedDict[str, Exchange] = OrderedDict()

    class Guardrail(CustomGuardrail):  # type: ignore[misc] # LiteLLM is not typed where it is not installed
        """Judges every request and every reply."""

        def should_run_guardrail(self, *_given: Any, **_more: Any) -> bool:
            """Always: no request and no key switches it off."""
            return True

        async def async_pre_call_hook(
            self, user_api_key_dict: Any, cache: Any, data: Any, call_type: str
        ) -> Any:
            """Judge a request; gives it as it may be sent."""
            hosted = runs.of(user_api_key_dict, data)
            form = FORMS.get(
                call_type, next((form for name, form in FORMS.items() if name in data), None)
            )
            try:
                if form is None:
                    return await _left(hosted, data, call_type)
                exchange = Exchange(hosted, form, _asked(data))
                made = await exchange.begin()
            except Refused as refused:
                raise _said(refused) from None
            under_way[data[CALL]] = exchange
            if len(under_way) > MOST:
                under_way.popitem(last=False)[1].drop()
            return {**data, **made}

        async def async_post_call_success_hook(
            self, data: Any, user_api_key_dict: Any, response: Any
        ) -> Any:
            """Judge a reply; gives it as it may be seen."""
            exchange = under_way.pop(data.get(CALL, ""), None)
            try:
                if exchange is None:
                    return await _result(runs.of(user_api_key_dict, data), response)
                return await exchange.end(response)
            except Refused as refused:
                raise _said(refused) from None

        async def async_post_call_streaming_iterator_hook(
            self, user_api_key_dict: Any, response: Any, request_data: Any
        ) -> AsyncIterator[Any]:
            """Judge a streamed reply, piece by piece."""
            exchange = under_way.pop(request_data.get(CALL, ""), None)
            frames = Frames()
            source = frames.read(response)
            try:
                if exchange is None:
                    judged: Any = runs.of(user_api_key_dict, request_data).astream(source)
                else:
                    judged = await exchange.end(source)
                async for item in judged:
                    yield frames.written(item)
            except Refused as refused:
                raise _said(refused) from None

        async def async_post_call_failure_hook(
            self,
            request_data: Any,
            original_exception: Exception,
            user_api_key_dict: Any,
            *_more: Any,
            **_rest: Any,
        ) -> None:
            """Judge a failure."""
            exchange = under_way.pop(request_data.get(CALL, ""), None)
            if exchange is not None:
                await exchange.fail(original_exception)

    return Guardrail


def _asked(data: Mapping[str, Any]) -> dict[str, Any]:
    """What a request says, without what the proxy has added for itself."""
    own = data.get("proxy_server_request")
    body = own.get("body") if isinstance(own, Mapping) else None
    names = body if isinstance(body, Mapping) else data
    return {name: data[name] for name in names if name in data and name not in OWN}


async def _left(hosted: Hosted, data: Mapping[str, Any], call_type: str) -> Any:
    """A request that asks no model, judged as it leaves; it cannot be changed, so it is refused in
    place of that."""
    told = await hosted.areport("egress", url=f"litellm://proxy/{call_type}", payload=_asked(data))
    if told.content["payload"] != _asked(data):
        raise PermissionError(f"`{call_type}` would have to be changed, which this proxy cannot do")
    return data


async def _result(hosted: Hosted, response: Any) -> Any:
    """What came for such a request, as it may be seen."""
    return (await hosted.areport("tool_result", tool="litellm", result=response)).content


def _said(refused: Refused) -> Exception:
    """A refusal as the proxy answers it."""
    from fastapi import HTTPException

    code = "" if refused.decision.determining is None else refused.decision.determining.code
    answer: Exception = HTTPException(REFUSED, {"error": str(refused), "code": code})
    return answer
