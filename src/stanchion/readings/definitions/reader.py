"""The reader of a definition: every text of it is asked every question."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

from stanchion.kernel.regex import regex
from stanchion.readings.definitions.demands import Protects, demand_by_name, demand_in, words_of
from stanchion.readings.definitions.orders import against, bare, hidden_in, looks_like, orders_in
from stanchion.readings.definitions.texts import (
    LONGEST,
    STRONG,
    DefinitionRemark,
    DefinitionText,
    TooLong,
    sentences,
    texts_of,
)
from stanchion.readings.hostile.normal import normal
from stanchion.readings.hostile.signs import signs

MOST: Final = 24
"""How many remarks are made on one definition."""
FEW_WORDS: Final = 3
"""How many words the name of a thing has at most, as a rule."""
ROLES: Final = r"(?:system|assistant|developer|admin(?:istrator)?|operator|root)"
TURNS: Final = regex(
    rf"</?{ROLES}(?:[_ -]?(?:prompt|message|instructions?|reminder|note|override))?>|\[/"
    rf"?{ROLES}(?: \w+)?\]"
    rf"|\[/?inst\]|<<sys>>"
    rf"|<\|\w+\|>|<(?:start|end)_of_turn>|^#{{1,4}} ?{ROLES}\b|^{ROLES} "
    rf"(?:message|prompt|notice|note|override"
    rf"|alert) ?:"
)
"""Markup and headings by which a host marks who speaks."""
HINTED: Final = regex(
    r"</?(?:important|critical|instructions?|information|secret|mandatory)\w*>|^(?:system|"
    r"developer|admin\w*) ?: "
)
CLAIMED: Final = regex(
    r"\b(?:the|your) (?:user|operator|owner|admin\w*|developer) has (?:already |now |also "
    r")?(?:approved|authori[sz]ed"
    r"|agreed"
    r"|consented|confirmed|enabled|granted)\b|\b(?:on behalf of|by order of|authori[sz]ed "
    r"by|approved by) (?:the"
    r"|your) (?:user"
    r"|developer|administrator|operator|owner|system|security team)\b"
)
"""Claims that somebody with a say has spoken."""


def remarks_on(
    name: str,
    about: Any,
    schema: Any,
    result_schema: Any,
    others: Collection[str],
    protects: Protects,
    aside: Any = None,
) -> tuple[DefinitionRemark, ...]:
    """What is to be said of a definition. `others` are the tools beside it, `protects` knows the
    paths of secrets, `aside` is what it tells a host."""
    try:
        texts = texts_of(name, about, schema, result_schema, aside)
    except TooLong:
        return (DefinitionRemark("unread", "definition", "", STRONG),)
    found: list[DefinitionRemark] = list(_named(name, others))
    for text in texts[1:]:
        if len(found) >= MOST:
            break
        found += _said(text, name, others, protects)
    return tuple(dict.fromkeys(found))[:MOST]


def _named(name: str, others: Collection[str]) -> Iterator[DefinitionRemark]:
    twin, weight = looks_like(name, others)
    if weight:
        yield DefinitionRemark(
            "imitates",
            "name",
            f"`{name}` looks like `{twin}`" if twin else f"`{name}` mixes alphabets",
            weight,
        )
    yield from _spelt(name, "name")


def is_plain_name(name: str) -> bool:
    """Whether a name is only a name: it gives no orders and hides nothing."""
    return sum(remark.weight for remark in _spelt(name, "name")) < STRONG


def _spelt(name: str, place: str) -> Iterator[DefinitionRemark]:
    """What a name says to whoever reads it as a sentence, and what it hides."""
    for weight, words in hidden_in(name):
        yield DefinitionRemark("hidden", place, words, weight)
    said = {" ".join(words_of(name)), *[normal(bare(words)) for words, _ in sentences(name)]}
    weight = max([weight for words in said for weight in _ordered(words)], default=0)
    if weight:
        yield DefinitionRemark("instructs", place, name[:LONGEST], weight)


def _ordered(words: str) -> Iterator[int]:
    """The weights of the orders in a name. A short one is the name of a thing, as `override_rules`,
    unless it has the very words of an attack."""
    if len(words.split()) > FEW_WORDS:
        return orders_in(words, False)
    return (STRONG for sign in signs(words) if sign.weight >= STRONG)


def _said(
    text: DefinitionText, name: str, others: Collection[str], protects: Protects
) -> Iterator[DefinitionRemark]:
    if text.is_name or text.is_key:
        yield from _spelt(text.text, text.place)
        weight = demand_by_name(text.text, protects) if text.is_name else 0
        if weight:
            yield DefinitionRemark("demands", text.place, text.text[:LONGEST], weight)
        return
    for weight, words in hidden_in(text.text):
        yield DefinitionRemark("hidden", text.place, words, weight)
    for words, is_first in sentences(text.text):
        seen = normal(bare(words))
        asked = (
            ("instructs", max(orders_in(seen, is_first and not text.argument), default=0)),
            ("demands", demand_in(words, seen, text, is_first, name, protects)),
            ("others", against(words, name, others)),
            ("imitates", _turns(seen)),
        )
        for kind, weight in asked:
            if weight:
                yield DefinitionRemark(kind, text.place, words[:LONGEST], weight)


def _turns(sentence: str) -> int:
    if TURNS.search(sentence) is not None:
        return STRONG
    return (HINTED.search(sentence) is not None) + (CLAIMED.search(sentence) is not None)
