"""The words by which definitions give orders: where a verb commands, what takes something along,
and what negates."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.regex import regex

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
