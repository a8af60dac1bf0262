"""Requests: what a user asks for, read from the verbs in their words that stand where a request does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from stanchion.guards.flow.nouns import MAILS, MESSAGES, OF_VERB, OF_WORD, groups, stem
from stanchion.kernel.regex import regex
from stanchion.readings.hostile.languages import english as common
from stanchion.readings.hostile.lexicon import JOINED, NOMINAL, VERBS, Verbs

TOKENS: Final = regex(
    r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|`[^`\n]{1,400}`|(?<!\w)['‘][^'’\n]{1,400}['’](?!\w)"
    r"|https?://\S{1,2000}|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}|[\w-]{1,100}\.[a-z]{2,4}\b(?!\.\w)"
    r"|[^\W\d_](?:[^\W\d_]|['’-])*|\d+(?:[.,]\d+)*|\n\s*\n|[.,;:!?()]"
)
ENDS: Final = frozenset(".;!?:")
QUOTES: Final = "\"“`'‘"
JOINS: Final = frozenset({"and", "then", "to", ","})
FAR: Final = 6
"""Within how many words of a verb its object tells how many are meant."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


DETERMINERS, PERSONS, ADVERBS = _set(common.DETERMINERS), _set(common.PERSONS), _set(common.ADVERBS)
ASKING, GERUNDS, NEEDS = _set(common.ASKING), _set(common.GERUNDS), _set(common.NEEDS)
NEGATIONS, ANSWERS, PROMISES = _set(common.NEGATIONS), _set(common.ANSWERS), _set(common.PROMISES)
BEING, EVERY, POINTING, NOUN_VERBS = (
    _set(common.BEING),
    _set(common.EVERY),
    _set(common.POINTING),
    _set(common.NOUN_VERBS),
)
REMINDING: Final = frozenset({"remind", "reminder"})
NEGATED: Final = frozenset({"to", "be", "ever"})
CAN: Final = frozenset({"did", "does"})
ME: Final = frozenset({"me", "us"})


class Request(NamedTuple):
    """One thing a user asks for: the verb and what it brings about, the things it is about, and whether they are only
    pointed at, or many. `said` is how it was said."""

    verb: str
    effects: int
    stems: frozenset[str]
    groups: int
    points: bool
    many: bool
    said: str


def tokens(text: str) -> list[str]:
    """The words of a text in lower case, with quotations, addresses and files as one word each."""
    for several, one in JOINED.items():
        if several in text:
            text = text.replace(several, one)
    return TOKENS.findall(text)


def requests(text: str, verbs: Verbs = VERBS) -> list[Request]:
    """What a text in its normal form asks for."""
    words = tokens(text)
    found = list(_verbs(words, verbs))
    places = {at for _, at in found}
    return [_request(words, verb, at, places, verbs) for verb, at in found]


def _request(words: list[str], verb: str, at: int, places: set[int], verbs: Verbs) -> Request:
    end = at + 1
    while end < len(words) and not _ends(words, end, places):
        end += 1
    phrase = words[at + 1 : end]
    about = groups(_inner(phrase)) | OF_VERB.get(verb, 0)
    points = not POINTING.isdisjoint(phrase[:3]) or not about
    many = any(_several(word) for word in phrase[:FAR])
    stems = frozenset([stem(word) for word in _inner(phrase)])
    return Request(verb, verbs.get(verb, 0), stems, about, points, many, " ".join(words[at:end])[:120])


def _ends(words: list[str], at: int, places: set[int]) -> bool:
    word = words[at]
    return word in ENDS or word[0] == "\n" or (at in places and words[at - 1] in JOINS)


def _inner(phrase: list[str]) -> Iterator[str]:
    """The words of a phrase, those in quotations one by one."""
    for word in phrase:
        if word[0] in QUOTES:
            yield from word[1:-1].split()
        else:
            yield word.removesuffix("'s").removesuffix("’s")


def _several(word: str) -> bool:
    if word in EVERY or (word.isdigit() and word != "1"):
        return True
    single = stem(word)
    return single != word and not word.endswith(("ss", "us", "is", "'s")) and single in OF_WORD


def _verbs(words: list[str], verbs: Verbs) -> Iterator[tuple[str, int]]:
    for at, word in enumerate(words):
        before = words[at - 1] if at else "."
        before = "." if before[0] == "\n" else before
        if word not in verbs:
            verb = _in_disguise(words, at, before, verbs)
            if verb:
                yield verb, at
        elif _asks(words, at, before):
            yield word, at


def _in_disguise(words: list[str], at: int, before: str, verbs: Verbs) -> str:
    """The verb that an -ing form or a noun stands for, where it asks for something."""
    word = words[at]
    near = words[max(0, at - 4) : at]
    if word.endswith("ing") and len(word) > 5 and before in GERUNDS and REMINDING.isdisjoint(near):
        start = word[:-3]
        return next((verb for verb in (start, f"{start}e", start[:-1]) if verb in verbs), "")
    if word in NOMINAL and any(
        each in NEEDS and follows != "sure" for each, follows in zip(near, [*near[1:], word], strict=False)
    ):
        return NOMINAL[word]
    return ""


def _asks(words: list[str], at: int, before: str) -> bool:
    """Whether a verb stands where a request does: it is no noun, nobody tells a story, and nothing is forbidden."""
    word = words[at]
    earlier = words[at - 2] if at > 1 else "."
    if before in DETERMINERS or (before.endswith(("'s", "’s")) and before not in ("let's", "let’s")):
        return word in NOUN_VERBS and before in DETERMINERS and not NEEDS.isdisjoint(words[max(0, at - 6) : at])
    follows = words[at + 1] if at + 1 < len(words) else ""
    if follows in ME and word in ANSWERS and not groups(words[at + 2 : at + 6]) & (MAILS | MESSAGES):
        return False
    if word == "forward" and before in ("look", "looking"):
        return False
    if before in PROMISES or not REMINDING.isdisjoint(words[max(0, at - 4) : at]):
        return False
    if before in NEGATIONS or (before in NEGATED and earlier in NEGATIONS):
        return False
    if before in ("i", "we") and earlier in ASKING:
        return True
    if before in PERSONS or (before in ADVERBS and earlier in PERSONS):
        return False
    return before not in BEING and CAN.isdisjoint(_clause(words, at))


def _clause(words: list[str], at: int) -> list[str]:
    """The words before a verb in its sentence."""
    start = at
    while start > 0 and words[start - 1] not in ENDS and words[start - 1][0] != "\n":
        start -= 1
    return words[start:at]
