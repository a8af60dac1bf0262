"""An exchange: one request to a model that somebody else sends, with a hook before it and one after
its reply."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from stanchion.hosts import Hosted
from stanchion.hosts.clients.forms import Form


class Exchange:
    """Judged like a request that is made here, from its first hook to its last. Whoever sends it
    cannot be asked to send it again, so their host must not `retry`."""

    def __init__(self, hosted: Hosted, form: Form, body: Mapping[str, Any]) -> None:
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
