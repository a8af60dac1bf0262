"""Framing: whether everybody on the way reads one and the same request out of what is sent."""

from __future__ import annotations

from typing import Final

from stanchion.hosts.http.outgoing import Outgoing
from stanchion.kernel.regex import regex

_WORD: Final = regex(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_BREAK: Final = regex(r"[\r\n\0]")


def crooked(request: Outgoing) -> str:
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


def _named(wanted: str, request: Outgoing) -> list[str]:
    return [value for name, value in request.headers if name.lower() == wanted]
