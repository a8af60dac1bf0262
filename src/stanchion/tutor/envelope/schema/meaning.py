"""Whether the words round a move introduce it: a reply can also quote a move, forbid it, or tell of it.

What is taken is said here, and everything else is unclear: nobody can list the ways in which a move is not meant, in
any language. Words before a move introduce it, or state something else; words behind it say what it is good for.
Whoever is misread so can be asked again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from stanchion.kernel.regex import regex

Span = tuple[int, int]

NEAR: Final = 200
"""How much of what stands right before a move can be signs that it is wrapped in."""
_CALLS: Final = (
    r"(?:(?:(?:tool|function)_?)?(?:calls?|use|input|invoke)|function|tool|(?:(?:final|next)_)?(?:action|move|answer|response"
    r"|reply|output|json|command|parameters?|arguments?))"
)
_MARKUP: Final = regex(
    rf"</?{_CALLS}(?:[= ][^<>\n]{{0,80}})?>|<\|/?(?:im_start|im_end|end|start|eot_id|eom_id|channel|message"
    rf"|python_tag|return|assistant|{_CALLS}(?:_begin|_end)?)\|>|\[/?TOOL_CALLS\]",
    re.IGNORECASE,
)
"""Tags that a call or an answer stands in; any other is read as words."""
_FENCE: Final = (
    r"(?:```|~~~)(?:json\w*|js|javascript|ya?ml|python|py|te?xt|plain\w*|tool\w*|action|move|bash|sh|shell|console)?"
)
_OPENS: Final = regex(
    rf"(?:\s|{_FENCE}(?=\s)|(?<![`~])`|\*\*|[\[({{|\"'](?![^\n]*[\w:])"
    r"|(?:^|(?<=\n))[ \t]*(?:[-*]|\d{1,3}[.)]|#{2,6})(?=[ \t]))+\Z",
    re.IGNORECASE,
)
_CLOSES: Final = regex(r"(?:\s|```|~~~|(?<![`~])`|\*\*|[\])}|\"';.!]|\{\w*\})*")
_RULE: Final = regex(r"^[ \t]*(?:#{1,6}[ \t]*(?:end)?|[-*_=]{3,}|Observation:)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_SENTENCE: Final = regex(r".*?(?:[.!?:](?=[\s*_]|\Z)|\Z)", re.DOTALL)
_HEADING: Final = regex(r"^[ \t]*#{1,6}[ \t]+(?=[\w*])")
_DRESS: Final = " \t*_"
_SO: Final = regex(r",? \b(?:so|therefore|hence|thus)\b,? |; ")

_THING: Final = (
    r"(?:json|moves?|action|input|command|answer|response|reply|proposal|choice|decision|output|object|step|turn)"
)
_LABEL: Final = regex(
    rf"(?!is\b)(?=[^a-z]*[a-z])(?:(?:so|now|ok|okay|sure|well|certainly|understood|alright|great|yes|my|the|a|an|this|here|is|it|next|first"
    rf"|second|final|best|new|corrected|proposed|chosen|single|one|{_THING}|right|go|run|assistant|then|arguments|parameters"
    r"|print|var|let|const|call|tool(?= (?:call|input))|function|type|name|\d{1,4})[\s,.!]*){1,7}[:=]?",
    re.IGNORECASE,
)
"""Words of which a label is made, and nothing but these: `My next move:`, `Step 2:`, `move =`."""
_MEANS: Final = regex(
    r"\b(?:(?:i|we)(?:'ll| will| shall|'d like| want| need| should| must|'m going| am going| are going| propose"
    r"| suggest| choose| go| start| begin)|let me|let us|let's|my (?:next )?move is|i'm (?:running|checking|looking))\b"
    rf"|\bhere(?:'s| is) (?:[a-z]+ ){{0,4}}{_THING}\b|\bhere (?:it is|you go|we go|goes)\b",
    re.IGNORECASE,
)
"""Words by which somebody says that they do something now."""
_SHOWS: Final = regex(r"\b(?:this|these|those|such|following)\b", re.IGNORECASE)
_DOES: Final = regex(
    r"\b(?:do|run|try|make|send|use|propose|execute|play|choose|suggest|(?:start|begin|go|continue) (?:with|by))"
    r"(?:ing)? (?:this|these|the following)\b",
    re.IGNORECASE,
)
"""What is done with the move that a sentence points to."""
_THOUGHT: Final = regex(r"(?:thoughts?|reasoning|plan|intent|goal|reason|rationale)\s*:[^\n]*", re.IGNORECASE)
_ENGLISH: Final = regex(r"\b(?:the|is|are|has|have|we|i|to|of|thanks|sorry)\b", re.IGNORECASE)
_POINTS: Final = regex(
    r"\b(?:this|that|these|those|it|such|following|below|above|here|the (?:moves?|commands?|actions?|proposal))\b",
    re.IGNORECASE,
)
"""Words that may point to the move."""
_GOOD: Final = regex(
    r"(?:(?:this|it|the command|the move|which)(?: command| move| action)?"
    r" (?:(?:should|will|shall|can) (?!be\b)\w+|(?!is\b|was\b|has\b|does\b)\w+s\b"
    r"|is (?:a |an |the )?(?:good|best|right|correct|next|first|safe|simplest|quickest)"
    r" (?:move|step|command|choice|way to go)\b)"
    r"|i hope (?:this|it)\b|i(?:'m| am) sure\b|i (?:propose|suggest|choose|run) (?:it|this)\b)",
    re.IGNORECASE,
)
"""How sentences begin that say what a move is good for."""
_POLITE: Final = regex(
    r"(?:please )?let me know if you (?:need|want|have|would like)\b[^.!?]*[.!]?|(?:is there )?anything else\??",
    re.IGNORECASE,
)
_FORBIDS: Final = regex(
    r"(?:^|[,;:] |\bplease )(?:do not|don't)\b|\b(?:never|(?:must|should|shall|will|would) not"
    r"|(?:must|should|wo|would)n't|refus\w+|refrain\w*|forb[ia]d\w*|prohibit\w*|disallow\w*|not allowed|avoid\w*"
    r"|instead of|rather than|examples?|e\.g|mistakes?|attack\w*|inject\w*|quot\w+)\b",
    re.IGNORECASE,
)
"""Words that turn whatever comes after them, also sentences later."""
_TURNS: Final = regex(
    r"\b(?:not?|nor|none|cannot|without|hardly|already|previous\w*|earlier|tried|did|was|were|had|been|fail(?:s|ed)?"
    r"|blocked|worked|wrote|written|said|says?|told|tells?|contain(?:s|ed|ing)?|sent|if|unless|whether|would|could|might"
    r"|suppos\w+|imagin\w+|pretend\w*|hypothetical\w*|wrong|bad|wors[et]|danger\w*|harm\w*|unsafe|illegal|invalid"
    r"|kidding|jok(?:es?|ing)|but|however|although|though|except|wait|cancel\w*|stop|undo|ignor\w+|skip\w*|withdr\w+"
    r"|steer|report\w*|explain\w*|mention\w*|describ\w*|warn\w*|users?|looks? like|format|violat\w+|breaks?)\b"
    r"|n't\b|\?",
    re.IGNORECASE,
)
"""Words that deny, ask, report, condition or quote in their own sentence."""


def unclear(text: str, spans: Iterable[Span]) -> str:
    """Why the words round the parts of a text that are a move leave open whether it is meant; empty if they do not."""
    cuts = sorted(spans)
    if not cuts:
        return ""
    before, last = text[: cuts[0][0]], cuts[0][1]
    behind = []
    for begin, end in cuts[1:]:
        behind.append(text[last:begin])
        last = max(last, end)
    behind.append(text[last:])
    if not _introduces(_MARKUP.sub("\n", before)):
        return "what stands before the move does not introduce it"
    if not all(_ends(_MARKUP.sub("\n", part)) for part in behind):
        return "what stands behind the move may turn it round"
    return ""


def says_no_more(sentence: str) -> bool:
    """Whether a sentence with a move in the middle of it says that the move is made."""
    return not (_TURNS.search(sentence) or _FORBIDS.search(sentence))


def _introduces(before: str) -> bool:
    """Whether what stands before a move leads to it.

    Cases, in this order: nothing does; something forbids, wherever; the last sentence is a label, says that something
    is done now, or states something that is not about the move.
    """
    said = _sentences(before[:-NEAR] + _OPENS.sub("", before[-NEAR:]))
    if not said:
        return True
    if any(_FORBIDS.search(one) for one in said):
        return False
    lead = said[-1]
    if _LABEL.fullmatch(lead) or _THOUGHT.fullmatch(lead):
        return True
    clause = _SO.split(lead)[-1]
    if _TURNS.search(clause) or not lead.endswith((":", ".", "!")):
        return False
    if _MEANS.search(clause):
        return not _SHOWS.search(clause) or bool(_DOES.search(clause))
    return _states(lead) and not _TURNS.search(lead)


def _states(sentence: str) -> bool:
    """Whether a sentence is whole, can be read, and is about something else."""
    return sentence.endswith((".", "!")) and bool(_ENGLISH.search(sentence)) and not _POINTS.search(sentence)


def _ends(behind: str) -> bool:
    """Whether what stands behind a move leaves it as it is: nothing does, or sentences that say what it is good for, or
    that are about something else. A sentence that the move stands in the middle of does not."""
    closed = _CLOSES.match(behind)
    at = 0 if closed is None else closed.end()
    rest = behind[at:]
    if not rest.strip():
        return True
    if not set(behind[:at]) & set("\n.;!"):
        return False
    return all(_leaves(one) for one in _sentences(_RULE.sub("\n", rest)))


def _leaves(sentence: str) -> bool:
    if _POLITE.fullmatch(sentence):
        return True
    if _TURNS.search(sentence) or _FORBIDS.search(sentence):
        return False
    return bool(_GOOD.match(sentence)) or _states(sentence)


def _sentences(text: str) -> list[str]:
    """The sentences of a text; a line that is labelled as a thought is one."""
    found: list[str] = []
    for line in text.split("\n"):
        bare = _HEADING.sub("", line).strip(_DRESS)
        found += [bare] if _THOUGHT.fullmatch(bare) else [one.group().strip(_DRESS) for one in _SENTENCE.finditer(bare)]
    return [one for one in found if one]
