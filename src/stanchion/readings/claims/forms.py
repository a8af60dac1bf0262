"""Forms of words by which work is claimed, and numbers in words."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import in_order, listed

_ONES: Final = in_order("one two three four five six seven eight nine")
_TEENS: Final = in_order(
    "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
)  # fmt: skip
_TENS: Final = in_order("twenty thirty forty fifty sixty seventy eighty ninety")

WORD: Final = (
    rf"(?:(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_ONES)}))?|{'|'.join(_TEENS)}|"
    rf"{'|'.join(_ONES)}|zero|no)"
)
"""How such a number is written; `no` counts as well."""


def number_of(text: str) -> int | str:
    """A whole number, in digits or in words; what is none stays a text, which counts nothing."""
    plain = text.replace(",", "")
    if plain in _VALUES:
        return _VALUES[plain]
    try:
        return int(plain)
    except ValueError:
        return plain


def _values() -> dict[str, int]:
    found = {"zero": 0, "no": 0, **{word: at for at, word in enumerate((*_ONES, *_TEENS), start=1)}}
    for ten, word in enumerate(_TENS, start=2):
        found[word] = ten * 10
        for one, unit in enumerate(_ONES, start=1):
            found[f"{word}-{unit}"] = found[f"{word} {unit}"] = ten * 10 + one
    return found


_VALUES: Final = _values()


PATH: Final = r"\u2039p[0-9]+\u203a"
_CODE: Final = r"\u2039[cp][0-9]+\u203a"
_TEXT: Final = r"\u2039[ct][0-9]+\u203a"
_VALUE: Final = r"(?:\u2039[nvhct][0-9]+\u203a|[\w.-]+)"
_NUMBER: Final = rf"(?:\u2039[nv][0-9]+\u203a|{WORD})"
_ALSO: Final = (
    r"(?: (?:now|also|still|already|currently|actually|indeed|again|only|just|exactly|really|then|"
    r"both|all|successfully"
    r"|itself|file))*"
)
_UNIT: Final = r"(?:lines?|bytes?)\b"
_KIND: Final = (
    r"(?:(?:the|a|an|any|new|old|such|empty|file|folder|directory|dir|script|named|"
    r"called|at|more|longer) )*"
)
VERBS: Final = r"has|have|is|was|contains?|includes?|exists?|does|now|also|still|no longer"

GATE: Final = regex(r"\u2039[pcv]|\b(?:the|our|this) |\bv[0-9]")
"""What every form has one of: a path, code or a version, or a noun that stands for a command."""
SUBJECT: Final = regex(PATH)
MARKED: Final = regex(PATH)

COUNTS: Final = (
    regex(
        rf"(?P<p>{PATH}){_ALSO} (?:has|have|had|contains?|includes?|is|was|holds?|counts?|"
        rf"comprises|spans|comes to)"
        rf"{_ALSO}(?: a total of)? (?P<n>{_NUMBER}) (?P<unit>{_UNIT})(?:(?: long)?,? and "
        rf"(?P<n2>{_NUMBER})"
        rf" (?P<unit2>{_UNIT}))?(?! (?:shorter|longer|more|fewer|less|of (?:context|padding)))"
    ),
    regex(
        rf"\b(?:there (?:are|is|were)|counted|found|count of|total of){_ALSO} (?P<n>{_NUMBER}) "
        rf"(?P<unit>{_UNIT}) in"
        rf" {_KIND}(?P<p>{PATH})"
    ),
    regex(
        rf"\b(?:size|length|line count|number of lines) of {_KIND}(?P<p>{PATH}) (?:is|was){_ALSO} "
        rf"(?P<n>{_NUMBER})"
        rf" (?P<unit>{_UNIT})"
    ),
    regex(
        rf"(?P<p>{PATH}) \((?P<n>{_NUMBER}) (?P<unit>{_UNIT})(?:, (?P<n2>{_NUMBER}) "
        rf"(?P<unit2>{_UNIT}))?\)"
    ),
    regex(
        rf"^[^\w\u2039]*(?P<p>{PATH}): (?P<n>{_NUMBER}) (?P<unit>{_UNIT})(?:,? (?:and "
        rf")?(?P<n2>{_NUMBER})"
        rf" (?P<unit2>{_UNIT}))?(?=[.,;]|$)"
    ),
)
EMPTY: Final = regex(
    rf"(?P<p>{PATH}){_ALSO} (?:is{_ALSO}(?: completely| entirely| totally)? "
    rf"empty|(?:has|contains){_ALSO} (?:nothing"
    r"|no (?:content|text|data)))\b(?! (?:except|but|apart|string|line|list|at))"
)
APPOSED: Final = regex(
    rf"\b((?:file|script|document|list|module|folder|directory)),? ({PATH}), (?=(?:{VERBS})\b)"
)
"""Where a file is called by its name in the midst of a sentence."""

_NOT: Final = r"(?P<no>(?:does|do|did) not|doesn't|don't|didn't|no longer)"
EXISTS: Final = (
    regex(
        rf"(?P<p>{PATH}){_ALSO} (?:exists\b|(?:is|are){_ALSO} (?:there|present|in place)\b(?! "
        rf"(?:a|an|any|in|on|no)\b))"
    ),
    regex(rf"(?P<p>{PATH}){_ALSO} {_NOT}{_ALSO} exists?\b"),
    regex(
        rf"(?P<p>{PATH}){_ALSO} (?:is|was|are){_ALSO} (?P<no>gone|missing|absent|not "
        rf"(?:there|present)"
        r"|no longer there)\b(?! (?:a|an|the|some|from|in)\b)"
    ),
    regex(rf"\bthere (?:is|was|exists){_ALSO} (?P<no>no|not any) {_KIND}(?P<p>{PATH})"),
    regex(rf"\bthere (?:is|exists){_ALSO} (?:a|an) {_KIND}(?P<p>{PATH})"),
    regex(rf"\b(?P<no>no) {_KIND}(?P<p>{PATH}) (?:exists|is there|is present)\b"),
)

_DID: Final = (
    r"(?:created|wrote|written|added|saved|generated|updated|modified|edited|rewrote|rewritten|"
    r"exported|stored"
    r"|implemented|produced|recreated|placed|put)"
)
_GONE: Final = r"(?P<gone>deleted|removed|erased|unlinked)"
_LIST: Final = rf"(?P<p>{PATH}(?:(?:, and|,| and) {PATH}){{0,20}})"
_HAVING: Final = r"(?: have|'ve| also| then| now| just| successfully| already| finally)*"
_BEGIN: Final = r"(?:\b(?:i|we)" + _HAVING + r" |^[^\w\u2039]*(?:[0-9]+[.)] )?(?:successfully )?)"
_BEEN: Final = r"(?:has|have|was|were|is|are)(?: been| now| also| successfully| already)*"
_PLAINLY: Final = (
    r"(?:(?:the|old|file|files|folder|directory|temporary|unused|obsolete|stale|"
    r"empty|its|this|my) )*"
)

ELSEWHERE: Final = regex(
    r"\b(?:that|which|for|from|of|with|by|using|like|than|not|no|if|when|because|based|per|about|"
    r"against|or|via|so|until"
    r"|after|before|while|where)\b"
)
"""Words between a verb and a file with which it is not the file that was made."""
MADE: Final = (
    regex(rf"{_BEGIN}{_DID}(?P<between>[^.;:\u2039]{{0,60}}) {_LIST}"),
    regex(rf"{_BEGIN}{_GONE} {_PLAINLY}{_LIST}"),
    regex(
        rf"{_LIST} {_BEEN} (?:{_DID}|{_GONE})\b(?! (?:by|from|in|to|as|with|for)\b(?! "
        rf"(?:the|all|a)\b))"
    ),
    regex(rf"\b{_BEEN} {_DID}(?: successfully)? (?:to|in|into|at|under|as) {_KIND}{_LIST}"),
)
MOVED: Final = regex(
    rf"{_BEGIN}(?:moved|renamed|(?P<copied>copied)) {_PLAINLY}(?P<p>{PATH}) (?:to|into|as) "
    rf"{_PLAINLY}(?P<to>{PATH})"
)

_HOLDS: Final = r"(?:contains?|includes?|holds?|mentions?|defines?|lists?|says|has|have)"
_CALLED: Final = (
    r"(?: (?:the|a|an|any|this|that|its|following|exact|line|lines|text|string|word|words|value|"
    r"setting|entry|key"
    r"|function|class|method|header|heading|section|option|import|statement|phrase|literal))*"
)
_ENDS: Final = r"(?=$|[.,;:!)]| (?:and|in|on|at|as|once|twice|anymore|any more|now)\b)"
CONTAINS: Final = (
    regex(rf"(?P<p>{PATH}){_ALSO} {_HOLDS}{_ALSO}{_CALLED} (?P<t>{_TEXT}){_ENDS}"),
    regex(rf"(?P<p>{PATH}){_ALSO} {_NOT} {_HOLDS}{_CALLED} (?P<t>{_TEXT}){_ENDS}"),
    regex(rf"(?P<p>{PATH}){_ALSO} {_HOLDS} (?P<no>no){_CALLED} (?P<t>{_TEXT}){_ENDS}"),
    regex(
        rf"(?P<t>{_TEXT}) (?:is|are|was|were)(?: (?P<no>not|no longer))?{_ALSO}"
        rf"(?: (?:set|present|included|defined|found|listed|there))? in {_KIND}(?P<p>{PATH})"
    ),
    regex(
        rf"(?P<t>{_TEXT})(?: (?P<no>does not|no longer))? (?:appears?|stands?|occurs?) in "
        rf"{_KIND}(?P<p>{PATH})"
    ),
)

_SHA: Final = r"\(?sha-?256\)?(?: ?(?:sum|hash|digest|checksum))?"
DIGESTS: Final = (
    regex(rf"\b{_SHA} (?:of|for) {_KIND}(?P<p>{PATH}) (?:is|was){_ALSO} (?P<h>{_VALUE})"),
    regex(
        rf"\b(?:hash|digest|checksum) {_SHA} (?:of|for) {_KIND}(?P<p>{PATH}) (?:is|was){_ALSO} "
        rf"(?P<h>{_VALUE})"
    ),
    regex(rf"(?P<p>{PATH}){_ALSO} (?:has|have)(?: the| a| an)? {_SHA}(?: of)? (?P<h>{_VALUE})"),
)

_TROUBLE: Final = r"(?:errors?|issues?|problems?|failures?|complaints?)"
_WELL: Final = (
    rf"(?: successfully| (?:without(?: any| an| a single)?|with (?:no|zero)) "
    rf"{_TROUBLE}| cleanly| fine)"
)
_STATUS: Final = (
    r"(?:exit(?:s|ed)?|return(?:s|ed)?|end(?:s|ed)|finish(?:es|ed)|complete[sd]|came back|comes "
    r"back)(?: with)?"
    rf"(?: an?| the)?(?: exit| return)?(?: status| code| status code)?(?: of)? "
    rf"(?P<rc>{_NUMBER})(?! \w+s\b)"
)
_OK: Final = (
    r"(?:succeed(?:ed|s)|pass(?:ed|es)|(?:was|is|were) (?:successful|a success)|worked"
    rf"|(?:completed|finished|ran|runs|exited|exits|ended|ends|executed|executes|completes|"
    rf"finishes|went|goes){_WELL}"
    r"|(?:produce[sd]?|gave|gives|report(?:s|ed)|show(?:s|ed)|raise[sd]|threw|throws|print(?:s|ed))"
    r" (?:no|zero)"
    rf" {_TROUBLE}"
    r"|(?:was|were|has been) successfully (?:completed|executed|run))"
)
_BAD: Final = (
    r"(?P<bad>failed|fails|errored|crashed|(?:did not|didn't|does not|doesn't) "
    r"(?:succeed|pass|complete|finish|work)"
    r"|(?:was|is) (?:not successful|unsuccessful))"
)
_CAME: Final = rf"(?:{_STATUS}|(?:{_OK}|{_BAD})\b)(?! (?:to|in|on|the|a|an|its|as)\b)"
ENDED: Final = (
    regex(rf"(?P<c>{_CODE})\)?(?: command| script| step| run)?{_ALSO} {_CAME}"),
    regex(rf"\bran (?:the )?(?P<c>{_CODE})(?: command)?(?:,? and (?:it )?|,? which |, it ){_CAME}"),
    regex(rf"\bsuccessfully ran (?:the )?(?P<c>{_CODE})(?P<bad>(?!))?"),
    regex(rf"\bran (?:the )?(?P<c>{_CODE}){_WELL}(?P<bad>(?!))?"),
)
WENT: Final = regex(
    rf"\b(?:the|our|this)(?: [a-z]{{3,20}})? (?P<noun>[a-z]{{4,20}})(?: process| step| job| "
    rf"command)?{_ALSO} {_CAME}"
)
"""What a noun says that stands for a command."""
DEEDS: Final = listed(
    "build compil install deploy migr upload download publish releas backup import export push "
    "merg upgrad rebuild"
)  # fmt: skip
"""Stems of what commands do, of which a sentence speaks as of a command that ran."""
CHECKS: Final = listed(
    "test tests suite check checks lint linter linting pytest ruff mypy eslint typecheck "
    "pipeline them they case cases assertion assertions"
)  # fmt: skip
"""What is read as tests and linters."""
_SUFFIXES: Final = in_order(
    "ations ation ating ated ates ate ments ment ings ing ions ion ers es ed s e"
)

_PROGRAM: Final = r"(?P<prog>[a-z][a-z0-9+_-]{1,20}|\u2039c[0-9]+\u203a)"
_VERSION: Final = r"(?P<v>\u2039v[0-9]+\u203a|v[0-9]+(?:\.[0-9]+)+)"
_MACHINE: Final = (
    r"(?:machine|system|environment|project|host|server|container|sandbox|repo|"
    r"repository|box|setup)"
)
VERSIONS: Final = (
    regex(
        rf"\b(?:(?:we are|we're|i am|i'm|it is) (?:now |currently )?(?:on|running|using)"
        rf"|{_MACHINE} (?:is|runs|uses|has)(?: on| running| using)?) {_PROGRAM} (?:version "
        rf")?{_VERSION}"
    ),
    regex(rf"\bversion of (?:the )?{_PROGRAM}(?: here| installed)? is{_ALSO} {_VERSION}"),
    regex(rf"{_PROGRAM}(?:'s)? version is{_ALSO} {_VERSION}"),
    regex(rf"{_PROGRAM} is{_ALSO} (?:at|on)(?: version)? {_VERSION}"),
    regex(
        r"(?P<prog>\u2039c[0-9]+\u203a) (?:prints?|printed|reports?|reported|shows?|showed|says|"
        r"outputs?|gives|gave"
        rf"|returns|returned)(?: (?:version|[a-z]{{2,20}}))? {_VERSION}"
    ),
    regex(
        rf"{_PROGRAM} (?:version )?{_VERSION} (?:is|was){_ALSO} (?:installed|active|in "
        rf"use|running)\b"
    ),
    regex(rf"(?:^|[,:] ){_PROGRAM} is(?P<loose>){_ALSO} {_VERSION}"),
)
NO_PROGRAMS: Final = listed(
    "the this that it which version current latest new its our your a installed"
)  # fmt: skip


def stem(word: str) -> str:
    """A word without its ending: `migration` and `migrate` have the same."""
    for end in _SUFFIXES:
        if word.endswith(end) and len(word) - len(end) >= 4:
            return word[: -len(end)]
    return word
