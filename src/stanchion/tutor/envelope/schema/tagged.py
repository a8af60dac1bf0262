"""Moves that are written as tags."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any, Final

from stanchion.kernel.regex import regex
from stanchion.tutor.envelope.schema.finding import GIVEN, STARTS, Found, parsed
from stanchion.tutor.envelope.schema.loose import Steps
from stanchion.tutor.envelope.schema.meaning import Span
from stanchion.tutor.envelope.schema.shape import Shape, is_named

_TAG: Final = regex(
    r"<(?:\w{1,20}:)?(?:function=|(?:invoke|function|tool)\s+name=)[\"']?(?P<function>[\w.-]+)[\"']?>"
    r"|<tool_call>\s*(?P<called>[\w.-]+)\s*(?=<arg_key>)"
    r"|<arg_key>(?P<key>[^<>]*)</arg_key>\s*<arg_value>(?P<given>[^<>]*)</arg_value>"
    r"|<(?:\w{1,20}:)?(?P<name>[\w.-]{1,60})(?:="
    r"|\s+name=)?[\"']?(?P<attribute>\w{1,40})?[\"']?>(?P<value>[^<>]*)</[\w.:-]{1,60}>"
    r"|</?(?P<own>[\w.-]{1,60})>"
)


def tags(text: str, shape: Shape[Any], steps: Steps) -> list[Found]:
    """The moves that are written as tags, each round one value: `<action>PROPOSE</action><command>ls</command>`,
    `<function=PROPOSE><parameter=command>ls</parameter>`, `<invoke name="PROPOSE">`, `<PROPOSE><command>ls</command>`,
    or `<bash>ls</bash>`."""
    made: list[Found] = []
    spans: list[Span] = []
    for found in islice(_TAG.finditer(text), STARTS):
        action, field, value = _tagged(found, shape)
        if action is not None and found.group().startswith("</"):
            spans.append(found.span())
            continue
        itself = shape.name_of(field)
        if action is not None:
            made.append(Found(action, {}, spans=spans))
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
    for name in ("function", "called", "own"):
        if parts[name] is not None:
            return shape.name_of(parts[name]), "", ""
    if parts["key"] is not None:
        return None, parts["key"].strip(), parts["given"].strip()
    field = (parts["name"] if parts["attribute"] is None else parts["attribute"]).lower()
    value = parts["value"].strip()
    action = shape.name_of(value) if is_named(field) else None
    return (action, "", "") if action is not None else (None, field, value)
