"""What a YAML parser complains about, said to whoever wrote the file: what stands there, and what
to write."""

from __future__ import annotations

import re
from typing import Final

from stanchion.kernel.regex import regex

_SECOND_COLON: Final = regex(r"^\s*(?:- )?[^:\s][^:]*:\s+(?P<rest>.*\S:(?:\s.*|$))")
_ELSE: Final = "look at the quotes, colons and indentation up to here"


def meaning(problem: str, lines: list[str], line: int, column: int, opened: int | None) -> str:
    """The complaint about a place (both from 1) in plain words; `opened` is the line where
    something began that the parser still reads."""
    text = lines[line - 1] if line <= len(lines) else ""
    at = min(column - 1, len(text))
    word = _word(text, at)
    if "alphabetic or numeric" in problem or "alphanumeric" in problem:
        return quoted(word)
    if "cannot start any token" in problem:
        return quoted(word)
    if "'-' indicator" in problem or (
        "<block end>" in problem and "block mapping" not in problem and "-" not in word[:1]
    ):
        return (
            "this line is not an entry of the list above it: indent it as far as the keys of the "
            "entry that it belongs to, or begin it with `- `"
        )
    if "mapping values are not allowed" in problem:
        if _SECOND_COLON.match(text):
            return (
                "there are two colons in this line: put the text behind the first one into quotes"
            )
        return (
            "this line is indented too far: what it would belong to has a value already; indent it "
            "as far as that"
        )
    if "block sequence entries are not allowed" in problem:
        return "a list begins on a line of its own: move `- ` to the next line, or write `[...]`"
    if "escape" in problem:
        return (
            "a backslash in double quotes begins an escape: use single quotes, where it is only a "
            "backslash"
        )
    if "',' or ']'" in problem or "',' or '}'" in problem:
        what, end = ("list", "]") if "']'" in problem else ("mapping", "}")
        since = "" if opened is None or opened == line else f" that begins in line {opened}"
        return (
            f"the {what}{since} is not closed, or a comma is missing: write `{end}` or `,` "
            f"before this"
        )
    if "expected key" in problem or "<block end>" in problem:
        if text.count("'") % 2 or text.count('"') % 2 or text[at - 1 : at] in ("'", '"'):
            return (
                "a text in quotes ends here, and more follows: double a single quote inside it, or "
                "use the other kind"
            )
        return (
            "this line stands between two levels: indent it exactly as far as the lines that it "
            "belongs to"
        )
    if "end of stream" in problem or "unexpected end" in problem:
        since = "" if opened is None else f" that begins in line {opened}"
        return f"something{since} is not closed: look for a missing quote or bracket"
    return _ELSE


def quoted(word: str) -> str:
    """What to do about a word that begins with a sign of YAML's own."""
    return (
        f"a word cannot begin with `{word[:1]}` here, which is a sign of YAML: put it into "
        f'quotes, as in `"{word}"`'
    )


def _word(text: str, at: int) -> str:
    """The word at a place of a line, with the sign before it, which a parser may have passed
    already."""
    while at > 0 and text[at - 1] in "*&":
        at -= 1
    found = re.match(r"[^\s,\]}]+", text[at:])
    return "" if found is None else found[0].removesuffix(":")


def joined_list(lines: list[str]) -> bool:
    """Whether a text of several lines was meant as a list: one of its later lines begins like an
    entry."""
    return any(line.lstrip().startswith("- ") for line in lines[1:])
