"""The mood of a sentence: whether it says that something is so, or that it should be, may be or was said to be."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.regex import regex

SENTENCE: Final = regex(r"[^.!?\n;]{1,600}(?:\.(?=\w)[^.!?\n;]{0,200}){0,8}[.!?\n;]?")
TURN: Final = regex(r",? (?:but|however|although|though|while) |, (?:and|so) | – | — ")
"""Where a sentence turns to something else."""

CONDITION: Final = regex(
    r"\b(?:if|when|whenever|once|until|unless|whether|after(?![^,]{0,60},)|before|ensure|ensures|ensuring|make sure"
    r"|makes sure|making sure|so that|in order|please|verify|confirm that|check that|see that)\b"
)
"""Words after which the whole of a sentence says what may become of something."""
OPEN: Final = regex(
    r"\b(?:should|would|could(?! not|n't)|might|may|must|shall|will|ought|need(?:s|ed)? to|want(?:s|ed)?|try|trying"
    r"|tries|hope(?:s|fully)?|expect(?:s|ed)?|assum(?:e|es|ed|ing)|believe|think|likely|probably|presumably|goal|aim"
    r"|for all"
    r"|require[sd]?|asked|suppose[sd]?|can you|do all|do the|does the|did the|are all|are the|to have|to get|let us"
    r"|let's|example|e\.g\.|says?|said)\b"
)
"""Words after which it says what should be, may be or was said, not what is."""
_DENIED: Final = regex(
    r"(?:(?:\b(?:not|never|no longer|cannot|unable|without|few|some|most|many|none|hardly|nor|yet to|fail(?:s|ed)? to"
    r"|only|make)|n't)\b[^,]{0,40}|\b(?:who|which)(?: \w{1,12})? |\bno(?: \w{1,20}){0,2} )$"
)
_EXCEPT: Final = regex(
    r"^[^.,;]{0,30}\b(?:except|apart from|besides|other than|but for|save for|only (?:if|when|after)|if|once)\b"
)


def is_stated(before: str, after: str) -> bool:
    """Whether something is stated as so, by what stands before and after it in its clause, in small letters."""
    turned = [CONDITION.search(before), OPEN.search(before), _DENIED.search(before), _EXCEPT.search(after)]
    return not any(turned)
