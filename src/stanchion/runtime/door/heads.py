"""Heads of HTTP messages, read so that no two readers can understand them differently: what is
ambiguous is refused, and never mended."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.regex import regex
from stanchion.kernel.tuples import NamedTuple

MOST_HEADERS: Final = 128
LONGEST_HEAD: Final = 65_536
LONGEST_LINE: Final = 64
"""How long the line before a chunk may be."""

Headers = tuple[tuple[str, str], ...]


class HeadFault(ValueError):
    """A head that is not passed on; says why."""


class RequestHead(NamedTuple):
    """The head of a request as it stands on the wire."""

    method: str
    target: str
    version: str
    headers: Headers


class ResponseHead(NamedTuple):
    """The head of a response as it stands on the wire."""

    status: int
    reason: str
    version: str
    headers: Headers


class Framing(NamedTuple):
    """How a body ends: after so many bytes, after its last chunk, or with the connection."""

    length: int | None
    chunked: bool = False


_REQUEST: Final = regex(
    rb"([A-Za-z][A-Za-z0-9!#$%&'*+.^_`|~-]{0,31}) ([\x21-\x7e]+) HTTP/(1\.[01])"
)
_RESPONSE: Final = regex(rb"HTTP/(1\.[01]) ([1-9][0-9]{2})(?: ([\t\x20-\x7e\x80-\xff]*))?")
_HEADER: Final = regex(
    rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*"
    rb"[\x21-\x7e\x80-\xff])?)?[ \t]*"
)
HEAD_END: Final = regex(rb"\r?\n\r?\n")
LINE_END: Final = regex(rb"\n")
"""Where a head or a line ends for any reader; whether it ends as it should is asked then."""
_BARE: Final = regex(rb"\r(?!\n)|(?<!\r)\n|\x00")
_DIGITS: Final = regex(r"[0-9]{1,15}")
_CHUNK: Final = regex(rb"([0-9A-Fa-f]{1,8})\r\n")

FRAMED: Final = {"content_length": "content-length", "transfer_encoding": "transfer-encoding"}
"""Names that some servers take for others."""
HOPS: Final = frozenset(
    {
        "connection", "http2-settings", "keep-alive", "proxy-authenticate", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
"""Headers that are for one connection alone, and are not passed on."""
CONNECTION_WORDS: Final = frozenset({"close", *HOPS})
"""What `connection` may name: with another word a header would be lost on the way to whoever
judges by it."""


def _lines(head: bytes) -> list[bytes]:
    if _BARE.search(head) is not None or not head.endswith(b"\r\n\r\n"):
        raise HeadFault("a line does not end with CR and LF, or has a NUL in it")
    return head[:-4].split(b"\r\n")


def _headers(lines: list[bytes]) -> Headers:
    if len(lines) > MOST_HEADERS:
        raise HeadFault(f"it has more than {MOST_HEADERS} headers")
    found = []
    for line in lines:
        if line[:1] in (b" ", b"\t"):
            raise HeadFault("a header goes on in another line")
        match = _HEADER.fullmatch(line)
        if match is None:
            raise HeadFault("a header is not a name, a colon and a value")
        name = match[1].decode("ascii")
        if name.lower() in FRAMED:
            raise HeadFault(f"`{name}` is taken for `{FRAMED[name.lower()]}` by some servers")
        found.append((name, (match[2] or b"").decode("latin-1")))
    return tuple(found)


def request_head(head: bytes) -> RequestHead:
    """Read the head of a request, the empty line at its end included; `HeadFault` where two
    readers could differ."""
    first, *lines = _lines(head)
    match = _REQUEST.fullmatch(first)
    if match is None:
        raise HeadFault("its first line is not a method, a target and a version of HTTP/1")
    method, target, version = (part.decode("ascii") for part in match.groups())
    if "#" in target or "\\" in target:
        raise HeadFault("its target has `#` or a backslash in it")
    headers = _headers(lines)
    hosts = values(headers, "host")
    if len(hosts) > 1 or (version == "1.1" and not hosts):
        raise HeadFault(f"it has {len(hosts)} `host` headers, and has to have one")
    for value in values(headers, "connection"):
        for word in value.lower().split(","):
            if word.strip() not in CONNECTION_WORDS:
                raise HeadFault(f"`connection` names `{word.strip()}`")
    if any(value.lower() != "100-continue" for value in values(headers, "expect")):
        raise HeadFault("it expects something other than `100-continue`")
    return RequestHead(method, target, version, headers)


def response_head(head: bytes) -> ResponseHead:
    """Read the head of a response in the same way."""
    first, *lines = _lines(head)
    match = _RESPONSE.fullmatch(first)
    if match is None:
        raise HeadFault("its first line is not a version of HTTP/1 and a status")
    reason = b"" if match[3] is None else match[3]
    return ResponseHead(
        int(match[2]), reason.decode("latin-1"), match[1].decode("ascii"), _headers(lines)
    )


def values(headers: Headers, name: str) -> list[str]:
    """All values of a header, in order."""
    return [value for found, value in headers if found.lower() == name]


def passed_on(headers: Headers) -> Headers:
    """The headers without those that are for one connection alone."""
    return tuple([one for one in headers if one[0].lower() not in HOPS])


def framing(headers: Headers, version: str) -> Framing | None:
    """How the body of a message ends; `None` where its headers do not say. `HeadFault` where they
    say it twice, or in a way that some reader does not know."""
    lengths, codings = values(headers, "content-length"), values(headers, "transfer-encoding")
    if lengths and codings:
        raise HeadFault("it has both `content-length` and `transfer-encoding`")
    if codings:
        if version == "1.0" or [one.lower() for one in codings] != ["chunked"]:
            raise HeadFault(f"`transfer-encoding` is `{', '.join(codings)}`, and not `chunked`")
        return Framing(None, True)
    if not lengths:
        return None
    if len(lengths) > 1 or _DIGITS.fullmatch(lengths[0]) is None:
        raise HeadFault(f"`content-length` is `{', '.join(lengths)}`, and not one number")
    return Framing(int(lengths[0]))


def chunk_size(line: bytes) -> int:
    """How long the next chunk is, by the line before it; extensions are not passed on by anybody
    alike, and refused."""
    match = _CHUNK.fullmatch(line)
    if match is None:
        raise HeadFault("the size of a chunk is not a plain number")
    return int(match[1], 16)


def written_head(first: str, headers: Headers) -> bytes:
    """A head as it is sent, the empty line at its end included."""
    lines = [first, *[f"{name}: {value}" for name, value in headers], "", ""]
    return "\r\n".join(lines).encode("latin-1")
