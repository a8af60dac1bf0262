"""Segments: a text in its sentences, each with what it is: a plain value, a command, hostile, something sensitive."""

from __future__ import annotations

import itertools
import re
from typing import Final, NamedTuple

from stanchion.guards.flow.roles import may_be_sensitive, sensitive
from stanchion.kernel.regex import regex
from stanchion.readings.hostile import Grammar, blank, folded, hostile, may_be_hostile
from stanchion.readings.hostile.languages.english import STARTS, WEARING_ON

PLAIN: Final = 1
"""A short value, or a line `label: value`: data, no prose."""
COMMAND: Final = 2
HOSTILE: Final = 4
SENSITIVE: Final = 8

BREAKS: Final = regex(
    r"(?<=[.!?;])\s+(?=[A-Z\"'<\[(#*\d-])|\n\s*\n|\n(?=\s*[-*#<\d])|\n(?=[A-Z\"'])|\r|\t{2,}|(?<=:)\s*\n"
    rf"|\s(?=(?:{STARTS})\b)"
)
LABELLED: Final = regex(
    r"^\s*[-*]?\s*(?!todo|note|please|important|urgent|attention|system|user|assistant)"
    r"[\w#/]+(?:[ _-][\w#/]+){0,2}\s*:\s*\S{2,60}(?: \S{1,30}){0,3}\s*$",
    re.IGNORECASE,
)
NAMES: Final = regex(r"\w+")
GOES_ON: Final = regex(WEARING_ON)
LONGEST: Final = 2_048
"""How long a segment is at the most."""
SENTENCE: Final = regex(r"[^\W\d]{2}[.!?;]\s+[A-Z]")
"""Where a sentence ends and another begins."""
SHORT: Final = 80
LONG_LINE: Final = 240
LABEL: Final = 60
FEW: Final = 10


class Segment:
    """A sentence in its normal form, what it is, and what it wants."""

    __slots__ = ("effects", "flags", "text")

    def __init__(self, text: str, flags: int = 0, effects: int = 0) -> None:
        self.text = text
        self.flags = flags
        self.effects = effects


def is_value(text: str) -> bool:
    """Whether a text is short enough to be a value and no prose."""
    return len(text) <= SHORT and text.count(" ") < FEW and "\n" not in text and SENTENCE.search(text) is None


def is_labelled(text: str) -> bool:
    """Whether a line is a label and its value."""
    return len(text) <= LONG_LINE and text.find(":", 0, LABEL) > 0 and LABELLED.match(text) is not None


class Signs(NamedTuple):
    """What may be in a source: hostile phrases, commands, names of tools, fields that are told to nobody. What may not
    is not looked for."""

    hostile: bool
    commands: bool
    names: frozenset[str]
    entrusted: bool = False
    sensitive: bool = False


def signs(text: str, fields: str, grammar: Grammar, names: frozenset[str], entrusted: bool = False) -> Signs:
    """What may be in a text as it was read, lines and all, in which these names of tools are, and in its fields;
    `entrusted` says that the user handed their work to it."""
    lower = folded(text)
    told = may_be_sensitive(lower) or (fields != "" and may_be_sensitive(fields.lower()))
    if " " not in text:
        return Signs(bool(names), False, names, entrusted, told)
    speaks = bool(names) or may_be_hostile(lower, entrusted)
    return Signs(speaks, grammar.may_command(lower), names, entrusted, told)


def segments(text: str, normal: str, field: str, grammar: Grammar, may: Signs) -> tuple[Segment, ...]:
    """The segments of a text that stands in a field, given in its normal form as well."""
    text = text.strip()
    whole = is_value(text)
    if whole and normal.count(" ") < 2 and not may.names:
        return (_plain(normal, text, field, whole),)
    pieces = [text] if whole else [piece for piece in _cut(text) if piece.strip()]
    found = [_plain(blank(folded(piece)), piece, field, whole) for piece in pieces]
    if may.hostile or may.commands:
        for segment in found:
            _look(segment, grammar, may)
        if len(found) > 1:
            _carry_on(found)
            _spread(found)
    return tuple(found)


def _cut(text: str) -> list[str]:
    pieces: list[str] = []
    for piece in BREAKS.split(text):
        if piece:
            pieces += [piece[at : at + LONGEST] for at in range(0, len(piece), LONGEST)]
    return pieces


def _plain(normal: str, piece: str, field: str, whole: bool) -> Segment:
    made = Segment(normal, SENSITIVE if sensitive(field) else 0)
    at = normal.find(":", 0, LABEL)
    if whole or (at > 0 and is_labelled(piece)):
        made.flags |= PLAIN
        if at > 0 and sensitive(normal[:at]):
            made.flags |= SENSITIVE
    return made


def _look(made: Segment, grammar: Grammar, may: Signs) -> None:
    """Mark what is hostile or commands something."""
    if may.hostile and (hostile(made.text, may.entrusted) or names_one(made.text, may.names)):
        made.flags |= HOSTILE
    blanks = made.text.count(" ")
    if may.commands and blanks > 1:
        made.effects = grammar.commands(made.text)
        if made.effects:
            made.flags |= COMMAND
            if blanks > 2:
                made.flags &= ~PLAIN


def names_one(text: str, names: frozenset[str]) -> bool:
    """Whether a text speaks of a tool by its name."""
    return bool(names) and not names.isdisjoint(NAMES.findall(text))


def _carry_on(found: list[Segment]) -> None:
    """A command that is not finished runs on into the next sentence, or the next says how it is meant."""
    for before, after in itertools.pairwise(found):
        goes_on = before.text[-1:] not in ".!?" or GOES_ON.search(after.text) is not None
        if before.flags & COMMAND and goes_on and not after.flags & COMMAND and not is_labelled(after.text):
            after.flags = (after.flags | COMMAND) & ~PLAIN
            after.effects = before.effects


def _spread(found: list[Segment]) -> None:
    """What stands between hostile sentences is hostile, and so is what is commanded behind them."""
    marked = [at for at, segment in enumerate(found) if segment.flags & HOSTILE]
    if marked:
        for at in range(marked[0], len(found)):
            if at <= marked[-1] or found[at].flags & COMMAND:
                found[at].flags |= HOSTILE
