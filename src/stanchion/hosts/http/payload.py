"""The body of a request as guards see it, unpacked, and a redacted one as bytes again."""

from __future__ import annotations

import codecs
import json
import zlib
from binascii import b2a_base64
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from stanchion.kernel.regex import regex
from stanchion.runtime.values import Unreadable, project

MOST_ENCODINGS: Final = 5
PIECE: Final = 4_096
"""So much is unpacked at a time: what stands behind a part of a body is copied no more than
that."""

_GZIP: Final = 31
_ZLIB: Final = 15
_BARE: Final = -15


def unpacked(body: bytes, encoding: str, longest: int) -> bytes | None:
    """A body without its content encodings, or a little more than `longest` of it; `None` where one
    is not known, or not all of the body is in it."""
    steps = encoding.lower().split(",")
    if len(steps) > MOST_ENCODINGS:
        return None
    for step in reversed(steps):
        plain = _once(body, step.strip(), longest)
        if plain is None or len(plain) > longest:
            return plain
        body = plain
    return body


def _once(body: bytes, encoding: str, longest: int) -> bytes | None:
    match encoding:
        case "" | "identity":
            return body
        case "gzip" | "x-gzip":
            return _inflated(body, _GZIP, longest)
        case "deflate":
            zlib_form = _inflated(body, _ZLIB, longest)
            return zlib_form if zlib_form is not None else _inflated(body, _BARE, longest)
        case _:
            return None


def _inflated(body: bytes, window: int, longest: int) -> bytes | None:
    found = bytearray()
    member: Any = None
    at = 0
    while at < len(body):
        member = zlib.decompressobj(window) if member is None else member
        piece = body[at : at + PIECE]
        try:
            found += member.decompress(piece, longest + 1 - len(found))
        except zlib.error:
            return None
        if len(found) > longest:
            return bytes(found)
        at += len(piece) - len(member.unused_data)
        member = None if member.eof else member
    return bytes(found) if member is None else None


TEXTUAL: Final = ("text/", "multipart/", "application/x-www-form-urlencoded")
STRUCTURED: Final = ("json", "xml", "javascript", "graphql")
"""Beginnings and ends of kinds of bodies that are shown as texts even where some of their bytes are
none."""
PLAIN: Final = ("utf-8", "ascii", "iso8859-", "cp125", "koi8-")
"""Charsets in which the bytes of plain letters are these letters, whatever stands beside them."""
NO_CHARSETS: Final = ("punycode", "idna", "unicode-escape", "raw-unicode-escape")
"""Encodings that Python has and no body; some take very long to read."""

_RUN: Final = regex(rb"[\t\r\n\x20-\x7e]{8,}")
_ESCAPE: Final = regex(r"\\(?:u00|x)([2-7][0-9a-fA-F])")


class Unfit(ValueError):
    """A redaction cannot be carried out; says why."""


class Payload(msgspec.Struct, frozen=True, gc=False):
    """A body as data. `charset` is what its text is written in; `json` says that it was read as
    JSON; `lost` why it cannot be written back, where it cannot; `whole` is false where there is
    more of it than can be judged."""

    data: Any = None
    charset: str = "utf-8"
    json: bool = False
    lost: str = ""
    whole: bool = True


def read(body: bytes, headers: Mapping[str, str], encoding: str, longest: int) -> Payload:
    """A body as guards see it: JSON as data, other text as text, the rest as bytes.

    `encoding` is the content encoding that it really has; a compressed body is judged by what is in
    it.
    """
    if not body:
        return Payload()
    if len(body) > longest:
        return Payload(whole=False)
    kind, charset = _kind(headers.get("content-type", ""))
    plain = unpacked(body, encoding, longest)
    if plain is None:
        seen = _read(body, kind, charset)
        return msgspec.structs.replace(seen, lost="its content encoding is unknown")
    if len(plain) > longest:
        return Payload(whole=False)
    found = _read(plain, kind, charset)
    return found if plain is body else msgspec.structs.replace(found, lost="its body is compressed")


def written(payload: Payload, data: Any) -> bytes:
    """A payload that a guard has changed, as the bytes of a body; `Unfit` where it has no such
    form."""
    if payload.lost:
        raise Unfit(payload.lost)
    if payload.json:
        return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode(payload.charset)
    if not isinstance(data, str):
        raise Unfit("its body would no longer be text")
    try:
        return data.encode(payload.charset)
    except UnicodeEncodeError:
        raise Unfit(f"`{payload.charset}` cannot encode the replacement") from None


def _kind(content_type: str) -> tuple[str, str]:
    """The kind of a body and the charset of its text, from the header that says it."""
    kind, *parameters = [part.strip() for part in content_type.lower().split(";")]
    named = [
        value.strip("\"' ")
        for name, _, value in (part.partition("=") for part in parameters)
        if name == "charset"
    ]
    charset = named[0] if named else "utf-8"
    try:
        "".encode(charset)
        known = codecs.lookup(charset).name not in NO_CHARSETS
    except (LookupError, ValueError):
        known = False
    return kind, charset if known else "utf-8"


def _read(body: bytes, kind: str, charset: str) -> Payload:
    """A body in its charset. One that not every server goes by is read as if there were none,
    too."""
    found = _read_in(body, kind, charset)
    if codecs.lookup(charset).name.startswith(PLAIN):
        return found
    other = _read_in(body, kind, "utf-8")
    return Payload(
        [found.data, other.data], lost=f"its charset is `{charset}`, which servers may not follow"
    )


def _read_in(body: bytes, kind: str, charset: str) -> Payload:
    try:
        text = body.decode(charset)
    except ValueError:
        if kind and not kind.startswith(TEXTUAL) and not kind.endswith(STRUCTURED):
            runs = b"\n".join(_RUN.findall(body)).decode("ascii")
            data = {"$bytes": b2a_base64(body, newline=False).decode("ascii")}
            return Payload({**data, "$text": runs} if runs else data, lost="its body is not text")
        return Payload(
            body.decode("utf-8", "backslashreplace"), lost="its body is only partly text"
        )
    shown = project(text)
    lost = "" if shown == text else "its body has incomplete characters"
    if text.lstrip()[:1] in ("{", "["):
        found = _json(text, charset)
        if found is not None:
            return found
    if _ESCAPE.search(text) is not None:
        plain = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), text)
        return Payload(
            [shown, project(plain)], lost="some letters in its body are written as escapes"
        )
    return Payload(shown, charset, lost=lost)


def _json(text: str, charset: str) -> Payload | None:
    """A text read as JSON; `None` where it is none. A name that comes twice is told apart: servers
    disagree about which one counts."""
    twice: list[str] = []

    def named(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        times: dict[str, int] = {}
        for name, value in pairs:
            new = name
            while new in made:
                twice.append(name)
                times[name] = times.get(name, 0) + 1
                new = f"{name}'{times[name] if times[name] > 1 else ''}"
            made[new] = value
        return made

    try:
        data = json.loads(text, object_pairs_hook=named, parse_constant=_no_number)
        shown = project(data)
    except (ValueError, RecursionError, Unreadable):
        return None
    if twice:
        return Payload(shown, charset, True, "a name occurs twice in its JSON")
    return Payload(
        shown,
        charset,
        True,
        "" if shown == data else "its JSON has numbers or text that are not valid JSON",
    )


def _no_number(name: str) -> Any:
    raise ValueError(f"`{name}` is not JSON")
