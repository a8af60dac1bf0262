"""Quick reading: lists of simple commands, which most short texts are, become the tree that the
reader would make."""

from __future__ import annotations

import re
from typing import Final, Literal

from stanchion.kernel.regex import regex
from stanchion.readings.shell.limits import Meter
from stanchion.readings.shell.parse import RESERVED
from stanchion.readings.shell.quoted import LIVE
from stanchion.readings.shell.tree import Item, Node, Pipe, Redirect, Script, Simple, Text, Word

LONGEST: Final = 512
"""Longer texts are seldom so simple."""

Joint = Literal[";", "&", "&&", "||"]
JOINTS: Final[dict[str, Joint]] = {";": ";", "&": "&", "&&": "&&", "||": "||"}

_TOKEN: Final = regex(
    r"""\ *(?:
    ([A-Za-z0-9_./:,@%+^*?~-][A-Za-z0-9_./:,@%+=^*?~\[\]-]*+)(?=[ ;|&]|\Z)
    |'([^']*)'(?=[ ;|&]|\Z)
    |"([^"\\$`]+)"(?=[ ;|&]|\Z)
    |(&&|\|\||\|(?!&)|;(?!;)|&(?!>))
    |([0-9]?)(>>?|>&)\ ?([A-Za-z0-9_./-]+)(?=[ ;|&]|\Z)
    )""",
    re.VERBOSE,
)
"""A word, a quoted one, what joins commands, or a redirection to a plain word."""


def quickly(text: str, meter: Meter) -> Script | None:
    """The whole text as the reader reads it, with as many steps; `None` where it takes the reader
    to tell."""
    if len(text) > LONGEST:
        return None
    script: Script = []
    parts: list[Node] = []
    words: list[Word] = []
    redirects: list[Redirect] = []
    at, end, steps = 0, len(text.rstrip(" ")), 0
    match = _TOKEN.match
    joint = ""
    while at < end:
        found = match(text, at)
        if found is None:
            return None
        at = found.end()
        match found.lastindex:
            case 4 | 7 if not words:
                return None
            case 1:
                word = found[1]
                if not words and (redirects or "=" in word or word in RESERVED):
                    return None
                words.append(word if LIVE.isdisjoint(word) else [Text(word)])
                steps += 1
            case 4:
                parts.append(Simple(words, [], redirects))
                words, redirects = [], []
                joint = found[4]
                if joint != "|":
                    script.append(Item(_piped(parts), JOINTS[joint]))
                    parts = []
                steps += 1
            case 7:
                redirects.append(Redirect(found[6], found[7], found[5]))
                steps += 2
            case kind:
                words.append([Text(found[2] if kind == 2 else found[3], True)])
                steps += (2 if kind == 2 else 4) + (at < len(text))
    if words:
        parts.append(Simple(words, [], redirects))
        script.append(Item(_piped(parts)))
        steps += 1
    elif joint not in (";", "&"):
        return None
    if meter.steps + steps > meter.left:
        return None
    meter.steps += steps
    return script


def _piped(parts: list[Node]) -> Node:
    return Pipe(parts) if len(parts) > 1 else parts[0]
