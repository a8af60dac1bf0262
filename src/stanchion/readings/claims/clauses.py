"""Clauses of a sentence: whose they are, what they are about, and whether they state something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from stanchion.kernel.regex import regex
from stanchion.readings.claims import elsewhere

_SUBJECT: Final = r"(?:i|we|you|it|they|he|she|this|that|these|there|the|an?|my|our|your|\u2039)"
_STEPS: Final = (
    r"(?:create|add|run|rerun|re-run|install|use|set|make|put|write|remove|delete|move|rename|copy|"
    r"try|check|change|update"
    r"|replace|open|apply|fix|pin|switch|upgrade|restart|execute|edit|bump|revert)"
)

CONDITION: Final = regex(
    r"\b(?:if|when|whenever|once|until|unless|whether|before|ensure|ensures|ensuring|make sure"
    r"|after(?![^,]{0,60},| (?:the|my|this|that|an?|some)(?: \w{1,20})? "
    r"(?:fix|change|edit|update|patch|correction))"
    r"|makes sure|making sure|so that|so as to|in order|please|verify|confirm that|check that|see "
    r"that"
    r"|provided that|assuming|as soon as|in case|as long as)\b"
    r"|^\W{0,6}\w{2,20}ing\b[^,;]{0,60}\b(?:means|implies|makes|gives|lets|leaves)\b"
    rf"|^\W{{0,6}}(?:had|were|should) (?={_SUBJECT}|$)"
)
"""Words after which the whole of a sentence says what may become of something."""
_AHEAD: Final = (
    r"\b(?:will|shall|would|going to|about to|plan(?:s|ned|ning)? to|let me|let "
    r"us|let's|intend(?:s|ed)? to"
    r"|(?:next|remaining) (?:step|up)|to-?do|wish(?:es|ed)?)\b|'(?:ll|d)\b|\bwon't\b"
)
AHEAD: Final = regex(_AHEAD)
"""What is still to be done."""
ASKED: Final = regex(
    rf"^\W{{0,6}}(?:[0-9]+[.)] )?(?:(?:just|simply|now|first|next|you (?:can|could|should|may)) "
    rf")?{_STEPS}\b"
)
"""How a sentence begins that tells somebody what to do."""
OPEN: Final = regex(
    r"\b(?:should|could(?! not|n't)|might|may|must|ought|need(?:s|ed)? to|want(?:s|ed)?|try|trying"
    r"|tries|hope(?:s|fully)?|expect(?:s|ed)?|assum(?:e|es|ed|ing)|believe|think|likely|probably|"
    r"presumably|goal|aim"
    r"|for all"
    r"|require[sd]?|asked|suppose[sd]?|can you|do all|do the|does the|did the|are all|are the|to "
    r"have|to get"
    r"|(?:look|seem|appear|sound)(?:s|ed)? (?:as (?:if|though)|like|that|to)"
    rf"|example|e\.g\.|says?|said)\b|{_AHEAD}"
)
"""Words after which it says what should be, may be or was said, not what is."""
_DENIED: Final = regex(
    r"(?:(?:\b(?:not|never|no longer|cannot|unable|without|few|some|most|many|none|hardly|nor|yet "
    r"to|fail(?:s|ed)? to"
    r"|only|make)|n't)\b[^,]{0,40}|\b(?:who|which)(?: \w{1,12})? |\bno(?: \w{1,20}){0,2} "
    r"|\b(?:nothing|nobody|no one|neither|no "
    r"\w{1,20}|doubt\w*|wrong|false|untrue|incorrect)\b[^,]{0,40}"
    r"\bthat\b[^,]{0,20})$"
)
_AND_SO: Final = regex(r"(?:\band|\bso|\bthen)(?: [\w\u2039\u203a-]{1,20}){0,3} ?$")
_EXCEPT: Final = regex(
    r"^,? until\b"
    r"|^[^.,;]{0,30}\b(?:except|apart from|besides|other than|but for|save for|only "
    r"(?:if|when|after)|if|once)\b"
)


def is_stated(before: str, said: str, after: str, follows: str) -> bool:
    """Whether something that is `said` is stated as so, by what stands before and after it in its
    clause, and by what `follows` the clause, all in small letters."""
    turned = [
        CONDITION.search(before),
        OPEN.search(before),
        _DENIED.search(before),
        _EXCEPT.search(after),
    ]
    other = [elsewhere.BEFORE.search(before), elsewhere.AFTER.search(after)]
    asked = ASKED.search(before) is not None and _AND_SO.search(before) is not None
    return (
        not any([*turned, *other])
        and not asked
        and not elsewhere.is_over(said, f"{after}{follows}")
    )


def leans(part: str) -> bool:
    """Whether what goes on behind a part of a sentence may be as open as the part, or as far
    away."""
    return any(pattern.search(part) is not None for pattern in (AHEAD, ASKED, elsewhere.BEFORE))


def is_ahead(part: str) -> bool:
    """Whether a part of a text plans something, asks for it or makes it a condition."""
    return any(pattern.search(part) is not None for pattern in (AHEAD, ASKED, CONDITION))


CODE: Final = 4
"""By how many spaces a line behind an empty one is indented if it is code."""
_FENCE: Final = regex(r" *(?:(?:[-*+]|[0-9]{1,9}[.)]) +)?(`{3,}(?!.*`)|~{3,})")
_CITED: Final = regex(r" *(?:(?:[-*+]|[0-9]{1,9}[.)]) +)?>")
_ITEM: Final = regex(r" *(?:[-*+]|[0-9]{1,9}[.)]) +")


def own_words(text: str) -> str:
    """The text with an empty line for each line that is code or cited, as Markdown has them. Behind
    a fence that is never closed everything is code."""
    return "\n".join(_spoken(text.splitlines()))


def _spoken(lines: list[str]) -> Iterator[str]:
    fence, margin, behind_empty = "", 0, True
    for line in lines:
        wide = line.expandtabs(CODE)
        plain = wide.strip()
        if fence:
            fence = "" if plain.startswith(fence) and not plain.strip(fence[0]) else fence
            yield ""
            continue
        indent = len(wide) - len(wide.lstrip())
        if plain and indent >= margin + CODE and behind_empty:
            yield ""
            continue
        item, opened = _ITEM.match(wide), _FENCE.match(wide)
        if plain:
            # What stands in an item of a list is measured from where its text begins.
            margin = item.end() if item is not None else min(margin, indent)
        fence = opened[1] if opened is not None else ""
        behind_empty = not plain or bool(fence)
        yield "" if fence or _CITED.match(wide) is not None else line


_SENTENCE: Final = regex(r"[^.!?\n;]{1,600}(?:\.(?=\w)[^.!?\n;]{0,200}){0,8}[.!?\n;]?")
_TURN: Final = regex(
    r"(?P<against>,? (?:but|however|although|though|while) )|, (?:and|so(?! that| as)) | – | — "
)
"""Where a sentence turns to something else."""
_AGAIN: Final = regex(
    r"^\W{0,6}(?:and |so )?(?:then|after that|afterwards|with that|that way|this way)\b"
)
"""How a sentence begins that goes on where the one before has ended."""
_TOLD: Final = regex(r"\b(?:\w+ed|ran|wrote|was|were|i|we)\b")
"""What is in a sentence that tells what happened."""


class Clause(NamedTuple):
    """`follows` is what stands behind it: the rest of its sentence and, on a line of its own, the
    next one."""

    text: str
    follows: str


def clauses(text: str, settled: re.Pattern[str] | None = None) -> Iterator[Clause]:
    """The clauses of a text. What depends on a condition, a plan, a place or a time stays with it;
    a condition that belongs to something `settled` goes no further."""
    sentences = [" ".join(sentence.split()) for sentence in _SENTENCE.findall(text)]
    before = ""
    for at, sentence in enumerate(sentences):
        if not sentence:
            continue
        if not sentence.endswith("?"):
            following = sentences[at + 1] if at + 1 < len(sentences) else ""
            yield from (
                ()
                if _is_consequence(sentence, before)
                else _of_sentence(sentence, following, settled)
            )
        before = sentence


def _is_consequence(sentence: str, before: str) -> bool:
    """Whether a sentence says what comes of a plan, a wish or a condition in the one before."""
    return _AGAIN.search(sentence) is not None and (
        is_ahead(before) or _TOLD.search(sentence) is None
    )


def _of_sentence(
    sentence: str, following: str, settled: re.Pattern[str] | None
) -> Iterator[Clause]:
    opened, leaning, start = "", "", 0
    for turn in [*_TURN.finditer(sentence), None]:
        end = len(sentence) if turn is None else turn.start()
        part = sentence[start:end]
        rest = "" if turn is None else sentence[turn.start() :]
        yield Clause(f"{opened}{leaning}{part}", f"{rest}\n{following}")
        if turn is None:
            return
        start = turn.end()
        if CONDITION.search(part) is not None and (settled is None or settled.search(part) is None):
            opened = f"{part}, "
        elif turn["against"] is not None:
            leaning = ""
        elif leans(part):
            leaning = f"{part}, and "
