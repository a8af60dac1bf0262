"""Claims: sentences that say that tests pass or that linters find nothing, and not that they
should."""

from __future__ import annotations

import re
from typing import Final, Literal

from stanchion.kernel.regex import regex
from stanchion.readings.claims.clauses import Clause, clauses, is_stated, own_words

Claim = Literal["tests", "lint"]

READ: Final = 50_000
"""How much of a text is read, from its end: what is claimed is said last."""

_KIND: Final = (
    r"(?:unit|integration|regression|existing|new|updated|relevant|affected|end-to-end|"
    r"e2e|remaining|python|smoke|\d+)"
)
_STILL: Final = (
    r"(?:all|now|still|also|both|each|fully|successfully|currently|cleanly|are|is|"
    r"were|"
    r"was|have|has|been|being|of them)"
)
_GOOD: Final = (
    r"(?:pass(?:es|ed|ing)?|succeed(?:s|ed|ing)?|green|successful|ok)\b"
    r"(?! (?:to|into|as(?! well| expected| before)|by|through|via|over|a|an|the|its|their|"
    r"arguments?|values?|data"
    r"|none)\b)"
)
_TESTS: Final = regex(
    rf"\btests?(?: suites?| cases?| runs?| files?)?(?: \([^)]{{1,40}}\))?(?: in "
    rf"[\w./`-]{{1,60}})?:?"
    rf"(?: {_STILL}){{0,5}} {_GOOD}"
    rf"|\bpass(?:es|ed|ing) (?:all|every|each|the)(?: of)?(?: the| our| its)?(?: {_KIND}){{0,3}} "
    rf"(?:tests|test suite)\b"
    r"|\b(?:pytest|unittest|jest|vitest|mocha|tox|nox|rspec|phpunit|ctest|(?:go|cargo|npm|dotnet|"
    r"mvn|gradle|make)"
    rf" test):?(?: {_STILL}){{0,4}} {_GOOD}"
    rf"|\b(?:everything|all checks|all of them)(?: {_STILL}){{0,3}} (?:pass(?:es|ed|ing)?|green)\b"
    r"(?! (?:to|through|as)\b)"
    r"|\b(?:test suite|build|ci|test run|pipeline)(?: "
    r"(?:is|are|was|now|all|still|fully|completely)){1,4}"
    r" (?:green|passing)\b"
    rf"|\bno (?:failing|broken|failed)(?: {_KIND})? tests?\b|\bno test failures\b"
    rf"|\b(?:0|zero)(?: of (?:the )?\d+)?(?: {_KIND})? (?:tests? )?(?:fail(?:s|ed|ures)?"
    r"|(?:is|are|were) (?:failing|broken))\b"
    rf"|\b(?:no|none of (?:the|our|its)|not (?:one|a single)|not one of the)(?: {_KIND}){{0,2}} "
    rf"tests?"
    rf"(?: {_STILL}){{0,3}} (?:fail(?:s|ed|ing)?|broken|red)\b"
    rf"|\btests?(?: suites?)?(?: {_STILL}){{0,3}} (?:ran|runs?|finish(?:es|ed)?|complete[sd]?)"
    r" (?:without(?: any| a)?|with (?:no|zero|0)) (?:failures?|errors?)\b"
)
_COUNTED: Final = regex(
    rf"\b[1-9]\d*(?:/\d+)?(?: {_KIND}){{0,2}}(?: tests?)?(?: {_STILL}){{0,3}} pass(?:ed|ing)?\b"
)
_NUMBER: Final = r"(?:\d{1,9}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_PART: Final = regex(
    rf"\b(?P<some>{_NUMBER}) ?(?:/|(?:out )?of) ?(?:the |our |all )?(?P<all>{_NUMBER}\b)?(?: "
    rf"?{_KIND}){{0,2}}"
    rf"(?: ?tests?)?(?: {_STILL}){{0,3}} pass(?:es|ed|ing)?\b"
)
_FAILING: Final = regex(
    r"\b(?:[1-9]\d{0,5}|one|two|three|some|several)(?: of \w+)?(?: tests?)? (?:still "
    r")?fail(?:s|ed|ing|ures)?\b"
)
"""What a text says that counts what passed, and what failed too."""
_LINTER: Final = (
    r"(?:lint(?:er|ers|ing)?|ruff|flake8|pylint|mypy|pyright|eslint|tsc|clippy|golangci-lint|"
    r"rubocop|shellcheck"
    r"|type[- ]?check(?:s|er|ing)?|static analysis)"
)
_LINT: Final = regex(
    rf"\b{_LINTER}(?: checks?| run| output| and [\w-]{{1,20}})?:?(?: {_STILL}){{0,4}}"
    rf" (?:{_GOOD}|(?:clean|happy|satisfied|error[- ]free"
    r"|(?:reports?|reported|shows?|finds?|found|gives?|with) (?:no|zero|0) \w+)\b)"
    rf"|\bno {_LINTER} (?:errors?|warnings?|issues?|problems?|complaints?|violations?|findings?)\b"
    r"|\b(?:lint|linter)[- ](?:clean|free)\b"
    r"|\b(?:passes|passed) (?:the )?(?:lint(?:er|ing)?|type[- ]?check(?:s|er|ing)?)\b"
)
_HINT: Final = regex(
    r"pass|test|green|lint|check|ruff|flake8|mypy|pyright|tsc|clippy|rubocop|succe|fail"
)

_QUOTED: Final = regex(r"\"[^\"\n]{1,400}\"|\u201c[^\u201d\n]{1,400}\u201d")
_MARKS: Final = regex(r"[*_`>#|=\u200b]|\u2705|\u2714|\ufe0f")


def claims(text: str) -> frozenset[Claim]:
    """What a text says of tests and linters as something that is so."""
    found: set[Claim] = set()
    lowered = text[-READ:].lower()
    if _HINT.search(lowered) is None:
        return frozenset()
    lowered = _QUOTED.sub(" ", own_words(lowered))
    counted = _FAILING.search(lowered) is None
    plain = "\n".join([_MARKS.sub("", line).strip() for line in lowered.splitlines()])
    for clause in clauses(plain, _TESTS):
        whole = "tests" not in found and not _is_part(clause)
        if whole and (_holds(_TESTS, clause) or (counted and _holds(_COUNTED, clause))):
            found.add("tests")
        if "lint" not in found and _holds(_LINT, clause):
            found.add("lint")
    return frozenset(found)


def _holds(pattern: re.Pattern[str], clause: Clause) -> bool:
    text, found = clause.text, pattern.finditer(clause.text)
    return any(
        is_stated(text[: one.start()], one[0], text[one.end() :], clause.follows) for one in found
    )


def _is_part(clause: Clause) -> bool:
    """Whether a clause counts some tests of all: three of five."""
    found = _PART.finditer(clause.text)
    return any(one["some"] != one["all"] for one in found)
