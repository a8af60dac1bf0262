"""The texts of a tool's definition, remarks on them, and words by which a sentence commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from stanchion.kernel.regex import regex
from stanchion.kernel.shown import brief, visible

KINDS: Final = {
    "instructs": "it gives the agent orders beyond its own use",
    "hidden": "it has text that people do not see",
    "others": "it speaks against other tools or gives orders about them",
    "demands": "it asks for files, secrets or the conversation",
    "imitates": "it passes for something that it is not",
    "unread": "it is too long to be read",
}
"""The kinds of remarks, in words."""
STRONG: Final = 2
"""From this weight on a tool is suspect; honest definitions have no such sentence."""
LONGEST: Final = 240
"""How much of a sentence is kept."""


class DefinitionRemark(msgspec.Struct, frozen=True, gc=False):
    """One sentence of a definition: its kind, where it stands, its words, and its weight: a hint
    weighs one."""

    kind: str
    place: str
    words: str
    weight: int

    def __str__(self) -> str:
        """For people: what it is, where, and the sentence, safe to be shown."""
        quoted = f": {brief(self.words)}" if self.words else ""
        return f"{KINDS[self.kind]}, in its {visible(self.place)}{quoted}"


def kinds_of(remarks: Iterable[DefinitionRemark]) -> str:
    """What remarks say, without a word of the definition itself: for an agent, which must not read
    it once more."""
    return ", and ".join(dict.fromkeys([KINDS[one.kind] for one in remarks]))


def strongest(remarks: Iterable[DefinitionRemark]) -> tuple[DefinitionRemark, ...]:
    """The remarks that make a tool suspect: strong ones, and hints that stand in one sentence; the
    heaviest first."""
    given = list(remarks)
    sums: dict[tuple[str, str], int] = {}
    for one in given:
        sums[one.place, one.words] = sums.get((one.place, one.words), 0) + one.weight
    strong = [one for one in given if sums[one.place, one.words] >= STRONG]
    return tuple(sorted(strong, key=lambda one: -one.weight))


MOST_CHARS: Final = 65_536
"""How much text of one definition is read; an honest one has far less."""
CLOSED: Final = ("boolean", "integer", "number", "null")
"""Types whose values hold no text."""
DEEPEST: Final = 64
ENDS: Final = regex(r"(?<=[.!?])[\"')\]]{0,4}\s+|[\r\n]+|;\s+")
"""Where one sentence ends and another begins."""
LONGEST_SENTENCE: Final = 2_000


class DefinitionText(NamedTuple):
    """One text: where it stands, the argument that it is about, whether it is the name of that
    argument or of something else, and whether the argument is open to any text."""

    place: str
    text: str
    argument: str = ""
    is_name: bool = False
    is_open: bool = True
    is_key: bool = False


class Sentence(NamedTuple):
    """One sentence of a text; the first one of a description says what the tool does."""

    words: str
    is_first: bool


class TooLong(Exception):
    """A definition has more text than is read."""


def texts_of(
    name: str, about: Any, schema: Any, result_schema: Any, aside: Any = None
) -> list[DefinitionText]:
    """The texts of a definition, its name first; `aside` is what it tells a host. Raises
    `TooLong`."""
    found = [DefinitionText("name", name)]
    size = 0
    told = (
        *_walked(about, "description", ()),
        *_walked(schema, "schema", ()),
        *_results(result_schema),
        *_walked(aside, "metadata", ()),
    )
    for one in told:
        size += len(one.text)
        if size > MOST_CHARS:
            raise TooLong
        found.append(one)
    return found


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a text, in its order."""
    first = True
    for piece in ENDS.split(text):
        for at in range(0, len(piece), LONGEST_SENTENCE):
            part = piece[at : at + LONGEST_SENTENCE].strip()
            if part:
                yield Sentence(part, first)
                first = False


def _results(schema: Any) -> Iterator[DefinitionText]:
    for one in _walked(schema, "result schema", ()):
        yield one._replace(
            place=f"{one.place} (result)",
            argument="",
            is_key=one.is_key or one.is_name,
            is_name=False,
        )


def _walked(
    value: Any, key: str, arguments: tuple[str, ...], depth: int = 0
) -> Iterator[DefinitionText]:
    if depth > DEEPEST:
        raise TooLong
    if isinstance(value, str):
        owner = ".".join(arguments)
        yield DefinitionText(
            f"{key} of `{owner}`" if owner else key, value, arguments[-1] if arguments else ""
        )
    elif isinstance(value, Mapping):
        for inner, own in value.items():
            yield from _member(str(inner), own, key, arguments, depth)
    elif isinstance(value, list | tuple):
        for own in value:
            yield from _walked(own, key, arguments, depth + 1)


def _member(
    inner: str, own: Any, key: str, arguments: tuple[str, ...], depth: int
) -> Iterator[DefinitionText]:
    """One member of a mapping: an argument where the mapping lists arguments, or else a keyword."""
    if key == "properties" and isinstance(own, Mapping | bool):
        yield DefinitionText(f"name of `{inner}`", inner, inner, is_name=True)
        closed = isinstance(own, Mapping) and own.get("type") in CLOSED
        for text in _walked(own, "schema", (*arguments, inner), depth + 1):
            yield text._replace(is_open=False) if closed else text
    elif inner != "$schema":
        yield DefinitionText(
            f"keyword of `{arguments[-1]}`" if arguments else "keyword", inner, is_key=True
        )
        yield from _walked(own, inner, arguments, depth + 1)


COMMANDED: Final = (
    r"(?:^\W*|[,:>)\]\u2013\u2014-] |\b(?:and|then|after that|afterwards|also|always|first"
    r"|must|should|shall|please|kindly|now|have to|has to"
    r"|need to|needs to|required to|asked to|silently|secretly|quietly|next|additionally|instead|"
    r"once more|or|to) )"
)
"""What stands before a verb that commands."""
TAKES: Final = (
    r"(?:pass|provide|include|paste|supply|put|hand(?: "
    r"over)?|append|attach|copy|send|upload|submit|insert|fill|give"
    r"|add"
    r"|write|read|open|cat|load|fetch|run|print|dump|encode|find|deliver|transmit|report|share|"
    r"export|collect|gather"
    r"|obtain|disclose|reveal|surrender|list|forward|post|place|store|save|quote|repeat|look "
    r"up|retrieve|extract|set"
    r"|concatenate|embed|enter)"
)
"""Verbs by which something is taken from one place to another."""
ACTS: Final = (
    r"(?:send|forward|copy|upload|post|transfer|write|append|attach|add|include|delete|remove|pay|"
    r"buy|wire|share"
    r"|e-?mail"
    r"|mail|mirror|save|store|set|submit|addressed|replace|redirect|route|insert|end|prefix|"
    r"prepend|begin|start|publish"
    r"|cc|bcc|deposit|move|grant|invite|use)"
)
"""Verbs that bring something about."""
NOT: Final = (
    r"(?:do not|don't|dont|never|must not|mustn't|should not|shouldn't|may not|cannot|can't|no "
    r"need to|need not|needn't"
    r"|not necessary to|not needed to|not have to|avoid|refrain from|without|not be|is not|are "
    r"not|isn't|aren't|nor)"
)

_TAKEN: Final = regex(rf"{COMMANDED}{TAKES}\b")
_STEP: Final = regex(r"\b(?:before|after|first|must|always|then|you|your)\b")
_NEGATED: Final = regex(rf"\b{NOT}\b")


def takes(sentence: str) -> bool:
    """Whether a sentence in its normal form orders that something is taken along, and does not
    forbid it."""
    return any(not is_negated(sentence, found.end()) for found in _TAKEN.finditer(sentence))


def says_what_it_does(sentence: str) -> bool:
    """Whether a sentence begins with such a verb and nothing else, as descriptions of tools do."""
    return _TAKEN.match(sentence) is not None and _STEP.search(sentence) is None


def is_negated(sentence: str, end: int) -> bool:
    """Whether what ends here is forbidden rather than ordered: a negation stands in the words
    before it."""
    return _NEGATED.search(sentence, max(0, end - 60), end) is not None
