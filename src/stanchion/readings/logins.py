"""Logins in URLs: where user names and passwords stand, so that neither a message nor a record
shows them."""

from __future__ import annotations

import re
from typing import Any, Final

from stanchion.kernel.events import Egress, ToolCall
from stanchion.kernel.findings import Patch
from stanchion.kernel.regex import regex
from stanchion.readings.shortened import shorten
from stanchion.readings.texts import leaves
from stanchion.readings.urls import Target, url_of

HIDDEN: Final = "[redacted:login]"
SHOWN: Final = 100

_FRONT: Final = regex(r"[\x00-\x20]*(?:[A-Za-z][A-Za-z0-9+.\-\t\r\n]*:)?[/\\\t\r\n]*")
_END: Final = regex(r"[/?#\\]")
_URL: Final = regex(r"[\x00-\x20]*[A-Za-z][A-Za-z0-9+.-]*:[/\\]{2}")
_BLANK: Final = regex(r"\s")


def login_in(text: str) -> tuple[int, int] | None:
    """Where a login stands in a URL, without the `@` behind it. Where readers disagree, what any
    takes for one is."""
    if "@" not in text:
        return None
    front = _FRONT.match(text)
    start = 0 if front is None else front.end()
    target = url_of(text)
    end = _END.search(text, start) if isinstance(target, Target) and not target.unclear else None
    at = text.rfind("@", start) if end is None else text.rfind("@", start, end.start())
    return (start, at) if at > start else None


def shown(text: str) -> str:
    """A URL as a message quotes it: without what may be secret in it (login, query, fragment), and
    not too long."""
    login = login_in(text)
    plain = text if login is None else text[: login[0]] + text[login[1] + 1 :]
    head = re.split(r"[?#]", plain, maxsplit=1)[0]
    return shorten(head, SHOWN)


def unwritten(event: Egress | ToolCall) -> tuple[Patch, ...]:
    """The patches that keep the logins of a request's or a call's URLs out of records."""
    if isinstance(event, Egress):
        return _patches(("url",), event.url)
    found = [leaf for leaf in leaves(event.args) if "@" in leaf.text and not leaf.named]
    return tuple(
        [
            patch
            for leaf in found
            if _may_be_url(leaf.text)
            for patch in _patches(leaf.path, leaf.text)
        ]
    )


def _may_be_url(text: str) -> bool:
    """Whether a text is a URL, or `user:password@host` without a scheme."""
    front = text.partition("@")[0]
    if front[:7].lower() == "mailto:":
        return False
    return (":" in front and _BLANK.search(front) is None) or _URL.match(text) is not None


def _patches(path: Any, text: str) -> tuple[Patch, ...]:
    login = login_in(text)
    if login is None or text[login[0] : login[1]] == HIDDEN:
        return ()
    return (Patch(path, HIDDEN, *login, kind="login"),)
