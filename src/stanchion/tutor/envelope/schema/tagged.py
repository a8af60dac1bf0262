"""Moves that are written as tags."""

from __future__ import annotations

import re
from html import unescape
from itertools import islice
from typing import Any, Final

from stanchion.kernel.regex import regex
from stanchion.tutor.envelope.schema.finding import GIVEN, STARTS, Found, parsed
from stanchion.tutor.envelope.schema.loose import Steps
from stanchion.tutor.envelope.schema.meaning import Span
from stanchion.tutor.envelope.schema.shape import Shape, is_named

_TAG: Final = regex(
    r"<(?:\w{1,20}:)?(?:function=|(?:invoke|function|tool)\s+name=)[\"']?(?P<function>[\w.-]+)"
    r"[\"']?>"
    r"|<tool_call>\s*(?P<called>[\w.-]+)\s*(?=<arg_key>)"
    r"|<arg_key>(?P<key>[^<>]*)</arg_key>\s*<arg_value>(?P<given>.*?)</arg_value>"
    r"|<(?P<tag>(?:\w{1,20}:)?(?:parameter|param|argument|arg))(?:=|\s+name=)"
    r"[\"']?(?P<named>[\w.-]{1,60})[\"']?>"
    r"(?P<content>.*?)</(?P=tag)>"
    r"|<(?:\w{1,20}:)?(?P<name>[\w.-]{1,60})(?:="
    r"|\s+name=)?[\"']?(?P<attribute>\w{1,40})?[\"']?>(?P<value>[^<>]*)</[\w.:-]{1,60}>"
    r"|</?(?P<own>[\w.-]{1,60})>"
    r"|<(?P<whole>[\w.-]{1,60})(?P<attributes>(?:\s+[\w-]{1,40}=(?:\"[^\"]*\"|'[^']*'))+)\s*/?>",
    re.DOTALL,
)
_ATTRIBUTE: Final = regex(r"([\w-]{1,40})=(?:\"([^\"]*)\"|'([^']*)')")
_ENTITY: Final = regex(r"&(?:amp|lt|gt|quot|apos|#\d{1,6}|#x[0-9a-fA-F]{1,5});")


def tags(text: str, shape: Shape[Any], steps: Steps) -> list[Found]:
    """The moves that are written as tags, each round one value:
    `<action>PROPOSE</action><command>ls</command>`,
    `<function=PROPOSE><parameter=command>ls</parameter>`, `<invoke name="PROPOSE">`,
    `<PROPOSE><command>ls</command>`, or `<bash>ls</bash>`."""
    made: list[Found] = []
    spans: list[Span] = []
    for found in islice(_TAG.finditer(text), STARTS):
        action, field, value = _tagged(found, shape)
        if action is not None and found.group().startswith("</"):
            spans.append(found.span())
            continue
        itself = shape.name_of(field)
        if action is not None:
            attributes = _ATTRIBUTE.findall(found.group("attributes") or "")
            made.append(
                Found(
                    action,
                    {name: _plain(one or other) for name, one, other in attributes},
                    spans=spans,
                )
            )
        elif itself in shape.words and not made:
            made.append(Found(str(itself), {shape.words[str(itself)]: value}, spans=spans))
        elif made and field:
            inner = parsed(value, steps) if field in GIVEN else None
            for name, one in {field: value}.items() if inner is None else inner.items():
                made[-1].fields.setdefault(name, one)
        elif not field:
            continue
        spans.append(found.span())
    return [one for one in made if one.fields]


def _tagged(found: re.Match[str], shape: Shape[Any]) -> tuple[str | None, str, str]:
    """The action that a tag names, or the field and the value that it has."""
    parts = found.groupdict()
    for name in ("function", "called", "own", "whole"):
        if parts[name] is not None:
            return shape.name_of(parts[name]), "", ""
    if parts["key"] is not None:
        return None, parts["key"].strip(), _plain(parts["given"])
    if parts["named"] is not None:
        return None, parts["named"], _plain(parts["content"])
    field = parts["name"] if parts["attribute"] is None else parts["attribute"]
    value = _plain(parts["value"])
    action = shape.name_of(value) if is_named(field) else None
    return (action, "", "") if action is not None else (None, field, value)


def _plain(value: str) -> str:
    """A value without the lines that it stands apart by; entities are read where it has no other
    `&`."""
    said = value.strip("\r\n") if "\n" in value.strip() else value.strip()
    return unescape(said) if "&" in said and "&" not in _ENTITY.sub("", said) else said
