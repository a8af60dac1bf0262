"""The signs that chat templates put round and inside of a call, as patterns."""

from __future__ import annotations

import re
from typing import Final

from stanchion.kernel.regex import regex

_OTHERS: Final = (
    r"(?![\w:]*(?:user|human|system|response|result|output(?!s?_?(?:start|json))|observation|"
    r"example|history|previous"
    r"|document|context|quote|ipython))"
)
"""A sign that names somebody else, or what is no call, is read as words."""
TOKEN: Final = (
    rf"[<\u2039][|\uff5c]/?{_OTHERS}[\w\u2581 .-]{{1,40}}[|\uff5c][>\u203a]"
    r"|</?s>|\[/?(?:INST|TOOL_CALLS?|ARGS)\]|\[CALL_ID\]\w{1,40}|<(?:start|end)_(?:function_call|"
    r"code"
    r"|action|of_turn)>"
    r"|\u273f(?:FUNCTION|ARGS)\u273f:?"
)
"""A sign of one kind or another that only a template writes."""
CHANNEL: Final = r"<\|start\|>assistant\b|<\|channel\|>\w{1,20}(?:\s+to=)?|\bto=(?=functions\.)"
"""To whom a part of a reply goes: words of the template."""
CALLS: Final = (
    rf"(?:\w{{1,20}}:)?{_OTHERS}(?:\w*(?:tool|function)\w*|(?:calls?|use|input|invoke)"
    r"|(?:(?:final|next)_)?(?:action|move|answer|response|reply|output|json|command|parameters?|"
    r"arguments?))"
)
"""The name of a tag that a call or an answer stands in."""
MARKUP: Final = regex(
    rf"{CHANNEL}|{TOKEN}|</?{CALLS}(?:[= ][^<>\n]{{0,80}})?>|^>>>[ \t]*\Z"
    r"|<(?:\w{1,20}:)?(?:function=|(?:invoke|function|tool)\s+name=)[\"']?\Z",
    re.IGNORECASE | re.MULTILINE,
)
"""Whatever of a template stands round a call."""
BEFORE: Final = regex(
    r"(?:^|[\s\"'`*_(\[|>\]=\u203a:])"
    r"((?:(?:tool|function)(?:[ _](?:name|call))?(?: \d{1,3})?[ \t]*[:=][ \t]*[\"'`*]{0,3})?)"
    r"([A-Za-z_][\w.-]*)"
    rf"(?::\d{{1,3}}(?=<))?[\"'`*_)\]]*(?:\s|[:=>]|{TOKEN})*"
    rf"(?:(?:action[ _]input|arguments|args|parameters|input)(?: \d{{1,3}})?\s*[:=]\s*"
    rf"|(?<=[|\uff5c]>)json(?:{TOKEN})\s*)?"
    r"(?:```\w*\s*)?\Z",
    re.IGNORECASE,
)
"""The word right before an object, with nothing but signs between."""
OVER: Final = regex(
    r"(?<=\S)\s*(?:<\|(?:im_end|eot_id|end|eom_id|endoftext)\|>|</s>|<end_of_turn>)\s*"
    r"(?:<(?:\||start_)[\w|>]{0,24}\s*)?(?:user|human|system)\b[^{]*\Z"
    r"|\n[ \t]*Observation(?: \d{1,3})?:[^\n{]*(?:\n(?:[ \t]*|(?:Thought|(?:Final )?Answer)[ "
    r"\w]{0,4}:[^\n{]*))*\Z",
    re.IGNORECASE,
)
"""Where somebody else's turn begins, which a model has only made up."""
ANALYSIS: Final = regex(r"<\|channel\|>analysis<\|message\|>.*?(?:<\|end\|>|\Z)", re.DOTALL)
"""What a model thinks in a channel of its own."""
ESCAPES: Final = "<start_function_call>"
ESCAPE: Final = "<escape>"
"""What stands for a quote in the template that has this sign before a call."""
