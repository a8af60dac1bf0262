"""Asking: which sentences of a text want something of whoever reads them, and which speak to a
machine."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final, NamedTuple

from stanchion.kernel.regex import regex
from stanchion.readings.hostile.hostile import hostile, may_be_hostile
from stanchion.readings.hostile.normal import folded
from stanchion.readings.hostile.sieve import compiled, together
from stanchion.readings.prose.lexicon import Mark, is_listed, known, stem
from stanchion.readings.prose.phrases import (
    ASKS,
    ASKS_ELSEWHERE,
    CHANGED_BY,
    CHANGES,
    COMMANDS,
    LEADS,
)

BLOCKS: Final = regex(r"\n+|(?<=\S)(?: {2,}|[ ]*\t[ ]*| \| )(?=\S)")
BETWEEN: Final = ("\n", "  ", "\t", " | ")
"""Between lines, and between the cells of a row; a text that has none of these is one block."""
ENDS: Final = (".", "!", "?", ":")
FEWEST: Final = 3
"""A line that is a sentence has more blanks than that, and ends as one."""
BLANKS: Final = (
    r"\s(?:(?<=[.!?;]\s)\s*(?=[\"'(\[<#*_>=~-]{0,4}[A-Z0-9<\[(])|(?<=:\s)"
    r"\s*(?=[A-Z](?![A-Z]\d))|[-*•]\s)"
)
PLAIN_BREAKS: Final = regex(BLANKS)
BREAKS: Final = regex(
    BLANKS + r"|(?<=[。！？；])"
    r"|<(?![^\s<>]{0,200}[@:][^\s<>]{0,200}>|[^<>]{0,200}\b(?:href|src|action)\s*=)[^<>]{0,200}>"
    r"|(?=<[A-Za-z]{1,20}\s[^<>]{0,200}\b(?:href|src|action)\s*=)|(?<=[\"']>)"
)
"""Where a sentence ends: at a blank, which is all that plain texts have; behind other signs; at
tags. Tags are left out, but for those with an address: what they say is a sentence."""
MAY_BE_GLUED: Final = regex(r"[.!?][A-Z]")
GLUED: Final = regex(r"(?<=[a-z0-9%)][.!?])(?=[A-Z][a-z]*\s)")
"""Where a sentence ends without a blank behind it."""
WRAPPED: Final = regex(r"(?<=[\w,])[ \t]*\n[ \t]*(?=[a-z(\"'])")
"""Where a line goes on in the next one."""
ASKING: Final = "|".join(ASKS)
COMMANDING: Final = "|".join((*COMMANDS, *ASKS_ELSEWHERE))
VALUED: Final = regex(r"[@\d]")
JOINED: Final = regex(r"(?:\band|\bthen|[,;:])\s+([a-z]{3,})\s+([a-z]+)")
TO_LINK: Final = regex(
    r"\W*([A-Za-z]{3,})(?: \w+){0,3}:\s*(?:https?://|www\.|[\w-]+(?:\.[\w-]+)+/)"
)
FORBIDS: Final = regex(r"\W*(?:never|do not|don't)\s+(?!forget|hesitate)", re.IGNORECASE)
LEAD: Final = regex(f"(?:{LEADS})+", re.IGNORECASE)
CHANGING: Final = "|".join(CHANGES)
ANYTHING: Final = f"{COMMANDING}|{ASKING}|{CHANGING}"
REACHED: Final = regex(r"@|(?:\d[ .-]?){9}|\b[A-Z]{2}\d\d[A-Z0-9 -]{8}")
"""Where somebody is reached or paid: an address, a phone, an account."""
BASE: Final = Mark.BASE
PAST: Final = Mark.PAST
COMMANDS_IT, ASKS_IT, CHANGES_IT = range(3)
"""The numbers of what is looked for in a sentence."""
LABEL: Final = regex(r"\b[A-Z][\w ]{1,30}:\s*\S")
SIGNS: Final = (":", "=", "-")
LOOKS: Final = frozenset({Mark.READS, Mark.SAYS, Mark.GENERIC, Mark.WEAK})
QUOTES: Final = "\"'([<*_`"
TOKENS: Final = regex(r"[^\W\d_]+(?:'[a-z]+)?|[^\w\s]|\d+")
SHORT_NAME: Final = 4
"""Fewer words that begin with what may be a noun are a name."""
SHORTEST: Final = 6
LONE: Final = 24
"""Up to how many characters a text is one sentence."""
RUNS_ON: Final = 12
"""For how many sentences a text speaks on to a machine."""
BEFORE: Final = 2
AFTER: Final = 1
"""How many sentences beside one that asks belong to it."""


class Sentence(NamedTuple):
    """A sentence, whether it wants something, whether it commands it, whether it speaks to a
    machine, and whether it announces that somebody is reached or paid otherwise."""

    text: str
    asks: bool = False
    commands: bool = False
    hostile: bool = False
    announces: bool = False


class Asked(NamedTuple):
    """What a text is made of: runs of sentences that want something, and sentences that only say
    something."""

    spans: list[list[Sentence]]
    data: list[str]


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [piece for block in blocks(text) for piece in block]


def blocks(text: str) -> list[list[str]]:
    """The sentences of a text, those together that stand in one line or in one cell of a table."""
    if len(text) <= LONE and "\n" not in text:
        return [[text]]
    if "\n" in text:
        text = WRAPPED.sub(" ", text)
    if MAY_BE_GLUED.search(text):
        text = GLUED.sub(" ", text)
    breaks = PLAIN_BREAKS if text.isascii() and "<" not in text and ">" not in text else BREAKS
    found = []
    for block in BLOCKS.split(text) if any(map(text.__contains__, BETWEEN)) else (text,):
        pieces = [piece for part in breaks.split(block) if part and (piece := part.strip())]
        if pieces:
            found.append(pieces)
    return found


def is_prose(block: list[str]) -> bool:
    """Whether a line is a sentence, and no row, label or value."""
    last = block[-1]
    return (
        last[-1:] in ENDS and last.count(" ") >= FEWEST and last.count(",") <= last.count(", ") + 1
    )


def has(pattern: str, lower: bytes) -> bool:
    """Whether phrases are in a text in lower case; in one pass over it."""
    return compiled(pattern).search(lower) is not None


def changes(text: str) -> bool:
    """Whether a text says that something is or becomes otherwise."""
    return has(CHANGING, folded(text).encode("utf-8", "replace")) or not wanted(text).isdisjoint(
        CHANGED_BY
    )


def _commands(sentence: str) -> bool:
    """Whether a sentence begins with a verb as a command does."""
    if len(sentence) < SHORTEST:
        return False
    if (_valued(sentence) and _joins_command(sentence)) or leads_somewhere(sentence):
        return True
    if FORBIDS.match(sentence):
        return False
    lead = LEAD.match(sentence)
    rest = sentence[lead.end() :] if lead else sentence
    words = rest.split(None, 3)
    if len(words) < 2 or (len(words) == 2 and words[1][:1].isdigit()):
        return False
    first = words[0]
    verb = first.strip(QUOTES).lower()
    if first.endswith((":", "=", ",")) or not verb.isalpha() or verb.startswith("thank"):
        return False
    marks = known(verb).marks
    if BASE not in marks and not (PAST in marks and is_listed(words[1].lower(), "articles")):
        return False
    if first.isupper() and len(words) <= 2:
        return False
    if (
        len(words) < SHORT_NAME
        and Mark.ONLY_VERB not in known(stem(verb)).marks
        and not _valued(words[1])
    ):
        return is_listed(words[1].lower(), "articles") or is_listed(words[1].lower(), "objects")
    second = words[1].lower().strip(",.")
    if is_listed(second, "articles"):
        return True
    if Mark.ONLY_VERB not in known(stem(verb)).marks and not _is_sentence(sentence, second):
        return False
    return (
        second not in SIGNS
        and not is_listed(second, "states")
        and not (len(words) > 2 and is_listed(words[2].lower(), "copulas"))
    )


def _is_sentence(text: str, second: str) -> bool:
    """Whether a text that begins with what may be a noun is a sentence, and no title: `Credit note
    7 for Anna`."""
    return (
        text[-1:] in ENDS
        or is_listed(second, "objects")
        or is_listed(second, "selves")
        or " to " in text
    )


def labelled(label: str, text: str) -> str:
    """What stands behind a label, as the sentence that both make together: a verb before an
    address, or what is new of where somebody is reached; as it stands where they make none."""
    whole = f"{label}: {text}"
    if leads_somewhere(whole):
        return whole
    news = REACHED.search(text) is not None and has(
        CHANGING, folded(label).encode("utf-8", "replace")
    )
    return f"{label} {text}" if news else text


def leads_somewhere(sentence: str) -> bool:
    """Whether a verb stands before an address as its label: `Confirm here: www.…`"""
    may_lead = ":" in sentence and ("/" in sentence or "www." in sentence)
    found = TO_LINK.match(sentence) if may_lead else None
    return found is not None and Mark.BASE in known(found[1].lower()).marks


def _joins_command(sentence: str) -> bool:
    """Whether a command is joined to something in a sentence with a value: … and email the details
    to …"""
    for found in JOINED.finditer(sentence.lower()):
        if Mark.BASE in known(found[1]).marks and (
            is_listed(found[2], "articles") or is_listed(found[2], "objects")
        ):
            return True
    return False


def _valued(text: str) -> bool:
    return VALUED.search(text) is not None or "://" in text or "www." in text


def wanted(sentence: str, nouns: bool = True) -> frozenset[str]:
    """The stems of the verbs by which a sentence wants something. With `nouns`, where somebody
    needs or makes something that counts as the verb: `I need a refund`."""
    tokens = TOKENS.findall(sentence.lower())
    found: set[str] = set()
    needed = False
    for at, token in enumerate(tokens):
        if not token.isalpha() or len(token) <= 2:
            continue
        stemmed = stem(token)
        marks = known(stemmed).marks
        if is_listed(token, "needs"):
            needed = nouns
        before = tokens[at - 1] if at else ""
        free = is_listed(before, "frees") or not before.isalpha()
        if (Mark.GENERIC in marks or Mark.WEAK in marks) and not any(
            mark[0] == Mark.SAID for mark in marks
        ):
            continue
        if Mark.WEAK in marks and (
            is_listed(before, "selves") or is_listed(" ".join(tokens[at + 1 : at + 2]), "selves")
        ):
            continue
        base = Mark.BASE in known(token).marks
        if (base and (free or (Mark.ONLY_VERB in marks and not is_listed(before, "nominal")))) or (
            needed and (known(stemmed).near or Mark.VERB in marks)
        ):
            found.add(stemmed)
    return frozenset(found)


def only_reads(sentence: str) -> bool | None:
    """Whether a sentence wants nothing but to be told something; nothing where it says nothing of
    the kind."""
    tokens = TOKENS.findall(sentence.lower())
    found = sentence.rstrip().endswith("?")
    for at, token in enumerate(tokens):
        if not token.isalpha() or is_listed(token, "frees"):
            continue
        if (
            is_listed(token, "needs")
            and " ".join(tokens[at + 1 : at + 2]) != "to"
            and at
            and tokens[at - 1] in ("i", "we")
        ):
            return False
        before, after = tokens[at - 1] if at else ".", " ".join(tokens[at + 1 : at + 2])
        marks = known(stem(token)).marks
        again = not marks and token.startswith("re") and Mark.BASE in known(token[2:]).marks
        if Mark.BASE not in known(token).marks and not again:
            if token.endswith("ing") and Mark.ONLY_VERB in marks and not marks & LOOKS:
                return False
            continue
        free = is_listed(before, "frees") or not (before.isalpha() or before in QUOTES)
        if not free:
            continue
        if Mark.READS in marks or is_listed(after, "selves"):
            found = True
        elif Mark.GENERIC not in marks and not (before == "to" and Mark.WEAK in marks):
            return False
    return True if found else None


def asked(text: str, carried: bool = False, entrusted: bool = False) -> Asked:
    """What a text asks for; `carried` says that what stands before it speaks to a machine,
    `entrusted` that the agent's work was handed to it, so that it may."""
    if is_value(text):
        return Asked([], [text])
    together = blocks(text)
    pieces = [piece for block in together for piece in block]
    found = _marked(text, pieces, carried, entrusted)
    if not any(each.asks for each in found):
        return Asked([], pieces)
    return _joined(found, _reaches(together))


def is_value(text: str) -> bool:
    """Whether a text is too short of words to ask for anything."""
    return " " not in text and text.isascii()


def _reaches(together: list[list[str]]) -> list[int]:
    """To which run of lines each sentence belongs: lines that are sentences go on in the next such
    line."""
    found: list[int] = []
    run, prose = 0, False
    for block in together:
        now = is_prose(block)
        run += not (now and prose)
        prose = now
        found += [run] * len(block)
    return found


@cache
def _signs() -> Any:
    """What a sentence may have: something that commands, asks, or announces. Hostile phrases are no
    part of it: one automaton for all has too many states where a text is full of their words."""
    return together(COMMANDING, ASKING, CHANGING)


def _marked(text: str, pieces: list[str], carried: bool, entrusted: bool) -> list[Sentence]:
    lower = folded(text)
    wants, speaks = (
        has(ANYTHING, lower.encode("utf-8", "replace")),
        may_be_hostile(lower, entrusted),
    )
    if not (speaks or wants):
        found = [
            Sentence(piece, orders, orders) for piece in pieces for orders in (_commands(piece),)
        ]
    else:
        found = [_sentence(piece, wants, speaks, entrusted) for piece in pieces]
    if carried and found and not found[0].hostile:
        found[0] = Sentence(found[0].text, True, True, True)
    return found


def _sentence(piece: str, wants: bool, speaks: bool, entrusted: bool) -> Sentence:
    """A sentence of a text that may want something, or that may speak to a machine."""
    small = folded(piece)
    signs = (_signs().Match(small.encode("utf-8", "replace")) or ()) if wants else ()
    hot = speaks and hostile(small, entrusted)
    orders = hot or COMMANDS_IT in signs or _commands(piece)
    announces = not orders and CHANGES_IT in signs and REACHED.search(piece) is not None
    return Sentence(piece, orders or announces or ASKS_IT in signs, orders, hot, announces)


def _joined(found: list[Sentence], runs: list[int]) -> Asked:
    """The runs of sentences that belong to one that asks. A label with its value beside one does
    not."""
    spans: list[list[Sentence]] = []
    data: list[str] = []
    run: list[Sentence] = []
    until = -1
    beside = _beside(found, runs)
    for at, one in enumerate(found):
        if one.hostile:
            until = at + RUNS_ON
        if at <= until or (beside[at] and not _labelled(found, at)):
            if run and at > until and runs[at] != runs[at - 1]:
                spans.append(run)
                run = []
            run.append(one)
            continue
        if run:
            spans.append(run)
            run = []
        data.append(one.text)
    if run:
        spans.append(run)
    return Asked(spans, data)


def _beside(found: list[Sentence], runs: list[int]) -> list[bool]:
    """Which sentences ask for something or stand beside one that does."""
    beside = [False] * len(found)
    for at, one in enumerate(found):
        if one.asks:
            for other in range(max(0, at - AFTER), min(len(found), at + BEFORE + 1)):
                beside[other] = beside[other] or runs[other] == runs[at]
    return beside


def _labelled(found: list[Sentence], at: int) -> bool:
    if found[at].asks:
        return False
    text = found[at].text
    return (":" in text and LABEL.search(text) is not None) or (
        at > 0 and found[at - 1].text.endswith(":") and not found[at - 1].asks
    )
