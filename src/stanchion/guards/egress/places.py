"""Places: the URLs and hosts that the arguments of a tool call name."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from stanchion.guards.egress.hosts import CARRYING
from stanchion.kernel.regex import regex
from stanchion.readings.urls import PORTS, UNSEEN
from stanchion.readings.word_lists import listed

HOSTS: Final = listed(
    "host hosts hostname hostnames remotehost targethost serverhost dbhost proxyhost"
)
"""Names of arguments that are hosts; in small letters, without separators."""
LINKS: Final = listed("link links site website origin proxy")
CONTENTS: Final = listed(
    "content contents text body message prompt description html markdown code comment title "
    "note notes summary subject newstring oldstring newstr oldstr"
)
"""Names of arguments that are written or sent; a URL in them is not followed."""
NOWHERE: Final = listed("about data mailto tel sms blob urn cid arn")
"""Schemes that lead to no host."""

PLAIN: Final = frozenset({str, int, float, bool, type(None)})
"""Values that have no names in them."""
SIGNS: Final = "|".join(
    [
        r"(?i)[^a-z0-9_ /.,\n-]|(?:^|[^a-z0-9_])[0-9]|[0-9][.-][0-9]|metadata|instance-data|socket",
        *sorted([zone.replace(".", r"\.") for zone in CARRYING]),
    ]
)
"""What is in every text that names a URL, an address, a login, a service of metadata or a socket,
as it stands or in a command."""
SHORTEST: Final = len("http://")
LONGEST_LOOSE: Final = 4_096
"""A longer text without a scheme is not taken for a URL."""

_URLS: Final = regex(r".*(?:url|href|endpoint|webhook|callback)s?")
_URIS: Final = regex(r".*uris?")
_SCHEME: Final = regex(r"[\x00-\x20]*([A-Za-z][A-Za-z0-9+.-]{0,31}):")
_WHOLE: Final = regex(r"[\x00-\x20]*[A-Za-z][A-Za-z0-9+.-]{0,31}:[/\\]{2}")
_WRAPPED: Final = regex(r"(?:[A-Za-z][A-Za-z0-9+.-]{0,31}:)+//")
_BARE: Final = regex(
    r"(?:[/\\]{2,})?((?:[^\s/?#@\\]*@)?(?:\[[0-9A-Fa-f:.]+\]|[^\s/?#@:\\]+)(?::[0-9]{1,5})?)(?:[/"
    r"?#\\][^\s]*)?"
)
_FRAME: Final = " \t\r\n\ufeff\u200b\u200c\u200d\u200e\u200f\u2060<>\"'`()[]{}"
"""What tools take off round a URL."""
_INNER: Final = regex(r"[A-Za-z][A-Za-z0-9+.-]{0,31}:[/\\]{2}[^\s<>\"'`)]*")
_COUNT: Final = regex(r"[1-9][0-9]{0,6}")
"""A number that is no address of anything."""
_BLANK: Final = regex(r"\s")
_LOGIN: Final = regex(r"[\w.-]+@([^\s:/@]+):(?!//)[^\s]*")


def names_a_place(event: Any) -> bool:
    """Whether the name of an argument says that it is a place, or there is more than plain values
    in them; a request is one to a place."""
    args = getattr(event, "args", None)
    return (
        args is None or not PLAIN.issuperset(map(type, args.values())) or any(map(named_as, args))
    )


class CalledUrl(NamedTuple):
    """A URL in a call. Where it is not `sure` that the tool goes there, only what is surely wrong
    about it counts."""

    url: str
    sure: bool


def places(args: Mapping[str, Any]) -> Iterator[CalledUrl]:
    """The URLs of a call, in order: by the names of their arguments, at any depth, and by how they
    begin."""
    waiting: list[tuple[str, Any]] = list(args.items())
    waiting.reverse()
    while waiting:
        key, value = waiting.pop()
        kind = type(value)
        if kind is dict:
            packed = value.get("$bytes")
            if type(packed) is str and len(value) == 1:
                waiting.append((key, _text_of(packed)))
                continue
            waiting += reversed([(str(name), each) for name, each in value.items()])
            for name in value:
                yield from _in_text("", str(name)) if len(str(name)) > SHORTEST else ()
        elif kind is list:
            waiting += reversed([(key, each) for each in value])
        elif kind is str and value:
            yield from _in_text(named_as(key), value)
        elif kind is int and named_as(key) == "host":
            yield CalledUrl(f"http://{value}/", True)


def _text_of(packed: str) -> str:
    """Bytes of a call as text; arguments show them in base64."""
    try:
        return b64decode(packed).decode("utf-8", "replace")
    except ValueError:
        return packed


@lru_cache(4_096)
def named_as(key: str) -> str:
    """What an argument's name says: `host`, `url`, `uri`, `content`, or nothing."""
    name = key[:64].replace("_", "").replace("-", "").lower()
    if name in HOSTS:
        return "host"
    if name in LINKS or _URLS.fullmatch(name) is not None:
        return "url"
    return "uri" if _URIS.fullmatch(name) is not None else "content" if name in CONTENTS else ""


def _in_text(named: str, text: str) -> tuple[CalledUrl, ...]:
    if named == "content":
        return ()
    seen = text.translate(UNSEEN)
    found = _SCHEME.match(seen)
    if found is None or found[1].lower() == "url":
        text, seen = _unframed(text, seen)
        found = _SCHEME.match(seen)
    scheme = "" if found is None else found[1].lower()
    whole = _WHOLE.match(seen) is not None
    if scheme in PORTS and (whole or named):
        one = _BLANK.search(text.strip()) is None
        several = _inner(text) if named and not one else ()
        return (CalledUrl(text, bool(named) or one), *several)
    if scheme in NOWHERE:
        return ()
    if whole:
        return (CalledUrl(text, named == "url"),)
    return _without_scheme(named, seen.strip()) if named and len(text) <= LONGEST_LOOSE else ()


def _unframed(text: str, seen: str) -> tuple[str, str]:
    """A text without what tools take off round a URL, if it is one then."""
    core = seen.strip().strip(_FRAME).strip()
    core = core[4:].lstrip() if core[:4].lower() == "url:" else core
    return (core, core) if _WHOLE.match(core) is not None else (text, seen)


def _without_scheme(named: str, text: str) -> tuple[CalledUrl, ...]:
    """A host, or a URL without a scheme: many tools put `http://` before it. Or texts that have
    URLs in them."""
    if named == "host":
        host = text if text.count(":") < 2 or text.startswith("[") else f"[{text}]"
        return () if " " in text else (CalledUrl(f"http://{host}/", True),)
    login = _LOGIN.fullmatch(text)
    if login is not None:
        return (CalledUrl(f"http://{login[1]}/", False),)
    bare = _BARE.fullmatch(text)
    if bare is not None:
        counts = _COUNT.fullmatch(bare[1]) is not None
        return () if counts else (CalledUrl(f"http://{bare[1]}/", False),)
    if named == "url" and _WRAPPED.match(text) is not None:
        return (CalledUrl(text, True),)
    return _inner(text)


def _inner(text: str) -> tuple[CalledUrl, ...]:
    """The URLs in a text of which nobody knows what the tool does with it."""
    return tuple([CalledUrl(inner[0], False) for inner in _INNER.finditer(text[:LONGEST_LOOSE])])
