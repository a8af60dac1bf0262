"""Tagging: a text in which paths, code, quotations, numbers and versions stand as marks, so that
the words between them can be read, and nothing that is quoted is."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from stanchion.kernel.regex import regex
from stanchion.readings.claims.voice import own_words
from stanchion.readings.word_lists import listed

READ: Final = 50_000
"""How much of a text is read, from its end: what is claimed is said last."""
BEFORE: Final = 24
"""How much stands before a word that says that it is a name."""
HOSTS: Final = listed("com org net io dev ai app edu gov")
"""How names of hosts end."""
SHORT: Final = listed("e.g i.e a.m p.m u.s etc")

_PIECE: Final = regex(
    r"(?P<code>`{1,2}[^`\n]{1,400}`{1,2})"
    r"|(?P<text>\"[^\"\n]{1,400}\"|\u201c[^\u201d\n]{1,400}\u201d|(?<!\w)'[^'\n]{1,200}'(?!\w))"
    r"|(?P<url>\b[a-z]{3,6}://\S+)"
    r"|(?P<hex>(?<![\w./-])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{6,128}(?![\w-]))"
    r"|(?P<version>(?<![\w./,])-?v?[0-9]+(?:\.[0-9]+)+(?:[-+~][0-9A-Za-z.]*[0-9A-Za-z])?(?![\w/]))"
    r"|(?P<number>(?<![\w./-])-?[0-9]{1,3}(?:,[0-9]{3})+(?![\w/])|(?<![\w./-])-?[0-9]{1,18}(?![\w/"
    r"]))"
    r"|(?P<word>(?<![\w@.])[~.]{0,2}[\w/][\w./+-]*)"
)
_NAME: Final = regex(r"(?:[^\s/]*/)*(?:\.[A-Za-z][\w.-]*|[\w+-][\w.+-]*\.[A-Za-z][A-Za-z0-9]{0,9})")
_ROOTED: Final = regex(r"(?:\.{0,2}|~)/[\w./+@-]*\w/?")
_NOUN: Final = regex(r"\b(?:file|folder|directory|dir)(?: named| called)? \Z", re.IGNORECASE)
"""Behind these words stands the name of a file."""
_UNNAMED: Final = regex(r"[\s()\[\]{}=<>$*;|&'\",:]")
"""What is not in a name of a file that stands in a sentence."""
_MARK: Final = regex(r"\u2039([a-z])([0-9]+)\u203a")
_LABELS: Final = {"code": "c", "text": "t", "url": "u", "hex": "h", "version": "v", "number": "n"}

Knows = Callable[[str], bool]
"""Whether a word is the name of something that was seen."""


class Tagged(NamedTuple):
    """A text with marks, in small letters, and what each mark stands for."""

    text: str
    pieces: tuple[str, ...]

    def piece(self, mark: str) -> str:
        """What a mark stands for."""
        found = _MARK.fullmatch(mark)
        return self.pieces[int(found[2])] if found is not None else mark


def kind_of(mark: str) -> str:
    """What kind of thing a mark stands for: `p` a path, `c` other code, `t` a quotation, `n` a
    number, `v` a version, `h` a hexadecimal number."""
    found = _MARK.fullmatch(mark)
    return found[1] if found is not None else ""


def tagged(text: str, knows: Knows) -> Tagged:
    """The text with marks. What stands in blocks of code or is cited is left out."""
    pieces: list[str] = []

    def mark(found: re.Match[str]) -> str:
        kind, piece = str(found.lastgroup), found[0]
        behind = ""
        if kind == "word":
            piece = piece.rstrip(".-+")
            if "." not in piece and "/" not in piece and not knows(piece):
                return found[0]
            behind = found[0][len(piece) :]
            before = found.string[max(0, found.start() - BEFORE) : found.start()]
            named = _NOUN.search(before) is not None and knows(piece)
            if not named and not _is_file(piece, knows):
                return found[0].lower()
            label = "p"
        elif kind == "code":
            piece = piece.strip("`").strip()
            label = "p" if _is_coded_file(piece, knows) else "c"
        else:
            piece = piece[1:-1] if kind == "text" else piece
            label = _LABELS[kind]
        pieces.append(piece)
        return f"\u2039{label}{len(pieces) - 1}\u203a{behind}"

    plain = own_words(text[-READ:]).replace("*", "")
    lines = [_PIECE.sub(mark, line) for line in plain.splitlines()]
    return Tagged("\n".join(lines).replace("\u2019", "'").lower(), tuple(pieces))


def _is_file(word: str, knows: Knows) -> bool:
    """Whether a word without quotes is the name of a file: by its shape, or because it is written
    as only names are and was seen."""
    if word.lower() in SHORT or word.rpartition(".")[2].lower() in HOSTS:
        return False
    if _NAME.fullmatch(word) is not None or (len(word) > 2 and _ROOTED.fullmatch(word) is not None):
        return True
    return (word.isupper() or "/" in word) and len(word) > 1 and knows(word)


def _is_coded_file(code: str, knows: Knows) -> bool:
    if _UNNAMED.search(code) is not None or "://" in code:
        return False
    return "/" in code.strip("/") or _is_file(code, knows) or knows(code)
