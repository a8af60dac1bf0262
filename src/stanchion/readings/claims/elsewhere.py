"""Other times, places and speakers: words by which a sentence says nothing of how things are here
and now."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.regex import regex

_THING: Final = (
    r"(?:machine|computer|laptop|repo|repository|branch|checkout|project|environment|setup|commit|"
    r"release|host|server"
    r"|container|box|clone|account|platform|side|runner)"
)
_PLACE: Final = (
    r"(?:ci|servers?|production|prod|staging|upstream|cloud|cluster|laptop|fork|registry|github|"
    r"gitlab|windows|macos"
    r"|device|(?:main|master|trunk)(?: branch)?)"
)
_OTHER: Final = (
    r"(?:their|his|her|another|(?:the |an? "
    r")?(?:other|different|old|previous|original|second|fresh))"
)
_BEHIND: Final = (
    r"(?=[,.;:)]| *$| (?:the|all|it|everything|we|our|this|that|there|both|no|only|too|as|at|"
    r"before|for|while|but"
    r"|and)\b)"
)
_SITUATED: Final = (
    rf"\b(?:on|in|at|under|inside|for|from)(?: (?:the|our|your|their|my|an?))?(?: [\w-]{{1,20}})? "
    rf"{_PLACE}"
    rf"(?: {_THING})?{_BEHIND}"
    rf"|\b(?:on|in|at|under|inside|for|from) {_OTHER}(?: [\w-]{{1,20}})? {_THING}s?\b"
    rf"|\bin (?:most|many|some|other|theory|principle)(?: [\w-]{{1,20}})?(?: projects| cases)?\b"
)
_HERE: Final = (
    r"(?:it|that|there|here|what|let|who|he|she|where|how|now|project|repo|repository|"
    r"app|package|module)"
)
_OWNED: Final = (
    r"\b(?:upstream|remote|production|staging|other|another|different|their|his|her)(?: "
    r"(?:own|copy of))? *$"
    rf"|\b(?!{_HERE}'s)\w{{2,20}}'s(?: [\w-]{{1,20}})? *$"
    r"|\b(?:such as|like|similar to)(?: the| an?)? *$"
)
_ONCE: Final = (
    r"(?:(?<!as )(?<!noted )(?<!mentioned )(?<!shown )earlier(?! "
    r"(?:version|release)s?\b)|previously|formerly"
    r"|originally|initially|at first|back then|yesterday|last (?:week|time|night|month|year)|used "
    r"to|in the past"
    r"|at the time|(?:at|in) the (?:start|beginning|outset)"
    r"|(?:the|my|our|on the|in the) first (?:try|attempt|run|time|round)"
    r"|(?:days?|weeks?|months?|hours?|minutes?|a while) ago|to begin with)"
)
_SPEAKER: Final = (
    r"(?:ticket|issue|docs?|documentation|readme|user|comments?|author|report|colleague|reviewer|"
    r"changelog|message"
    r"|article|manual|page|plan|they|he|she|you|somebody|someone|people|\u2039p[0-9]+\u203a)"
)
_TELLS: Final = (
    r"(?:claim|state|report|note|mention|suggest|promise|insist|assert|tell|maintain|"
    r"announce)(?:s|d|ed)?|told|writes"
)

BEFORE: Final = regex(
    rf"{_SITUATED}|{_OWNED}|\b{_ONCE}\b|\b{_SPEAKER}\b[^,;\u2039]{{0,20}}\b(?:{_TELLS})\b"
    r"|\baccording to (?!\u2039c)"
)
"""What stands before a statement that is of elsewhere."""
_NEAR: Final = r"^[^.;\u2039]{0,24}"
AFTER: Final = regex(
    rf"^[^.;,\u2039]{{0,24}}(?:{_SITUATED})|{_NEAR}\b{_ONCE}\b|{_NEAR}\baccording to (?!\u2039c)"
    rf"|{_NEAR}\b(?<!as )before(?: (?:my|our|this|that|it|the "
    rf"(?:change|fix|edit|commit|merge|update))\b|[.,]?$)"
)
"""What stands behind it."""

_LATER: Final = (
    r"(?:now|then|later|finally|eventually|afterwards?|meanwhile|since|again|in the end)"
)
_IT: Final = (
    r"(?:it|they|this|that|which|both|the second (?:run|try|attempt|time)|the "
    r"(?:retry|rerun|re-run))"
)
_WAS: Final = r"(?:is|was|are|were|has been|have been)"
_WELL: Final = (
    rf"(?:(?:succeed|pass|work|complete|finish)\w*|{_WAS} (?:fixed|green|fine|repaired|resolved))"
)
_BADLY: Final = rf"(?:fail\w*|broke|breaks?|crash\w*|{_WAS} (?:broken|red|failing))"
_UNDID: Final = (
    r"(?:removed|deleted|erased|reverted|undid|undone|restored|renamed|moved|dropped|discarded|"
    r"took|rolled|threw"
    r"|cleaned)"
)
_IT_IS: Final = rf"(?:it|they|which|that|both) {_WAS}(?: {_LATER})? {_UNDID}\b"


def _turned(end: str) -> str:
    """An end that something came to later."""
    it_did = rf"\b{_IT}(?: {_LATER}| has| have| did)* {end} {_LATER}\b"
    return rf"\b{_LATER}(?:,? {_IT})?(?: {_LATER})? {end}|{it_did}|\b{_IT} {_LATER} {end}"


_RECOVERED: Final = regex(_turned(_WELL))
_BROKE: Final = regex(_turned(_BADLY))
_TAKEN_BACK: Final = regex(
    rf"^[^\n]*\b(?:{_UNDID} (?:it|them|that|this|both)\b|{_IT_IS})"
    rf"|\n(?:{_LATER},? )?(?:(?:i|we)(?: have|'ve)? )?(?:{_LATER} )?(?:{_UNDID} "
    rf"(?:it|them|that|this|both)\b|{_IT_IS})"
)
_FILE: Final = regex(r"\u2039p[0-9]")
_BAD: Final = regex(r"fail|error|crash|not |n't |unsuccessful")


def is_over(said: str, follows: str) -> bool:
    """Whether what follows tells that something that was said was so, and is not any more: a line
    of its own is the next sentence."""
    if _FILE.search(said) is not None and _TAKEN_BACK.search(follows) is not None:
        return True
    return (_RECOVERED if _BAD.search(said) is not None else _BROKE).search(follows) is not None
