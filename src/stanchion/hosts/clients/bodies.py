"""Bodies of responses: what guards judge of one, and a response with another body in its place."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any, Final

FRAMING: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Headers that say how a body was packed; another body has its own."""
RAW: Final = "X-Stainless-Raw-Response"
"""The header by which an SDK knows that its caller wants the response itself."""
TRIES: Final = "x-stainless-retry-count"
"""The header in which it says how often it has tried."""


def shown(response: Any) -> Any:
    """What a response says: JSON as data, other text as text; `None` where it is neither, as an
    image."""
    content = response.content
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        pass
    try:
        return content.decode("utf-8") if content else None
    except UnicodeDecodeError:
        return None


def with_body(response: Any, data: Any) -> Any:
    """A response that says something else."""
    content = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return _made(response, content=content.encode("utf-8", "surrogatepass"))


def with_stream(response: Any, lines: Iterator[bytes] | AsyncIterator[bytes], awaited: bool) -> Any:
    """A response whose body comes piece by piece; closing it closes what it is made from."""
    made = _streams(type(response).__module__.partition(".")[0])[awaited]
    return _made(response, stream=made(lines, response))


def wanted(response: Any, raw: str) -> Any:
    """A response as the caller of an SDK's method asked for it, whatever was asked for on the
    way."""
    response.request.headers.pop(RAW, None)
    if raw:
        response.request.headers[RAW] = raw
    return response


def tries_of(response: Any) -> int:
    """How often the SDK had tried before this response came."""
    said = response.request.headers.get(TRIES, "0")
    return int(said) if said.isdecimal() else 0


def _made(response: Any, **body: Any) -> Any:
    headers = [
        (name, value)
        for name, value in response.headers.multi_items()
        if name.lower() not in FRAMING
    ]
    made = type(response)(
        response.status_code,
        headers=headers,
        request=response.request,
        extensions=response.extensions,
        **body,
    )
    made.history = response.history
    with suppress(
        RuntimeError
    ):  # a response that is still read, or that nobody has measured, has no such time
        made.elapsed = response.elapsed
    return made


@cache
def _streams(library: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The streams of an HTTP library, sync and async."""
    http: Any = import_module(library)

    class Passing(http.SyncByteStream):  # type: ignore[misc,name-defined] # which library it is is known only here
        def __init__(self, lines: Iterator[bytes], response: Any) -> None:
            self._lines, self._response = lines, response

        def __iter__(self) -> Iterator[bytes]:
            yield from self._lines

        def close(self) -> None:
            self._lines.close()  # type: ignore[attr-defined] # a generator
            self._response.close()

    class AsyncPassing(http.AsyncByteStream):  # type: ignore[misc,name-defined] # the same
        def __init__(self, lines: AsyncIterator[bytes], response: Any) -> None:
            self._lines, self._response = lines, response

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for line in self._lines:
                yield line

        async def aclose(self) -> None:
            await self._lines.aclose()  # type: ignore[attr-defined] # a generator
            await self._response.aclose()

    return Passing, AsyncPassing
