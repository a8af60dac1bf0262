"""Other tools: sentences of a definition that speak against them, and names that look like
theirs."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.definitions.grammar import ACTS, COMMANDED, NOT
from stanchion.readings.definitions.remark import STRONG
from stanchion.readings.hostile.normal import ALIKE, MIXED, folded

NAME: Final = regex(r"[^\W_](?:[\w.-]*[^\W_])?")
COMPOUND: Final = regex(r"[_.-]|\d|[a-z][A-Z]")
QUOTES: Final = "`'\""
HARM: Final = (
    r"(?:compromised|insecure|unsafe|dangerous|malicious|false "
    r"(?:results|answers|data|information)|wrong|incorrect"
    r"|manipulated|tampered|broken|buggy"
    r"|unreliable|leak\w*"
    r"|outdated|stale|untrustworthy|infected|poisoned|fake|vulnerable|obsolete|has a "
    r"bug|lies|hacked)"
)
NAMED: Final = r"\x00"
"""Stands where the name of another tool stood."""
GENERIC: Final = r"other (?:tools?|servers?|functions?|sources?|providers?)"
AGAINST: Final = regex(
    rf"(?:{NAMED}|{GENERIC})\W.{{0,40}}\b{HARM}\b|\b{HARM}\b.{{0,20}}(?:{NAMED}|{GENERIC})"
    rf"|{NAMED}.{{0,40}}\b(?:must|should|may|can) (?:not|never|no longer) be "
    rf"(?:used|called|trusted|invoked)"
    rf"|{NAMED}.{{0,30}}\b(?:throw|discard|ignore|disregard)\b|\b(?:discard|ignore|disregard)"
    rf"\b.{{0,30}}{NAMED}"
    r"|\b(?:trust|believe|rely on|use) only (?:results?|answers?|output|data|tools?|this)\b|\bonly "
    r"(?:trust|believe)\b"
    r"|\bonly tool (?:that )?(?:you|which|to)\b.{0,20}\b(?:trust|use|rely)"
)
HEDGED: Final = regex(r"\b(?:may|might|can|could) be\b|\b(?:if|when|whether|in case)\b.{0,20}\x00")
"""What tells of a tool that may fail at times."""
FORBIDDEN: Final = regex(
    rf"\b{NOT} (?:be )?(?:use|using|call|calling|trust|trusting|invoke|rely on|believe)(?: the| "
    rf"tool| function"
    rf"| results of"
    rf"| output of| on| any)*\W{{0,3}}{NAMED}"
)
PREFERRED: Final = regex(
    rf"\b(?:instead of|in place of|replaces?|supersedes?|rather than|over)\b.{{0,16}}{NAMED}"
    rf"|{NAMED}.{{0,40}}\b(?:is|was|has been) (?:replaced|superseded|deprecated|retired)"
)
ALWAYS: Final = regex(
    r"\b(?:always|at all times|in (?:all|every) cases?|any longer|any more|no longer|every|never "
    r"again|must|only"
    r"|exclusively"
    r"|without exception)\b"
)
STEERED: Final = regex(
    rf"\b(?:whenever|each time|every time|any "
    rf"time|when|if|before|after|once)\b.{{0,24}}(?:\b(?:use|using|call"
    rf"|calling|invoke"
    rf"|invoking|run|running|tool)\b.{{0,16}})?{NAMED}.{{0,60}}{COMMANDED}{ACTS}\b"
    rf"|{COMMANDED}{ACTS}\b.{{0,60}}\b(?:with|via|through|using|by)\b.{{0,10}}{NAMED}"
    rf"|\b(?:if|when|whenever)\b.{{0,24}}{NAMED}.{{0,20}}\bavailable\b.{{0,12}}\b(?:call|run|"
    rf"invoke|use) (?:it|this"
    rf"|that)\b"
)
WIDE: Final = regex(r"\b(?:whenever|each time|every time|each of|every|all|always|any time)\b")
SELF: Final = regex(r"\bthis (?:tool|function|one)?\b")

DIGITS: Final = str.maketrans("015", "ols")
PARTS: Final = regex(r"[_.\s-]+")
DOUBLED: Final = regex(r"[_.-]{2,}|^[_.-]|[_.-]$")


def against(words: str, name: str, others: Collection[str]) -> int:
    """How much a sentence speaks against other tools, or gives orders about them."""
    sentence = _marked(words, name, others)
    if AGAINST.search(sentence) is not None:
        return 1 if HEDGED.search(sentence) is not None else STRONG
    if "\x00" not in sentence:
        return 0
    if PREFERRED.search(sentence) is not None or FORBIDDEN.search(sentence) is not None:
        return STRONG if ALWAYS.search(sentence) is not None else 1
    if STEERED.search(sentence) is None or SELF.search(sentence) is not None:
        return 0
    return STRONG if WIDE.search(sentence) is not None else 1


def _marked(words: str, name: str, others: Collection[str]) -> str:
    """A sentence in its normal form, with a mark in the place of each other tool that it names."""
    pieces: list[str] = []
    done = 0
    for found in NAME.finditer(words):
        told = found.group()
        if told == name or told not in others:
            continue
        start, end = found.span()
        quoted = start > 0 and words[start - 1] in QUOTES
        if (
            quoted
            or COMPOUND.search(told) is not None
            or words[max(0, start - 6) : start].endswith("tool ")
        ):
            pieces += [words[done:start], "\x00"]
            done = end
    return " ".join(folded("".join([*pieces, words[done:]])).split(" ")).strip()


def looks_like(name: str, others: Collection[str]) -> tuple[str, int]:
    """The tool that a name looks like without being it, and how telling that is."""
    if MIXED.search(name.casefold()) is not None:
        return _twin(name, others), STRONG
    if name.isascii() and not _is_odd(name):
        return "", 0
    twin = _twin(name, others)
    return (twin, STRONG) if twin else ("", 0)


def _twin(name: str, others: Collection[str]) -> str:
    own = _skeleton(name)
    return next(
        (other for other in sorted(others) if other != name and _skeleton(other) == own), ""
    )


def _is_odd(name: str) -> bool:
    return DOUBLED.search(name) is not None or any(digit in name for digit in "015|")


def _skeleton(name: str) -> str:
    """A name as it looks at a glance."""
    return PARTS.sub("", folded(name).translate(ALIKE).translate(DIGITS)).replace("|", "l")
