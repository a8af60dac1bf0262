"""Verbs: what a statement does that its first words say, whatever follows them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pkgutil import get_data
from typing import Final, NamedTuple

from stanchion.kernel.regex import regex
from stanchion.readings.sql import WORDS
from stanchion.readings.sql.statement import Does
from stanchion.readings.word_lists import listed

Verdict = tuple[Does, str]
"""What a statement does, and how it is called."""

PARSED: Final = listed("SELECT WITH VALUES TABLE FROM ( INSERT REPLACE UPSERT UPDATE DELETE MERGE")
"""First words of statements that are parsed, because their first words do not say everything."""
WRITING: Final = listed("INSERT REPLACE UPSERT UPDATE DELETE MERGE")
SIMPLE: Final = {word: does for does in Does for word in WORDS.get(f"say {does.name}", ())}
"""What a first word says by itself."""

OBJECTS: Final = WORDS["objects"]
RIGHTS: Final = WORDS["rights"]
BEYOND: Final = WORDS["beyond"]
"""What can be made, changed and dropped: things of the schema, things that say who may do what, and
things that reach beyond the database."""
_KINDS: Final = {
    **dict.fromkeys(OBJECTS, "thing"),
    **dict.fromkeys(RIGHTS, "right"),
    **dict.fromkeys(BEYOND, "beyond"),
}
_CHANGING: Final = WORDS["changing"]
_SCOPES: Final = listed("SESSION LOCAL @@SESSION @@LOCAL GLOBAL PERSIST PERSIST_ONLY")
_PLACE: Final = regex(r"\{([a-z ]+)\}")


class VerbRule(NamedTuple):
    """What a statement does, and how it is called, where an expression matches what is behind its
    first word."""

    does: Does
    matches: re.Pattern[str]
    verb: str


def _rules(table: str) -> Iterator[tuple[str, list[VerbRule]]]:
    """The rules of a table, by the first words they are for."""
    head, *parts = re.split(r"(?m)^\[(.+)\]\n", table)
    named = dict(re.findall(r"(?m)^(\w+) := (.*)$", head))
    for firsts, body in zip(parts[::2], parts[1::2], strict=True):
        rules = []
        for line in body.splitlines():
            if line and not line.startswith("#"):
                does, _, rest = line.partition(" ")
                pattern, _, verb = rest.strip().partition(" => ")
                whole = _PLACE.sub(lambda found: _meant(found[1], named), pattern)
                rules.append(VerbRule(Does[does], regex(rf"(?:{whole})(?!\S)"), verb))
        yield from [(first, rules) for first in firsts.split()]


def _meant(name: str, named: dict[str, str]) -> str:
    """What a name in braces stands for."""
    words = "" if name in named else "|".join(sorted(WORDS[name])).replace("*", r"\S*")
    return named.get(name, words)


_TABLE: Final = get_data("stanchion.readings.sql", "verbs.txt")
_RULES: Final = dict(_rules("" if _TABLE is None else _TABLE.decode()))

KNOWN: Final = (
    PARSED
    | set(SIMPLE)
    | (set(_RULES) - {"setting"})
    | listed("EXPLAIN PREPARE EXECUTE EXEC DO DECLARE WAITFOR")
)
"""Every first word by which a text is known to be SQL."""


def first_word(words: list[str]) -> str:
    """The word that a statement begins with; the lexer takes some words together."""
    return words[0].partition(" ")[0]


def said_by(words: list[str]) -> Verdict | None:
    """What the first words of a statement say; nothing where they do not."""
    flat = " ".join(words).split()
    first, behind = flat[0], flat[1:]
    known = SIMPLE.get(first)
    if known is not None:
        said = OBJECTS | RIGHTS | {"DATA", "TABLES"}
        return known, " ".join([first, *[word for word in behind[:1] if word in said]])
    if first not in _RULES:
        return None
    if first == "ALTER" and behind[:2] == ["SESSION", "SET"]:
        first, behind = "SET", behind[2:]
    if first == "SET":
        whole = _said(first, first, " ".join(behind))
        return whole if whole is not None else _set_by(behind)
    if first not in ("CREATE", "ALTER", "DROP"):
        return _said(first, first, " ".join(behind))
    made = _made(flat)
    verb = f"{first} {made}".strip()
    return _said(first, verb, " ".join([_KINDS.get(made, "other"), made if made else "?", *behind]))


def _said(rules: str, verb: str, text: str) -> Verdict | None:
    """What the first rule says that matches; nothing where none does."""
    for does, matches, template in _RULES[rules]:
        found = matches.match(text)
        if found is not None:
            return does, found.expand(template.replace("%", verb)) if template else verb
    return None


def _set_by(words: list[str]) -> Verdict:
    """What a SET changes: the worst of its settings. Those behind commas have an `=` or a scope of
    their own."""
    parts: list[list[str]] = [[]]
    depth = 0
    for at, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        after = words[at + 1 : at + 6]
        if word == "," and not depth and ({"=", ":="} & {*after} or _SCOPES & {*after[:1]}):
            parts.append([])
        elif word not in ("@@", "."):
            parts[-1].append(word)
    found = [_said("setting", "SET", " ".join(part)) for part in parts if part]
    return max([each for each in found if each is not None], default=(Does.SESSION, "SET"))


def _made(words: list[str]) -> str:
    for at, word in enumerate(words[1:14], 1):
        if word in OBJECTS and words[at + 1 : at + 2] == ["LINK"]:
            return "LINK"
        if word in _KINDS:
            return word
    return ""


def made_by(words: list[str]) -> str:
    """What a CREATE, ALTER or DROP is about; empty where that is not known."""
    return _made(" ".join(words).split(" "))


def changing_words(words: list[str]) -> list[str]:
    """The words of a statement, behind the first, that change something where they are not a name,
    a function or part of a lock."""
    return [
        word
        for before, word, after in zip(words, words[1:], [*words[2:], ""], strict=False)
        if word in _CHANGING
        and after not in ("(", ".")
        and before not in (".", "FOR", "KEY", "AS", "ON")
        and not (word == "INTO" and after == "@")
    ]
