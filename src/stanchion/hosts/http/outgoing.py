"""A request as a client is about to send it, as guards see it, and as it goes out after they have
changed it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from stanchion.hosts.http.payload import Payload, Unfit, written
from stanchion.kernel.content import content_of
from stanchion.kernel.events import Egress
from stanchion.kernel.regex import regex
from stanchion.runtime.values import project

FRAMING: Final = frozenset({"content-length", "transfer-encoding"})
"""Headers that say how long a body is; a changed one gets its own."""

SIGNATURES: Final = frozenset(
    {
        "content-digest", "content-md5", "digest", "repr-digest", "signature", "signature-input",
        "x-amz-content-sha256", "x-hub-signature", "x-hub-signature-256", "x-signature",
        "x-slack-signature",
    }
)  # fmt: skip
SIGNED: Final = ("aws4-", "signature ", "hmac", "digest ", "oauth ", "sharedkey")
"""Headers, and beginnings of `authorization`, by which a request that was changed is refused by its
server."""


LONG_WORD: Final = 12
"""Words of headers' names are shorter, or do not depend on capital letters."""


class OutgoingRequest(msgspec.Struct, frozen=True, gc=False):
    """A request before it leaves: its body whole, or one byte more than can be judged. `encoding`
    is the content encoding that the body has; `proxy` is what it would go through; `chunked` says
    that the client sends the body in chunks. `server_name` is whom TLS asks for and `target` what
    the request line asks for, where somebody said so."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    encoding: str = ""
    proxy: str = ""
    chunked: bool = False
    server_name: str = ""
    target: str = ""

    def shown(self) -> dict[str, str]:
        """The headers by their names in lower case; those that come twice are joined. A name in
        which capital letters may say something stands there as it is sent, too."""
        values: dict[str, list[str]] = {}
        for name, value in self.headers:
            for shown in (name, name.lower()) if _telling(name) else (name.lower(),):
                values.setdefault(shown, []).append(value)
        found = {
            name: ("; " if name == "cookie" else ", ").join(given) for name, given in values.items()
        }
        if found.get("content-length") == str(len(self.body)):
            del found["content-length"]
        return {str(project(name)): str(project(value)) for name, value in found.items()}


def _telling(name: str) -> bool:
    return (
        any(len(word) >= LONG_WORD and not word[1:].islower() for word in name.split("-"))
        and not name.islower()
    )


def encoding_of(headers: Iterable[tuple[str, str]]) -> str:
    """What the headers say of how the body is packed."""
    return ", ".join([value for name, value in headers if name.lower() == "content-encoding"])


def rewritten(
    request: OutgoingRequest, payload: Payload, was: Egress, now: Egress
) -> OutgoingRequest:
    """The request with what guards have changed in it, and nothing else; `Unfit` where that cannot
    be done."""
    if content_of(now) == content_of(was):
        return request
    if _signed(was.headers):
        raise Unfit("it is signed or has a checksum, which would no longer match")
    body = request.body if now.payload == was.payload else written(payload, now.payload)
    url = request.url if now.url == was.url else _address(was.url, now.url)
    headers = _headers(request.headers, was.headers, now.headers)
    if body is not request.body:
        headers = [(name, value) for name, value in headers if name.lower() not in FRAMING]
        headers.append(("content-length", str(len(body))))
    return msgspec.structs.replace(request, url=url, headers=tuple(headers), body=body)


def _signed(headers: dict[str, str]) -> bool:
    return not SIGNATURES.isdisjoint(headers) or headers.get(
        "authorization", ""
    ).lower().startswith(SIGNED)


def _headers(
    sent: Iterable[tuple[str, str]], was: dict[str, str], now: dict[str, str]
) -> list[tuple[str, str]]:
    if was.get("host") != now.get("host"):
        raise Unfit("its host would change")
    if any(name not in now and not name.islower() for name in was):
        raise Unfit("the name of a header would change")
    made: list[tuple[str, str]] = []
    changed: set[str] = set()
    for name, value in sent:
        low = name.lower()
        if low not in was or was[low] == now.get(low):
            made.append((name, value))
        elif low in now and low not in changed:
            changed.add(low)
            made.append((name, now[low]))
    return made + [(name, value) for name, value in now.items() if name not in was]


def _address(was: str, now: str) -> str:
    """A changed URL in the spelling that every client reads alike; it leads to the same server."""
    before, after = parsed(was), parsed(now)
    if after is None or before is None:
        raise Unfit("its URL would no longer be valid")
    if (after.protocol, after.host) != (before.protocol, before.host):
        raise Unfit("its URL would lead somewhere else")
    behind = f"{after.pathname}{after.search}".replace("[", "%5B").replace("]", "%5D")
    name = f"{after.username}:{after.password}".removesuffix(":")
    return f"{after.protocol}//{name + '@' if name else ''}{after.host}{behind}"


def parsed(url: str) -> Any:
    """A URL as the WHATWG reads it; `None` where it is none."""
    import can_ada

    try:
        return can_ada.parse(url)
    except ValueError:
        return None


_WORD: Final = regex(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_BREAK: Final = regex(r"[\r\n\0]")


def crooked(request: OutgoingRequest) -> str:
    """Why a server may take a request for another one, or for two; empty where none does.

    What stands behind the end that a server finds is its next request, which nobody has judged.
    """
    if _WORD.fullmatch(request.method) is None:
        return "its method is not one word"
    for name, value in request.headers:
        if _WORD.fullmatch(name) is None:
            return "a header has an invalid name"
        if _BREAK.search(value) is not None:
            return "a header has a line break in it"
    lengths, codings = _named("content-length", request), _named("transfer-encoding", request)
    if lengths and lengths != [str(len(request.body))]:
        return "`content-length` is not the length of its body"
    if lengths and request.chunked:
        return "`content-length` says how long its body is, and it is sent in chunks"
    if codings and (not request.chunked or [one.lower() for one in codings] != ["chunked"]):
        return "`transfer-encoding` does not match how its body is sent"
    return ""


def _named(wanted: str, request: OutgoingRequest) -> list[str]:
    return [value for name, value in request.headers if name.lower() == wanted]
