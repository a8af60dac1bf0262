"""Places: the URLs and hosts that the arguments of a tool call name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from holdfast.guards.egress.reading import PORTS, UNSEEN

HOSTS: Final = frozenset(
    {"host", "hosts", "hostname", "hostnames", "remotehost", "targethost", "serverhost", "dbhost", "proxyhost"}
)
"""Names of arguments that are hosts; in small letters, without separators."""
LINKS: Final = frozenset({"link", "links", "site", "website", "origin", "proxy"})
CONTENTS: Final = frozenset(
    {
        "content", "contents", "text", "body", "message", "prompt", "description", "html", "markdown", "code",
        "comment", "title", "note", "notes", "summary", "subject", "newstring", "oldstring", "newstr", "oldstr",
    }
)  # fmt: skip
"""Names of arguments that are written or sent; a URL in them is not followed."""
NOWHERE: Final = frozenset({"about", "data", "mailto", "tel", "sms", "blob", "urn", "cid", "arn"})
"""Schemes that lead to no host."""

LONGEST_LOOSE: Final = 4_096
"""A longer text without a scheme is not taken for a URL."""

_URLS: Final = re.compile(r".*(?:url|href|endpoint|webhook|callback)s?")
_URIS: Final = re.compile(r".*uris?")
_SCHEME: Final = re.compile(r"[\x00-\x20]*([A-Za-z][A-Za-z0-9+.-]{0,31}):")
_WHOLE: Final = re.compile(r"[\x00-\x20]*[A-Za-z][A-Za-z0-9+.-]{0,31}:[/\\]{2}")
_WRAPPED: Final = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]{0,31}:)+//")
_BARE: Final = re.compile(r"(?://)?((?:\[[0-9A-Fa-f:.]+\]|[^\s/?#@:\\]+)(?::[0-9]{1,5})?)(?:[/?#][^\s]*)?")
_BLANK: Final = re.compile(r"\s")
_LOGIN: Final = re.compile(r"[\w.-]+@([^\s:/@]+):(?!//)[^\s]*")


class Place(NamedTuple):
    """A URL in a call. Where it is not `sure` that the tool goes there, only what is surely wrong about it counts."""

    url: str
    sure: bool


def places(args: Mapping[str, Any]) -> Iterator[Place]:
    """The URLs of a call, in order: by the names of their arguments, at any depth, and by how they begin."""
    waiting: list[tuple[str, Any]] = list(args.items())
    waiting.reverse()
    while waiting:
        key, value = waiting.pop()
        kind = type(value)
        if kind is dict:
            waiting += reversed([(str(name), each) for name, each in value.items()])
        elif kind is list:
            waiting += reversed([(key, each) for each in value])
        elif kind is str and value:
            place = _in_text(_named(key), value)
            if place is not None:
                yield place
        elif kind is int and _named(key) == "host":
            yield Place(f"http://{value}/", True)


@lru_cache(4_096)
def _named(key: str) -> str:
    """What an argument's name says: `host`, `url`, `uri`, `content`, or nothing."""
    name = key[:64].replace("_", "").replace("-", "").lower()
    if name in HOSTS:
        return "host"
    if name in LINKS or _URLS.fullmatch(name) is not None:
        return "url"
    return "uri" if _URIS.fullmatch(name) is not None else "content" if name in CONTENTS else ""


def _in_text(named: str, text: str) -> Place | None:
    if named == "content":
        return None
    seen = text.translate(UNSEEN)
    found = _SCHEME.match(seen)
    scheme = "" if found is None else found[1].lower()
    whole = _WHOLE.match(seen) is not None
    if scheme in PORTS and (whole or named):
        return Place(text, bool(named) or _BLANK.search(text.strip()) is None)
    if scheme in NOWHERE:
        return None
    if whole:
        return Place(text, named == "url")
    return _without_scheme(named, seen.strip()) if named and len(text) <= LONGEST_LOOSE else None


def _without_scheme(named: str, text: str) -> Place | None:
    """A host, or a URL without a scheme: many tools put `http://` before it."""
    if named == "host":
        plain = text.count(":") < 2 or text.startswith("[")
        return None if " " in text else Place(f"http://{text}/" if plain else f"http://[{text}]/", True)
    login = _LOGIN.fullmatch(text)
    if login is not None:
        return Place(f"http://{login[1]}/", False)
    if _BARE.fullmatch(text) is not None:
        return Place(f"http://{text.removeprefix('//')}", False)
    return Place(text, True) if named == "url" and _WRAPPED.match(text) is not None else None
