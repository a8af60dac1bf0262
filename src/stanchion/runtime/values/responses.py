"""HTTP responses of any client, known by what they hold: status, headers and body, once the body
was read."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final

from stanchion.runtime.values.anatomy import MISSING, held_in, is_any, is_open, state_of, twin
from stanchion.runtime.values.type_readers import Form, Seen, ValueLeaf, ValueParts

BODIES: Final = {"status_code": "_content", "status": "_body"}
"""Where clients keep a body, by where they keep the status."""


def response_form(value: Any) -> Form | None:
    """How a response is read; `None` for whatever is none."""
    state = state_of(value)
    if state is None or _body_of(state) is None or not is_open(type(value)):
        return None
    return Form(parts=_parts, made=_made, mutable=False)


def _body_of(held: dict[str, Any]) -> str | None:
    return next((body for status, body in BODIES.items() if status in held and body in held), None)


def _parts(value: Any) -> ValueParts:
    held = held_in(value)
    place = _body_of(held)
    body = None if place is None else held[place]
    shown: dict[str, Any] = {
        "status": held.get("status_code", held.get("status")),
        "headers": _headers(held),
        "body": body if type(body) is bytes else UNREAD,
    }
    for name, item in (("url", held.get("url")), ("reason", _reason(held))):
        if type(item) is str and item:
            shown[name] = item
    history = held.get("history", held.get("_history"))
    if is_any(type(history), (list, tuple)) and history:
        shown["history"] = list(history)
    return ValueParts(list(shown), list(shown.values()))


UNREAD: Final = ValueLeaf(None, None, "which was not read yet", Seen.NOTHING)
"""Stands for a body that is still to come."""


def _headers(held: dict[str, Any]) -> dict[str, str]:
    """The headers by name, found where clients keep them."""
    given = held.get("headers", held.get("_headers"))
    pairs: Any = held.get("_raw_headers")
    if pairs is None:
        state = state_of(given)
        inner = {} if state is None else state
        if type(given) is dict:
            pairs = list(given.items())
        elif isinstance(store := inner.get("_store"), dict):
            pairs = list(dict.copy(store).values())
        else:
            pairs = inner.get("_list")
    found: dict[str, str] = {}
    for pair in pairs if is_any(type(pairs), (list, tuple)) else ():
        if type(pair) is tuple and len(pair) > 1:
            name, text = _latin(pair[0]), _latin(pair[-1])
            found[name] = f"{found[name]}, {text}" if name in found else text
    return found


def _reason(held: dict[str, Any]) -> str:
    """The words beside the status."""
    said = held.get("reason")
    more = held.get("extensions")
    return (
        _latin(more.get("reason_phrase")) if said is None and type(more) is dict else _latin(said)
    )


def _rewritten(held: dict[str, Any], headers: dict[str, str]) -> dict[str, Any] | None:
    """Headers with other values where their client keeps them; `None` where that cannot be done."""
    given = held.get("headers")
    state = state_of(given)
    inner = {} if state is None else state
    if type(given) is dict:
        return {"headers": {name: headers.get(name, "") for name in given}}
    if isinstance(store := inner.get("_store"), dict):
        pairs = {
            key: (pair[0], headers.get(_latin(pair[0]), ""))
            for key, pair in dict.copy(store).items()
        }
        made = twin(
            given,
            {"_store": type(store)(pairs) if is_any(type(store), (dict, OrderedDict)) else pairs},
        )
    elif type(listed := inner.get("_list")) is list:
        lines = [
            (*line[:-1], headers.get(_latin(line[0]), "").encode("latin-1", "replace"))
            for line in listed
        ]
        made = twin(given, {"_list": lines})
    else:
        return None
    return None if made is MISSING else {"headers": made}


def _latin(data: Any) -> str:
    if type(data) is bytes:
        return data.decode("latin-1")
    return data if type(data) is str else ""


def _made(value: Any, items: Any) -> Any:
    """A twin of a response with another body, and nothing that still has the first."""
    names = _parts(value).names
    given = (
        items
        if isinstance(items, dict)
        else dict(zip([] if names is None else names, items, strict=True))
    )
    held = held_in(value)
    place = _body_of(held)
    body = given.get("body")
    if place is None or not isinstance(body, str | bytes):
        return MISSING
    data = body.encode() if isinstance(body, str) else body
    was = _headers(held)
    headers = {**given.get("headers", was)}
    headers |= {
        name: str(len(data))
        for name in headers
        if name.lower() == "content-length" and data != held[place]
    }
    changed: dict[str, Any] = {place: data}
    if headers != was:
        rewritten = _rewritten(held, headers)
        if rewritten is None:
            return MISSING
        changed |= rewritten | (
            {"cookies": None} if given.get("headers", was) != was and "cookies" in held else {}
        )
    changed |= {
        name: given[name]
        for name in ("url", "reason")
        if name in given and type(held.get(name)) is str
    }
    if given.get("reason", "") != _reason(held) and "extensions" in held:
        changed["extensions"] = {}
    changed |= dict.fromkeys([name for name in ("raw", "stream") if name in held])
    for name in ("history", "_history"):
        if name in held:
            changed[name] = type(held[name])(given.get("history", ()))
    made = twin(value, changed)
    state = None if made is MISSING else state_of(made)
    if state is not None:
        state.pop("_text", None)
    return made
