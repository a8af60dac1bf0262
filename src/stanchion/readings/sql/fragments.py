"""Fragments: values that would change a query if somebody pasted them into one.

A value is read as it would be inside a query: as it is, and as if it stood in quotes that it
closes. Its words become a row of letters, and shapes are looked for in that row. This finds the
usual shapes, not all there are: what keeps a database safe is that values are passed as parameters.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any, Final
from urllib.parse import unquote

from stanchion.kernel.regex import regex
from stanchion.readings.sql import WORDS
from stanchion.readings.sql.places import begins_as_sql

MAX_CHARS: Final = 2_048
MAX_LINES: Final = 8
"""Longer texts are documents; nobody pastes them into a query."""

_TOKEN: Final = regex(
    r"""(?xi)
    (?P<space>\s+|/\*(?!M?!)(?:[^*]|\*(?!/))*+\*/|/\*M?![0-9]*|\*/)
  | (?P<comment>--[\s+-]*+$|--[ \t]|--$|\#\s*$|\#[^\S\n]*(?=\n)|/\*|;%00|;?\x00)
  | (?P<line>\#[^\n]*\n|--[^\n]*\n)
  | (?P<number>0x[0-9a-f]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?(?![0-9a-z_]))
  | (?P<variable>@@?[a-z_.$][\w.$]*|@@?`[^`]*`)
  | (?P<word>[a-z_$][\w$]*(?:\s*\.\s*[a-z_$*][\w$]*)*|`[^`]*`|\[[^\]\n]*\])
  | (?P<text>'(?:[^'\\]|''|\\.)*+(?:'|$)|"(?:[^"\\]|""|\\.)*+(?:"|$))
  | (?P<and>&&|\|\|)
  | (?P<compare><=>|[<>!]=|<>|=|<|>|!~\*?|~)
  | (?P<sign>[-+*/%^|&!:]+?)
  | (?P<mark>[(),;{}.?\\])
  | (?P<other>.)
    """,
    re.DOTALL,
)

_QUOTED: Final = regex(r"\s*\w+['\"]")

_WORDS: Final = {
    "U": "union intersect except",
    "a": "all distinct distinctrow",
    "E": "select",
    "F": "from",
    "&": "and or xor not",
    "l": "like rlike regexp glob ilike is between in div mod sounds similar",
    "B": "order group having limit procedure where",
    "y": "by",
    "T": (
        "insert update delete drop create alter truncate exec execute declare shutdown grant "
        "merge waitfor"
    ),
    "w": (
        "table database into set user view index delay time master procedure schema ignore "
        "low_priority"
    ),
    "1": "true false null",
}
_LETTERS: Final = {
    "number": "1", "variable": "v", "text": "s", "and": "&", "compare": "o", "comment": "c",
}  # fmt: skip
_KINDS: Final = {word: kind for kind, words in _WORDS.items() for word in words.split()}

_PROBES: Final = WORDS["probing functions"]
_PROBING: Final = regex(r"(?:utl|dbms)_\w+\.\w+|xp_\w+")
"""Functions by which a database is tried out, and how the names of others are written."""

_BEHIND: Final = r"(?:q\)*|[-+]*1\)*|\)+)"
_OPERAND: Final = r"[-+!(&]*[1svfpn]"
_QUERY: Final = r"[a1]*(?:[-+*(svfp]|n?1|n[,F(oc).;])"
"""Where a value leaves what it is pasted into, what can be compared, and what a query begins
with."""

_SHAPES: Final = (
    (rf"Ua*\(*E(?:{_QUERY}|F|1|$)|[1)sq]Ua*\(*E", "a second query behind UNION"),
    (
        (
            r"(?:o\(*|[,&l]\(+|^\(+|\(\()E[an1]*(?:[-+*(1svfp]|n[,F(o])|[nfp]\(+Ea*p\(|^[1sq)]+l+p\(1|"
            r"^p\([^?]*p\(1\)"
        ),
        "a query inside the value",
    ),
    (rf"^[^T]{{0,12}};+(?:Tw|Tn?F|Tp|Tnw|Tns|Tv|T$|Tc|E{_QUERY})", "a second statement"),
    (rf"^(?:{_BEHIND}|)&{_OPERAND}(?:\(.*\))?\)*(?:o|ll?[1s(p&])", "a condition that is added"),
    (
        rf"^{_BEHIND}[-+*/b|]*v?&+(?:[1s]\)*(?:c|[-+*/b|]|l)|o|ls|p)|^q\)*&+[1s]$",
        "a condition that is added",
    ),
    (r"^q\)*[*/b|v+-]*o[-+]*[sv1]$", "a condition that is added"),
    (rf"^{_BEHIND}[-+*/b|o!]+\(*(?:p|[1v]\)*o)|^\++p\(p", "a function that probes"),
    (
        r"^[qc)]\)*;*c|^[-+(]*(?:[1vs]\)*[&*/o].*|v|p\([^F]*\))c$",
        "the rest of the query made a comment",
    ),
    (r"^\(+.*[E&v].*\)c$", "the rest of the query made a comment"),
    (
        rf"^(?:{_BEHIND}|)B(?:y1(?:,.*)?(?:c|$)|y1,|[1sp(n]\(?[^F]*(?:o.*c|,.*c)$|np\()",
        "a clause that is added",
    ),
    (rf"^(?:{_BEHIND}|,).*[)1s]Tw", "a second statement"),
)
"""What rows of letters show, and what that would do."""


@cache
def _shapes() -> tuple[tuple[Any, str], ...]:
    """The shapes on an engine that takes as many steps as a row has letters."""
    import re2  # type: ignore[import-untyped]  # it ships no stubs

    return tuple([(re2.compile(pattern), what) for pattern, what in _SHAPES])


def _row(text: str, closed: bool) -> str:
    """The words of a value as a row of letters; `closed` where it begins behind a quote that was
    just closed."""
    kinds: list[str] = ["q"] if closed else []
    for match in _TOKEN.finditer(text):
        group, token = match.lastgroup, match[0]
        if group == "word":
            kinds.append(_word(token.lower(), text[match.end() : match.end() + 2].lstrip()[:1]))
        elif group in ("sign", "mark"):
            kinds.append("b" if token == "&" else token)
        elif group not in ("space", "line"):
            kinds.append(_LETTERS.get(str(group), "?"))
        if group == "comment":
            break
    return "".join(kinds)


def _word(word: str, behind: str) -> str:
    kind = _KINDS.get(word, "n")
    if behind != "(" or kind not in "w1n":
        return kind
    return "p" if word in _PROBES or _PROBING.fullmatch(word) is not None else "f"


def _is_statement(text: str) -> bool:
    """Whether a value is a statement by itself: `export' OR …` begins with a word, and leaves a
    quote behind it."""
    return begins_as_sql(text) and _QUOTED.match(text) is None


@lru_cache(256)
def shape_of(text: str) -> str:
    """What a value would do to a query it is pasted into; empty where it has no such shape."""
    if not 2 < len(text) <= MAX_CHARS or text.count("\n") > MAX_LINES or _is_statement(text):
        return ""
    value = unquote(text) if "%" in text else text
    rows = [_row(value, False)]
    for quote in "'\"":
        at = value.find(quote)
        if at >= 0:
            rows.append(_row(value[at + 1 :], True))
    for row in rows:
        for shape, what in _shapes():
            if shape.search(row):
                return what
    return ""
