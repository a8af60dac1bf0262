"""The mood of a sentence: whether it says that something is so, or that it should be, may be or was
said to be."""

from __future__ import annotations

from typing import Final

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
